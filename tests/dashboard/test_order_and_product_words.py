"""The texts of the order and product pages, without a browser."""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from time import process_time
from typing import Any

import pytest

from tradewind.dashboard.orders.routes import OrdersPageQuery
from tradewind.dashboard.orders.timeline import timeline_entry
from tradewind.dashboard.products import routes as products_routes
from tradewind.dashboard.products import views as product_views
from tradewind.dashboard.products.lookup import product_path
from tradewind.dashboard.shell import urls
from tradewind.dashboard.shell.render import environment
from tradewind.errors import ValidationFailed
from tradewind.orders.model import Cause
from tradewind.orders.sql_lists import OrderChange
from tradewind.platforms.model import Offer, PriceRange, Product, ProductAttribute, Sku
from tradewind.products.detail import ProductDetail

HOSTILE = "<script>alert(1)</script>'$(touch /tmp/owned)"


def a_product(
    *,
    skus: Sequence[Sku] = (),
    price_ranges: Sequence[PriceRange] = (),
    shipping: Mapping[str, str] | None = None,
    **more: Any,
) -> Product:
    offer = Offer(
        id="1",
        title="裙",
        title_translated=None,
        url=None,
        image_url=None,
        price_fen=1000,
        price_max_fen=None,
        min_order_quantity=None,
        sold=None,
        repurchase_rate=None,
        seller_id=None,
        seller_name=None,
    )
    return Product(
        offer=replace(offer, **more),
        images=(),
        description=None,
        skus=skus,
        price_ranges=price_ranges,
        stock=None,
        shipping=shipping or {},
    )


def change(cause: str = "sync", **changes: tuple[Any, Any]) -> OrderChange:
    stored = {name: {"from": before, "to": after} for name, (before, after) in changes.items()}
    at = datetime(2026, 11, 15, 1, 2, 3, tzinfo=UTC)
    return OrderChange(version=2, at=at, cause=Cause(cause), changes=stored, events=[])


@pytest.mark.parametrize(
    ("timeline_change", "title", "tone"),
    [
        (change("accepted"), "Order accepted", "plain"),
        (change("create", status=("creating", "create_failed")), "Rejected by marketplace", "bad"),
        (change(status=("pending_payment", "paid")), "Synced from marketplace: paid", "good"),
        (change("cancel", cancel_requested=(False, True)), "Cancellation requested", "plain"),
        (change("cancel", status=("pending_payment", "cancelled")), "Cancelled", "plain"),
        (change("refund_refused"), "Refund rejected by marketplace", "bad"),
        (change("something_new"), "Something new", "plain"),
    ],
)
def test_a_change_has_a_title_that_people_read(
    timeline_change: OrderChange, title: str, tone: str
) -> None:
    entry = timeline_entry(timeline_change)

    assert entry.title.startswith(title)
    assert entry.tone == tone


def test_a_change_says_what_was_and_what_is() -> None:
    parcel = {"carrier": None, "tracking_number": "ZT1"}
    refund = {"id": "rfd_1", "amount_cny": 5.0, "freight_cny": 1.0, "status": "requested"}
    lines = timeline_entry(
        change(
            metadata=({}, {"a": "b"}),
            shipments=([], [parcel]),
            refunds=([refund], [{**refund, "status": "succeeded"}]),
            total_amount_cny=(None, 1234.5),
            status=("paid", "shipped"),
            failure=(None, {"code": "x", "message": HOSTILE}),
        )
    ).lines

    assert [str(line) for line in lines] == [
        "Status: Paid → Shipped",
        "Total: CNY 1,234.50",
        "Parcel: unknown carrier, ZT1",
        "Refund of CNY 6.00: Requested → Succeeded",
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
    assert product_views.plain_text(html) == text


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

    product_views.plain_text(html)

    assert process_time() - began < 0.5


def test_what_a_marketplace_wrote_cannot_leave_its_quotes() -> None:
    product = ProductDetail("sandbox", a_product(id=HOSTILE))

    line = product_views.curl_command(
        "https://a.example", "/v1/orders", product, HOSTILE, 2, "key-1"
    )

    words = [word for word in shlex.split(line) if word != "\n"]
    assert words[0] == "curl"
    assert "x-api-key: $TRADEWIND_KEY" in words
    assert "idempotency-key: key-1" in words
    item = json.loads(words[-1])["items"][0]
    assert item == {"product_id": HOSTILE, "sku_id": HOSTILE, "quantity": 2}


def test_the_price_of_a_piece_follows_the_quantity() -> None:
    ranges = [
        PriceRange(min_quantity=2, price_fen=900),
        PriceRange(min_quantity=10, price_fen=800),
    ]
    sku = Sku(id="s", attributes={}, price_fen=1100, stock=None, image_url=None)
    product = a_product(skus=[sku], price_ranges=ranges)

    found = [product_views.unit_price(product, "s", quantity) for quantity in (1, 2, 9, 10, 99)]

    assert found == [1100, 900, 900, 800, 800]
    assert product_views.unit_price(a_product(), None, 1) == 1000


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "//a.example", "/a", "", None, "http://["]
)
def test_only_the_web_is_led_to(url: str | None) -> None:
    assert urls.web_link(url) is None
    assert urls.image_url(url, ["https://img.example"]) is None


def test_a_picture_is_shown_from_its_marketplace_alone() -> None:
    origins = ["https://img.example"]

    assert urls.web_link("https://a.example/b") == "https://a.example/b"
    assert urls.image_url("https://img.example/1.jpg", origins) == "https://img.example/1.jpg"
    assert urls.image_url("https://img.example.evil/1.jpg", origins) is None
    assert urls.image_url("https://img.example@evil/1.jpg", origins) is None


def test_the_times_of_the_order_filters_are_in_utc() -> None:
    query = OrdersPageQuery(
        created_after="2026-11-15T01:02", updated_before="2026-11-15T01:02+02:00"
    )

    filters = query.as_api_query()

    assert filters.created_after == datetime(2026, 11, 15, 1, 2, tzinfo=UTC)
    assert filters.updated_before == datetime(2026, 11, 14, 23, 2, tzinfo=UTC)


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "soon"])
def test_a_time_that_leaves_the_calendar_is_refused(text: str) -> None:
    with pytest.raises(ValidationFailed):
        OrdersPageQuery(created_after=text).as_api_query()


@pytest.mark.parametrize("text", ["", "0", "-1", "1.5", "1000001", "9" * 5000, "²"])
def test_what_is_no_quantity_is_none(text: str) -> None:
    assert products_routes.read_quantity(text) is None


def test_a_product_with_html_in_every_text_is_shown_as_text() -> None:
    sku = Sku(
        id=HOSTILE, attributes={HOSTILE: HOSTILE}, price_fen=None, stock=0, image_url="javascript:1"
    )
    product = a_product(
        title=HOSTILE,
        title_translated=HOSTILE * 20,
        seller_id=HOSTILE,
        seller_name=HOSTILE,
        skus=[sku],
        shipping={HOSTILE: HOSTILE},
    )
    shown = (
        environment(lambda name: name)
        .get_template("products/product.html")
        .render(
            me=None,
            sections=(),
            csrf_token="",
            flash=None,
            theme=None,
            path="/",
            current_url="/",
            public_url="",
            product=product,
            offer=product.offer,
            platform="sandbox",
            gallery=[],
            image=lambda url: urls.image_url(url, []),
            description=product_views.plain_text(f"<p>{HOSTILE}</p> &lt;script&gt;"),
            attributes=[
                (HOSTILE, product_views.attribute_text(ProductAttribute(HOSTILE, HOSTILE, HOSTILE)))
            ],
            link=urls.web_link("javascript:alert(1)"),
            sku=HOSTILE,
            quantity=1,
            quantity_text="1",
            minimum=1,
            price_fen=None,
            errors={},
            preview=HOSTILE,
            order=HOSTILE,
            product_url=product_path("sandbox", HOSTILE),
            sku_name=products_routes.sku_name,
        )
    )

    assert "<script>alert" not in shown
    assert "javascript:" not in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
