"""Takes a file of orders: reads it, matches its columns, checks every row, and stores it."""

import asyncio
from collections.abc import Callable, Mapping
from uuid import UUID

import msgspec

from tradewind import ids
from tradewind.addresses import sql as address_sql
from tradewind.addresses.model import MOST_ADDRESSES
from tradewind.imports import sql
from tradewind.imports.address_book import AddressBook
from tradewind.imports.check_rows import CheckedFile, check_rows
from tradewind.imports.columns import MatchedColumns, match_columns
from tradewind.imports.csv_file import read_csv
from tradewind.imports.errors import FileUnreadable, TooManyImports
from tradewind.imports.get_import import get_import
from tradewind.imports.model import Import
from tradewind.imports.table import MOST_BYTES
from tradewind.imports.xlsx_file import SIGNATURE, read_xlsx
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction

# The topic that wakes the workers.
IMPORTS = "imports"

_MOST_RUNNING = 3
_LONGEST_NAME = 200


async def upload(
    db: Database,
    account_id: UUID,
    content: bytes,
    *,
    file_name: str,
    platform: str | None,
    chosen: Mapping[str, str],
    platform_of: Callable[[str], str],
) -> Import:
    """Store a file with the errors of its rows; the worker checks the others with marketplaces.

    `platform` is that of rows without one, `chosen` the names of columns for fields. Orders are
    shipped to saved addresses as these are now, whatever becomes of them.
    """
    if len(content) > MOST_BYTES:
        raise FileUnreadable("it has more than 5 MiB.")
    import_id = ids.new()
    metadata = {"import": ids.IMPORT.show(import_id)}
    saved = await address_sql.list_addresses(db, account_id, below=None, limit=MOST_ADDRESSES)
    # Thousands of rows take a while, in which other requests must not wait.
    columns, checked = await asyncio.to_thread(
        _read, content, platform, chosen, platform_of, metadata, AddressBook(saved)
    )
    async with transaction(db) as tx:
        if await sql.lock_and_count_running(tx, account_id) >= _MOST_RUNNING:
            raise TooManyImports(_MOST_RUNNING)
        await sql.insert_import(
            tx,
            import_id,
            account_id,
            _printable(file_name),
            msgspec.json.encode(columns.names).decode(),
            msgspec.json.encode(columns.unused).decode(),
            checked.orders,
            checked.rows,
        )
        tx.wake(IMPORTS)
    return await get_import(db, account_id, import_id)


def _read(
    content: bytes,
    platform: str | None,
    chosen: Mapping[str, str],
    platform_of: Callable[[str], str],
    metadata: dict[str, str],
    book: AddressBook,
) -> tuple[MatchedColumns, CheckedFile]:
    table = read_xlsx(content) if content.startswith(SIGNATURE) else read_csv(content)
    columns = match_columns(
        table.header,
        chosen,
        needs_platform=platform is None,
        has_default_address=book.default is not None,
    )
    return columns, check_rows(table, columns, platform, platform_of, metadata, book)


def _printable(file_name: str) -> str:
    """The name of a file as it can be shown, without a path."""
    name = file_name.replace("\\", "/").rpartition("/")[2]
    kept = "".join(letter for letter in name if letter.isprintable())
    return kept.strip()[:_LONGEST_NAME] or "import"
