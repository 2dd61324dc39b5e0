"""A real browser: the system's Chromium, which reaches nothing but our own server."""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from kit.pages import COOKIE, Pages
from kit.server import Person, Server
from kit.system import System
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Page,
    Request,
    ViewportSize,
    sync_playwright,
)

SignIn = Callable[[Person], Pages]
_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_AXE = Axe()
_ONLY_VIOLATIONS = {"resultTypes": ["violations"]}
_WITHOUT_SCRIPTS = "/healthz"
# As large as a new tab is.
_SCREEN: ViewportSize = {"width": 1280, "height": 720}


# One browser for the whole folder. Playwright keeps an event loop running in this thread, beside
# which no other can run: it ends with the folder, so that asynchronous tests may follow.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    path = next(filter(None, map(shutil.which, _NAMES)), None)
    if path is None:
        message = "Chromium is missing; `make test` installs it."
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=_FLAGS)
        yield launched
        launched.close()


@dataclass
class Visit:
    """A page on our server, with whatever went wrong on it.

    A status of 4xx is an error to the browser's console, but not to us.
    """

    page: Page
    api: Server
    # Where the pictures of goods come from.
    pictures: str = "data:"
    complaints: list[str] = field(default_factory=list)
    _opened: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.page.on("console", self._console)
        self.page.on("pageerror", self._page_error)
        self.page.on("request", self._request)

    def leave(self) -> None:
        """Hear no more of the page."""
        self.page.remove_listener("console", self._console)
        self.page.remove_listener("pageerror", self._page_error)
        self.page.remove_listener("request", self._request)

    @property
    def url(self) -> str:
        return self.api.url

    @property
    def path(self) -> str:
        """The path and the query of the current page."""
        return self.page.url.removeprefix(self.url)

    def open(self, path: str) -> int:
        """Open a path; return the status of the response."""
        response = self.page.goto(self.url + path)
        assert response is not None
        return response.status

    def sign_in(self, person: Person, then: str = "/") -> None:
        """Sign in without the form, and open a page."""
        pages = Pages(self.api, person)
        token = pages.client.cookies[COOKIE]
        pages.client.close()
        cookie = {"name": COOKIE, "value": token, "url": self.url, "httpOnly": True}
        self.page.context.add_cookies([cookie])  # type: ignore[list-item]
        self.open(then)
        self.page.wait_for_url(self.url + then)

    def sign_in_by_form(self, person: Person, then: str = "/") -> None:
        """Sign in with the form, as a person does, and arrive at the requested page."""
        self.open(then)
        self.page.get_by_label("E-mail").fill(person.email)
        self.page.get_by_label("Password").fill(person.password)
        self.page.get_by_role("button", name="Sign in").click()
        self.page.wait_for_url(self.url + then)
        self.api.launcher.secrets.add(self.cookie(COOKIE)["value"])

    def cookie(self, name: str) -> Any:
        cookies = self.page.context.cookies()
        return next(cookie for cookie in cookies if cookie["name"] == name)

    def serious(self) -> list[str]:
        """The serious findings of an accessibility checker, and where they are."""
        violations = _AXE.run(self.page, options=_ONLY_VIOLATIONS).response["violations"]
        return [
            f"{violation['id']}: {', '.join(str(node['target']) for node in violation['nodes'])}"
            for violation in violations
            if violation["impact"] in {"serious", "critical"}
        ]

    def too_wide(self) -> int:
        """How many pixels the page is wider than the screen."""
        pixels: int = self.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        return max(0, pixels)

    def look(self, scheme: Any, width: int) -> None:
        """Change the colour scheme and the width of the screen; highlights do not fade."""
        self.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        self.page.set_viewport_size({"width": width, "height": 900})

    def _console(self, message: ConsoleMessage) -> None:
        is_status = message.text.startswith("Failed to load resource: the server responded")
        if message.type == "error" and not (
            is_status and message.location.get("url") in self._opened
        ):
            self.complaints.append(message.text)

    def _page_error(self, error: Error) -> None:
        self.complaints.append(str(error))

    def _request(self, request: Request) -> None:
        if request.is_navigation_request():
            self._opened.add(request.url)
        allowed = rf"{re.escape(self.url)}|{re.escape(self.pictures)}|data:|blob:"
        if not re.match(allowed, request.url):
            self.complaints.append(f"asked for {request.url}")


class Tabs:
    """One tab for each server, which tests use one after the other.

    To open a context, a tab and the first page in it takes as long as three more pages. A test that
    leaves something behind which `_clean` does not remove opens a context of its own.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._pages: dict[str, Page] = {}

    @contextmanager
    def visiting(self, api: Server, pictures: str = "data:") -> Iterator[Visit]:
        page = self._pages.pop(api.url, None) or self._open(api)
        visit = Visit(page, api, pictures)
        yield visit
        visit.leave()
        self._clean(page, api)
        self._pages[api.url] = page

    def _open(self, api: Server) -> Page:
        context = self._browser.new_context(base_url=api.url)
        _allow_clipboard(context, api)
        return context.new_page()

    def _clean(self, page: Page, api: Server) -> None:
        """Remove what a page keeps for the next one: cookies, storage, other tabs, its looks."""
        for other in page.context.pages:
            if other is not page:
                other.close()
        # A page of the dashboard may be about to leave by itself, and its scripts with it.
        page.goto(api.url + _WITHOUT_SCRIPTS)
        page.evaluate("localStorage.clear(); sessionStorage.clear()")
        page.goto("about:blank")
        page.context.clear_cookies()
        page.emulate_media(color_scheme="null", reduced_motion="null")
        page.set_viewport_size(_SCREEN)


def _allow_clipboard(context: BrowserContext, api: Server) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=api.url)


@pytest.fixture(scope="package")
def tabs(browser: Browser) -> Tabs:
    return Tabs(browser)


@pytest.fixture
def visit(tabs: Tabs, api: Server) -> Iterator[Visit]:
    """A visit to an API without a worker, for pages that need none."""
    with tabs.visiting(api) as visit:
        yield visit


def _signing_in(api: Server) -> Iterator[SignIn]:
    opened: list[Pages] = []

    def sign_in(person: Person) -> Pages:
        opened.append(Pages(api, person))
        return opened[-1]

    yield sign_in
    for pages in opened:
        pages.client.close()


@pytest.fixture
def signed_in(api: Server) -> Iterator[SignIn]:
    """Signs people in at `api` without a browser; see `kit/pages.py`."""
    yield from _signing_in(api)


@pytest.fixture
def enter(system: System) -> Iterator[SignIn]:
    """Signs people in at the whole system, without a browser."""
    yield from _signing_in(system.api)


@pytest.fixture
def open_desk(browser: Browser, system: System) -> Iterator[Callable[..., Visit]]:
    """Opens the dashboard of the whole system in a browser context of its own, on every call.

    It takes the options of a browser context: `java_script_enabled`, `color_scheme`, `viewport`.
    At the end, no page may have had an error, or have requested anything from elsewhere but
    pictures of the simulated marketplace.
    """
    visits: list[Visit] = []

    def open_context(**options: Any) -> Visit:
        context = browser.new_context(base_url=system.api.url, **options)
        _allow_clipboard(context, system.api)
        visits.append(Visit(context.new_page(), system.api, _pictures(system)))
        return visits[-1]

    yield open_context
    for visit in visits:
        visit.page.context.close()
    assert [complaint for visit in visits for complaint in visit.complaints] == []


@pytest.fixture
def desk(tabs: Tabs, system: System) -> Iterator[Visit]:
    """The dashboard of the whole system, with nobody signed in yet; see the fixture `system`.

    As with `open_desk`, no page may have had an error; the tab is one that tests share.
    """
    with tabs.visiting(system.api, _pictures(system)) as visit:
        yield visit
    assert visit.complaints == []


def _pictures(system: System) -> str:
    return f"{system.market.url}/images/"
