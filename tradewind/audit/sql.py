"""The statements of the audit log."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from tradewind.audit.model import Actor, AuditEntry
from tradewind.storage.pool import Database


def insert_entry(
    entry_id: UUID,
    by: Actor,
    action: str,
    account_id: UUID | None,
    subject: str,
    details: str,
    *,
    after: int = 0,
) -> tuple[str, list[object]]:
    """The statement that inserts an entry, and its arguments.

    As part of another statement its arguments come `after` those of that one.
    """
    args: list[object] = [
        entry_id,
        action,
        by.account_id,
        by.label,
        by.credential,
        by.address,
        by.request_id,
        account_id,
        subject,
        details,
        by.agent,
    ]
    kinds = ["uuid", "text", "uuid", *["text"] * 4, "uuid", "text", "jsonb", "text"]
    numbered = ", ".join(f"${number}::{kind}" for number, kind in enumerate(kinds, after + 1))
    return (
        f"""
        INSERT INTO audit (at, id, action, actor_id, actor, credential, address, request_id,
                           account_id, subject, details, agent)
        VALUES (tradewind_now(), {numbered})
        """,  # noqa: S608 - numbers and types of our own
        args,
    )


async def list_entries(
    db: Database,
    *,
    account_id: UUID | None = None,
    actions: Sequence[str] | None = None,
    after: datetime | None = None,
    before: datetime | None = None,
    about: str | None = None,
    below: UUID | None = None,
    limit: int,
) -> list[AuditEntry]:
    """Entries, newest first, after the last id of the page before.

    `about` is the id of a subject, of a credential or of a request.
    """
    rows = await db.fetch(
        """
        SELECT id, at, action, actor_id, actor, credential, address, request_id, account_id,
               subject, details, agent
          FROM audit
         WHERE ($1::uuid IS NULL OR account_id = $1)
           AND ($2::text[] IS NULL OR action = ANY($2))
           AND ($3::timestamptz IS NULL OR at >= $3)
           AND ($4::timestamptz IS NULL OR at < $4)
           AND ($5::uuid IS NULL OR id < $5)
           AND ($7::text IS NULL OR $7 IN (subject, credential, request_id))
         ORDER BY id DESC
         LIMIT $6
        """,
        account_id,
        actions,
        after,
        before,
        below,
        limit,
        about,
    )
    return [AuditEntry(**{**row, "details": msgspec.json.decode(row["details"])}) for row in rows]
