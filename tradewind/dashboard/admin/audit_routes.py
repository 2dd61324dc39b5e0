"""The audit log, in a browser, for operators."""

from datetime import UTC, date, datetime, time, timedelta
from uuid import UUID

from tradewind import ids
from tradewind.accounts import sql as account_sql
from tradewind.audit import sql as audit_sql
from tradewind.auth.model import Operator
from tradewind.dashboard.admin import queries
from tradewind.dashboard.shell.render import Renderer
from tradewind.dashboard.shell.urls import first_page, is_filtered, next_page
from tradewind.storage.pool import Database
from tradewind.web.endpoint import Routes
from tradewind.web.paging import PageQuery, page, read_cursor
from tradewind.web.request import Request
from tradewind.web.response import Response

routes = Routes("/audit", tag="Dashboard", hidden=True, pages=True)

# The id of no account: filtering by an unknown account finds nothing.
_NO_ACCOUNT = UUID(int=0)


class AuditPageQuery(PageQuery):
    """The filters of the audit log."""

    account: str = ""
    action: str = ""
    about: str = ""
    since: date | None = None
    until: date | None = None


@routes.get(media_type="text/html", expensive=True)
async def show_audit(
    request: Request, caller: Operator, query: AuditPageQuery, db: Database, renderer: Renderer
) -> Response:
    """List who did what, when and from where, newest first."""
    account_id, errors = None, {}
    if query.account.strip():
        account_id = await _find_account(db, query.account.strip())
        if account_id == _NO_ACCOUNT:
            errors = {"account": "There is no account with this ID or e-mail."}
    entries = await audit_sql.list_entries(
        db,
        account_id=account_id,
        actions=[query.action] if query.action else None,
        after=_midnight(query.since),
        before=_midnight(query.until, days=1),
        about=query.about.strip() or None,
        below=read_cursor("audit", query.cursor, UUID),
        limit=query.limit + 1,
    )
    shown = page(
        "audit", entries, query.limit, key=lambda entry: entry.id, show=lambda entry: entry
    )
    accounts = [entry.account_id for entry in shown.items if entry.account_id is not None]
    return renderer.page(
        "admin/audit.html",
        request,
        caller,
        query=query,
        entries=shown.items,
        names=await queries.account_names(db, accounts),
        actions=[(action, action) for action in await queries.audit_actions(db)],
        errors=errors,
        filtered=is_filtered(request),
        next_url=next_page(request, shown.next_cursor),
        first_url=first_page(request),
    )


async def _find_account(db: Database, text: str) -> UUID:
    """The account with this ID or e-mail."""
    if "@" in text:
        account = await account_sql.find_account(db, email=text.lower())
        return account.id if account else _NO_ACCOUNT
    return ids.ACCOUNT.read(text) or _NO_ACCOUNT


def _midnight(day: date | None, days: int = 0) -> datetime | None:
    """The start of a day in UTC, `days` later; None, so no limit, at the ends of the calendar."""
    if day is None or not 1 < day.year < 9998:  # noqa: PLR2004 - years that exist in every zone
        return None
    return datetime.combine(day, time(), UTC) + timedelta(days=days)
