"""The audit log over HTTP, for operators."""

from uuid import UUID

from tradewind import ids
from tradewind.accounts.model import Operator
from tradewind.audit import sql
from tradewind.audit.wire import AuditOut, AuditQuery
from tradewind.errors import ValidationFailed
from tradewind.storage.pool import Database
from tradewind.web.endpoint import Routes
from tradewind.web.paging import Page, page, read_cursor

routes = Routes("/v1/admin/audit", tag="Audit log (operators)")


@routes.get(expensive=True)
async def list_audit(caller: Operator, query: AuditQuery, db: Database) -> Page[AuditOut]:
    """List what changed who may do what, and what was decided about money, newest first."""
    rows = await sql.list_entries(
        db,
        account_id=_account_id(query.account),
        actions=query.action,
        after=query.at_after,
        before=query.at_before,
        below=read_cursor("audit", query.cursor, UUID),
        limit=query.limit + 1,
    )
    return page("audit", rows, query.limit, key=lambda row: row["id"], show=AuditOut.of)


def _account_id(text: str | None) -> UUID | None:
    """The account to filter by; None is no filter, and so never stands for an unreadable id."""
    if text is None:
        return None
    account_id = ids.ACCOUNT.read(text)
    if account_id is None:
        raise ValidationFailed("?account", "This is not the id of an account.")
    return account_id
