"""Every connector searches products, reads one in full, and previews a basket."""

from dataclasses import replace
from time import process_time

import pytest
from connectors.stand import (
    ADDRESS,
    BY_TENS,
    DELISTED,
    MINIMUM_100,
    OTHER_SELLER,
    OUT_OF_STOCK,
    PLAIN,
    PRICE_ZERO,
    SPLITS,
    Stand,
    magic,
)
from kit import pictures

from tradewind.platforms.failures import Reason, Rejected
from tradewind.platforms.model import Address, Line, Preview, Query, Sort

BACKPACKS = ("双肩包", "backpack")


@pytest.mark.parametrize("text", BACKPACKS)
@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_a_search_finds_whole_offers(stand: Stand, text: str, lang: str) -> None:
    result = await stand.connector.search(Query(text, size=10, lang=lang))

    assert (result.page, result.size) == (1, 10)
    assert len(result.offers) == 10
    assert result.total >= 10
    for offer in result.offers:
        assert offer.id.isdecimal()
        assert offer.title
        assert offer.price_fen is not None
        assert offer.price_fen > 0
        assert offer.image_url is not None
        assert offer.image_url.startswith("http")


async def test_a_title_is_translated(stand: Stand) -> None:
    result = await stand.connector.search(Query("双肩包", size=5, lang="en"))

    assert all("双肩包" in offer.title for offer in result.offers)
    assert all((offer.title_translated or "").isascii() for offer in result.offers)
    assert any("ackpack" in (offer.title_translated or "") for offer in result.offers)


async def test_pages_follow_each_other_without_gaps_or_repeats(stand: Stand) -> None:
    at_once = await stand.connector.search(Query("包", size=50))

    parts = [await stand.connector.search(Query("包", page=no, size=10)) for no in range(1, 6)]

    ids = [offer.id for part in parts for offer in part.offers]
    assert ids == [offer.id for offer in at_once.offers]
    assert len(set(ids)) == 50
    assert [part.page for part in parts] == [1, 2, 3, 4, 5]


async def test_a_picture_finds_what_looks_like_it(stand: Stand) -> None:
    image_id = await stand.connector.upload_image(pictures.png())
    assert await stand.connector.upload_image(pictures.png()) == image_id

    query = Query("", size=5, lang="en", image_id=image_id)
    pages = [await stand.connector.search_by_image(replace(query, page=no)) for no in (1, 2)]

    ids = [offer.id for page in pages for offer in page.offers]
    assert len(set(ids)) == 10
    assert {page.total for page in pages} == {pages[0].total}
    for offer in pages[0].offers:
        assert offer.title_translated
        assert offer.price_fen
        assert offer.seller_name


async def test_a_picture_that_is_none_or_was_never_uploaded_is_rejected(stand: Stand) -> None:
    with pytest.raises(Rejected):
        await stand.connector.upload_image(b"<svg/>")
    with pytest.raises(Rejected):
        await stand.connector.search_by_image(Query("", image_id="1048608196202797156"))


async def test_a_picture_of_three_megabytes_is_sent_quickly(stand: Stand) -> None:
    picture = pictures.png()
    started = process_time()

    assert await stand.connector.upload_image(picture + bytes(3 * 1024 * 1024 - len(picture)))

    assert process_time() - started < 1


@pytest.mark.parametrize("size", [7, 20, 33, 50])
async def test_paging_comes_to_an_end(stand: Stand, size: int) -> None:
    """Whoever goes on while `total` promises more sees everything once, and then stops."""
    seen: list[str] = []
    page = 1
    while True:
        result = await stand.connector.search(Query("双肩包", page=page, size=size))
        assert len(result.offers) <= size
        seen += [offer.id for offer in result.offers]
        if page * size >= result.total:
            break
        page += 1

    assert len(seen) == len(set(seen)) == result.total
    beyond = await stand.connector.search(Query("双肩包", page=page + 1, size=size))
    assert list(beyond.offers) == []


@pytest.mark.parametrize("size", [7, 20, 50])
async def test_a_page_beyond_the_last_one_claims_no_products_that_nobody_saw(
    stand: Stand, size: int
) -> None:
    number, page = 0, 1
    while offers := (await stand.connector.search(Query("双肩包", page=page, size=size))).offers:
        number += len(offers)
        page += 1

    totals = [
        (await stand.connector.search(Query("双肩包", page=beyond, size=size))).total
        for beyond in (page, page + 1, page + 9, 1000)
    ]

    assert totals == [number] * 4


async def test_nothing_is_found_for_nonsense(stand: Stand) -> None:
    result = await stand.connector.search(Query("qqqqzzzz"))

    assert (list(result.offers), result.total) == ([], 0)


async def test_sorts(stand: Stand) -> None:
    async def sorted_by(sort: Sort) -> list[tuple[int, int | None]]:
        result = await stand.connector.search(Query("backpack", size=20, sort=sort))
        return [(offer.price_fen or 0, offer.sold) for offer in result.offers]

    rising = [price for price, _ in await sorted_by(Sort.PRICE_ASC)]
    falling = [price for price, _ in await sorted_by(Sort.PRICE_DESC)]
    sold = [sold for _, sold in await sorted_by(Sort.SALES_DESC) if sold is not None]

    assert rising == sorted(rising)
    assert falling == sorted(falling, reverse=True)
    assert rising[0] < falling[0]
    assert sold == sorted(sold, reverse=True)


async def test_prices_are_limited_in_fen(stand: Stand) -> None:
    everything = await stand.connector.search(Query("backpack", size=50))
    prices = sorted(offer.price_fen or 0 for offer in everything.offers)
    low, high = prices[len(prices) // 4], prices[len(prices) // 2]

    result = await stand.connector.search(
        Query("backpack", size=50, min_price_fen=low, max_price_fen=high)
    )

    limited = [offer.price_fen or 0 for offer in result.offers]
    assert limited
    assert low <= min(limited)
    assert max(limited) <= high
    assert len(limited) == sum(low <= price <= high for price in prices)


async def test_what_was_found_can_be_shown_whole(stand: Stand) -> None:
    (offer, *_) = (await stand.connector.search(Query("backpack", size=3))).offers

    product = await stand.connector.detail(offer.id, "en")

    assert product.offer.id == offer.id
    assert product.offer.title == offer.title
    assert product.offer.min_order_quantity is not None
    assert product.offer.min_order_quantity >= 1
    assert product.images
    assert product.skus
    assert len({sku.id for sku in product.skus}) == len(product.skus)
    assert all(sku.attributes for sku in product.skus)
    # A search shows the lowest price of all quantities, a detail perhaps only that of one piece.
    assert (offer.price_fen or 0) <= (product.offer.price_max_fen or 0)


async def test_a_magic_product_is_as_described(stand: Stand) -> None:
    product = await stand.connector.detail(magic(PLAIN), "en")

    assert [sku.price_fen for sku in product.skus] == [1_000, 1_000]
    assert [list(sku.attributes.values()) for sku in product.skus] == [["red"], ["blue"]]
    assert [sku.stock for sku in product.skus] == [100_000, 100_000]


@pytest.mark.parametrize("product_id", ["123456789012", "no-such-product", "-1", "٣"])
async def test_a_product_that_does_not_exist(stand: Stand, product_id: str) -> None:
    with pytest.raises(Rejected) as refused:
        await stand.connector.detail(product_id, "en")

    assert refused.value.reason is Reason.NOT_FOUND
    assert refused.value.platform == stand.platform


def adds_up(preview: Preview) -> bool:
    parts = preview.sellers
    return preview.total_fen == sum(part.total_fen for part in parts) and all(
        part.goods_fen + part.freight_fen - part.discount_fen == part.total_fen
        and min(part.goods_fen, part.freight_fen, part.discount_fen) >= 0
        for part in parts
    )


async def test_a_preview_adds_up(stand: Stand) -> None:
    lines = [await stand.line(quantity=2), await stand.line(quantity=3, colour=1)]

    preview = await stand.connector.preview(lines, ADDRESS)

    (part,) = preview.sellers
    assert adds_up(preview)
    assert (part.goods_fen, part.freight_fen, part.discount_fen) == (5_000, 500, 0)
    assert preview.total_fen == 5_500
    assert sorted(part.lines, key=lambda shown: shown.quantity) == lines
    assert list(preview.unavailable) == []


async def test_a_discount_is_taken_off(stand: Stand) -> None:
    preview = await stand.connector.preview([await stand.line(OTHER_SELLER, 10)], ADDRESS)

    (part,) = preview.sellers
    assert adds_up(preview)
    assert (part.goods_fen, part.discount_fen) == (10_000, 1_000)
    assert preview.total_fen == 9_000 + part.freight_fen


async def test_every_sku_of_a_real_product_can_be_previewed(stand: Stand) -> None:
    (offer, *_) = (await stand.connector.search(Query("backpack", size=1))).offers
    product = await stand.connector.detail(offer.id, "en")
    quantity = product.offer.min_order_quantity or 1

    for sku in [sku for sku in product.skus if (sku.stock or 0) >= quantity][:4]:
        line = Line(offer.id, sku.id, quantity)
        preview = await stand.connector.preview([line], ADDRESS)
        assert adds_up(preview)
        assert [list(part.lines) for part in preview.sellers] == [[line]]
        assert list(preview.unavailable) == []


async def test_several_sellers_come_in_as_many_parts(stand: Stand) -> None:
    lines = [await stand.line(quantity=2), await stand.line(OTHER_SELLER, 11)]

    preview = await stand.connector.preview(lines, ADDRESS)

    assert adds_up(preview)
    assert len({part.seller_id for part in preview.sellers}) == 2
    by_product = {part.lines[0].product_id: part for part in preview.sellers}
    assert [list(by_product[line.product_id].lines) for line in lines] == [[line] for line in lines]
    assert by_product[magic(OTHER_SELLER)].discount_fen == 1_000
    assert by_product[magic(PLAIN)].total_fen == 2_500


async def test_a_product_that_splits_adds_up_as_well(stand: Stand) -> None:
    preview = await stand.connector.preview([await stand.line(SPLITS, 4)], ADDRESS)

    assert adds_up(preview)
    assert sum(part.goods_fen for part in preview.sellers) == 4_000
    assert sum(line.quantity for part in preview.sellers for line in part.lines) == 4


@pytest.mark.parametrize(
    ("spell", "quantity", "reason"),
    [
        (OUT_OF_STOCK, 1, Reason.OUT_OF_STOCK),
        (MINIMUM_100, 99, Reason.BELOW_MINIMUM),
        (BY_TENS, 13, Reason.MIXED_BATCH),
        (PRICE_ZERO, 1, Reason.NOT_FOR_SALE),
        (PLAIN, 100_001, Reason.OUT_OF_STOCK),
    ],
)
async def test_what_cannot_be_had_is_told_apart_from_the_rest(
    stand: Stand, spell: int, quantity: int, reason: Reason
) -> None:
    good, bad = await stand.line(colour=1), await stand.line(spell, quantity)

    preview = await stand.connector.preview([bad, good], ADDRESS)
    alone = await stand.connector.preview([bad], ADDRESS)

    (refused,) = preview.unavailable
    assert (refused.product_id, refused.sku_id) == (bad.product_id, bad.sku_id)
    assert refused.reason is reason
    assert [list(part.lines) for part in preview.sellers] == [[good]]
    assert adds_up(preview)
    assert preview.total_fen == 1_500
    assert (list(alone.sellers), alone.total_fen) == ([], 0)
    assert [item.reason for item in alone.unavailable] == [reason]


@pytest.mark.parametrize("product_id", [magic(DELISTED), "123456789012", "no-such-product"])
async def test_what_is_not_there_is_not_for_sale(stand: Stand, product_id: str) -> None:
    good = await stand.line()

    preview = await stand.connector.preview([Line(product_id, None, 1), good], ADDRESS)

    (refused,) = preview.unavailable
    assert refused.product_id == product_id
    assert refused.reason in (Reason.NOT_FOR_SALE, Reason.NOT_FOUND)
    assert preview.total_fen == 1_500


async def test_a_sku_that_does_not_exist_is_not_found(stand: Stand) -> None:
    good = await stand.line()

    preview = await stand.connector.preview([Line(magic(PLAIN), "987654321", 1), good], ADDRESS)

    (refused,) = preview.unavailable
    assert refused.sku_id == "987654321"
    assert refused.reason is Reason.NOT_FOUND
    assert preview.total_fen == 1_500


async def test_an_address_outside_of_china_is_refused(stand: Stand) -> None:
    nowhere = Address("A", "15251667788", "Atlantis", "Poseidonis", "Centre", "1 Main Street")

    with pytest.raises(Rejected) as refused:
        await stand.connector.preview([await stand.line()], nowhere)

    assert refused.value.reason is Reason.BAD_ADDRESS
