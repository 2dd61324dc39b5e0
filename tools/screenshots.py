"""Takes screenshots of every page of the dashboard: narrow and wide, light and dark."""

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

from playwright.sync_api import Browser, FilePayload, Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
ALL_SCREENSHOTS = ROOT / "build" / "screenshots"
DOCS_IMAGES = ROOT / "docs" / "images"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WIDTHS = {"narrow": 390, "wide": 1280}
SCHEMES = ("light", "dark")
MAX_HEIGHT = 2400
# Images in the docs are cut, so that they stay small.
DOCS_MAX_HEIGHT = 1000
# The demo orders need a while.
SETTLE_SECONDS = 120

# Each screenshot: a name, a path, who is signed in (None: nobody), and steps before it is taken:
# click the first match of a selector, or fill the field with a label, with a text or with a file.
Step = str | tuple[str, str | bytes]
PASTED_ADDRESS = "张三 152 5166 7788 浙江杭州滨江 网商路699号 3幢 310052"
ORDER_FILE = (
    b"Product ID,SKU,Qty,PO number,Ship to\n"
    b"900000000001,87591f8108ad403c9ccf19a8eeb25e63,24,PO-2041,\n"
    b"900000000020,,three,PO-2042,\n"
    b"900000000001,87591f8108ad403c9ccf19a8eeb25e63,5,PO-2043,Warehouse in Atlantis\n"
)
SHOP, BROKEN = 'main a:text("/shop")', 'main a:text("/broken")'
ATTEMPT = 'main tr:not(:has(.badge:text-is("Test"))) a[href*="/deliveries/dlv_"]'
SCREENSHOTS: tuple[tuple[str, str, str | None, tuple[Step, ...]], ...] = (
    ("sign-in", "/sign-in", None, ()),
    ("overview", "/", "buyer", ()),
    ("overview-week", "/?span=week", "buyer", ()),
    ("overview-operator", "/", "operator", ()),
    ("orders", "/orders", "buyer", ()),
    ("order", "/orders?external_id=demo-4", "buyer", ('main a[href^="/orders/ORD"]',)),
    ("order-unpaid", "/orders?external_id=demo-5", "buyer", ('main a[href^="/orders/ORD"]',)),
    (
        "order-cancel",
        "/orders?external_id=demo-5",
        "buyer",
        ('main a[href^="/orders/ORD"]', 'summary:text("Cancel order")'),
    ),
    ("account-menu", "/orders", "buyer", ("details.menu > summary",)),
    ("orders-none", "/orders?q=nothing", "buyer", ()),
    ("products", "/products?q=dress", "buyer", ()),
    ("products-picture", "/products?sort=price_asc", "buyer", (".picture-search > summary",)),
    ("products-link", "/products?q=https%3A%2F%2Fm.tb.cn%2Fh.5xyz", "buyer", ()),
    ("product", "/products/alibaba/610000157091", "buyer", ()),
    ("addresses", "/addresses", "buyer", ()),
    ("address-new", "/addresses/new", "buyer", ()),
    (
        "address-pasted",
        "/addresses/new",
        "buyer",
        (("Paste an address", PASTED_ADDRESS), 'button:text-is("Fill in the form")'),
    ),
    (
        "cart",
        "/products/sandbox/900000000001",
        "buyer",
        (("red: pieces", "12"), ("blue: pieces", "6"), 'button:text-is("Add to cart")'),
    ),
    ("checkout", "/cart", "buyer", ('button:has-text("Place")',)),
    ("cart-empty", "/cart", "buyer", ()),
    (
        "import",
        "/imports",
        "buyer",
        (
            ("File", ORDER_FILE),
            ("Marketplace", "sandbox"),
            'button:text-is("Check file")',
            'main .badge:text-is("Ready")',
        ),
    ),
    ("imports", "/imports", "buyer", ()),
    (
        "product-code",
        "/products/sandbox/900000000001",
        "buyer",
        (("red: pieces", "12"), 'button:text-is("Generate code")'),
    ),
    ("webhooks", "/webhooks", "buyer", ()),
    ("webhook-new", "/webhooks/new", "buyer", ()),
    ("webhook", "/webhooks", "buyer", (SHOP,)),
    ("webhook-failing", "/webhooks", "buyer", (BROKEN,)),
    ("webhook-delete", "/webhooks", "buyer", (SHOP, 'summary:text-is("Delete")')),
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
        "replay",
        "/webhooks",
        "buyer",
        (BROKEN, '.tabs a:text-is("Replay")', ".presets a"),
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
        (("Name", "warehouse sync"), 'button:text-is("Create API key")'),
    ),
    ("key-revoke", "/keys", "buyer", ('summary:text-is("Revoke")',)),
    ("account", "/account", "buyer", ()),
    ("approvals", "/approvals", "operator", ()),
    ("approval", "/approvals", "operator", ('main a[href^="/approvals/pay_"]',)),
    ("approvals-decided", "/approvals?show=decided", "operator", ()),
    ("accounts", "/accounts", "operator", ()),
    ("any-account", "/accounts", "operator", ('main a:text-is("buyer@demo.example")',)),
    ("account-new", "/accounts/new", "operator", ()),
    ("all-orders", "/admin/orders", "operator", ()),
    ("any-order", "/admin/orders", "operator", ('main a[href^="/admin/orders/ORD"]',)),
    ("endpoints", "/endpoints?health=all", "operator", ()),
    ("any-webhook", "/endpoints", "operator", (BROKEN,)),
    ("queue", "/queue", "operator", ()),
    ("performance", "/performance", "operator", ()),
    ("platforms", "/platforms", "operator", ()),
    ("platform", "/platforms", "operator", ('main a[href="/platforms/taobao"]',)),
    ("authorised", "/?code=0123456789abcdef&state=taobao", "operator", ()),
    ("audit", "/audit", "operator", ()),
    ("search", "/search?q=demo", "operator", ()),
    ("search-goods", "/search?q=dress", "buyer", ()),
    ("search-none", "/search?q=zzzz", "buyer", ()),
    ("problem", "/problems/price_changed", None, ()),
    ("problems", "/problems", None, ()),
    ("not-found", "/nowhere", "buyer", ()),
)
# Kept in docs/images and shown in the docs.
IN_DOCS = frozenset(
    {
        f"{name}-wide-light"
        for name in (
            "overview",
            "overview-operator",
            "orders",
            "order",
            "product",
            "cart",
            "import",
            "webhooks",
            "webhook-failing",
            "deliveries",
            "attempt",
            "test",
            "replay",
            "key-made",
            "account",
            "approvals",
            "approval",
            "queue",
            "performance",
        )
    }
    | {"overview-wide-dark", "webhook-wide-dark", "orders-narrow-light", "order-narrow-dark"}
    | {"approval-narrow-dark"}
)


def main() -> None:
    """Start a demo system, wait for its data, and take the screenshots."""
    browser_path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser_path is None:
        sys.exit("Chromium is missing; `make test` installs it.")
    ALL_SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    DOCS_IMAGES.mkdir(parents=True, exist_ok=True)
    names = set(sys.argv[1:])
    with demo_system() as demo, sync_playwright() as playwright:
        time.sleep(SETTLE_SECONDS)
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        for width in WIDTHS:
            for scheme in SCHEMES:
                take_screenshots(browser, demo, width, scheme, names)
        browser.close()


def take_screenshots(
    browser: Browser, demo: Mapping[str, Any], width: str, scheme: Any, names: set[str]
) -> None:
    pages: dict[str | None, Page] = {}
    for name, path, role, steps in SCREENSHOTS:
        if names and name not in names:
            continue
        if role not in pages:
            pages[role] = browser.new_context(
                base_url=demo["url"],
                color_scheme=scheme,
                locale="en-GB",
                timezone_id="Europe/Berlin",
                viewport={"width": WIDTHS[width], "height": 800},
            ).new_page()
            if role:
                sign_in(pages[role], demo[role])
        page = pages[role]
        page.goto(path)
        for step in steps:
            run_step(page, step)
        page.wait_for_timeout(300)
        height = min(MAX_HEIGHT, page.evaluate("document.documentElement.scrollHeight"))
        page.set_viewport_size({"width": WIDTHS[width], "height": max(800, height)})
        file = ALL_SCREENSHOTS / f"{name}-{width}-{scheme}.png"
        page.screenshot(path=file, animations="disabled", caret="hide")
        if file.stem in IN_DOCS:
            docs_height = min(max(800, height), DOCS_MAX_HEIGHT)
            page.set_viewport_size({"width": WIDTHS[width], "height": docs_height})
            page.screenshot(path=DOCS_IMAGES / file.name, animations="disabled", caret="hide")
        page.set_viewport_size({"width": WIDTHS[width], "height": 800})
        print(file.relative_to(ROOT), f"{file.stat().st_size // 1024} KiB")
    for page in pages.values():
        page.context.close()


def run_step(page: Page, step: Step) -> None:
    if isinstance(step, tuple):
        label, value = step
        field = page.locator("main").get_by_label(label, exact=True)
        if isinstance(value, bytes):
            file: FilePayload = {"name": "restock.csv", "mimeType": "text/csv", "buffer": value}
            field.set_input_files(file)
        elif field.evaluate("field => field.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)
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
def demo_system() -> Iterator[Mapping[str, Any]]:
    """Run a demo system in a temporary directory."""
    with tempfile.TemporaryDirectory(prefix="tradewind-shots-") as folder:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TRADEWIND_")}
        process = subprocess.Popen(
            [sys.executable, "-m", "tradewind", "dev", "--json", "--port", "0"],
            env={**environment, "TRADEWIND_DATA_DIR": folder},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        try:
            line = process.stdout.readline() if process.stdout else ""
            if not line:
                sys.exit("The demo system did not start; `make run` shows the reason.")
            yield json.loads(line)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=30)


if __name__ == "__main__":
    main()
