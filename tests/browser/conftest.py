"""A real browser: the system's Chromium, which reaches nothing but our own server."""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from kit.pages import Pages
from kit.server import Person, Server
from kit.store import Store
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, sync_playwright

Enter = Callable[[Person], Pages]
_NAMES = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


# Playwright keeps an event loop running in this thread, beside which no other can run: it ends
# with the file, so that asynchronous tests may follow.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = next(filter(None, map(shutil.which, _NAMES)), None)
    if path is None:
        message = "Chromium is missing; `make test` installs it where it may."
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

    A page that was refused is an error to the browser's console, and none to us.
    """

    page: Page
    api: Server
    complaints: list[str] = field(default_factory=list)
    _opened: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", self._request)

    @property
    def url(self) -> str:
        return self.api.url

    @property
    def path(self) -> str:
        """Where the browser is now: the path and the query."""
        return self.page.url.removeprefix(self.url)

    def open(self, path: str) -> int:
        """Go to a path of ours; the status that it was answered with."""
        answer = self.page.goto(self.url + path)
        assert answer is not None
        return answer.status

    def sign_in(self, person: Person, then: str = "/") -> None:
        """Sign in as a person would, and be where one wanted to go."""
        self.open(then)
        self.page.get_by_label("E-mail").fill(person.email)
        self.page.get_by_label("Password").fill(person.password)
        self.page.get_by_role("button", name="Sign in").click()
        self.page.wait_for_url(self.url + then)
        self.api.workshop.secrets.add(self.cookie("tradewind_session")["value"])

    def cookie(self, name: str) -> Any:
        return next(one for one in self.page.context.cookies() if one["name"] == name)

    def serious(self) -> list[str]:
        """What an accessibility checker finds serious on the page, and where."""
        found = Axe().run(self.page).response["violations"]
        return [
            f"{one['id']}: {', '.join(str(node['target']) for node in one['nodes'])}"
            for one in found
            if one["impact"] in {"serious", "critical"}
        ]

    def _console(self, message: ConsoleMessage) -> None:
        refused = message.text.startswith("Failed to load resource: the server responded")
        if message.type == "error" and not (
            refused and message.location.get("url") in self._opened
        ):
            self.complaints.append(message.text)

    def _request(self, request: Request) -> None:
        if request.is_navigation_request():
            self._opened.add(request.url)
        if not re.match(rf"{re.escape(self.url)}|data:|blob:", request.url):
            self.complaints.append(f"asked for {request.url}")


@pytest.fixture
def visit(browser: Browser, api: Server) -> Iterator[Visit]:
    """A visit to an API without a worker, for pages that need none."""
    context = browser.new_context(base_url=api.url)
    made = Visit(context.new_page(), api)
    yield made
    context.close()


@pytest.fixture
def signed_in(api: Server) -> Iterator[Callable[[Person], Pages]]:
    """Signs people in at `api` without a browser; see `kit/pages.py`."""
    made: list[Pages] = []

    def sign_in(person: Person) -> Pages:
        made.append(Pages(api, person))
        return made[-1]

    yield sign_in
    for one in made:
        one.client.close()


@pytest.fixture
def open_desk(browser: Browser, store: Store) -> Iterator[Callable[..., Visit]]:
    """Opens the dashboard of the whole system in a browser of one's own, as often as asked.

    It takes what a browser context takes: `java_script_enabled`, `color_scheme`, `viewport`. At
    the end none of them may have had an error, or have asked anybody but us for anything.
    """
    made: list[Visit] = []

    def opened(**options: Any) -> Visit:
        context = browser.new_context(base_url=store.api.url, **options)
        context.grant_permissions(["clipboard-read", "clipboard-write"], origin=store.api.url)
        made.append(Visit(context.new_page(), store.api))
        return made[-1]

    yield opened
    for one in made:
        one.page.context.close()
    assert [complaint for one in made for complaint in one.complaints] == []


@pytest.fixture
def desk(open_desk: Callable[..., Visit]) -> Visit:
    """The dashboard of the whole system, with nobody signed in yet; see the fixture `store`."""
    return open_desk()


@pytest.fixture
def enter(store: Store) -> Iterator[Enter]:
    """Signs people in at the whole system, without a browser."""
    made: list[Pages] = []

    def sign_in(person: Person) -> Pages:
        made.append(Pages(store.api, person))
        return made[-1]

    yield sign_in
    for one in made:
        one.client.close()
