"""The client buys something from a running server, from the search to the events."""

import asyncio
import itertools
import json
import re
import sys
import sysconfig
import time
from decimal import Decimal
from pathlib import Path

import pytest
from kit.blocks import ROOT, Block, blocks, ran
from kit.sdk_examples import SDK, assert_it_follows, run, write_credentials_command
from kit.server import free_port
from kit.system import ADDRESS, PLAIN, System
from tradewind_sdk.client import (
    AsyncTradewind,
    AuthenticationError,
    Conflict,
    NotFound,
    PermissionDenied,
    Tradewind,
    ValidationError,
    types,
)
from tradewind_sdk.webhooks.events import event_from

pytestmark = pytest.mark.xdist_group("system")
PATIENCE_SECONDS = 20.0
README = "sdk/python/README.md"
TO: types.AddressInput = {
    "name": ADDRESS["name"],
    "phone": ADDRESS["phone"],
    "province": ADDRESS["province"],
    "city": ADDRESS["city"],
    "district": ADDRESS["district"],
    "detail": ADDRESS["detail"],
}
CSV = f"product_id,quantity,{','.join(ADDRESS)}\n{PLAIN},1,{','.join(ADDRESS.values())}\n".encode()


def test_buying_with_the_client_that_waits(system: System) -> None:
    api = system.api
    with (
        Tradewind(api.url, api_key=system.buyer.key) as client,
        Tradewind(api.url, api_key=system.approver.key) as approver,
    ):
        assert client.server.readyz()["status"] == "ready"
        assert "sandbox" in {platform["platform"] for platform in client.platforms.list()}
        assert client.products.search(platform="sandbox", q="dress", size=5)["items"]
        sku = client.products.get("sandbox", PLAIN)["skus"][0]["id"]
        items: list[types.LineInput] = [{"product_id": PLAIN, "sku_id": sku, "quantity": 1}]
        preview = client.orders.preview(platform="sandbox", items=items, address=TO)
        total = Decimal(str(preview["total_amount_cny"]))

        order = client.orders.create(
            platform="sandbox",
            items=items,
            address=TO,
            expected_total_cny=total,
            metadata={"team": "shoes"},
            idempotency_key="walk",
        )
        again = client.orders.create(
            platform="sandbox",
            items=items,
            address=TO,
            expected_total_cny=total,
            metadata={"team": "shoes"},
            idempotency_key="walk",
        )
        assert again["id"] == order["id"]
        deadline = time.monotonic() + PATIENCE_SECONDS
        while client.orders.get(order["id"])["status"] == "creating":
            assert time.monotonic() < deadline

        payment = client.orders.request_payment(order["id"], note="For the fair.")
        with pytest.raises(PermissionDenied) as denied:
            client.payments.approve(payment["id"])
        assert denied.value.code == "insufficient_permissions"
        approver.payments.approve(payment["id"], amount_cny=payment["amount_cny"])
        while client.orders.get(order["id"])["payment_status"] != "paid":
            assert time.monotonic() < deadline
        with pytest.raises(Conflict) as conflict:
            client.orders.cancel(order["id"])
        assert conflict.value.code == "invalid_transition"
        client.sandbox.advance_order(order["id"], to="shipped")

        # Lists: every page, in the order of the API.
        events = [event_from(item) for item in client.events.list(order=order["id"], limit=1)]
        assert [event.data.order.status for event in events][-1] == "shipped"
        assert [event.data.order.updated_at for event in events] == sorted(
            event.data.order.updated_at for event in events
        )
        pages = list(client.events.list(order=order["id"], limit=2).pages())
        assert sum(len(page["items"]) for page in pages) == len(events)
        assert client.events.get(events[0].id)["id"] == events[0].id
        assert [row["id"] for row in client.orders.list(status="shipped")] == [order["id"]]
        assert [row["id"] for row in client.orders.list_payments(order["id"])] == [payment["id"]]
        assert len(list(client.orders.get_timeline(order["id"], limit=2))) > 4

        stream = client.events.stream(order=order["id"], last_event_id="0")
        streamed = [json.loads(event.data) for event in itertools.islice(stream, len(events))]
        assert streamed == [dict(event.raw) for event in events]

        # Bytes in and out, and bodies that may be missing.
        assert client.imports.create(content=CSV, file_name="a.csv", platform="sandbox")["id"]
        csv = b"".join(client.exports.orders(status=["shipped"]))
        assert order["id"].encode() in csv
        hook = client.webhooks.create(url="http://localhost:9/hook", events=["order.updated"])
        system.api.launcher.secrets.add(hook["secret"])
        assert client.webhooks.test(hook["id"])["outcome"] == "connect_failed"
        client.webhooks.delete(hook["id"])


def test_errors_say_what_is_wrong(system: System) -> None:
    api = system.api
    with Tradewind(api.url, api_key=system.buyer.key) as client:
        with pytest.raises(NotFound) as missing:
            client.webhooks.get("whk_" + "0" * 26)
        assert missing.value.request_id
        with pytest.raises(ValidationError) as invalid:
            client.orders.create(platform="sandbox", items=[], address={**TO, "name": ""})
        assert {error.pointer for error in invalid.value.errors} == {"/items", "/address/name"}
    with (
        Tradewind(api.url, api_key="twk_" + "0" * 38) as stranger,
        pytest.raises(AuthenticationError),
    ):
        stranger.me.get()


def samples(heading: str) -> tuple[list[Block], list[Block]]:
    """The programs and the commands below a heading of the README."""
    lines = (ROOT / README).read_text().splitlines()
    start = lines.index(heading)
    end = next(n for n, line in enumerate(lines) if n > start and line.startswith("## "))
    section = [block for block in blocks(README) if start < block.line <= end]
    assert {block.language for block in section} <= {"python", "sh"}
    programs, commands = (
        [block for block in section if block.language == language] for language in ("python", "sh")
    )
    return programs, commands


def test_the_first_webhook_of_the_readme(system: System, tmp_path: Path) -> None:
    """The commands run as printed; instead of an index, pip sees the packages of this project."""
    (program,), commands = samples("## Your first webhook")
    settings, install, start = (block.text for block in commands)
    (tmp_path / "first_webhook.py").write_text(program.text)
    write_credentials_command(tmp_path / "tradewind", system.api.url, system.buyer.key)
    (tmp_path / "tradewind/sdk").symlink_to(SDK)
    environ = {
        "PORT": str(free_port()),
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # pip reads it as the opposite of what it says
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_QUIET": "1",
        "PYTHONPATH": sysconfig.get_path("purelib"),
    }

    script = f"{settings}{install}cp ../first_webhook.py .\n{start}"
    done = run("/bin/bash", "-euc", script, cwd=tmp_path / "tradewind", environ=environ)

    assert done.returncode == 0, done.stderr
    assert re.fullmatch(
        r"Received: order\.updated ORDTEST\w+ \w+\nTest delivery: delivered\n", done.stdout
    )
    assert (tmp_path / "my-shop-python/.venv/lib").exists()
    assert system.ok("GET", "/v1/webhooks")["items"] == []
    ran([program, *commands])


def test_the_samples_of_the_client(
    system: System,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("TRADEWIND_URL", system.api.url)
    monkeypatch.setenv("TRADEWIND_API_KEY", system.buyer.key)
    (buy, show_events, follow), commands = samples("## Call the API")
    assert commands == []

    for program in (buy, show_events):
        exec(program.text, {"__name__": "__main__"})  # noqa: S102 - our own page

    order, *events = capsys.readouterr().out.splitlines()
    assert order.startswith("ORD")
    assert any(line.startswith("payment.updated ") for line in events)
    (tmp_path / "follow.py").write_text(follow.text)
    assert_it_follows(system, [sys.executable, "follow.py"], tmp_path)
    ran([buy, show_events, follow])


def test_buying_with_the_client_that_awaits(system: System) -> None:
    sku = system.sku()

    async def buy() -> None:
        api, buyer = system.api, system.buyer
        async with AsyncTradewind(api.url) as client:
            tokens = await client.auth.login(email=buyer.email, password=buyer.password)
            api.launcher.secrets |= {tokens["access_token"], tokens["refresh_token"]}
        async with (
            AsyncTradewind(api.url, access_token=tokens["access_token"]) as client,
            AsyncTradewind(api.url, api_key=system.approver.key) as approver,
        ):
            result = await client.products.search(platform="sandbox", q="dress")
            assert result["items"]
            items: list[types.LineInput] = [{"product_id": PLAIN, "sku_id": sku, "quantity": 1}]
            await client.orders.preview(platform="sandbox", items=items, address=TO)
            orders = await asyncio.gather(
                *(
                    client.orders.create(platform="sandbox", items=items, address=TO)
                    for _ in range(3)
                )
            )
            assert len({order["id"] for order in orders}) == 3
            listed = [order["id"] async for order in client.orders.list(limit=2)]
            assert set(listed) == {order["id"] for order in orders}
            order_id = listed[0]
            deadline = time.monotonic() + PATIENCE_SECONDS
            while (await client.orders.get(order_id))["status"] == "creating":
                assert time.monotonic() < deadline
            payment = await client.orders.request_payment(order_id)
            await approver.payments.approve(payment["id"])
            while (await client.orders.get(order_id))["payment_status"] != "paid":
                assert time.monotonic() < deadline
            pages = [page async for page in client.events.list(order=order_id).pages()]
            kinds = {item["event"] for page in pages for item in page["items"]}
            assert kinds == {"order.updated", "payment.updated"}
            csv = b"".join([chunk async for chunk in client.exports.events(order=order_id)])
            assert order_id.encode() in csv
            with pytest.raises(NotFound):
                await client.orders.get("ORD" + "0" * 26)
            await client.auth.logout()
            with pytest.raises(AuthenticationError):
                await client.me.get()

    asyncio.run(buy())
