"""The audit log, in a browser, for operators."""

from datetime import UTC, date, datetime, time, timedelta
from uuid import UUID

from tradewind import ids
from tradewind.accounts import sql as account_sql
from tradewind.audit import sql
from tradewind.audit.wire import AuditOut
from tradewind.auth.model import Operator
from tradewind.dashboard.admin import queries as sql_desk
from tradewind.dashboard.shell.listing import chosen, first_page, next_page
from tradewind.dashboard.shell.render import Renderer
from tradewind.storage.pool import Database
from tradewind.web.endpoint import Routes
from tradewind.web.paging import PageQuery, page, read_cursor
from tradewind.web.request import Request
from tradewind.web.response import Response

routes = Routes("/audit", tag="Dashboard", hidden=True, pages=True)

# Of nobody: a filter by an account that there is not finds nothing.
_NOBODY = UUID(int=0)


class AuditQuery(PageQuery):
    """Which entries to list."""

    account: str = ""
    action: str = ""
    about: str = ""
    since: date | None = None
    until: date | None = None


@routes.get(media_type="text/html", expensive=True)
async def show_audit(
    request: Request, caller: Operator, query: AuditQuery, db: Database, renderer: Renderer
) -> Response:
    """Who did what, when and from where, newest first."""
    account_id, errors = None, {}
    if query.account.strip():
        account_id = await _account(db, query.account.strip())
        if account_id == _NOBODY:
            errors = {"account": "There is no account with this id or e-mail."}
    rows = await sql.list_entries(
        db,
        account_id=account_id,
        actions=[query.action] if query.action else None,
        after=_midnight(query.since),
        before=_midnight(query.until, days=1),
        about=query.about.strip() or None,
        below=read_cursor("audit", query.cursor, UUID),
        limit=query.limit + 1,
    )
    found = page("audit", rows, query.limit, key=lambda entry: entry.id, show=AuditOut.of)
    names = await sql_desk.names(
        db, [entry.account_id for entry in rows if entry.account_id is not None]
    )
    return renderer.page(
        "audit.html",
        request,
        caller,
        query=query,
        entries=found.items,
        names={ids.ACCOUNT.show(id_): row["email"] for id_, row in names.items()},
        actions=[(one, one) for one in await sql_desk.actions(db)],
        errors=errors,
        filtered=chosen(request),
        next_url=next_page(request, found.next_cursor),
        first_url=first_page(request),
    )


async def _account(db: Database, text: str) -> UUID:
    """The account of an id or an e-mail."""
    if "@" in text:
        found = await account_sql.find_account(db, email=text.lower())
        return found.id if found else _NOBODY
    return ids.ACCOUNT.read(text) or _NOBODY


def _midnight(day: date | None, days: int = 0) -> datetime | None:
    """When a day begins, in UTC; or when the day after it does. Outside the calendar: no limit."""
    if day is None or not 1 < day.year < 9998:  # noqa: PLR2004 - what can be told in UTC
        return None
    return datetime.combine(day, time(), UTC) + timedelta(days=days)
