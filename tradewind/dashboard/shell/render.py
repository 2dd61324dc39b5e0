"""Rendering: templates with their filters, the sidebar, static files, headers and redirects."""

import hashlib
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, wraps
from importlib.resources import files
from typing import TypeVar, Unpack, get_type_hints

from jinja2 import Environment, PackageLoader, PrefixLoader, StrictUndefined
from markupsafe import Markup, escape

from tradewind.auth.model import Role
from tradewind.dashboard.shell import labels, session
from tradewind.dashboard.shell.counters import sidebar_counts
from tradewind.dashboard.shell.forms import errors_of, time_input
from tradewind.dashboard.shell.labels import Tone
from tradewind.dashboard.shell.session import (
    FLASH_COOKIE,
    THEME_COOKIE,
    Flash,
    FlashSecret,
    Sessions,
    csrf_token,
)
from tradewind.dashboard.shell.urls import current_url, is_filtered, is_first_page, page_url
from tradewind.errors import ApiError
from tradewind.platforms.registry import MARKETPLACES
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.web import problems
from tradewind.web.caller import Caller
from tradewind.web.endpoint import Handler, RouteOptions, Routes
from tradewind.web.request import Request
from tradewind.web.response import HTML, NO_STORE, Headers, Response

# Each area keeps its templates in its own folder: "orders/order.html" is
# orders/templates/order.html.
_AREAS = (
    "account",
    "addresses",
    "admin",
    "api_keys",
    "approvals",
    "cart",
    "guides",
    "imports",
    "orders",
    "overview",
    "performance",
    "products",
    "reference",
    "search",
    "shell",
    "webhooks",
)

# Sent by `live.js` with an update, which must not consume the flash message.
LIVE_HEADER = "x-tradewind-live"

_TAG = re.compile(r"<(tr|td)(?=[\s>])")
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
_TYPES = {
    "css": b"text/css; charset=utf-8",
    "js": b"text/javascript; charset=utf-8",
    "png": b"image/png",
    "svg": b"image/svg+xml",
}


class Static:
    """The files of `static/`, with one version for all of them.

    Modules import each other by relative paths, so their URLs must change together.
    """

    def __init__(self) -> None:
        folder = files(__package__) / "static"
        contents = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
        self._files: Mapping[str, bytes] = dict(sorted(contents.items()))
        digest = hashlib.sha256()
        for name, content in self._files.items():
            digest.update(name.encode() + b"\0" + content + b"\0")
        self.version = digest.hexdigest()[:12]

    def url(self, name: str) -> str:
        if name not in self._files:
            raise LookupError(f"There is no static file {name}.")
        return f"/static/{self.version}/{name}"

    def find(self, name: str) -> tuple[bytes, bytes] | None:
        """The content and the type of a file."""
        content = self._files.get(name)
        return None if content is None else (content, _TYPES[name.rpartition(".")[2]])


@dataclass(frozen=True, slots=True)
class SidebarLink:
    """A link of the sidebar; without a role, everybody has it. `count` is what waits there."""

    label: str
    href: str
    role: Role | None = None
    is_current: bool = False
    count: int = 0


@dataclass(frozen=True, slots=True)
class SidebarSection:
    """A group of links; the first group has no heading."""

    heading: str
    links: Sequence[SidebarLink]


_SECTIONS = (
    SidebarSection(
        "",
        (
            SidebarLink("Overview", "/"),
            SidebarLink("Orders", "/orders", Role.BUYER),
            SidebarLink("Imports", "/imports", Role.BUYER),
            SidebarLink("Products", "/products"),
            SidebarLink("Cart", "/cart", Role.BUYER),
            SidebarLink("Webhooks", "/webhooks", Role.BUYER),
            SidebarLink("API keys", "/keys"),
        ),
    ),
    SidebarSection("Company", (SidebarLink("Addresses", "/addresses", Role.BUYER),)),
    SidebarSection("Approve", (SidebarLink("Approvals", "/approvals", Role.APPROVER),)),
    SidebarSection(
        "Operate",
        (
            SidebarLink("Accounts", "/accounts", Role.OPERATOR),
            SidebarLink("All orders", "/admin/orders", Role.OPERATOR),
            SidebarLink("All webhooks", "/endpoints", Role.OPERATOR),
            SidebarLink("Queue", "/queue", Role.OPERATOR),
            SidebarLink("Performance", "/performance", Role.OPERATOR),
            SidebarLink("Marketplaces", "/platforms", Role.OPERATOR),
            SidebarLink("Audit log", "/audit", Role.OPERATOR),
        ),
    ),
)


def sidebar(
    roles: frozenset[str], path: str, counts: Mapping[str, int]
) -> Sequence[SidebarSection]:
    """The sections for these roles, with the current page marked, and `counts` by their path."""
    sections = []
    for section in _SECTIONS:
        links = tuple(
            replace(link, is_current=_is_within(path, link.href), count=counts.get(link.href, 0))
            for link in section.links
            if link.role is None or link.role in roles
        )
        if links:
            sections.append(SidebarSection(section.heading, links))
    return sections


def _is_within(path: str, href: str) -> bool:
    return path == href or (href != "/" and path.startswith(href + "/"))


class TemplatePage:
    """A page to render from a template, with the errors of its form by field.

    `images` are the origins that its images may come from, besides our own.
    """

    def __init__(
        self,
        template: str,
        *,
        status: int | None = None,
        errors: Mapping[str, str] | None = None,
        images: Sequence[str] = (),
        **context: object,
    ) -> None:
        self.template = template
        self.status = status or (422 if errors else 200)
        self.images = images
        self.context = {"errors": errors or {}, **context}

    def rejected(
        self, error: ApiError, errors: Mapping[str, str] | None = None, **typed: object
    ) -> "TemplatePage":
        """The page after its form was rejected: its errors by field, and what was typed.

        `errors` replaces the messages of the error.
        """
        self.status = problems.status_of(type(error))
        self.context |= {"errors": errors or errors_of(error), **typed}
        return self


class Redirect:
    """The response to a form: a redirect to a page that shows this message once."""

    def __init__(
        self,
        path: str,
        text: str = "",
        *,
        tone: Tone = "good",
        secret: FlashSecret | None = None,
        **values: object,
    ) -> None:
        self.path = path
        self.flash = Flash(text, tone, secret, values)


# What the endpoint of a page returns; a `Response` is sent as it is.
PageResult = TemplatePage | Redirect | Response
PageHandler = TypeVar("PageHandler", bound=Callable[..., Awaitable[PageResult]])


class PageRoutes(Routes):
    """Endpoints of pages: each returns what to show, which is then rendered for the caller."""

    def __init__(self, prefix: str = "") -> None:
        super().__init__(prefix, tag="Dashboard", hidden=True, pages=True)

    def get(
        self, path: str = "", **options: Unpack[RouteOptions]
    ) -> Callable[[PageHandler], PageHandler]:
        return _declare_rendered(super().get(path, **options))

    def post(
        self, path: str = "", **options: Unpack[RouteOptions]
    ) -> Callable[[PageHandler], PageHandler]:
        return _declare_rendered(super().post(path, **options))


def _declare_rendered(
    declare: Callable[[Handler], Handler],
) -> Callable[[PageHandler], PageHandler]:
    def declare_handler(handler: PageHandler) -> PageHandler:
        declare(_rendered(handler))
        return handler

    return declare_handler


def _rendered(handler: Handler) -> Handler:
    """The handler with more parameters, which render its result."""
    hints = get_type_hints(handler, include_extras=True)
    takes_request = "request" in hints

    @wraps(handler)
    async def endpoint(
        request: Request, renderer: Renderer, page_db: Database, **arguments: object
    ) -> Response:
        if takes_request:
            arguments["request"] = request
        result = await handler(**arguments)
        counts: Mapping[str, int] = {}
        if isinstance(result, TemplatePage) and request.caller is not None:
            counts = await sidebar_counts(page_db, request.caller)
        return renderer.response(request, result, counts=counts)

    added = {"request": Request, "renderer": Renderer, "page_db": Database, "return": Response}
    endpoint.__annotations__ = {**hints, **added}
    return endpoint


class Renderer:
    """Makes responses of pages and redirects, with what every page needs besides its values."""

    def __init__(
        self, keyring: Keyring, sessions: Sessions, static: Static, public_url: str
    ) -> None:
        self._keyring = keyring
        self._sessions = sessions
        self._public_url = public_url
        self._environment = environment(static.url)

    def response(
        self,
        request: Request,
        result: PageResult,
        *,
        me: Caller | None = None,
        counts: Mapping[str, int] | None = None,
    ) -> Response:
        """The response that shows a result; `me` is for pages that do not require a session.

        `counts` are the numbers beside the links of the sidebar.
        """
        me = me or request.caller
        if isinstance(result, Response):
            return result
        if isinstance(result, Redirect):
            return self._redirect(result, me)
        flash, headers = self._flash(request, me)
        html = self._environment.get_template(result.template).render(
            me=me,
            sections=sidebar(me.roles, request.path, counts or {}) if me else (),
            csrf_token=csrf_token(self._keyring, me.session_id) if me and me.session_id else "",
            flash=flash,
            theme=self._theme(request),
            path=request.path,
            current_url=current_url(request),
            page_url=partial(page_url, request),
            is_first_page=is_first_page(request),
            filtered=is_filtered(request),
            public_url=self._public_url,
            **result.context,
        )
        headers = [*_security_headers(result.images), *headers]
        return Response(html.encode(), result.status, headers, HTML)

    def _theme(self, request: Request) -> str | None:
        """What the viewer chose; None: as the system is."""
        theme = self._sessions.read_cookie(request, THEME_COOKIE)
        return theme if theme in {"light", "dark"} else None

    def _redirect(self, redirect: Redirect, me: Caller | None) -> Response:
        headers: Headers = [(b"location", redirect.path.encode("ascii")), NO_STORE]
        if redirect.flash != Flash() and me and me.session_id:
            value = session.write_flash(self._keyring, me.session_id, redirect.flash)
            seconds = session.FLASH_SECONDS
            headers.append(self._sessions.cookie(FLASH_COOKIE, value, seconds=seconds))
        return Response(None, 303, headers)

    def _flash(self, request: Request, me: Caller | None) -> tuple[Flash | None, Headers]:
        value = self._sessions.read_cookie(request, FLASH_COOKIE)
        if not value or me is None or me.session_id is None or LIVE_HEADER in request.headers:
            return None, []
        flash = session.read_flash(self._keyring, me.session_id, value)
        return flash, [self._sessions.cookie(FLASH_COOKIE, "", seconds=0)]


def environment(static_url: Callable[[str], str]) -> Environment:
    """The template environment: undefined values are errors, and every value is escaped."""
    templates = Environment(
        loader=PrefixLoader(
            {area: PackageLoader(f"tradewind.dashboard.{area}") for area in _AREAS}
        ),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    templates.globals |= {"static": static_url, "marketplaces": frozenset(MARKETPLACES)}
    templates.filters |= {
        "label": labels.label,
        "tone": labels.tone,
        "explanation": labels.explanation,
        "iso": labels.iso,
        "utc": labels.utc,
        "fen": labels.fen,
        "number": labels.number,
        "limited_count": labels.limited_count,
        "percent": labels.percent,
        "duration": labels.duration,
        "id": labels.show_id,
        "initials": labels.initials,
        "marketplace": labels.marketplace,
        "goods_title": labels.goods_title,
        "label_cells": label_cells,
        "time_input": time_input,
        "mark_times": mark_times,
    }
    return templates


def label_cells(rows: Markup, columns: Sequence[str | tuple[str, ...]]) -> Markup:
    """The rows of a table, each cell with the name of its column in `data-label`.

    Values were escaped before, so every tag in `rows` is one of a template.
    """
    names = [column if isinstance(column, str) else column[0] for column in columns]
    index = -1

    def add_label(tag: re.Match[str]) -> str:
        nonlocal index
        index = -1 if tag[1] == "tr" else index + 1
        name = names[index] if 0 <= index < len(names) else ""
        return f'{tag[0]} data-label="{escape(name)}"' if name else tag[0]

    return Markup(_TAG.sub(add_label, rows))  # noqa: S704


def mark_times(sentence: str) -> Markup:
    """A sentence whose timestamps become `<time>` elements, which a browser shows in its zone."""
    marked = _TIMESTAMP.sub(
        r'<time datetime="\g<0>" title="\g<0>">\g<0></time>', str(escape(sentence))
    )
    return Markup(marked)  # noqa: S704 - escaped above


def _security_headers(images: Sequence[str]) -> Headers:
    """Headers that let a page load our own files only, and no inline script or style."""
    sources = " ".join(["'self'", "data:", *images])
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        f"img-src {sources}; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    )
    return [
        (b"content-security-policy", policy.encode("ascii")),
        # Without a referrer, browsers send no origin with a form, and it could not be checked.
        (b"referrer-policy", b"same-origin"),
        NO_STORE,
    ]
