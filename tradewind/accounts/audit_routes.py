"""The audit log over HTTP, for operators."""

from uuid import UUID

from tradewind import ids
from tradewind.audit import sql
from tradewind.audit.wire import AuditListQuery, AuditOut
from tradewind.auth.model import Operator
from tradewind.errors import ValidationFailed
from tradewind.storage.pool import Database
from tradewind.web.endpoint import Routes
from tradewind.web.paging import Page, page, read_cursor

routes = Routes("/v1/admin/audit", tag="Audit log (operators)")


@routes.get(expensive=True)
async def list_audit(caller: Operator, query: AuditListQuery, db: Database) -> Page[AuditOut]:
    """List changes of permissions and decisions about payments, newest first."""
    entries = await sql.list_entries(
        db,
        account_id=_account_id(query.account),
        actions=query.action,
        after=query.at_after,
        before=query.at_before,
        below=read_cursor("audit", query.cursor, UUID),
        limit=query.limit + 1,
    )
    return page("audit", entries, query.limit, key=lambda entry: entry.id, show=AuditOut.of)


def _account_id(text: str | None) -> UUID | None:
    """The account to filter by, or None for all; an unreadable id is an error."""
    if text is None:
        return None
    account_id = ids.ACCOUNT.read(text)
    if account_id is None:
        raise ValidationFailed(
            "?account", "Must be the id of an account, such as acc_06EJ4KQZC5T9XN4R5ZJ2V7M8QW."
        )
    return account_id
