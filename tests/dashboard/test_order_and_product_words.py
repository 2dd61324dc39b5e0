"""The texts of the order and product pages, without a browser."""

import ast
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from time import process_time
from typing import Any, TypeGuard

import pytest

from tradewind.dashboard.orders.routes import OrdersPageQuery
from tradewind.dashboard.orders.timeline import timeline_entry
from tradewind.dashboard.products import variants
from tradewind.dashboard.products import views as product_views
from tradewind.dashboard.products.code import SAMPLE_ADDRESS, order_code
from tradewind.dashboard.products.lookup import product_path, results_url
from tradewind.dashboard.shell import urls
from tradewind.dashboard.shell.render import environment
from tradewind.errors import ValidationFailed
from tradewind.orders.model import Cause
from tradewind.orders.sql_lists import OrderChange
from tradewind.platforms.model import (
    Goods,
    Line,
    Offer,
    PriceRange,
    Product,
    ProductAttribute,
    Sku,
)

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


def test_an_order_and_its_parcels_are_named_by_their_goods() -> None:
    goods = [
        Line("7", f"sku-{number}", number, Goods(title=f"杯子{number}")) for number in range(1, 8)
    ]
    item = {"product_id": "7", "sku_id": "sku-2", "quantity": None}
    parcel = {"carrier": "中通快递", "tracking_number": "ZT1", "items": [item, {"product_id": "8"}]}

    accepted = timeline_entry(change("accepted"), goods=goods).lines
    known = timeline_entry(change(items=([], [])), goods=goods[:1]).lines
    shipped = timeline_entry(change(shipments=([], [parcel])), goods=goods).lines
    moved = timeline_entry(
        change(shipments=([parcel], [{**parcel, "items": []}])), goods=goods
    ).lines

    assert [str(line) for line in accepted][-2:] == ["5 \u00d7 杯子5", "and 2 more"]
    assert [str(line) for line in known] == ["1 \u00d7 杯子1"]
    assert [str(line) for line in shipped] == ["Parcel: 中通快递, ZT1", "杯子2"]
    assert [str(line) for line in moved] == ["Details changed at the marketplace."]


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
    address = replace(SAMPLE_ADDRESS, name=HOSTILE)

    code = order_code("https://a.example", "sandbox", HOSTILE, {HOSTILE: 2}, address, "key-1")

    words = [word for word in shlex.split(code.curl) if word != "\n"]
    assert words[0] == "curl"
    assert "x-api-key: $TRADEWIND_API_KEY" in words
    assert "idempotency-key: key-1" in words
    item = json.loads(words[-1])["items"][0]
    assert item == {"product_id": HOSTILE, "sku_id": HOSTILE, "quantity": 2}
    (call,) = (node for node in ast.walk(ast.parse(code.python)) if is_post(node))
    body = ast.literal_eval(next(word.value for word in call.keywords if word.arg == "json"))
    assert body["items"] == [item]
    assert body["address"]["name"] == HOSTILE
    assert json.dumps(HOSTILE) in code.node


def is_post(node: ast.AST) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "requests.post"


def a_sku(sku_id: str, price_fen: int | None = None, **attributes: str) -> Sku:
    return Sku(id=sku_id, attributes=attributes, price_fen=price_fen, stock=None, image_url=None)


def test_variants_of_two_attributes_are_a_table() -> None:
    product = a_product(
        skus=[
            a_sku("a", Colour="red", Size="S"),
            a_sku("b", Colour="red", Size="M"),
            a_sku("c", Colour="blue", Size="M"),
        ]
    )

    table = variants.variant_table(product)

    assert (table.row_heading, table.columns) == ("Colour", ["S", "M"])
    assert [(row.label, [cell and cell.key for cell in row.cells]) for row in table.rows] == [
        ("red", ["a", "b"]),
        ("blue", [None, "c"]),
    ]


@pytest.mark.parametrize(
    ("skus", "heading", "labels"),
    [
        ([a_sku("a", Colour="red"), a_sku("b", Colour="blue")], "Colour", ["red", "blue"]),
        (
            [a_sku("a", Colour="red", Size="S"), a_sku("b", Size="M")],
            "Variant",
            ["red, S", "M"],
        ),
        (
            [a_sku("a", Colour="red", Size="S"), a_sku("b", Colour="red", Size="S")],
            "Variant",
            ["red, S", "red, S"],
        ),
        (
            [a_sku(f"{n}", A=f"{n}", B=f"{n}") for n in range(11)],
            "Variant",
            [f"{n}, {n}" for n in range(11)],
        ),
        ([a_sku("a", A="1", B="2", C="3")], "Variant", ["1, 2, 3"]),
        ([a_sku("a")], "Variant", ["Default"]),
    ],
)
def test_other_variants_are_a_list(skus: list[Sku], heading: str, labels: list[str]) -> None:
    table = variants.variant_table(a_product(skus=skus))

    assert (table.row_heading, table.columns) == (heading, ["Quantity"])
    assert [row.label for row in table.rows] == labels
    assert [row.cells[0] and row.cells[0].key for row in table.rows] == [sku.id for sku in skus]


def test_a_product_without_variants_and_one_with_too_many() -> None:
    (row,) = variants.variant_table(a_product()).rows
    many = variants.variant_table(a_product(skus=[a_sku(f"{n}", A=f"{n}") for n in range(500)]))

    assert [cell and cell.key for cell in row.cells] == [variants.WITHOUT_VARIANT]
    assert (len(many.rows), many.hidden) == (190, 310)


def test_the_total_counts_the_pieces_of_all_variants() -> None:
    ranges = [PriceRange(1, 6440), PriceRange(50, 6100), PriceRange(200, 5750)]
    product = a_product(skus=[a_sku("a"), a_sku("b")], price_ranges=ranges, min_order_quantity=5)

    chosen: list[dict[str | None, int]] = [{"a": 2}, {"a": 12, "b": 6}, {"a": 150, "b": 100}, {}]
    few, some, many, none = (variants.chosen_pieces(product, pieces) for pieces in chosen)

    assert (few.pieces, few.amount_fen, few.missing) == (2, 12880, 3)
    assert (some.amount_fen, some.missing, some.to_next_price) == (18 * 6440, 0, 32)
    assert (many.amount_fen, many.next_range) == (250 * 5750, None)
    assert (none.pieces, none.amount_fen, none.next_range) == (0, 0, None)


def test_variants_with_prices_of_their_own_ignore_the_ranges() -> None:
    product = a_product(skus=[a_sku("a", 1100), a_sku("b", 1200)], price_ranges=[PriceRange(10, 1)])

    total = variants.chosen_pieces(product, {"a": 10, "b": 10})

    assert (total.amount_fen, total.next_range) == (23000, None)


def test_wrong_quantities_are_named_by_their_variant() -> None:
    assert variants.read_pieces({"a": " 3 ", "b": "", "c": "0", "-": "2"}) == {"a": 3, None: 2}
    with pytest.raises(ValidationFailed) as rejected:
        variants.read_pieces({"a": "x", "b": "2", "c": "-1"})
    assert [error.pointer for error in rejected.value.errors] == ["/a", "/c"]


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


@pytest.mark.parametrize("text", ["-1", "1.5", "1000001", "9" * 5000, "²", "٣", "1,000"])
def test_what_is_no_quantity_is_none(text: str) -> None:
    assert variants.read_quantity(text) is None


@pytest.mark.parametrize(
    ("referrer", "url"),
    [
        ("", "/products?platform=sandbox"),
        ("http://x/products", "/products?platform=sandbox"),
        (
            "http://x/products?q=dress&sort=price_asc&page=2",
            "/products?q=dress&sort=price_asc&page=2",
        ),
        ("http://x/products/sandbox/1?q=a", "/products?platform=sandbox"),
        ("http://x/orders?q=a", "/products?platform=sandbox"),
        ("http://x/products?q=a b", "/products?platform=sandbox"),
        ("http://[::1/products?q=a", "/products?platform=sandbox"),
        (f"http://x/products?q={'a' * 3000}", "/products?platform=sandbox"),
    ],
)
def test_a_product_leads_back_to_the_search_that_found_it(referrer: str, url: str) -> None:
    assert results_url(referrer, "sandbox") == url


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
            marketplace="Sandbox",
            table=variants.variant_table(product),
            ranges=product.price_ranges,
            counting_ranges=[],
            typed={HOSTILE: HOSTILE},
            total=variants.chosen_pieces(product, {HOSTILE: 1}),
            submit_token="page-1",
            show_code=True,
            has_address=False,
            errors={},
            code=order_code("", HOSTILE, HOSTILE, {HOSTILE: 1}, SAMPLE_ADDRESS, "key"),
            product_url=product_path("sandbox", HOSTILE),
            results_url=results_url(f"https://evil.example/products?q={HOSTILE}", HOSTILE),
        )
    )

    assert "<script>alert" not in shown
    assert "javascript:" not in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
