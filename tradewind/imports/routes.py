"""Imports over HTTP: send a file of orders, look at it, confirm its total."""

from functools import partial

from tradewind import ids
from tradewind.auth.model import Buyer
from tradewind.imports import sql
from tradewind.imports.confirm import confirm
from tradewind.imports.errors import (
    ColumnsUnmatched,
    FileUnreadable,
    ImportNotReady,
    ImportTotalChanged,
    NothingToOrder,
    TooManyImports,
)
from tradewind.imports.get_import import get_import as get_stored_import
from tradewind.imports.model import ImportRow
from tradewind.imports.table import MOST_BYTES
from tradewind.imports.upload import upload
from tradewind.imports.wire import (
    IMPORT_ROWS,
    ImportConfirmIn,
    ImportDetailOut,
    ImportOut,
    ImportQuery,
    ImportRowOut,
    ImportRowsQuery,
)
from tradewind.orders.person import Person
from tradewind.platforms.errors import UnsupportedPlatform
from tradewind.platforms.registry import Platforms
from tradewind.storage.pool import Database
from tradewind.web.endpoint import Routes
from tradewind.web.inputs import read_file
from tradewind.web.request import Request
from tradewind.web.response import Response, location
from tradewind.web.scopes import Scope

routes = Routes("/v1/imports", tag="Imports")

_TYPES = (
    "text/csv",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/octet-stream",
)


@routes.post(
    scope=Scope.ORDER,
    status=201,
    returns=ImportOut,
    errors=(FileUnreadable, ColumnsUnmatched, UnsupportedPlatform, TooManyImports),
    headers={"Location": "The path of the import."},
    raw_body=True,
    upload="A CSV file (UTF-8, with or without a byte order mark; commas, semicolons or tabs) or "
    "an XLSX file, of 5 MiB and 5,000 rows at most, also as `text/csv` or as the type of XLSX.",
    body_limit=MOST_BYTES,
    expensive=True,
)
async def create_import(
    caller: Buyer, query: ImportQuery, request: Request, db: Database, platforms: Platforms
) -> Response:
    """Send a file with many orders. Nothing is ordered yet.

    The first row names the columns: `product_id`, `sku_id`, `quantity`, the fields of the address
    or `address` with the id or label of a saved one, and if you like `platform`, `external_id`,
    `remark` and `order_ref`; many other spellings are understood. Rows with the same `order_ref`
    are one order, and only one of them needs the address; any other row is an order of its own.
    A file without any address is shipped to the default address.

    Each row is checked at once, and then each order is previewed with its platform in the
    background: `GET /v1/imports/{id}` shows errors and totals, until `status` is `ready`.
    """
    platform = None if query.platform is None else platforms.named(query.platform)
    chosen = query.chosen
    content = await read_file(request, _TYPES, MOST_BYTES)
    stored = await upload(
        db,
        caller.account_id,
        content,
        file_name=query.file_name,
        platform=platform,
        chosen=chosen,
        platform_of=platforms.named,
    )
    where = location("imports", ids.IMPORT.show(stored.id))
    return Response(ImportOut.of(stored), 201, [where])


@routes.get("/{id}", scope=Scope.READ, expensive=True)
async def get_import(
    import_id: ids.ImportId, caller: Buyer, query: ImportRowsQuery, db: Database
) -> ImportDetailOut:
    """Look at an import: totals, progress, and a page of its rows with their errors and orders."""
    stored = await get_stored_import(db, caller.account_id, import_id)
    read = partial(sql.list_rows, db, caller.account_id, import_id, only_failed=query.failed)

    def show(row: ImportRow) -> ImportRowOut:
        return ImportRowOut.of(row, stored.columns)

    shown = await IMPORT_ROWS.page(query.cursor, query.limit, read, show)
    return ImportDetailOut.of_rows(stored, shown)


@routes.post(
    "/{id}/order",
    scope=Scope.ORDER,
    status=202,
    errors=(ImportNotReady, NothingToOrder, ImportTotalChanged),
)
async def order_import(
    import_id: ids.ImportId, caller: Buyer, body: ImportConfirmIn, db: Database
) -> ImportOut:
    """Confirm the total that you saw, and have the orders placed in the background.

    Orders with an error are left out. Each order is placed at the price that was previewed: one
    that costs something else by then fails with `price_changed`. However often this is sent, and
    whatever breaks, no row is ordered twice.
    """
    return ImportOut.of(await confirm(db, Person.of(caller), import_id, body.total_fen))
