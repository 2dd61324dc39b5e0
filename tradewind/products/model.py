"""The values of products that are not a marketplace's own: a reference to a product."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProductReference:
    """A product by its marketplace and its ID there, and the URL of its page if it has one."""

    platform: str
    product_id: str
    url: str | None
