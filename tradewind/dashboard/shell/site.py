"""The site: lets people in by their session, takes only its own forms, and refuses in pages."""

from urllib.parse import SplitResult, quote, urlsplit

from tradewind.dashboard.shell.errors import SignInNeeded
from tradewind.dashboard.shell.forms import local_path
from tradewind.dashboard.shell.page_limits import spend_page
from tradewind.dashboard.shell.render import Renderer
from tradewind.dashboard.shell.session import Sessions, is_csrf_token
from tradewind.errors import ApiError, NotFound
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.web import problems
from tradewind.web.caller import Caller
from tradewind.web.problems import RouteNotFound
from tradewind.web.request import Request
from tradewind.web.response import NO_STORE, Response
from tradewind.web.site import ForgedForm, Form

_OURS = frozenset({"same-origin", "none"})
# What a browser asks for when a page wants to be told of changes.
_A_STREAM = "text/event-stream"


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
        self._origin = _origin(public_url)

    async def enter(self, request: Request) -> Caller:
        found = await self._sessions.find(request)
        if found is None:
            raise SignInNeeded
        await spend_page(self._db, found)
        return found

    def check_form(self, request: Request, caller: Caller | None, form: Form) -> None:
        """A form is ours if the browser says so, and if it carries its session's token.

        Browsers of today always say where a form comes from; who says nothing needs the token.
        """
        site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
        if site is not None and site not in _OURS:
            raise ForgedForm
        if origin is not None and not self._is_ours(origin, request):
            raise ForgedForm
        if caller is not None and not (
            caller.session_id and is_csrf_token(self._keyring, caller.session_id, form.csrf)
        ):
            raise ForgedForm

    async def error_page(self, refusal: ApiError, request: Request) -> Response:
        if isinstance(refusal, SignInNeeded):
            if request.headers.get("accept") == _A_STREAM:
                return Response(None, 204, [NO_STORE])  # ends the stream; the page then looks why
            where = quote(self._way_back(request), safe="/")
            next_ = f"?next={where}" if where != "/" else ""
            return Response(
                None,
                303,
                [(b"location", f"/sign-in{next_}".encode()), self._sessions.end(), NO_STORE],
            )
        status = problems.status_of(type(refusal))
        missing = isinstance(refusal, RouteNotFound)
        answer = self._renderer.page(
            "refused.html",
            request,
            request.caller or await self._sessions.glance(request),
            status=status,
            title="There is no such page" if missing else refusal.title,
            detail="Nothing is at this address. It may have been mistyped, or moved."
            if missing
            else refusal.detail,
            code=refusal.code,
            problem_status=status,
            request_id=request.id,
            is_missing=isinstance(refusal, NotFound),
        )
        kept = [
            h
            for h in problems.response(refusal, "", "").headers
            if h[0] in {b"retry-after", b"allow"}
        ]
        answer.headers = [*answer.headers, *kept]
        return answer

    def _is_ours(self, origin: str, request: Request) -> bool:
        host = request.headers.get("host")
        return origin == self._origin or (bool(host) and _split(origin).netloc == host)

    def _way_back(self, request: Request) -> str:
        """The page that was asked for; after a form, the page that it was on."""
        if request.method in {"GET", "HEAD"}:
            query = request.query_string.decode("latin-1")
            return local_path(f"{request.path}?{query}" if query else request.path)
        came_from = _split(request.headers.get("referer", ""))
        query = f"?{came_from.query}" if came_from.query else ""
        return local_path(came_from.path + query)


def _split(sent: str) -> SplitResult:
    """The parts of a URL that somebody sent; what is none has no parts."""
    try:
        return urlsplit(sent)
    except ValueError:
        return urlsplit("")


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
