"""Imports, in a browser: send a file, look at its rows, confirm its total, follow its progress."""

from dataclasses import replace
from functools import partial
from uuid import UUID

from tradewind import ids, money
from tradewind.auth.model import Buyer
from tradewind.dashboard.imports import queries, views
from tradewind.dashboard.shell.forms import CursorQuery, required_amount_fen
from tradewind.dashboard.shell.labels import fen
from tradewind.dashboard.shell.render import PageResult, PageRoutes, Redirect, TemplatePage
from tradewind.errors import ApiError, Conflict, Invalid, ValidationFailed
from tradewind.imports import sql
from tradewind.imports.columns import SPELLINGS
from tradewind.imports.confirm import confirm
from tradewind.imports.get_import import get_import
from tradewind.imports.model import Import, ImportOrderStatus
from tradewind.imports.row_warnings import row_warnings
from tradewind.imports.table import MOST_BYTES
from tradewind.imports.upload import upload
from tradewind.imports.wire import IMPORT_ROWS, read_chosen
from tradewind.orders.person import Person
from tradewind.platforms.errors import UnsupportedPlatform
from tradewind.platforms.registry import Platforms
from tradewind.storage.pool import Database
from tradewind.web.download import CSV, DISPOSITION
from tradewind.web.inputs import Input
from tradewind.web.paging import CursorList
from tradewind.web.response import NO_STORE, Response
from tradewind.web.site import Form

routes = PageRoutes("/imports")

_IMPORTS: CursorList[Import] = CursorList("imports", UUID, key=lambda stored: stored.id)
_IMPORTS_SHOWN = 20
_ROWS = 50
# The file, and the other fields of its form.
_FORM_BYTES = MOST_BYTES + 16 * 1024


class ImportForm(Form):
    """A file, and how to read it."""

    file: bytes = b""
    file_name: str = ""
    platform: str = ""
    columns: str = ""


class ImportPageQuery(Input):
    """Which rows to show."""

    show: str = ""
    cursor: str | None = None


class ImportTotalForm(Form):
    """The total that the page showed; without it, nothing is ordered."""

    total_cny: str = ""


@routes.get(expensive=True)
async def show_imports(
    caller: Buyer, query: CursorQuery, db: Database, platforms: Platforms
) -> TemplatePage:
    """List the imports of the account, with the form for a new one."""
    read = partial(sql.list_imports, db, caller.account_id)
    shown = await _IMPORTS.rows(query.cursor, _IMPORTS_SHOWN, read)
    return TemplatePage(
        "imports/imports.html",
        imports=shown.items,
        next_cursor=shown.next_cursor,
        progress_of=views.progress_of,
        platforms=[
            (listing.traits.platform, listing.traits.name)
            for listing in await platforms.listed()
            if listing.connection is not None
        ],
        fields=SPELLINGS,
        platform="",
        columns="",
    )


@routes.get("/example")
async def download_example(caller: Buyer) -> Response:
    """An example of a file, with every column."""
    disposition = f'attachment; filename="{views.EXAMPLE_NAME}"'
    return Response(
        views.example_file(),
        headers=[(DISPOSITION.lower().encode(), disposition.encode("ascii")), NO_STORE],
        content_type=f"{CSV}; charset=utf-8".encode(),
    )


@routes.post(multipart=True, body_limit=_FORM_BYTES, expensive=True)
async def create_import(
    caller: Buyer, body: ImportForm, db: Database, platforms: Platforms
) -> PageResult:
    """Take a file, and show its import; or say what is wrong with the file as a whole."""
    try:
        if not body.file_name and not body.file:
            raise ValidationFailed("/file", "Choose a CSV or XLSX file.")
        stored = await upload(
            db,
            caller.account_id,
            body.file,
            file_name=body.file_name,
            platform=platforms.named(body.platform) if body.platform else None,
            chosen=read_chosen(views.read_column_lines(body.columns), "/columns"),
            platform_of=platforms.named,
        )
    except (Invalid, Conflict) as error:
        page = await show_imports(caller, CursorQuery(), db, platforms)
        typed = {"platform": body.platform, "columns": body.columns}
        return page.rejected(error, {_field_of(error): _sentence(error)}, **typed)
    return Redirect(_path(stored.id))


@routes.get("/{import_id}", expensive=True)
async def show_import(
    import_id: ids.ImportId, caller: Buyer, query: ImportPageQuery, db: Database
) -> TemplatePage:
    """Show an import: its columns, totals and progress, and its rows with their errors."""
    stored = await get_import(db, caller.account_id, import_id)
    only_failed = query.show == "failed"
    import_rows = replace(IMPORT_ROWS, name=f"import rows {only_failed}")
    read = partial(sql.list_rows, db, caller.account_id, import_id, only_failed=only_failed)
    shown = await import_rows.rows(query.cursor, _ROWS, read)
    numbers = [row.number for row in shown.items]
    path = _path(import_id)
    return TemplatePage(
        "imports/import.html",
        titles=await queries.goods_titles(db, caller.account_id, import_id, numbers),
        stored=stored,
        import_path=path,
        progress=views.progress_of(stored),
        total_cny=money.show(stored.amounts.total_fen),
        rows=shown.items,
        next_cursor=shown.next_cursor,
        placed=ImportOrderStatus.PLACED,
        ship_to=views.ship_to,
        warnings={row.number: row_warnings(row.cells, stored.columns) for row in shown.items},
        tabs=[
            (f"All rows ({stored.counts.rows:,})", path, not only_failed),
            (
                f"Not ordered ({stored.counts.rows_failed:,})",
                f"{path}?show=failed",
                only_failed,
            ),
        ],
    )


@routes.post("/{import_id}/order")
async def order_import(
    import_id: ids.ImportId, caller: Buyer, body: ImportTotalForm, db: Database
) -> PageResult:
    """Confirm the total that the page showed, however often the button is pressed."""
    try:
        total_fen = required_amount_fen("total_cny", body.total_cny)
        stored = await confirm(db, Person.of(caller), import_id, total_fen)
    except (Invalid, Conflict) as error:
        page = await show_import(import_id, caller, ImportPageQuery(), db)
        return page.rejected(error, {"": f"{error.detail} Nothing was ordered."})
    message = f"Confirmed {fen(stored.confirmed_fen)}. The orders are being placed."
    return Redirect(_path(import_id), message)


def _field_of(error: ApiError) -> str:
    """The field of the form that an error is about."""
    if isinstance(error, UnsupportedPlatform):
        return "platform"
    if isinstance(error, ValidationFailed):
        return "columns" if error.errors[0].pointer.startswith("/columns") else "file"
    return "file"


def _sentence(error: ApiError) -> str:
    if isinstance(error, ValidationFailed):
        return " ".join(dict.fromkeys(wrong.message for wrong in error.errors))
    return error.detail


def _path(import_id: UUID) -> str:
    return f"/imports/{ids.IMPORT.show(import_id)}"
