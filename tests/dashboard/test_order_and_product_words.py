"""What the pages of orders and products say, without a browser: sentences, links, shell lines."""

import json
import shlex
from datetime import UTC, datetime
from time import process_time
from typing import Any

import pytest

from tradewind.dashboard.orders import routes as orders_routes
from tradewind.dashboard.orders import timeline
from tradewind.dashboard.products import routes as products_routes
from tradewind.dashboard.products import views as product_words
from tradewind.dashboard.shell import links
from tradewind.dashboard.shell.render import environment
from tradewind.errors import ValidationFailed
from tradewind.orders.wire import ChangeOut
from tradewind.products.wire import PriceRangeOut, ProductOut, SellerOut, SkuOut

HOSTILE = "<script>alert(1)</script>'$(touch /tmp/owned)"


def a_product(**more: Any) -> ProductOut:
    values: dict[str, Any] = {
        "id": "1",
        "platform": "sandbox",
        "title": "裙",
        "title_translated": None,
        "url": None,
        "image_url": None,
        "price_cny": 10.0,
        "price_max_cny": None,
        "min_order_quantity": None,
        "sold": None,
        "repurchase_rate": None,
        "seller": SellerOut(id=None, name=None),
        "skus": [],
        "price_ranges": [],
        "images": [],
        "description": None,
        "stock": None,
        "shipping": {},
    }
    return ProductOut(**{**values, **more})


def change(cause: str = "sync", **changes: tuple[Any, Any]) -> ChangeOut:
    told = {name: {"from": before, "to": after} for name, (before, after) in changes.items()}
    at = "2026-11-15T01:02:03.004Z"
    return ChangeOut(version=2, at=at, cause=cause, by=None, changes=told, events=[])


@pytest.mark.parametrize(
    ("given", "title", "tone"),
    [
        (change("accepted"), "Order accepted", "plain"),
        (change("create", status=("creating", "create_failed")), "The marketplace refused", "bad"),
        (change(status=("pending_payment", "paid")), "News from the marketplace: paid", "good"),
        (change("cancel", cancel_requested=(False, True)), "Cancellation asked for", "plain"),
        (change("cancel", status=("pending_payment", "cancelled")), "Cancelled", "plain"),
        (change("refund_refused"), "The marketplace refused the refund", "bad"),
        (change("something_new"), "Something new", "plain"),
    ],
)
def test_a_change_has_a_title_that_people_read(given: ChangeOut, title: str, tone: str) -> None:
    entry = timeline.entry(given, [])

    assert entry.title.startswith(title)
    assert entry.tone == tone


def test_a_change_says_what_was_and_what_is() -> None:
    parcel = {"carrier": None, "tracking_number": "ZT1"}
    refund = {"id": "rfd_1", "amount_cny": 5.0, "freight_cny": 1.0, "status": "requested"}
    lines = timeline.entry(
        change(
            metadata=({}, {"a": "b"}),
            shipments=([], [parcel]),
            refunds=([refund], [{**refund, "status": "succeeded"}]),
            total_amount_cny=(None, 1234.5),
            status=("paid", "shipped"),
            failure=(None, {"code": "x", "message": HOSTILE}),
        ),
        [],
    ).lines

    said = [line.text or f"{line.label}: {line.before} → {line.after}" for line in lines]
    assert said == [
        "Status: paid → shipped",
        "Total: — → ¥1,234.50",
        "Parcel: no carrier named, ZT1",
        "Refund of ¥6.00: requested → succeeded",
        HOSTILE,
    ]


@pytest.mark.parametrize(
    ("html", "text"),
    [
        (None, ""),
        ("棉", "棉"),
        ("<p>a<br>b</p><div> c &amp; d </div>", "a\nb\nc & d"),
        ("a<script>alert(1)</script><style>b{}</style>c", "ac"),
        ("<img src=x onerror=alert(1)>a<", "a<"),
        ("a &lt;script&gt;b", "a <script>b"),
    ],
)
def test_a_description_is_read_as_text(html: str | None, text: str) -> None:
    assert product_words.as_text(html) == text


@pytest.mark.parametrize(
    "html",
    [
        "<a " * 6666,
        '<a x="' * 3333,
        "<a/" * 6666,
        "<!--" * 5000,
        "<![" * 6666,
        "<" * 20_000,
        "&#" + "1" * 5000,
        "<script>" + "</" * 9990,
    ],
)
def test_a_description_that_is_made_to_be_slow_is_read_at_once(html: str) -> None:
    began = process_time()

    product_words.as_text(html)

    assert process_time() - began < 0.5


def test_what_a_marketplace_wrote_cannot_leave_its_quotes() -> None:
    product = a_product(id=HOSTILE)

    line = product_words.curl("https://a.example", "/v1/orders", product, HOSTILE, 2, "key-1")

    words = [word for word in shlex.split(line) if word != "\n"]
    assert words[0] == "curl"
    assert "x-api-key: $TRADEWIND_KEY" in words
    assert "idempotency-key: key-1" in words
    item = json.loads(words[-1])["items"][0]
    assert item == {"product_id": HOSTILE, "sku_id": HOSTILE, "quantity": 2}


def test_the_price_of_a_piece_follows_the_quantity() -> None:
    ranges = [
        PriceRangeOut(min_quantity=2, price_cny=9.0),
        PriceRangeOut(min_quantity=10, price_cny=8.0),
    ]
    sku = SkuOut(id="s", attributes={}, price_cny=11.0, stock=None, image_url=None)
    product = a_product(skus=[sku], price_ranges=ranges)

    found = [product_words.unit_price(product, "s", quantity) for quantity in (1, 2, 9, 10, 99)]

    assert found == [11.0, 9.0, 9.0, 8.0, 8.0]
    assert product_words.unit_price(a_product(), None, 1) == 10.0


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "//a.example", "/a", "", None, "http://["]
)
def test_only_the_web_is_led_to(url: str | None) -> None:
    assert links.web_link(url) is None
    assert links.picture(url, ["https://img.example"]) is None


def test_a_picture_is_shown_from_its_marketplace_alone() -> None:
    origins = ["https://img.example"]

    assert links.web_link("https://a.example/b") == "https://a.example/b"
    assert links.picture("https://img.example/1.jpg", origins) == "https://img.example/1.jpg"
    assert links.picture("https://img.example.evil/1.jpg", origins) is None
    assert links.picture("https://img.example@evil/1.jpg", origins) is None


def test_a_time_without_a_zone_is_in_utc() -> None:
    assert orders_routes.in_utc("2026-11-15T01:02") == "2026-11-15T01:02:00Z"
    assert orders_routes.in_utc("2026-11-15T01:02:03+02:00") == "2026-11-15T01:02:03+02:00"
    assert orders_routes.in_utc("soon") == "soon"
    assert orders_routes.as_typed("2026-11-15T01:02:03+02:00") == "2026-11-14T23:02"
    assert orders_routes.as_typed("soon") == ""
    assert datetime.fromisoformat(orders_routes.in_utc("2026-11-15")).tzinfo == UTC


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_a_time_that_leaves_the_calendar_is_refused(text: str) -> None:
    with pytest.raises(ValidationFailed):
        orders_routes.OrdersPageQuery(created_after=text).wanted()
    assert orders_routes.as_typed(text) == ""


@pytest.mark.parametrize("text", ["", "0", "-1", "1.5", "1000001", "9" * 5000, "²"])
def test_what_is_no_quantity_is_none(text: str) -> None:
    assert products_routes.read_quantity(text) is None


def test_a_product_with_html_in_every_text_is_shown_as_text() -> None:
    sku = SkuOut(
        id=HOSTILE, attributes={HOSTILE: HOSTILE}, price_cny=None, stock=0, image_url="javascript:1"
    )
    product = a_product(
        title=HOSTILE,
        title_translated=HOSTILE * 20,
        seller=SellerOut(id=HOSTILE, name=HOSTILE),
        skus=[sku],
        shipping={HOSTILE: HOSTILE},
    )
    shown = (
        environment(lambda name: name)
        .get_template("product.html")
        .render(
            me=None,
            sections=(),
            csrf_token="",
            flash=None,
            path="/",
            here="/",
            public_url="",
            product=product,
            pictures=[],
            picture=lambda url: links.picture(url, []),
            description=product_words.as_text(f"<p>{HOSTILE}</p> &lt;script&gt;"),
            shipping=[(products_routes.label_of(HOSTILE), HOSTILE)],
            link=links.web_link("javascript:alert(1)"),
            sku=HOSTILE,
            quantity=1,
            typed="1",
            least=1,
            each=None,
            errors={},
            preview=HOSTILE,
            order=HOSTILE,
            here_path=products_routes.product_path("sandbox", HOSTILE),
            sku_name=products_routes.sku_name,
        )
    )

    assert "<script>alert" not in shown
    assert "javascript:" not in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
