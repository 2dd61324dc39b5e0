"""The audit log over HTTP, for operators."""

from functools import partial

from tradewind.audit import sql
from tradewind.audit.wire import AUDIT_ENTRIES, AuditListQuery, AuditOut
from tradewind.auth.model import Operator
from tradewind.storage.pool import Database
from tradewind.web.endpoint import Routes
from tradewind.web.paging import Page
from tradewind.web.scopes import FULL_ACCESS

routes = Routes("/v1/admin/audit", tag="Audit log (operators)")


@routes.get(scope=FULL_ACCESS, expensive=True)
async def list_audit(caller: Operator, query: AuditListQuery, db: Database) -> Page[AuditOut]:
    """List changes of permissions and decisions about payments, newest first."""
    read = partial(
        sql.list_entries,
        db,
        account_id=query.account_id,
        actions=query.action,
        after=query.at_after,
        before=query.at_before,
    )
    return await AUDIT_ENTRIES.page(query.cursor, query.limit, read, AuditOut.of)
