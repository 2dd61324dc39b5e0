"""Rendering: one template environment, one set of headers, and the way from a form to a page."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from jinja2 import Environment, PackageLoader, StrictUndefined

from tradewind import clock, ids
from tradewind.dashboard.shell import flash as flashes
from tradewind.dashboard.shell import labels
from tradewind.dashboard.shell.flash import Flash, Shown, Tone
from tradewind.dashboard.shell.navigation import sidebar
from tradewind.dashboard.shell.session import Sessions, csrf_token
from tradewind.dashboard.shell.static_files import Static
from tradewind.dashboard.shell.table_markup import labelled, timed
from tradewind.platforms.registry import MARKETPLACES
from tradewind.storage.keyring import Keyring
from tradewind.web.caller import Caller
from tradewind.web.request import Request
from tradewind.web.response import HTML, NO_STORE, Headers, Response

# What `live.js` sends when it looks again: such a look must not use up what is shown once.
LIVE_HEADER = "x-tradewind-live"

_KINDS: Mapping[str, ids.Kind] = {
    "account": ids.ACCOUNT,
    "key": ids.API_KEY,
    "audit": ids.AUDIT,
    "delivery": ids.DELIVERY,
    "event": ids.EVENT,
    "job": ids.JOB,
    "order": ids.ORDER,
    "payment": ids.PAYMENT,
    "refund": ids.REFUND,
    "session": ids.SESSION,
    "webhook": ids.SUBSCRIPTION,
}


class Renderer:
    """Makes pages from templates. It knows what every page needs besides its own values."""

    def __init__(
        self, keyring: Keyring, sessions: Sessions, static: Static, public_url: str
    ) -> None:
        self._keyring = keyring
        self._sessions = sessions
        self._public_url = public_url
        self._environment = environment(static.url)

    def page(
        self,
        template: str,
        request: Request,
        me: Caller | None,
        *,
        status: int = 200,
        images: Sequence[str] = (),
        **context: Any,
    ) -> Response:
        """The page of a template, for whom it is shown to.

        `images` are the origins that its pictures come from, besides our own.
        """
        flash, headers = self._flash(request, me)
        html = self._environment.get_template(template).render(
            me=me,
            sections=sidebar(me.roles, request.path) if me else (),
            csrf_token=csrf_token(self._keyring, me.session_id) if me and me.session_id else "",
            flash=flash,
            path=request.path,
            here=_here(request),
            public_url=self._public_url,
            **context,
        )
        return Response(html.encode(), status, [*_hardened(images), *headers], HTML)

    def to(
        self,
        me: Caller,
        where: str,
        text: str = "",
        *,
        tone: Tone = "good",
        secret: Shown | None = None,
    ) -> Response:
        """The answer to a form: on to a page, which shows this text and this secret once."""
        headers: Headers = [(b"location", where.encode("ascii")), NO_STORE]
        if (text or secret) and me.session_id:
            value = flashes.write(self._keyring, me.session_id, Flash(text, tone, secret))
            headers.append(self._sessions.cookie(flashes.COOKIE, value, seconds=flashes.SECONDS))
        return Response(None, 303, headers)

    def _flash(self, request: Request, me: Caller | None) -> tuple[Flash | None, Headers]:
        value = self._sessions.sent(request, flashes.COOKIE)
        if not value or me is None or me.session_id is None or LIVE_HEADER in request.headers:
            return None, []
        found = flashes.read(self._keyring, me.session_id, value)
        return found, [self._sessions.cookie(flashes.COOKIE, "", seconds=0)]


def environment(static_url: Callable[[str], str]) -> Environment:
    made = Environment(
        loader=PackageLoader("tradewind.dashboard"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.globals |= {"static": static_url, "tone": labels.tone, "word": labels.word}
    made.globals["marketplaces"] = frozenset(MARKETPLACES)
    made.filters |= {
        "word": labels.word,
        "tone": labels.tone,
        "explained": labels.explained,
        "iso": iso,
        "utc": utc,
        "yuan": yuan,
        "fen": fen,
        "number": number,
        "percent": percent,
        "duration": duration,
        "id": show_id,
        "labelled": labelled,
        "timed": timed,
    }
    return made


def iso(moment: datetime | str) -> str:
    """A moment as a machine reads it; what is spelled already stays as it is."""
    return moment if isinstance(moment, str) else clock.show(moment)


def utc(moment: datetime | str) -> str:
    """A moment for people, to the second, in the one zone that everybody can be told in."""
    read = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    return f"{read.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def yuan(cny: float | None) -> str:
    """An amount as the API shows it (yuan), for people."""
    return "—" if cny is None else f"¥{cny:,.2f}"


def fen(amount: int | None) -> str:
    """An amount as it is stored (fen), for people."""
    return "—" if amount is None else yuan(amount / 100)


def number(count: float | None) -> str:
    return "—" if count is None else f"{count:,}"


def percent(share: float | None) -> str:
    """A share from 0 to 1. Only what is whole is called 100 %."""
    if share is None:
        return "—"
    shown = f"{share * 100:.1f}"
    return "99.9 %" if shown == "100.0" and share < 1 else f"{shown.removesuffix('.0')} %"


def duration(seconds: float | None) -> str:
    """A length of time in units that are not too fine: `40 ms`, `3.2 s`, `2 h 5 min`."""
    if seconds is None:
        return "—"
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:  # noqa: PLR2004 - a minute
        return f"{seconds:.1f}".removesuffix(".0") + " s"
    minutes = int(seconds // 60)
    hours, days = minutes // 60, minutes // 1440
    if days:
        return f"{days} d {hours % 24} h" if hours % 24 else f"{days} d"
    if hours:
        return f"{hours} h {minutes % 60} min" if minutes % 60 else f"{hours} h"
    return f"{minutes} min"


def show_id(value: UUID | str | None, kind: str) -> str:
    """An id as customers see it: `{{ order.id | id("order") }}`."""
    if value is None:
        return "—"
    return value if isinstance(value, str) else _KINDS[kind].show(value)


def _here(request: Request) -> str:
    query = request.query_string.decode("latin-1")
    return f"{request.path}?{query}" if query else request.path


def _hardened(images: Sequence[str]) -> Headers:
    """Nothing but our own files is loaded, and no script or style that stands in the page."""
    sources = " ".join(["'self'", "data:", *images])
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        f"img-src {sources}; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    )
    return [
        (b"content-security-policy", policy.encode("ascii")),
        # Our own forms must be known as ours: without a referrer, a form has no origin either.
        (b"referrer-policy", b"same-origin"),
        NO_STORE,
    ]
