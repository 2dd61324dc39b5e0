"""Products as JSON; a fact that a marketplace does not state is null, never missing."""

from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta, structs

from tradewind import money
from tradewind.errors import FieldError
from tradewind.money import Cny, CnyIn
from tradewind.platforms.model import Offer, Product, Query, SearchPage, Sort
from tradewind.platforms.wire import PlatformName
from tradewind.web.inputs import Input, Output, read_amount
from tradewind.web.validation import NOT_BLANK

LARGEST_SIZE = 50
LARGEST_PAGE = 1000

_Id = Annotated[str, Meta(examples=["628000000001"])]
_Url = Annotated[str, Meta(examples=["https://detail.1688.com/offer/628000000001.html"])]
Language = Annotated[
    str,
    Meta(
        pattern="^[a-z]{2}$",
        description="The language of translations.",
        examples=["en"],
        extra={"expected": "a language as two lower-case letters, such as en"},
    ),
]


class SearchIn(Input):
    """A search on a marketplace."""

    q: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=200,
            pattern=NOT_BLANK,
            description="Any language.",
            examples=["dress"],
        ),
    ]
    platform: PlatformName
    page: Annotated[int, Meta(ge=1, le=LARGEST_PAGE, examples=[1])] = 1
    size: Annotated[int, Meta(ge=1, le=LARGEST_SIZE, examples=[20])] = 20
    sort: Annotated[Sort, Meta(examples=["relevance"])] = Sort.RELEVANCE
    min_price_cny: CnyIn | None = None
    max_price_cny: CnyIn | None = None
    lang: Language = "en"

    def check_fields(self) -> Iterator[FieldError]:
        low, high = self.min_price_cny, self.max_price_cny
        if low is not None and high is not None and low > high:
            yield FieldError("/max_price_cny", "Must not be below min_price_cny.")

    def query(self) -> Query:
        """Return the search as connectors take it."""
        text = " ".join(self.q.split())
        low = read_amount("/min_price_cny", self.min_price_cny)
        high = read_amount("/max_price_cny", self.max_price_cny)
        return Query(text, self.page, self.size, self.sort, low, high, self.lang)


class SellerOut(Output):
    """The seller of a product."""

    id: Annotated[str | None, Meta(examples=["b2b-2200000001"])]
    name: Annotated[str | None, Meta(examples=["义乌市晨曦服饰厂"])]


class OfferOut(Output):
    """A product in search results."""

    id: _Id
    platform: PlatformName
    title: Annotated[str, Meta(examples=["夏季法式碎花连衣裙"])]
    title_translated: Annotated[str | None, Meta(examples=["French floral summer dress"])]
    url: _Url | None
    image_url: _Url | None
    price_cny: Cny | None
    price_max_cny: Cny | None
    min_order_quantity: Annotated[int | None, Meta(examples=[2])]
    sold: Annotated[int | None, Meta(description="Units sold lately.", examples=[1200])]
    repurchase_rate: Annotated[float | None, Meta(description="0 to 1.", examples=[0.31])]
    seller: SellerOut

    @staticmethod
    def of(platform: str, offer: Offer) -> "OfferOut":
        return OfferOut(
            id=offer.id,
            platform=platform,
            title=offer.title,
            title_translated=offer.title_translated,
            url=offer.url,
            image_url=offer.image_url,
            price_cny=money.show_or_none(offer.price_fen),
            price_max_cny=money.show_or_none(offer.price_max_fen),
            min_order_quantity=offer.min_order_quantity,
            sold=offer.sold,
            repurchase_rate=offer.repurchase_rate,
            seller=SellerOut(id=offer.seller_id, name=offer.seller_name),
        )


class PaginateOut(Output):
    """The number and size of this page, and the total of all pages."""

    total: Annotated[int, Meta(examples=[87])]
    current: Annotated[int, Meta(examples=[1])]
    size: Annotated[int, Meta(examples=[20])]


class SearchOut(Output):
    """A page of products."""

    items: list[OfferOut]
    paginate: PaginateOut

    @staticmethod
    def of(platform: str, page: SearchPage) -> "SearchOut":
        return SearchOut(
            items=[OfferOut.of(platform, offer) for offer in page.offers],
            paginate=PaginateOut(total=page.total, current=page.page, size=page.size),
        )


class SkuOut(Output):
    """A variant; an order names it as `sku_id`."""

    id: Annotated[str, Meta(examples=["b266e0726506185beaf205cbae88530d"])]
    attributes: Annotated[dict[str, str], Meta(examples=[{"颜色": "红色", "尺码": "M"}])]
    price_cny: Cny | None
    stock: Annotated[int | None, Meta(examples=[340])]
    image_url: _Url | None


class PriceRangeOut(Output):
    """The unit price from a quantity on."""

    min_quantity: Annotated[int, Meta(examples=[10])]
    price_cny: Cny


class ProductOut(OfferOut):
    """Everything about a product."""

    skus: list[SkuOut]
    price_ranges: list[PriceRangeOut]
    images: list[_Url]
    description: Annotated[str | None, Meta(examples=["<p>棉</p>"])]
    stock: Annotated[int | None, Meta(examples=[1000])]
    shipping: Annotated[dict[str, str], Meta(examples=[{"from": "浙江省 义乌市"}])]

    @staticmethod
    def of_product(platform: str, product: Product) -> "ProductOut":
        return ProductOut(
            **structs.asdict(OfferOut.of(platform, product.offer)),
            skus=[
                SkuOut(
                    id=sku.id,
                    attributes=dict(sku.attributes),
                    price_cny=money.show_or_none(sku.price_fen),
                    stock=sku.stock,
                    image_url=sku.image_url,
                )
                for sku in product.skus
            ],
            price_ranges=[
                PriceRangeOut(min_quantity=step.min_quantity, price_cny=money.show(step.price_fen))
                for step in product.price_ranges
            ],
            images=list(product.images),
            description=product.description,
            stock=product.stock,
            shipping=dict(product.shipping),
        )


class ProductQuery(Input):
    """The language of translations."""

    lang: Language = "en"
