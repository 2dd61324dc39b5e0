"""Finds the product that a text names: a link, a text that contains one, or a product ID."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from tradewind.errors import ValidationFailed
from tradewind.platforms.product_links import Link, ProductLinks, is_id, links_in, links_within
from tradewind.platforms.registry import Platforms
from tradewind.products.model import ProductReference

# Stands for any ID in a message.
_SAMPLE_ID = "610947572360"


async def resolve_product(
    platforms: Platforms, text: str, platform: str | None = None
) -> Sequence[ProductReference]:
    """Return the product that a text names; several for an ID that may be of any marketplace.

    `platform` says whose ID it is; a link names its own marketplace. Nothing is fetched, so the
    product need not exist. ValidationFailed when the text names no product.
    """
    name = platforms.named(platform) if platform is not None else None
    text = text.strip()
    if is_id(text):
        names = [name] if name else await _connected(platforms)
        return [reference_to(platforms, each, text) for each in names]
    simulated = partial(platforms.simulated_product, preferred=name)
    product = find_linked_product(text, platforms.product_links(), simulated)
    return [reference_to(platforms, *product)]


def reference_to(platforms: Platforms, platform: str, product_id: str) -> ProductReference:
    return ProductReference(platform, product_id, platforms.product_page(platform, product_id))


async def _connected(platforms: Platforms) -> Sequence[str]:
    """The marketplaces that are connected here."""
    names = [each.traits.platform for each in await platforms.listed() if each.connection]
    if not names:
        raise ValidationFailed("/platform", "Say whose product ID this is.", "missing")
    return names


def find_linked_product(
    text: str,
    marketplaces: Mapping[str, ProductLinks],
    simulated: Callable[[Link], tuple[str, str] | None],
) -> tuple[str, str]:
    """Return platform and ID of the first product that the text links to.

    A link of a marketplace may lead to a product after the login: then that product counts.
    """
    recognised: list[tuple[ProductLinks, Link]] = []
    for outer in links_in(text):
        for link in (outer, *(links_within(outer) if _owner(outer, marketplaces) else ())):
            product = simulated(link)
            if product is not None:
                return product
            platform = _owner(link, marketplaces)
            if platform is None:
                continue
            product_id = marketplaces[platform].read_id(link)
            if product_id:
                return platform, product_id
            recognised.append((marketplaces[platform], link))
    raise _no_product(recognised, marketplaces)


def _owner(link: Link, marketplaces: Mapping[str, ProductLinks]) -> str | None:
    return next((name for name, links in marketplaces.items() if links.owns(link)), None)


def _no_product(
    recognised: Sequence[tuple[ProductLinks, Link]], marketplaces: Mapping[str, ProductLinks]
) -> ValidationFailed:
    for links, link in recognised:
        if link.host in links.short_hosts:
            message = (
                f"A short link of {link.host} does not contain the product's ID. Open it in a "
                "browser, and paste the address of the page that it leads to, such as "
                f"{links.page(_SAMPLE_ID)}, or the product's ID alone."
            )
            return ValidationFailed("/text", message, "short_link")
    if recognised:
        host = recognised[0][1].host
        message = f"This link of {host} does not lead to a product. Paste the product's own page."
        return ValidationFailed("/text", message, "not_a_product")
    domains = [domain for links in marketplaces.values() for domain in links.domains[:2]]
    message = f"Must be a product ID, or contain a link to a product at {' or '.join(domains)}."
    return ValidationFailed("/text", message, "no_product")
