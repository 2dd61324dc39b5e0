"""The site: admits people by their session, checks forms, limits pages, and renders error pages."""

from urllib.parse import quote

from tradewind.dashboard.shell.render import Renderer, TemplatePage
from tradewind.dashboard.shell.session import Sessions, is_csrf_token
from tradewind.dashboard.shell.urls import current_url, local_path, origin_of, split_url
from tradewind.errors import ApiError, Unauthenticated
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.web import limits, problems
from tradewind.web.caller import Caller
from tradewind.web.limits import Rate, RateLimited
from tradewind.web.problems import RouteNotFound
from tradewind.web.request import Request
from tradewind.web.response import NO_STORE, Response
from tradewind.web.site import ForgedForm, Form

_SAME_SITE = frozenset({"same-origin", "none"})
_EVENT_STREAM = "text/event-stream"
# More than people and their open pages need. It is counted by session, so that a stolen session
# cannot keep the owner from ending it.
_PAGES = Rate(600, 300)


class SignInNeeded(Unauthenticated):
    """The page is for people who are signed in. Sign in, and it opens."""

    code = "sign_in_needed"
    title = "Sign in first"
    detail = "You are not signed in, or your session has ended."


class Dashboard:
    """What all pages have in common; see `web/site.py`."""

    def __init__(
        self,
        db: Database,
        sessions: Sessions,
        keyring: Keyring,
        renderer: Renderer,
        public_url: str,
    ) -> None:
        self._db = db
        self._sessions = sessions
        self._keyring = keyring
        self._renderer = renderer
        self._origin = origin_of(public_url)

    async def enter(self, request: Request) -> Caller:
        caller = await self.recheck(request)
        message = f"A session can open {_PAGES.per_minute} pages per minute. Wait a moment."
        await _take(self._db, f"pages:{caller.session_id}", _PAGES, message)
        return caller

    async def recheck(self, request: Request) -> Caller:
        caller = await self._sessions.find(request)
        if caller is None:
            raise SignInNeeded
        return caller

    def check_form(self, request: Request, caller: Caller | None, form: Form) -> None:
        """Accept a form that the browser says is ours and that carries its session's CSRF token.

        Today's browsers always send where a form comes from; without that, the token decides.
        """
        site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
        if site is not None and site not in _SAME_SITE:
            raise ForgedForm
        if origin is not None and not self._is_our_origin(origin, request):
            raise ForgedForm
        if caller is not None and not (
            caller.session_id and is_csrf_token(self._keyring, caller.session_id, form.csrf)
        ):
            raise ForgedForm

    async def error_page(self, error: ApiError, request: Request) -> Response:
        """The page about an error; without a session, a redirect to sign in."""
        if isinstance(error, SignInNeeded):
            return self._sign_in_redirect(request)
        status = problems.status_of(type(error))
        is_unknown_url = isinstance(error, RouteNotFound)
        page = TemplatePage(
            "shell/error.html",
            status=status,
            title="Page not found" if is_unknown_url else error.title,
            detail="There is no page at this URL." if is_unknown_url else error.detail,
            code=error.code,
            problem_status=status,
            request_id=request.id,
        )
        me = request.caller or await self._sessions.find_or_none(request)
        response = self._renderer.response(request, page, me=me)
        kept = [
            header
            for header in problems.response(error, "", "").headers
            if header[0] in {b"retry-after", b"allow"}
        ]
        response.headers = [*response.headers, *kept]
        return response

    def _sign_in_redirect(self, request: Request) -> Response:
        if request.headers.get("accept") == _EVENT_STREAM:
            return Response(None, 204, [NO_STORE])  # ends the stream; the page then reloads
        path = quote(_return_path(request), safe="/")
        query = f"?next={path}" if path != "/" else ""
        location = (b"location", f"/sign-in{query}".encode())
        return Response(None, 303, [location, self._sessions.end(), NO_STORE])

    def _is_our_origin(self, origin: str, request: Request) -> bool:
        host = request.headers.get("host")
        return origin == self._origin or (bool(host) and split_url(origin).netloc == host)


async def limit_marketplace_calls(db: Database, caller: Caller) -> None:
    """Take one call to a marketplace, as many as the plan allows requests, but apart from them.

    All accounts share the quota of a marketplace.
    """
    await _take(db, f"browsing:{caller.account_id}", caller.budget.rate)


async def _take(db: Database, subject: str, rate: Rate, message: str | None = None) -> None:
    granted, budget = await limits.take(db, subject, rate)
    if not granted:
        raise RateLimited(budget, message)


def _return_path(request: Request) -> str:
    """The requested page; after a form, the page that contained it."""
    if request.method in {"GET", "HEAD"}:
        return local_path(current_url(request))
    referrer = split_url(request.headers.get("referer", ""))
    query = f"?{referrer.query}" if referrer.query else ""
    return local_path(referrer.path + query)
