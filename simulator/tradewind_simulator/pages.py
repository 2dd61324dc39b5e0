"""HTML pages: the start page, a product, and the cashier where a person pays an order."""

import re
from html import escape
from urllib.parse import parse_qs

from tradewind_simulator import images, money, responses, steps
from tradewind_simulator.model import Order, Status
from tradewind_simulator.orders import StepNotPossible
from tradewind_simulator.responses import Response
from tradewind_simulator.sandbox import Sandbox

_IMAGE = re.compile(r"/images/(\d{1,18})/(\d{1,2})\.svg")
_OFFER = re.compile(r"/offer/(\d{1,18})(?:\.html)?")
_LAYOUT = (
    "<!doctype html><meta charset=utf-8><title>{0}</title>"
    "<style>body{{font:16px sans-serif;max-width:44rem;margin:3rem auto;padding:0 1rem}}"
    "td,th{{text-align:left;padding:.3rem 1rem .3rem 0}}</style><h1>{0}</h1>{1}"
)


def show(sandbox: Sandbox, path: str, query: str) -> Response | None:
    """Return the page at this path; None if there is none."""
    if path == "/":
        return _front(sandbox)
    if path == "/order/cashier.htm":
        return _cashier(sandbox, query)
    if match := _IMAGE.fullmatch(path):
        return _image(sandbox, int(match[1]), int(match[2]))
    if match := _OFFER.fullmatch(path):
        return _offer(sandbox, int(match[1]))
    return None


def _page(title: str, body: str, status: int = 200) -> Response:
    return responses.html(_LAYOUT.format(escape(title), body), status)


def _front(sandbox: Sandbox) -> Response:
    counts = f"{len(sandbox.world.products)} products, {len(sandbox.world.sellers)} sellers"
    return _page(
        "Tradewind sandbox",
        f"<p>A simulated marketplace: {counts}, {len(sandbox.world.orders)} orders.</p>"
        "<p>It speaks two dialects, below <code>/openapi/</code> and <code>/rest/</code>; "
        'what it does can be seen at <a href="/_control/state">/_control/state</a>.</p>',
    )


def _image(sandbox: Sandbox, product: int, picture: int) -> Response | None:
    listed = sandbox.world.products.get(product)
    if listed is None:
        return None
    cached = ((b"cache-control", b"public, max-age=86400"),)
    return Response(images.draw(listed, picture), 200, b"image/svg+xml", cached)


def _offer(sandbox: Sandbox, number: int) -> Response | None:
    product = sandbox.world.products.get(number)
    if product is None:
        return None
    seller = sandbox.world.sellers[product.seller]
    prices = "".join(
        f"<tr><td>≥ {step.quantity}</td><td>¥{money.yuan_text(step.price_fen)}</td></tr>"
        for step in product.steps
    )
    return _page(
        product.title,
        f"<p>{escape(product.title_en)}</p><p>{escape(seller.name)}</p>"
        f'<img src="/images/{product.id}/0.svg" width=300 alt=""><table>{prices}</table>',
    )


def _orders(sandbox: Sandbox, query: str) -> list[Order]:
    ids = parse_qs(query).get("orderId", [""])[0].split(";")
    orders = (sandbox.world.orders.get(int(number)) for number in ids if number.isdecimal())
    return [order for order in orders if order is not None]


def _cashier(sandbox: Sandbox, query: str) -> Response:
    sandbox.settle()
    orders = _orders(sandbox, query)
    if not orders:
        return _page("收银台 Cashier", "<p>No such order.</p>", 404)
    rows = "".join(
        f"<tr><td>{order.id}</td><td>¥{money.yuan_text(order.total_fen)}</td>"
        f"<td>{order.status}</td></tr>"
        for order in orders
    )
    unpaid = any(order.status is Status.UNPAID for order in orders)
    button = "<form method=post><button>付款 Pay</button></form>" if unpaid else ""
    return _page("收银台 Cashier", f"<table>{rows}</table>{button}")


def pay(sandbox: Sandbox, query: str) -> Response:
    """Pay those of these orders that can be paid."""
    at = sandbox.settle()
    for order in _orders(sandbox, query):
        try:
            steps.take(sandbox.world, order, at, "pay", steps.Details())
        except StepNotPossible:
            continue
    return _cashier(sandbox, query)
