"""The samples in the README of the SDK work as written."""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from kit.blocks import ROOT, blocks, ran
from tradewind_sdk.webhooks import WebhookReceiver

from tradewind.webhooks.signing import sign

README = "sdk/python/README.md"
SECRET = "whsec_" + "r" * 43
BODY = {
    "id": "evt_1",
    "event": "order.updated",
    "created_at": "2026-11-15T08:00:00.001Z",
    "data": {
        "order": {
            "id": "ORD1",
            "platform": "sandbox",
            "order_id": "1688001",
            "status": "paid",
            "payment_status": "paid",
            "platform_payment_status": "paid",
            "total_amount_cny": 128.5,
            "updated_at": "2026-11-15T08:00:00.000Z",
        }
    },
}
CONTENT = json.dumps(BODY).encode()
PRINTED = "order.updated ORD1 paid\n"


def sample(beginning: str) -> dict[str, Any]:
    """What a block of the README defines; the text before it begins with this."""
    lines = (ROOT / README).read_text().splitlines()
    programs = [block for block in blocks(README) if block.language == "python"]
    (program,) = [block for block in programs if lines[block.line - 3].startswith(beginning)]
    names: dict[str, Any] = {"__name__": "sample"}
    exec(program.text, names)  # noqa: S102 - our own page
    ran([program])
    return names


def headers(secret: str = SECRET) -> dict[str, str]:
    now = int(time.time())
    return {"X-Service-Timestamp": str(now), "X-Service-Signature": sign(secret, now, CONTENT)}


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBHOOK_SECRET", SECRET)


def statuses(send: Callable[[dict[str, str]], httpx.Response]) -> list[int]:
    requests = (headers("whsec_other"), headers(), headers())
    return [send(each).status_code for each in requests]


@pytest.mark.parametrize("beginning", ["Flask", "Any WSGI"])
def test_a_sample_for_wsgi(beginning: str, capsys: pytest.CaptureFixture[str]) -> None:
    app = sample(beginning)["app"]

    with httpx.Client(transport=httpx.WSGITransport(app), base_url="http://shop") as client:
        assert statuses(lambda it: client.post("/hook", content=CONTENT, headers=it)) == [
            401,
            200,
            200,
        ]
    assert capsys.readouterr().out == PRINTED


@pytest.mark.parametrize("beginning", ["FastAPI", "Any ASGI"])
async def test_a_sample_for_asgi(beginning: str, capsys: pytest.CaptureFixture[str]) -> None:
    app = sample(beginning)["app"]

    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://shop") as client:
        answers = [
            await client.post("/hook", content=CONTENT, headers=each)
            for each in (headers("whsec_other"), headers(), headers())
        ]
    assert [answer.status_code for answer in answers] == [401, 200, 200]
    assert capsys.readouterr().out == PRINTED


def test_the_sample_for_django(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    urls = ModuleType("readme_urls")
    urls.__dict__.update(sample("Django"))
    monkeypatch.setitem(sys.modules, "readme_urls", urls)
    settings.configure(
        ALLOWED_HOSTS=["*"],
        MIDDLEWARE=["django.middleware.csrf.CsrfViewMiddleware"],
        ROOT_URLCONF="readme_urls",
        SECRET_KEY="not a secret",
    )
    app = get_wsgi_application()

    with httpx.Client(transport=httpx.WSGITransport(app), base_url="http://shop") as client:
        assert statuses(lambda it: client.post("/hook", content=CONTENT, headers=it)) == [
            401,
            200,
            200,
        ]
    assert capsys.readouterr().out == PRINTED


def test_the_sample_by_hand() -> None:
    receive = sample("### By hand")["receive"]

    assert receive(SECRET, headers("whsec_other"), CONTENT)[0] == 401
    assert receive(SECRET, headers(), CONTENT) == (200, "evt_1")


def test_the_deduplicator_of_the_sample_remembers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make = sample("this as `deduplicator`")["DatabaseDeduplicator"]
    calls: list[str] = []

    def handle(event: Any) -> None:
        calls.append(event.id)
        if len(calls) == 1:
            raise RuntimeError("The first time it fails.")

    answers = []
    for _ in range(3):  # as after a restart
        receiver = WebhookReceiver(SECRET, handle, deduplicator=make())
        answers.append(receiver.receive(headers(), CONTENT).status)

    assert answers == [500, 200, 200]
    assert calls == ["evt_1", "evt_1"]
