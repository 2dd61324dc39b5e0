"""Bodies: read to the end whatever the headers say, and rejected where none is expected."""

import json
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

import pytest
from kit.server import Person, ServerLauncher
from kit.system import System
from kit.webhook_endpoint import WebhookEndpoint, running_endpoint

from tradewind.auth.gate import Authenticator
from tradewind.orders.payments import routes as payment_routes
from tradewind.runtime.api import endpoints
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.web.application import Application
from tradewind.web.limits import plan_rate
from tradewind.webhooks import routes as webhook_routes

pytestmark = pytest.mark.xdist_group("system")

NOT_TAKEN = {
    "pointer": "",
    "code": "body_not_allowed",
    "message": "This endpoint takes no body; send none, or {}.",
}


@pytest.fixture
async def app(system: System) -> AsyncIterator[Application]:
    """The real endpoints and the real gate, called without a server in between."""
    db = Database(system.api.database_url, size=2, name="test")
    await db.open()
    keyring = ServerLauncher.keyring()
    gate = Authenticator(db, keyring, {"enterprise": plan_rate(12_000)})
    result = [*payment_routes.approvals.endpoints, *webhook_routes.routes.endpoints]
    wanted = {kind for endpoint in result for kind in endpoint.parts.values()}
    parts: dict[type, Any] = dict.fromkeys(wanted) | {Database: db, Keyring: keyring}
    yield Application(result, parts, gate, public_url="http://test")
    await db.close()


async def send(
    app: Application,
    path: str,
    chunks: Sequence[bytes],
    by: Person,
    *,
    version: str = "2",
    headers: Sequence[tuple[bytes, bytes]] = (),
) -> tuple[int, Any]:
    """One POST as a server would hand it over; HTTP/2 need not announce a body by any header."""
    messages = [{"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks] + [
        {"type": "http.request", "body": b"", "more_body": False}
    ]
    sent: list[Any] = []

    async def receive() -> Any:
        return messages.pop(0)

    async def answer(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "http_version": version,
        "path": path,
        "query_string": b"",
        "headers": [(b"x-api-key", by.key.encode()), *headers],
        "client": ("127.0.0.1", 1),
    }
    await app(scope, receive, answer)
    body = b"".join(message.get("body", b"") for message in sent)
    return sent[0]["status"], json.loads(body or b"null")


JSON = [(b"content-type", b"application/json")]


def pending(system: System) -> dict[str, Any]:
    order = system.order()
    payment: dict[str, Any] = system.request_payment(order["id"])
    return payment


@pytest.mark.parametrize("chunks", [[b'{"amount_cny":0.01}'], [b"", b'{"amount_', b'cny":0.01}']])
async def test_an_amount_in_a_body_that_no_header_announces_counts(
    system: System, app: Application, chunks: Sequence[bytes]
) -> None:
    payment = pending(system)
    path = f"/v1/payments/{payment['id']}"

    status, problem = await send(app, f"{path}/approve", chunks, system.approver, headers=JSON)
    assert (status, problem["code"]) == (409, "amount_changed")
    status, problem = await send(app, f"{path}/approve", chunks, system.approver)
    assert (status, problem["code"]) == (415, "unsupported_media_type")
    assert system.ok("GET", path, by=system.approver)["status"] == "pending_approval"

    status, approved = await send(app, f"{path}/approve", [], system.approver)
    assert (status, approved["id"]) == (200, payment["id"])


@pytest.mark.parametrize(
    "sent", [{"content": b'{"amount_cny":0.01}'}, {"content": iter([b'{"amount_', b'cny":0.01}'])}]
)
def test_an_amount_in_a_body_over_http_1_counts(system: System, sent: dict[str, Any]) -> None:
    payment = pending(system)
    path = f"/v1/payments/{payment['id']}"
    headers = {"content-type": "application/json"}

    system.refused(
        "POST",
        f"{path}/approve",
        409,
        "amount_changed",
        by=system.approver,
        headers=headers,
        **sent,
    )
    assert system.ok("GET", path, by=system.approver)["status"] == "pending_approval"

    for content in (b"", iter([b""])):  # a length of 0, and chunks without a byte
        again = pending(system)
        path = f"/v1/payments/{again['id']}/approve"
        system.ok("POST", path, by=system.approver, content=content)


@pytest.fixture
def endpoint() -> Iterator[WebhookEndpoint]:
    with running_endpoint() as made:
        yield made


def test_an_endpoint_without_a_body_rejects_one_and_changes_nothing(
    system: System, endpoint: WebhookEndpoint
) -> None:
    webhook = system.ok("POST", "/v1/webhooks", json={"url": endpoint.url()})
    system.api.launcher.secrets.add(webhook.pop("secret"))
    path = f"/v1/webhooks/{webhook['id']}"
    rotate = f"{path}/rotate-secret"

    bodies: list[Any] = [b'{"overlap_seconds": 3600}', b"[]", b"null", b" ", b"x", b"{}{}"]
    for content in [*bodies, iter([b"{", b'"a":1}'])]:
        problem = system.refused("POST", rotate, 422, "validation_failed", content=content)
        assert problem["errors"] == [NOT_TAKEN]
        system.refused("DELETE", path, 422, "validation_failed", content=b'{"force":true}')
    system.refused("POST", rotate, 413, "body_too_large", content=b" " * 300_000)
    assert system.ok("GET", path) == webhook

    for content in (None, b"", b"{}", b" {\n} ", iter([b"{", b"}"])):
        rotated = system.ok("POST", rotate, content=content)
        system.api.launcher.secrets.add(rotated["secret"])
    assert system.call("DELETE", path, content=b"{}").status_code == 204
    assert system.call("GET", "/healthz", content=b"anything").status_code == 200


async def test_a_body_that_no_header_announces_is_rejected_as_well(
    system: System, app: Application, endpoint: WebhookEndpoint
) -> None:
    webhook = system.ok("POST", "/v1/webhooks", json={"url": endpoint.url()})
    system.api.launcher.secrets.add(webhook.pop("secret"))
    path = f"/v1/webhooks/{webhook['id']}"

    for chunks in ([b'{"overlap_seconds": 3600}'], [b"", b"", b"x"]):
        status, problem = await send(app, f"{path}/rotate-secret", chunks, system.buyer)
        assert (status, problem["errors"]) == (422, [NOT_TAKEN])
    assert system.ok("GET", path) == webhook

    for version, chunks in (("2", []), ("2", [b"{}"]), ("1.1", [])):
        status, rotated = await send(
            app, f"{path}/rotate-secret", chunks, system.buyer, version=version
        )
        assert status == 200
        system.api.launcher.secrets.add(rotated["secret"])


def test_only_notices_and_files_are_read_as_they_come() -> None:
    """Whoever reads a raw body must say what is in it by themselves: nobody else does."""
    raw = {endpoint.handler.__name__ for endpoint in endpoints() if endpoint.raw_body}
    assert raw == {"create_import", "receive_notice"}
