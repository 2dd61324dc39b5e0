"""Imports as JSON: what callers send, and what they get."""

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta

from tradewind import clock, ids, money
from tradewind.errors import FieldError, ValidationFailed
from tradewind.imports.columns import SPELLINGS
from tradewind.imports.model import Import, ImportOrderStatus, ImportRow, ImportStatus, RowError
from tradewind.imports.row_warnings import row_warnings
from tradewind.money import Cny, CnyIn
from tradewind.web.inputs import Input, Output, id_text, read_amount
from tradewind.web.paging import CursorList, Page, PageQuery

_Time = clock.Timestamp
_MOST_CHOSEN = len(SPELLINGS)


class ImportQuery(Input):
    """How to read the file."""

    file_name: Annotated[
        str, Meta(max_length=200, description="For people: how the file is called.")
    ] = "import"
    platform: Annotated[
        Annotated[str, Meta(max_length=100)] | None,
        Meta(description="The platform of rows without one, or of a file without the column."),
    ] = None
    column: Annotated[
        Annotated[
            list[Annotated[str, Meta(max_length=200)]],
            Meta(max_length=_MOST_CHOSEN, extra={"commas": False}),
        ]
        | None,
        Meta(
            description="A column for a field, as `FIELD:NAME` with the name in the first row; "
            "repeat it for several. Other columns are matched by their names."
        ),
    ] = None

    @property
    def chosen(self) -> Mapping[str, str]:
        return read_chosen(self.column or [], "?column")


def read_chosen(texts: list[str], pointer: str) -> Mapping[str, str]:
    """Columns that somebody chose: the name in the file by field."""
    pairs = [text.partition(":") for text in texts]
    wrong = [
        FieldError(f"{pointer}/{index}", f"Must be FIELD:NAME; the fields: {', '.join(SPELLINGS)}.")
        for index, (field, _, name) in enumerate(pairs)
        if field.strip() not in SPELLINGS or not name.strip()
    ]
    if wrong:
        raise ValidationFailed.several(wrong)
    return {field.strip(): name.strip() for field, _, name in pairs}


class ImportRowsQuery(PageQuery):
    """Which rows of the import to show."""

    failed: Annotated[bool, Meta(description="Only rows that are not ordered.")] = False


class ImportConfirmIn(Input):
    """The total that the import showed."""

    expected_total_cny: Annotated[
        CnyIn, Meta(description="If the import costs something else, nothing is ordered: 409.")
    ]

    @property
    def total_fen(self) -> int:
        return read_amount("/expected_total_cny", self.expected_total_cny) or 0


class ImportCountsOut(Output):
    """How many rows and orders there are, and what became of them."""

    rows: Annotated[int, Meta(examples=[200])]
    rows_failed: Annotated[int, Meta(description="In orders that failed.", examples=[7])]
    orders: Annotated[int, Meta(examples=[200])]
    orders_waiting: Annotated[
        int, Meta(description="Not checked with the platform yet.", examples=[0])
    ]
    orders_ready: Annotated[int, Meta(description="Checked, and not placed yet.", examples=[193])]
    orders_failed: Annotated[int, Meta(examples=[7])]
    orders_placed: Annotated[int, Meta(examples=[0])]


class ImportOut(Output):
    """An import: a file with many orders, and how far it has come."""

    id: Annotated[str, id_text(ids.IMPORT)]
    file_name: Annotated[str, Meta(examples=["november.csv"])]
    status: Annotated[
        ImportStatus,
        Meta(
            description="`checking`: previewed with the platforms; `ready`: to be confirmed; "
            "`ordering`; `done`."
        ),
    ]
    columns: Annotated[
        dict[str, str],
        Meta(
            description="The column of each field, by its name in the file.",
            examples=[{"product_id": "Product ID", "quantity": "Qty"}],
        ),
    ]
    unused_columns: Annotated[list[str], Meta(examples=[["Colour"]])]
    counts: ImportCountsOut
    goods_amount_cny: Cny
    freight_cny: Cny
    discount_cny: Cny
    total_amount_cny: Annotated[
        Cny, Meta(description="Of the orders that can be placed, or were placed.")
    ]
    confirmed_total_cny: Cny | None
    created_at: _Time
    confirmed_at: _Time | None
    ended_at: _Time | None

    @staticmethod
    def of(stored: Import) -> "ImportOut":
        return ImportOut(**_fields(stored))


class RowErrorOut(Output):
    """What is wrong with a row."""

    column: Annotated[
        str | None,
        Meta(description="Its name in the file; null: the whole row.", examples=["Qty"]),
    ]
    code: Annotated[str, Meta(examples=["invalid"])]
    message: Annotated[str, Meta(examples=["Must be a whole number from 1 to 1,000,000."])]

    @staticmethod
    def of(error: RowError) -> "RowErrorOut":
        return RowErrorOut(column=error.column, code=error.code, message=error.message)


class ImportRowOut(Output):
    """A row of the file, and what became of it."""

    row: Annotated[int, Meta(description="As a spreadsheet numbers it.", examples=[2])]
    order_ref: Annotated[str | None, Meta(examples=[None])]
    product_id: Annotated[str | None, Meta(examples=["900000000001"])]
    sku_id: Annotated[str | None, Meta(examples=["87591f8108ad403c9ccf19a8eeb25e63"])]
    quantity: Annotated[str | None, Meta(description="As it is in the file.", examples=["2"])]
    status: Annotated[
        ImportOrderStatus, Meta(description="Of its order: a failed one is not ordered.")
    ]
    total_amount_cny: Annotated[Cny | None, Meta(description="Of its order.")]
    order: Annotated[
        str | None,
        Meta(description="The order that it became.", examples=["ORD06EJ4KQZC5T9XN4R5ZJ2V7M8QW"]),
    ]
    errors: list[RowErrorOut]
    warnings: Annotated[
        list[RowErrorOut],
        Meta(
            description="What is unusual and keeps nothing from being ordered: a province, city or "
            "district that is not known.",
            examples=[[]],
        ),
    ]

    @staticmethod
    def of(row: ImportRow, columns: Mapping[str, str]) -> "ImportRowOut":
        return ImportRowOut(
            row=row.number,
            order_ref=row.reference,
            product_id=row.cells.get("product_id"),
            sku_id=row.cells.get("sku_id"),
            quantity=row.cells.get("quantity"),
            status=row.status,
            total_amount_cny=money.show_or_none(row.total_fen),
            order=None if row.order_id is None else ids.ORDER.show(row.order_id),
            errors=[RowErrorOut.of(error) for error in row.errors],
            warnings=[RowErrorOut.of(warning) for warning in row_warnings(row.cells, columns)],
        )


class ImportDetailOut(ImportOut):
    """An import with a page of its rows, in the order of the file."""

    items: list[ImportRowOut]
    has_more: Annotated[bool, Meta(description="Whether there is another page.")]
    next_cursor: Annotated[
        str | None, Meta(description="Send it as `cursor` to get the next page; null on the last.")
    ]

    @staticmethod
    def of_rows(stored: Import, rows: Page[ImportRowOut]) -> "ImportDetailOut":
        return ImportDetailOut(
            **_fields(stored),
            items=rows.items,
            has_more=rows.has_more,
            next_cursor=rows.next_cursor,
        )


def _fields(stored: Import) -> dict[str, Any]:
    counts, amounts = stored.counts, stored.amounts
    return {
        "id": ids.IMPORT.show(stored.id),
        "file_name": stored.file_name,
        "status": stored.status,
        "columns": dict(stored.columns),
        "unused_columns": list(stored.unused_columns),
        "counts": ImportCountsOut(
            rows=counts.rows,
            rows_failed=counts.rows_failed,
            orders=counts.orders,
            orders_waiting=counts.orders_waiting,
            orders_ready=counts.orders_checked,
            orders_failed=counts.orders_failed,
            orders_placed=counts.orders_placed,
        ),
        "goods_amount_cny": money.show(amounts.goods_fen),
        "freight_cny": money.show(amounts.freight_fen),
        "discount_cny": money.show(amounts.discount_fen),
        "total_amount_cny": money.show(amounts.total_fen),
        "confirmed_total_cny": money.show_or_none(stored.confirmed_fen),
        "created_at": clock.show(stored.created_at),
        "confirmed_at": clock.show_or_none(stored.confirmed_at),
        "ended_at": clock.show_or_none(stored.ended_at),
    }


IMPORT_ROWS: CursorList[ImportRow] = CursorList("import rows", int, key=lambda row: row.number)
