"""Records an act in the audit log, in the transaction of the act itself."""

from collections.abc import Mapping
from urllib.parse import urlsplit
from uuid import UUID

import msgspec

from tradewind import ids
from tradewind.audit import sql
from tradewind.audit.model import Actor
from tradewind.storage.statements import Part
from tradewind.storage.transaction import Tx


def record(
    tx: Tx, by: Actor, action: str, *, account_id: UUID | None, subject: str, **details: object
) -> None:
    """Record that `by` did `action` to `subject`; `account_id` is the account that it concerns.

    Of a URL in the details only scheme, host, port and path are kept. The entry is written at the
    end of the transaction.
    """
    tx.write_last(entry(by, action, account_id, subject, details))


def entry(
    by: Actor,
    action: str,
    account_id: UUID | None,
    subject: str,
    details: Mapping[str, object],
) -> Part:
    """The same as a part of the statement of the act."""
    kept = {name: without_secrets(value) for name, value in details.items()}
    encoded = msgspec.json.encode(kept).decode()
    entry_id = ids.new()
    return lambda after, only_if: sql.insert_entry(
        entry_id, by, action, account_id, subject, encoded, after=after, only_if=only_if
    )


def without_secrets(value: object) -> object:
    """A URL without user info, query and fragment, where tokens are; any other value as it is."""
    if not isinstance(value, str) or not value.startswith(("https://", "http://")):
        return value
    try:
        parts = urlsplit(value)
    except ValueError:
        return value.partition("://")[0] + "://…"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
