"""Shoots every page of the dashboard, narrow and wide, light and dark; a few are for the docs."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
EVERYTHING = ROOT / "build" / "screenshots"
FOR_DOCS = ROOT / "docs" / "images"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WIDTHS = {"narrow": 390, "wide": 1280}
SCHEMES = ("light", "dark")
LONGEST = 2400
# In the docs: not the whole length of a page, so that the pictures stay small.
LONGEST_IN_DOCS = 1000
# Demo orders need a while until there is something to see.
SETTLE_SECONDS = 120

# What to shoot: a name, a path, who looks at it (None: nobody is signed in), and what they do
# there: click the first of a selector, or type a text into the field with a label.
Step = str | tuple[str, str]
SHOP, BROKEN = 'main a:text("/shop")', 'main a:text("/broken")'
ATTEMPT = 'main tr:not(:has(.badge:text-is("test"))) a[href*="/deliveries/dlv_"]'
SHOTS: tuple[tuple[str, str, str | None, tuple[Step, ...]], ...] = (
    ("sign-in", "/sign-in", None, ()),
    ("overview", "/", "buyer", ()),
    ("overview-week", "/?span=week", "buyer", ()),
    ("overview-operator", "/", "operator", ()),
    ("orders", "/orders", "buyer", ()),
    ("order", "/orders?external_id=demo-4", "buyer", ('main a[href^="/orders/"]',)),
    ("order-unpaid", "/orders?external_id=demo-5", "buyer", ('main a[href^="/orders/"]',)),
    ("orders-none", "/orders?q=nothing", "buyer", ()),
    ("products", "/products?q=dress", "buyer", ()),
    ("product", "/products/sandbox/900000000001", "buyer", ()),
    ("webhooks", "/webhooks", "buyer", ()),
    ("webhook-new", "/webhooks/new", "buyer", ()),
    ("webhook", "/webhooks", "buyer", (SHOP,)),
    ("webhook-failing", "/webhooks", "buyer", (BROKEN,)),
    ("webhook-edit", "/webhooks", "buyer", (SHOP, 'a:text-is("Edit")')),
    ("deliveries", "/webhooks", "buyer", (BROKEN, '.tabs a:text-is("Deliveries")')),
    (
        "attempt",
        "/webhooks",
        "buyer",
        (BROKEN, ATTEMPT),
    ),
    ("pending", "/webhooks", "buyer", (BROKEN, '.tabs a:text-is("Pending")')),
    (
        "recover",
        "/webhooks",
        "buyer",
        (BROKEN, '.tabs a:text-is("Recover")', ".presets a"),
    ),
    ("test", "/webhooks", "buyer", (SHOP, '.tabs a:text-is("Test")', "main button.primary")),
    ("test-failed", "/webhooks", "buyer", (BROKEN, '.tabs a:text-is("Test")', "main .primary")),
    (
        "explain",
        "/webhooks",
        "buyer",
        (BROKEN, ATTEMPT, 'main a[href*="/explain?"]'),
    ),
    ("keys", "/keys", "buyer", ()),
    (
        "key-made",
        "/keys",
        "buyer",
        (("Name of a new key", "warehouse sync"), 'button:text-is("Generate")'),
    ),
    ("key-revoke", "/keys", "buyer", ('summary:text-is("Revoke")',)),
    ("account", "/account", "buyer", ()),
    ("approvals", "/approvals", "operator", ()),
    ("approval", "/approvals", "operator", ('main a[href^="/approvals/"]',)),
    ("approvals-decided", "/approvals?show=decided", "operator", ()),
    ("accounts", "/accounts", "operator", ()),
    ("any-account", "/accounts", "operator", ('main a:text-is("buyer@demo.example")',)),
    ("account-new", "/accounts/new", "operator", ()),
    ("all-orders", "/admin/orders", "operator", ()),
    ("any-order", "/admin/orders", "operator", ('main a[href^="/admin/orders/"]',)),
    ("endpoints", "/endpoints?health=all", "operator", ()),
    ("queue", "/queue", "operator", ()),
    ("platforms", "/platforms", "operator", ()),
    ("platform", "/platforms", "operator", ('main a[href="/platforms/taobao"]',)),
    ("authorised", "/?code=0123456789abcdef&state=taobao", "operator", ()),
    ("audit", "/audit", "operator", ()),
    ("search", "/search?q=demo", "operator", ()),
    ("not-found", "/nowhere", "buyer", ()),
)
# Those that are kept in docs/images, and shown in the docs.
IN_DOCS = frozenset(
    {
        f"{name}-wide-light"
        for name in (
            "overview",
            "overview-operator",
            "orders",
            "order",
            "product",
            "webhooks",
            "webhook-failing",
            "deliveries",
            "attempt",
            "test",
            "recover",
            "key-made",
            "account",
            "approvals",
            "approval",
            "queue",
        )
    }
    | {"overview-wide-dark", "webhook-wide-dark", "orders-narrow-light", "order-narrow-dark"}
)


def main() -> None:
    """Start a demo system, wait until something has happened, and shoot."""
    browser_path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser_path is None:
        sys.exit("Chromium is missing; `make test` installs it where it may.")
    EVERYTHING.mkdir(parents=True, exist_ok=True)
    FOR_DOCS.mkdir(parents=True, exist_ok=True)
    wanted = set(sys.argv[1:])
    with running() as demo, sync_playwright() as playwright:
        time.sleep(SETTLE_SECONDS)
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        for width in WIDTHS:
            for scheme in SCHEMES:
                shoot_all(browser, demo, width, scheme, wanted)
        browser.close()


def shoot_all(
    browser: Browser, demo: Mapping[str, Any], width: str, scheme: Any, wanted: set[str]
) -> None:
    pages: dict[str | None, Page] = {}
    for name, path, who, steps in SHOTS:
        if wanted and name not in wanted:
            continue
        if who not in pages:
            pages[who] = browser.new_context(
                base_url=demo["url"],
                color_scheme=scheme,
                locale="en-GB",
                timezone_id="Europe/Berlin",
                viewport={"width": WIDTHS[width], "height": 800},
            ).new_page()
            if who:
                sign_in(pages[who], demo[who])
        page = pages[who]
        page.goto(path)
        for step in steps:
            do(page, step)
        page.wait_for_timeout(300)
        height = min(LONGEST, page.evaluate("document.documentElement.scrollHeight"))
        page.set_viewport_size({"width": WIDTHS[width], "height": max(800, height)})
        shot = EVERYTHING / f"{name}-{width}-{scheme}.png"
        page.screenshot(path=shot, animations="disabled", caret="hide")
        if shot.stem in IN_DOCS:
            tall = min(max(800, height), LONGEST_IN_DOCS)
            page.set_viewport_size({"width": WIDTHS[width], "height": tall})
            page.screenshot(path=FOR_DOCS / shot.name, animations="disabled", caret="hide")
        page.set_viewport_size({"width": WIDTHS[width], "height": 800})
        print(shot.relative_to(ROOT), f"{shot.stat().st_size // 1024} KiB")
    for page in pages.values():
        page.context.close()


def do(page: Page, step: Step) -> None:
    if isinstance(step, tuple):
        page.get_by_label(step[0]).fill(step[1])
    else:
        page.locator(step).first.click()
        page.wait_for_load_state()


def sign_in(page: Page, person: Mapping[str, str]) -> None:
    page.goto("/sign-in")
    page.get_by_label("E-mail").fill(person["email"])
    page.get_by_label("Password").fill(person["password"])
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/")


@contextmanager
def running() -> Iterator[Mapping[str, Any]]:
    """A demo system of our own, that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="tradewind-shots-") as folder:
        kept = {k: v for k, v in os.environ.items() if not k.startswith("TRADEWIND_")}
        process = subprocess.Popen(
            [sys.executable, "-m", "tradewind", "dev", "--json", "--port", "0"],
            env={**kept, "TRADEWIND_DATA_DIR": folder},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        try:
            said = process.stdout.readline() if process.stdout else ""
            if not said:
                sys.exit("The demo system did not start; `make run` says why.")
            yield json.loads(said)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=30)


if __name__ == "__main__":
    main()
