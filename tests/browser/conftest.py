"""A real browser: the system's Chromium, which reaches nothing but our own server."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from kit.server import Server
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, sync_playwright

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
    """A page on our server, with whatever went wrong on it."""

    page: Page
    url: str
    complaints: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", self._request)

    def open(self, path: str) -> None:
        self.page.goto(self.url + path)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.complaints.append(message.text)

    def _request(self, request: Request) -> None:
        if not request.url.startswith((self.url, "data:", "blob:")):
            self.complaints.append(f"asked for {request.url}")


@pytest.fixture
def visit(browser: Browser, api: Server) -> Iterator[Visit]:
    context = browser.new_context(base_url=api.url)
    made = Visit(context.new_page(), api.url)
    yield made
    context.close()
