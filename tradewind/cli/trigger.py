"""`tradewind trigger`: makes an event happen on a simulated marketplace, or tests a webhook."""

import time
import uuid
from typing import Annotated, Any

import typer

from tradewind.cli import client
from tradewind.cli.output import Json, for_programs, say, waiting, write, write_json
from tradewind.errors import TradewindError
from tradewind.events.catalogue import ORDER_UPDATED, PAYMENT_UPDATED

_ADDRESS = {
    "name": "Test Receiver",
    "phone": "15251667788",
    "province": "浙江省",
    "city": "杭州市",
    "district": "滨江区",
    "detail": "网商路699号",
}
_QUERY = "dress"
_WAIT_SECONDS = 30.0
_POLL_SECONDS = 0.25


class NothingHappened(TradewindError):
    """The event did not come in time, or nothing can cause it."""


def trigger(
    event: Annotated[
        str,
        typer.Argument(
            help=f"{ORDER_UPDATED} or {PAYMENT_UPDATED}.",
            autocompletion=lambda: [ORDER_UPDATED, PAYMENT_UPDATED],
        ),
    ],
    *,
    order: Annotated[
        str | None, typer.Option(help="Move this order; without it, a new one is placed.")
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(help="Where to move the order: paid, shipped, received, completed, closed, …"),
    ] = None,
    platform: Annotated[str, typer.Option(help="A simulated marketplace.")] = "sandbox",
    webhook: Annotated[
        str | None,
        typer.Option(help="Send a test delivery to this webhook instead, whk_…."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Make an event happen: place or move an order on a simulated marketplace."""
    if event not in {ORDER_UPDATED, PAYMENT_UPDATED}:
        raise NothingHappened(f"There is no event {event!r}: {ORDER_UPDATED} or {PAYMENT_UPDATED}.")
    as_json = for_programs(as_json)
    with client.connected() as remote:
        if webhook is not None:
            result = remote.post(client.path("webhooks", webhook, "test"), {"event": event})
            _write_test(result, as_json=as_json)
            return
        with waiting(f"Waiting for {event}"):
            cursor = None if order is None else _end_of_journal(remote, order)
            order_id = _cause(remote, event, order, to, platform)
            body = _wait(remote, event, order_id, cursor)
    if as_json:
        write_json(body)
        return
    news = body["data"]["order"]
    write(
        {
            "event": body["event"],
            "id": body["id"],
            "order": news["id"],
            "status": news["status"],
            "payment_status": news["payment_status"],
            "created_at": body["created_at"],
        },
        as_json=False,
    )


def _cause(
    remote: client.Remote, event: str, order: str | None, to: str | None, platform: str
) -> str:
    """Do what the event follows from; the id of its order."""
    order_id = order or _place_order(remote, platform)
    if to is not None:
        _until_created(remote, order_id)
        remote.post(client.path("sandbox", "orders", order_id, "advance"), {"to": to})
    elif event == PAYMENT_UPDATED:
        _until_created(remote, order_id)
        remote.post(client.path("orders", order_id, "payment"))
    elif order is not None:
        raise NothingHappened("Say with --to where to move the order.")
    return order_id


def _place_order(remote: client.Remote, platform: str) -> str:
    """A new order of one product; it becomes an event when the marketplace has created it."""
    listed = {each["platform"]: each for each in remote.get("/v1/platforms")["items"]}
    if platform not in listed or not listed[platform]["simulated"]:
        raise NothingHappened(
            f"{platform} is not a simulated marketplace of this server, so no order is placed "
            "there; --webhook sends a test delivery instead."
        )
    offers = remote.post("/v1/products/search", {"q": _QUERY, "platform": platform})["items"]
    for offer in offers:
        product = remote.get(client.path("products", platform, offer["id"]))
        quantity = product["min_order_quantity"] or 1
        skus = [sku for sku in product["skus"] if (sku["stock"] or 0) >= quantity]
        if skus or not product["skus"]:
            break
    else:
        raise NothingHappened(f"{platform} has no product that can be ordered now.")
    line = {"product_id": product["id"], "quantity": quantity}
    if skus:
        line["sku_id"] = skus[0]["id"]
    body = {"platform": platform, "items": [line], "address": _ADDRESS}
    headers = {"idempotency-key": str(uuid.uuid4())}
    order_id: str = remote.post("/v1/orders", body, headers=headers)["id"]
    return order_id


def _until_created(remote: client.Remote, order_id: str) -> None:
    deadline = time.monotonic() + _WAIT_SECONDS
    while remote.get(client.path("orders", order_id))["status"] == "creating":
        if time.monotonic() > deadline:
            raise NothingHappened(f"The marketplace has not created order {order_id} in time.")
        time.sleep(_POLL_SECONDS)


def _end_of_journal(remote: client.Remote, order_id: str) -> str:
    """The cursor after the last event of an order that there is now."""
    cursor: str | None = None
    while True:
        query = {"limit": 100, "order": order_id}
        page = remote.get("/v1/events", query | ({"after": cursor} if cursor else {}))
        cursor = str(page["next_cursor"])
        if not page["has_more"]:
            return cursor


def _wait(remote: client.Remote, event: str, order_id: str, cursor: str | None) -> dict[str, Any]:
    deadline = time.monotonic() + _WAIT_SECONDS
    query = {"event": event, "order": order_id} | ({"after": cursor} if cursor else {})
    while time.monotonic() < deadline:
        page = remote.get("/v1/events", query)
        if page["items"]:
            body: dict[str, Any] = page["items"][-1]
            return body
        query["after"] = page["next_cursor"]
        time.sleep(_POLL_SECONDS)
    raise NothingHappened(f"No {event} of order {order_id} came within {_WAIT_SECONDS:.0f} s.")


def _write_test(result: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        write_json(result)
    else:
        outcome = "was delivered" if result["delivered"] else "was not delivered"
        detail = result["status_code"] or result["outcome"]
        say(f"The test delivery {outcome}: {detail}, {result['duration_ms']} ms.")
    if not result["delivered"]:
        raise typer.Exit(1)
