"""Entries of the audit log as JSON."""

from collections.abc import Mapping
from typing import Annotated, Any
from uuid import UUID

from msgspec import Meta

from tradewind import clock, ids, money
from tradewind.audit.model import AuditEntry
from tradewind.web.inputs import Input, Moment, Output, id_text, read_id
from tradewind.web.paging import CursorList, PageCursor, PageLimit


class AuditFilters(Input):
    """Which entries."""

    account: Annotated[
        Annotated[str, Meta(pattern=ids.ACCOUNT.pattern)] | None,
        Meta(description="Entries about this account."),
    ] = None
    action: Annotated[
        list[str] | None,
        Meta(description="Only these actions, by comma or repeated: `account.locked`, …"),
    ] = None
    at_after: Annotated[Moment | None, Meta(description="At or after.")] = None
    at_before: Annotated[Moment | None, Meta(description="Before.")] = None

    @property
    def account_id(self) -> UUID | None:
        return read_id(ids.ACCOUNT, "?account", self.account)


class AuditListQuery(AuditFilters):
    """Which entries to list."""

    limit: PageLimit = 20
    cursor: PageCursor = None


class AuditOut(Output):
    """One act: who did what to whom, when and from where."""

    id: Annotated[str, id_text(ids.AUDIT)]
    at: clock.Timestamp
    action: Annotated[str, Meta(examples=["account.locked"])]
    actor: Annotated[
        str, Meta(description="An e-mail, or `command line`.", examples=["op@example.com"])
    ]
    actor_account: Annotated[str | None, Meta(examples=["acc_06EJ4KQZC5T9XN4R5ZJ2V7M8QW"])]
    credential: Annotated[
        str | None,
        Meta(
            description="The API key or session that was used.",
            examples=["key_06EJ4KQZC5T9XN4R5ZJ2V7M8QX"],
        ),
    ]
    agent: Annotated[
        str | None,
        Meta(
            description="The program that acted, as it called itself (`X-Agent-Name`).",
            examples=["shopper/1.2"],
        ),
    ]
    address: Annotated[str | None, Meta(examples=["203.0.113.9"])]
    request_id: Annotated[str | None, Meta(examples=["req_06EJ4KQZC5T9XN4R5ZJ2V7M8QY"])]
    account: Annotated[
        str | None,
        Meta(
            description="The account that it concerns.", examples=["acc_06EJ4KQZC5T9XN4R5ZJ2V7M8QZ"]
        ),
    ]
    subject: Annotated[str, Meta(examples=["acc_06EJ4KQZC5T9XN4R5ZJ2V7M8QZ"])]
    details: Annotated[dict[str, Any], Meta(examples=[{"reason": "Unpaid invoices"}])]

    @staticmethod
    def of(entry: AuditEntry) -> "AuditOut":
        return AuditOut(
            id=ids.AUDIT.show(entry.id),
            at=clock.show(entry.at),
            action=entry.action,
            actor=entry.actor,
            actor_account=ids.ACCOUNT.show(entry.actor_id) if entry.actor_id else None,
            credential=entry.credential,
            agent=entry.agent,
            address=entry.address,
            request_id=entry.request_id,
            account=ids.ACCOUNT.show(entry.account_id) if entry.account_id else None,
            subject=entry.subject,
            details=_in_cny(entry.details),
        )


def _in_cny(details: Mapping[str, object]) -> dict[str, object]:
    """The details of an entry, with amounts in CNY: they are stored in fen, as `…_fen`."""
    shown: dict[str, object] = {}
    for name, value in details.items():
        if name.endswith("_fen") and isinstance(value, int):
            shown[name.removesuffix("_fen") + "_cny"] = money.show(value)
        else:
            shown[name] = value
    return shown


AUDIT_ENTRIES: CursorList[AuditEntry] = CursorList("audit", UUID, key=lambda entry: entry.id)
