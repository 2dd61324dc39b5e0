"""An import for people: its progress, what it is about to do, and an example of a file. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from tradewind.exports.csv_rows import BOM, Cell, write_row
from tradewind.imports.columns import SPELLINGS
from tradewind.imports.model import Import, ImportStatus

EXAMPLE_NAME = "orders-example.csv"
_LONGEST_SHIP_TO = 100
_EXAMPLE: Mapping[str, Cell] = {
    "order_ref": "A-1",
    "external_id": "PO-1001",
    "platform": "sandbox",
    "product_id": "900000000001",
    "sku_id": "87591f8108ad403c9ccf19a8eeb25e63",
    "quantity": 2,
    "remark": "Pack it well.",
    "address": None,
    "name": "张三",
    "phone": "15251667788",
    "province": "浙江省",
    "city": "杭州市",
    "district": "滨江区",
    "detail": "网商路699号",
    "postal_code": "310000",
}


@dataclass(frozen=True, slots=True)
class Progress:
    """A bar: how much of the phase that runs is over, and a sentence about it."""

    value: int
    most: int
    text: str


def example_file() -> bytes:
    """A file with every column and one row."""
    fields = list(SPELLINGS)
    return (BOM + write_row(fields) + write_row([_EXAMPLE[name] for name in fields])).encode()


def progress_of(stored: Import) -> Progress | None:
    """The progress of an import that runs."""
    counts = stored.counts
    if stored.status is ImportStatus.CHECKING:
        ended = counts.orders - counts.orders_waiting
        return Progress(ended, counts.orders, f"{ended:,} of {counts.orders:,} orders checked")
    if stored.status is ImportStatus.ORDERING:
        most = counts.orders_checked + counts.orders_placed
        text = f"{counts.orders_placed:,} of {most:,} orders placed"
        return Progress(counts.orders_placed, most, text)
    return None


def ship_to(cells: Mapping[str, str]) -> str:
    """Where the order of a row is shipped to, in a few words; empty if another row says it."""
    if "address" in cells:
        text = cells["address"]
    else:
        text = " · ".join(cells[name] for name in ("name", "city", "district") if name in cells)
    return text if len(text) <= _LONGEST_SHIP_TO else text[:_LONGEST_SHIP_TO] + "…"


def read_column_lines(text: str) -> list[str]:
    """Lines such as `quantity = Menge`, as `FIELD:NAME`."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    pairs = [line.partition("=") for line in lines]
    return [f"{field.strip()}:{name.strip()}" for field, _, name in pairs]
