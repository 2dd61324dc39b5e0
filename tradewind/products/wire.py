"""Products as JSON; a fact that a marketplace does not state is null, never missing."""

from base64 import b64decode
from collections.abc import Iterator, Sequence
from typing import Annotated

from msgspec import Meta, structs

from tradewind import money
from tradewind.errors import FieldError, ValidationFailed
from tradewind.money import Cny, CnyIn
from tradewind.platforms.model import Offer, Product, Query, SearchPage, Sort
from tradewind.platforms.wire import PlatformName, SellerOut
from tradewind.products.model import ProductReference
from tradewind.products.picture import LARGEST_IMAGE
from tradewind.web.inputs import Input, Output, read_amount
from tradewind.web.validation import NOT_BLANK

LARGEST_SIZE = 50
LARGEST_PAGE = 1000
LONGEST_TEXT = 4000
# A picture of 3 MiB in base64.
LONGEST_IMAGE = LARGEST_IMAGE // 3 * 4
# A picture of 16 x 16 pixels.
_EXAMPLE_IMAGE = (
    "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mO44WVDEmIY1TCqYfhq"
    "AACueF4Qn2tc1QAAAABJRU5ErkJggg=="
)

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


class SearchOptions(Input):
    """Where a search looks, and which of its results it returns in which order."""

    platform: PlatformName
    page: Annotated[int, Meta(ge=1, le=LARGEST_PAGE, examples=[1])] = 1
    size: Annotated[int, Meta(ge=1, le=LARGEST_SIZE, examples=[20])] = 20
    sort: Annotated[Sort, Meta(examples=["relevance"])] = Sort.RELEVANCE
    min_price_cny: Annotated[CnyIn | None, Meta(examples=[5.0])] = None
    max_price_cny: Annotated[CnyIn | None, Meta(examples=[200.0])] = None
    lang: Language = "en"

    def check_fields(self) -> Iterator[FieldError]:
        low, high = self.min_price_cny, self.max_price_cny
        if low is not None and high is not None and low > high:
            yield FieldError("/max_price_cny", "Must not be below min_price_cny.")

    def query_for(self, text: str, image_id: str | None = None) -> Query:
        """Return the search as connectors take it."""
        low = read_amount("/min_price_cny", self.min_price_cny)
        high = read_amount("/max_price_cny", self.max_price_cny)
        return Query(text, self.page, self.size, self.sort, low, high, self.lang, image_id)


class SearchIn(SearchOptions, kw_only=True):
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

    def query(self) -> Query:
        return self.query_for(" ".join(self.q.split()))


class ImageSearchIn(SearchOptions):
    """A search by a picture: send `image` once, then its `image_id` for other pages and filters."""

    image: Annotated[
        Annotated[str, Meta(max_length=LONGEST_IMAGE)] | None,
        Meta(
            description="A JPEG, PNG or WebP picture in base64, 3 MiB at most.",
            examples=[_EXAMPLE_IMAGE],
        ),
    ] = None
    image_id: Annotated[
        Annotated[str, Meta(max_length=500)] | None,
        Meta(
            description="That of an earlier search by your account at this marketplace.",
            examples=[None],
        ),
    ] = None

    def check_fields(self) -> Iterator[FieldError]:
        yield from super().check_fields()
        if self.image is None and self.image_id is None:
            yield FieldError("/image", "Is required, unless image_id is sent.", "missing")
        elif self.image is not None and self.image_id is not None:
            yield FieldError("/image_id", "Must not be sent together with image.")

    def picture(self) -> bytes | None:
        """Return the bytes of the picture; None if an earlier one is named."""
        if self.image is None:
            return None
        try:
            return b64decode(self.image, validate=True)
        except ValueError:
            message = "Must be a picture in base64, without a prefix such as data:image/png."
            raise ValidationFailed("/image", message) from None


class ResolveIn(Input):
    """A text that names a product."""

    text: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=LONGEST_TEXT,
            pattern=NOT_BLANK,
            description="A link to a product, a shared text that contains one, or a product ID.",
            examples=["https://detail.1688.com/offer/628000000001.html"],
        ),
    ]
    platform: Annotated[
        PlatformName | None,
        Meta(description="Whose ID it is; a link names its own marketplace.", examples=[None]),
    ] = None


class ProductReferenceOut(Output):
    """A product by its marketplace and its ID there."""

    platform: PlatformName
    product_id: _Id
    url: _Url | None

    @staticmethod
    def of(reference: ProductReference) -> "ProductReferenceOut":
        return ProductReferenceOut(
            platform=reference.platform, product_id=reference.product_id, url=reference.url
        )


class ResolveOut(Output):
    """The product that a text names."""

    platform: Annotated[
        PlatformName | None,
        Meta(description="Null when the ID may be of several marketplaces.", examples=["alibaba"]),
    ]
    product_id: _Id
    url: _Url | None
    candidates: Annotated[
        list[ProductReferenceOut],
        Meta(description="Each marketplace that the ID may be of; empty when it is clear."),
    ]

    @staticmethod
    def of(references: Sequence[ProductReference]) -> "ResolveOut":
        first, *others = references
        return ResolveOut(
            platform=None if others else first.platform,
            product_id=first.product_id,
            url=None if others else first.url,
            candidates=[ProductReferenceOut.of(each) for each in references] if others else [],
        )


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


class ImageSearchOut(SearchOut):
    """A page of products that look like a picture."""

    image_id: Annotated[
        str,
        Meta(
            description="Send it instead of `image` for other pages of this search.",
            examples=["AZ3v5QmF0Xw8uK1s"],
        ),
    ]

    @staticmethod
    def of_image(platform: str, page: SearchPage, image_id: str) -> "ImageSearchOut":
        return ImageSearchOut(**structs.asdict(SearchOut.of(platform, page)), image_id=image_id)


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


class ProductAttributeOut(Output):
    """A fact about a product in words."""

    name: Annotated[str, Meta(examples=["Weight"])]
    value: Annotated[str, Meta(examples=["0.25"])]
    unit: Annotated[str | None, Meta(description="Null where it has none.", examples=["kg"])]


class ProductOut(OfferOut):
    """Everything about a product."""

    skus: list[SkuOut]
    price_ranges: list[PriceRangeOut]
    images: list[_Url]
    description: Annotated[str | None, Meta(examples=["<p>棉</p>"])]
    stock: Annotated[int | None, Meta(examples=[1000])]
    shipping: Annotated[
        dict[str, str],
        Meta(
            description="Under the marketplace's own names; `attributes` has it in words.",
            examples=[{"sendGoodsAddressText": "浙江省 义乌市"}],
        ),
    ]
    attributes: Annotated[
        list[ProductAttributeOut],
        Meta(description="Facts in words: material, weight, size of the parcel, dispatch."),
    ]

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
            attributes=[
                ProductAttributeOut(name=each.name, value=each.value, unit=each.unit)
                for each in product.attributes
            ],
        )


class ProductQuery(Input):
    """The language of translations."""

    lang: Language = "en"
