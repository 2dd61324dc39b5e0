"""Keyword search in Chinese and English, weighted by kind, title and attributes."""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import lru_cache

from tradewind_simulator.model import Product

_HAN = re.compile(r"[\u4e00-\u9fff]+")
_WORD = re.compile(r"[a-z0-9]+")
_KIND, _TITLE, _REST = 6.0, 3.0, 1.0
_ENOUGH = 0.5  # of the weight of a query must match
_FILLERS = frozenset({"the", "a", "an", "and", "for", "of", "with", "in", "s"})


class Sort(StrEnum):
    RELEVANCE = "relevance"
    PRICE_ASC = "price_asc"
    PRICE_DESC = "price_desc"
    SALES_DESC = "sales_desc"
    SALES_ASC = "sales_asc"


def terms(text: str) -> list[str]:
    """Split a text into terms: Chinese into pairs of characters, English into words."""
    text = text.lower().replace("t-shirt", "tshirt")
    terms: list[str] = []
    for run in _HAN.findall(text):
        terms += [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]
    terms += [_stem(word) for word in _WORD.findall(text) if word not in _FILLERS]
    return terms


def _stem(word: str) -> str:
    for ending, rest in (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch")):
        if word.endswith(ending):
            return word[: -len(ending)] + rest
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word  # noqa: PLR2004


class Index:
    """The index. The catalogue does not change, so results are cached."""

    def __init__(self, products: Sequence[Product]) -> None:
        self._products = [product for product in products if product.listed]
        weights: dict[str, dict[int, float]] = defaultdict(dict)
        for at, product in enumerate(self._products):
            for term, weight in _terms_of(product).items():
                weights[term][at] = weight
        self._weights = dict(weights)
        self.find = lru_cache(maxsize=512)(self._find)

    def _find(
        self,
        query: str,
        sort: Sort = Sort.RELEVANCE,
        low_fen: int | None = None,
        high_fen: int | None = None,
        category_id: int | None = None,
    ) -> list[Product]:
        """Find the products for a query, best first; equal ones by sales, then by id."""
        scores = self._scores(query)
        matches = [
            (score, product)
            for at, score in scores
            if _fits(product := self._products[at], low_fen, high_fen, category_id)
        ]
        match sort:
            case Sort.PRICE_ASC:
                matches.sort(key=lambda pair: (pair[1].lowest_fen, pair[1].id))
            case Sort.PRICE_DESC:
                matches.sort(key=lambda pair: (-pair[1].lowest_fen, pair[1].id))
            case Sort.SALES_DESC:
                matches.sort(key=lambda pair: (-pair[1].sold, pair[1].id))
            case Sort.SALES_ASC:
                matches.sort(key=lambda pair: (pair[1].sold, pair[1].id))
            case Sort.RELEVANCE:
                matches.sort(key=lambda pair: (-round(pair[0], 6), -pair[1].sold, pair[1].id))
        return [product for _, product in matches]

    def _scores(self, query: str) -> Iterable[tuple[int, float]]:
        wanted = set(terms(query))
        if not wanted:
            return [(at, 0.0) for at in range(len(self._products))] if not query.strip() else []
        rarity = {term: self._rarity(term) for term in wanted}
        scores: dict[int, float] = defaultdict(float)
        covered: dict[int, float] = defaultdict(float)
        for term in wanted:
            for at, weight in self._weights.get(term, {}).items():
                scores[at] += weight * rarity[term]
                covered[at] += rarity[term]
        least = _ENOUGH * sum(rarity.values())
        return [
            (at, score * covered[at] / sum(rarity.values()) + self._phrase(query, at))
            for at, score in scores.items()
            if covered[at] >= least
        ]

    def _rarity(self, term: str) -> float:
        return 1.0 + math.log((len(self._products) + 1) / (len(self._weights.get(term, ())) + 1))

    def _phrase(self, query: str, at: int) -> float:
        """Add to the score of a title that holds the query as a whole."""
        product = self._products[at]
        text = query.strip().lower()
        if text in (product.kind.lower(), product.kind_en.lower()):
            return 3.0
        return 2.0 if text in product.title.lower() or text in product.title_en.lower() else 0.0


def _terms_of(product: Product) -> dict[str, float]:
    """Return the terms that find a product, with their weights.

    A backpack answers `backpack` better than a pet backpack does: the fewer words a thing is
    called by, the more each of them says.
    """
    weights: dict[str, float] = {}
    fields = (
        (_REST, _rest(product)),
        (_TITLE, [product.title, product.title_en]),
        (_KIND, [product.kind, product.kind_en]),
    )
    for weight, texts in fields:
        for text in texts:
            words = terms(text)
            share = 0.7 + 0.3 / max(1, len(words)) if weight == _KIND else 1.0
            # A single character of a query finds the titles that hold it.
            for term in {*words, *"".join(_HAN.findall(text))}:
                weights[term] = max(weight * share, weights.get(term, 0.0))
    return weights


def _rest(product: Product) -> list[str]:
    """Attributes, and the options of the SKUs: `red` finds what also comes in red."""
    options = {option for sku in product.skus for option in sku.options}
    return [text for o in (*product.attributes, *options) for text in (o.value, o.value_en)]


def _fits(
    product: Product, low_fen: int | None, high_fen: int | None, category_id: int | None
) -> bool:
    return (
        (low_fen is None or product.lowest_fen >= low_fen)
        and (high_fen is None or product.lowest_fen <= high_fen)
        and (category_id is None or product.category_id == category_id)
    )
