"""The goods of orders for people: a title for an order, and its lines with pictures. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import quote

from tradewind.dashboard.shell.urls import image_url
from tradewind.orders.model import Order
from tradewind.platforms.model import Goods, Line
from tradewind.platforms.registry import Platforms

_LONGEST_TITLE = 60


class WithLines(Protocol):
    """An order, or a row of one: its marketplace and its lines."""

    @property
    def platform(self) -> str: ...

    @property
    def lines(self) -> Sequence[Line]: ...


@dataclass(frozen=True, slots=True)
class GoodsLine:
    """A line of an order as a page shows it; amounts in fen, None where nothing is known.

    `original` is the title in the language of the marketplace, if `title` is a translation.
    """

    title: str
    original: str
    variant: str
    image: str | None
    href: str
    product_id: str
    sku_id: str | None
    quantity: int
    unit_price_fen: int | None
    seller: str

    @property
    def amount_fen(self) -> int | None:
        return None if self.unit_price_fen is None else self.unit_price_fen * self.quantity


class OrderGoods:
    """How a page shows the goods of orders. Pictures come from `origins` only.

    These are the origins of every marketplace: a live update may add an order of any of them, and
    the page keeps the content security policy that it was opened with.
    """

    def __init__(self, platforms: Platforms) -> None:
        self._origins = {name: platforms.picture_origins(name) for name in platforms.clients}
        self.origins = tuple(
            dict.fromkeys(origin for origins in self._origins.values() for origin in origins)
        )

    def lines(self, order: Order) -> Sequence[GoodsLine]:
        """Every line of an order."""
        return [self._line(order, line) for line in order.lines]

    def first(self, order: WithLines) -> GoodsLine:
        """The line that stands for the order in a list."""
        return self._line(order, order.lines[0])

    @staticmethod
    def title(order: Order) -> str:
        """The title of an order: `Denim dress and 2 more`."""
        title = short_title(order.lines[0])
        others = len(order.lines) - 1
        return f"{title} and {others:,} more" if others else title

    @staticmethod
    def titles(order: Order) -> dict[tuple[str, str | None], str]:
        """The title of each line of an order, with its variant, by product and SKU."""
        return {(line.product_id, line.sku_id): titled_variant(line) for line in order.lines}

    @staticmethod
    def sellers(order: Order) -> str:
        """The names of the sellers; empty if none is known."""
        known = (line.goods for line in order.lines if line.goods)
        names = (goods.seller_name or goods.seller_id for goods in known)
        return ", ".join(dict.fromkeys(name for name in names if name))

    def _line(self, order: WithLines, line: Line) -> GoodsLine:
        goods = line.goods or Goods()
        title = line_title(line)
        platform, product_id = quote(order.platform, safe=""), quote(line.product_id, safe="")
        return GoodsLine(
            title=title,
            original=goods.title if goods.title and goods.title != title else "",
            variant=" · ".join((goods.attributes or {}).values()),
            image=image_url(goods.image_url, self._origins.get(order.platform, ())),
            href=f"/products/{platform}/{product_id}",
            product_id=line.product_id,
            sku_id=line.sku_id,
            quantity=line.quantity,
            unit_price_fen=goods.unit_price_fen,
            seller=goods.seller_name or goods.seller_id or "",
        )


def short_title(line: Line) -> str:
    """The title of a line for a list or a sentence."""
    title = line_title(line)
    if len(title) <= _LONGEST_TITLE:
        return title
    start = title[:_LONGEST_TITLE]
    return (start.rpartition(" ")[0] or start).rstrip(" ,") + "…"


def titled_variant(line: Line) -> str:
    """The short title of a line, and its variant."""
    attributes = (line.goods.attributes if line.goods else None) or {}
    return " · ".join([short_title(line), *attributes.values()])


def line_title(line: Line) -> str:
    """What a line buys: the translated title, else the title, else the product's id."""
    goods = line.goods or Goods()
    return goods.title_translated or goods.title or f"Product {line.product_id}"
