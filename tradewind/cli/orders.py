"""`tradewind orders`: lists, shows and cancels orders, and places many from a file."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from tradewind.cli import client
from tradewind.cli.output import Json, for_programs, progress, say, write, write_json, write_table
from tradewind.cli.verify import UnreadableFile
from tradewind.errors import TradewindError

app = typer.Typer(help="Orders of your account, at a server.", no_args_is_help=True)

OrderArgument = Annotated[str, typer.Argument(help="The order's id, ORD….")]

_LIST = (
    *("id", "platform", "status", "payment_status", "total_amount_cny", "external_id"),
    "updated_at",
)
_SHOWN = (
    *("id", "platform", "order_id", "status", "payment_status", "platform_payment_status"),
    *("waiting_for", "total_amount_cny", "external_id", "created_at", "updated_at", "stale"),
)
_ITEMS = ("product_id", "sku_id", "quantity", "title_translated", "unit_price_cny")
_POLL_SECONDS = 0.5


class ImportFailed(TradewindError):
    """An import has nothing that can be ordered."""


@app.command("list")
def list_orders(
    *,
    status: Annotated[list[str] | None, typer.Option(help="Only these; repeat for more.")] = None,
    payment_status: Annotated[list[str] | None, typer.Option(help="Only these.")] = None,
    platform: Annotated[list[str] | None, typer.Option(help="Only of these marketplaces.")] = None,
    external_id: Annotated[str | None, typer.Option(help="Only the one with your own id.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many at the most.")] = 20,
    as_json: Json = False,
) -> None:
    """List your orders, newest first."""
    filters = {
        "status": status,
        "payment_status": payment_status,
        "platform": platform,
        "external_id": external_id,
    }
    chosen = {name: value for name, value in filters.items() if value}
    with client.connected() as remote:
        orders = list(remote.items("/v1/orders", chosen, limit=limit))
    write(orders, as_json=for_programs(as_json), columns=_LIST, empty="There are no such orders.")


@app.command()
def show(order: OrderArgument, *, as_json: Json = False) -> None:
    """Show an order, read from its marketplace now."""
    with client.connected() as remote:
        shown = remote.get(client.path("orders", order))
    _write_order(shown, as_json=as_json)


@app.command()
def timeline(order: OrderArgument, *, as_json: Json = False) -> None:
    """Show everything that happened to an order."""
    with client.connected() as remote:
        changes = list(remote.items(client.path("orders", order, "timeline"), limit=1000))
    if for_programs(as_json):
        write_json(changes)
        return
    rows = [
        {
            "at": change["at"],
            "cause": change["cause"],
            "by": (change["by"] or {}).get("email"),
            "changes": ", ".join(_changes(change["changes"])),
        }
        for change in changes
    ]
    write_table(rows, "Nothing happened yet.")


@app.command()
def cancel(order: OrderArgument, *, as_json: Json = False) -> None:
    """Cancel an order that is not paid."""
    with client.connected() as remote:
        cancelled = remote.post(client.path("orders", order, "cancel"))
    _write_order(cancelled, as_json=as_json)


@app.command("import")
def import_orders(
    file: Annotated[Path, typer.Argument(help="A CSV or XLSX file.")],
    *,
    platform: Annotated[
        str | None, typer.Option(help="The marketplace of rows without one.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Order without asking.")] = False,
    as_json: Json = False,
) -> None:
    """Check the orders of a file, show their total, and place them once you confirm it."""
    try:
        content = file.read_bytes()
    except OSError as error:
        raise UnreadableFile(f"{file} cannot be read: {error.strerror}.") from None
    query = {"file_name": file.name[:200], **({"platform": platform} if platform else {})}
    with client.connected() as remote:
        headers = {"content-type": "application/octet-stream"}
        made = remote.post("/v1/imports", params=query, content=content, headers=headers)
        checked = _follow(remote, made["id"], "checking", "Checking orders")
        counts, total = checked["counts"], checked["total_amount_cny"]
        if not counts["orders_ready"]:
            raise ImportFailed(
                f"None of {counts['orders']} orders can be placed; "
                f"{remote.login.url}/imports/{made['id']} shows why."
            )
        question = f"Place {counts['orders_ready']} orders for CNY {total:.2f}"
        if not yes:
            typer.confirm(f"{question} ({counts['orders_failed']} have errors)?", abort=True)
        order = client.path("imports", made["id"], "order")
        remote.post(order, {"expected_total_cny": total})
        done = _follow(remote, made["id"], "ordering", "Placing orders")
    result = {"id": made["id"], **done["counts"], "total_amount_cny": done["total_amount_cny"]}
    write(result, as_json=for_programs(as_json))


def _follow(remote: client.Remote, import_id: str, while_status: str, label: str) -> dict[str, Any]:
    """Wait while an import has this status, and show how far it is."""
    with progress(label) as show_progress:
        while True:
            stored = remote.get(client.path("imports", import_id), {"limit": 1})
            counts = stored["counts"]
            left = counts["orders_waiting" if while_status == "checking" else "orders_ready"]
            show_progress(counts["orders"] - left, counts["orders"])
            if stored["status"] != while_status:
                return stored
            time.sleep(_POLL_SECONDS)


def _changes(changes: dict[str, Any]) -> Iterator[str]:
    """Each change in a few words; that of a whole object only by its name."""
    for name, change in changes.items():
        before, after = change.get("from"), change.get("to")
        if isinstance(before, dict | list) or isinstance(after, dict | list):
            yield name
        else:
            yield f"{name} {'-' if before is None else before} → {'-' if after is None else after}"


def _write_order(order: dict[str, Any], *, as_json: bool) -> None:
    if for_programs(as_json):
        write_json(order)
        return
    write({name: order[name] for name in _SHOWN}, as_json=False)
    say("")
    write_table([{name: item[name] for name in _ITEMS} for item in order["items"]], "No items.")
