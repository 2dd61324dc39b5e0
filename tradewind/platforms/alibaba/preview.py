"""Previews a basket, and finds out which lines are at fault when 1688 refuses it as a whole."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any, TypeVar

from tradewind.platforms.alibaba import errors, gateway, wire_products, wire_trade
from tradewind.platforms.alibaba.gateway import AlibabaGateway
from tradewind.platforms.alibaba.wire_trade import Costs
from tradewind.platforms.failures import PlatformFailure, Reason, Rejected, UnreadableResponse
from tradewind.platforms.model import Address, Line, Preview, SellerPreview, UnavailableLine

S = TypeVar("S")
T = TypeVar("T")
Group = Sequence[Line]

# Refusals that one line causes, and that are over when it is gone.
_OF_A_LINE = frozenset(
    {
        Reason.OUT_OF_STOCK,
        Reason.BELOW_MINIMUM,
        Reason.MIXED_BATCH,
        Reason.NOT_FOR_SALE,
        Reason.SEVERAL_SELLERS,
    }
)
# A refused basket costs more calls: so many rounds, so many offers looked at one by one.
_MOST_ROUNDS = 8
_MOST_PROBES = 20
_AT_ONCE = 4
_LANG = "en"


class BasketPreview:
    """Asks for one address and one flow of trade."""

    def __init__(self, ask: AlibabaGateway, flow: str, address: Address) -> None:
        self._gateway = ask
        self._flow = flow
        self._address = address

    async def of(self, lines: Sequence[Line]) -> Preview:
        """What can be bought and what it costs; what cannot, and why.

        Lines that are refused are set aside, and the rest is asked for again. Lines of several
        sellers, each of which could be bought alone, come back in as many parts as sellers.
        """
        rest = [line for line in lines if wire_trade.offer_id(line.product_id) is not None]
        aside = [_without(line, Reason.NOT_FOUND) for line in lines if line not in rest]
        for left in reversed(range(_MOST_ROUNDS)):
            if not rest:
                return Preview((), 0, aside)
            try:
                return _preview([await self._costs(rest)], aside)
            except Rejected as refusal:
                if refusal.reason not in _OF_A_LINE or not left:
                    raise
                culprits = await self._culprits(refusal, rest)
                if not culprits:
                    return _preview(await self._by_seller(refusal, rest), aside)
            aside += culprits
            gone = {(one.product_id, one.sku_id) for one in culprits}
            rest = [line for line in rest if (line.product_id, line.sku_id) not in gone]
        raise AssertionError("the last round returns or raises")

    async def _costs(self, lines: Group, seller_id: str = "") -> Costs:
        params = wire_trade.basket_params(lines, self._address, self._flow)
        answer = await self._gateway.ask(gateway.PREVIEW, params)
        try:
            return wire_trade.costs(answer, lines, seller_id)
        except UnreadableResponse as why:
            raise self._gateway.unreadable(gateway.PREVIEW, why) from None

    async def _culprits(self, refusal: Rejected, lines: Group) -> list[UnavailableLine]:
        """The lines that a refusal is about; none: they are of several sellers.

        The sentence names them, as a rule. One code has two meanings, though, several sellers or
        no such variant; and for a sentence without names we ask offer by offer.
        """
        two_meanings = refusal.code in errors.SEVERAL_SELLERS_OR_NO_SPEC
        reason = Reason.NOT_FOUND if two_meanings else refusal.reason
        if len(lines) == 1:
            return [_without(lines[0], reason)]
        named = [] if two_meanings else wire_trade.blamed(refusal.message, lines)
        if named:
            return [_without(line, reason) for line in named]
        offers = _by_offer(lines)
        if len(offers) == 1:
            return await self._culprits_of_one_offer(refusal, lines, reason)
        refusals = await self._refusals(refusal, offers)
        found: list[UnavailableLine] = []
        for group, its_refusal in zip(offers, refusals, strict=True):
            if its_refusal is not None:
                found += await self._culprits(its_refusal, group)
        if not found and not two_meanings:
            raise refusal
        return found

    async def _culprits_of_one_offer(
        self, refusal: Rejected, lines: Group, reason: Reason
    ) -> list[UnavailableLine]:
        """Variants count together towards a minimum, so alone only the same refusal counts."""
        alone = [[line] for line in lines]
        refusals = await self._refusals(refusal, alone)
        bad = [
            line
            for line, its in zip(lines, refusals, strict=True)
            if its is not None and its.code == refusal.code
        ]
        return [_without(line, reason) for line in bad or lines]

    async def _refusals(self, refusal: Rejected, groups: Sequence[Group]) -> list[Rejected | None]:
        """What 1688 says of each group alone; the whole refusal stands when there are too many."""
        if len(groups) > _MOST_PROBES:
            raise refusal

        async def alone(group: Group) -> Rejected | None:
            try:
                await self._costs(group)
            except Rejected as its_refusal:
                if its_refusal.reason not in _OF_A_LINE:
                    raise
                return its_refusal
            return None

        return await _few_at_once(alone, groups)

    async def _by_seller(self, refusal: Rejected, lines: Group) -> list[Costs]:
        """The parts that the lines have to be bought in. Only a product's detail says who sells."""
        offers = _by_offer(lines)
        sellers = await _few_at_once(self._seller, [group[0].product_id for group in offers])
        parts: dict[str, list[Line]] = {}
        for seller, group in zip(sellers, offers, strict=True):
            if seller is None:
                raise refusal
            parts.setdefault(seller, []).extend(group)
        if len(parts) == 1:
            raise refusal

        async def cost(seller: str) -> Costs:
            return await self._costs(parts[seller], seller)

        return await _few_at_once(cost, list(parts))

    async def _seller(self, product_id: str) -> str | None:
        number = wire_trade.offer_id(product_id)
        if number is None:
            return None
        params = wire_products.detail_params(number, _LANG)
        answer = await self._gateway.ask(gateway.DETAIL, params)
        try:
            product = wire_products.product(answer)
        except UnreadableResponse as why:
            raise self._gateway.unreadable(gateway.DETAIL, why) from None
        return product.offer.seller_id if product else None


def _preview(costs: Iterable[Costs], aside: Sequence[UnavailableLine]) -> Preview:
    sellers: list[SellerPreview] = []
    unavailable = list(aside)
    for one in costs:
        sellers += one.parts
        unavailable += one.unavailable
    return Preview(sellers, sum(part.total_fen for part in sellers), unavailable)


def _without(line: Line, reason: Reason) -> UnavailableLine:
    return UnavailableLine(line.product_id, line.sku_id, reason)


def _by_offer(lines: Group) -> list[Group]:
    groups: dict[str, list[Line]] = {}
    for line in lines:
        groups.setdefault(line.product_id, []).append(line)
    return list(groups.values())


async def _few_at_once(ask: Callable[[S], Coroutine[Any, Any, T]], about: Sequence[S]) -> list[T]:
    """Ask about each, a few at a time; the first failure ends them all, and is the one raised."""
    turns = asyncio.Semaphore(_AT_ONCE)

    async def in_turn(one: S) -> T:
        async with turns:
            return await ask(one)

    try:
        async with asyncio.TaskGroup() as together:
            tasks = [together.create_task(in_turn(one)) for one in about]
    except* PlatformFailure as failed:
        raise failed.exceptions[0] from None
    return [task.result() for task in tasks]
