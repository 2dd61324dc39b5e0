"""Preview and creation of orders at 1688: baskets, addresses, and what they cost."""

import asyncio
import re
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from tradewind.platforms.alibaba import errors, gateway, products
from tradewind.platforms.alibaba.errors import AlibabaError
from tradewind.platforms.alibaba.gateway import AlibabaGateway
from tradewind.platforms.alibaba.values import (
    Json,
    encode,
    entries,
    entry,
    fen,
    flag,
    text,
    yuan_or_none,
)
from tradewind.platforms.failures import PlatformFailure, Reason, Rejected, UnreadableResponse
from tradewind.platforms.model import (
    Address,
    Line,
    OrderRequest,
    Placed,
    Preview,
    SellerPreview,
    UnavailableLine,
)

_MOBILE = re.compile(r"1\d{10}")
_OFFER = re.compile(r"[1-9][0-9]{0,18}")
# 1688's sentences name the offer, or the offer and its variant: 商品[610947572360_b266e0…]库存不足
_NAMED = re.compile(r"\[(\d+)(?:_([0-9A-Za-z]+))?\]")


def offer_id(product_id: str) -> int | None:
    """The number of an offer; None for what can be no offer of 1688."""
    return int(product_id) if _OFFER.fullmatch(product_id) else None


def basket_params(lines: Sequence[Line], address: Address, flow: str) -> dict[str, str]:
    return {
        "flow": flow,
        "addressParam": encode(_address(address)),
        "cargoParamList": encode([_cargo(line) for line in lines]),
    }


def create_params(draft: OrderRequest, flow: str) -> dict[str, str]:
    """1688 has no guard on the price, so `expected_total_fen` is for whoever previews first."""
    params = basket_params(draft.lines, draft.address, flow)
    params["outOrderId"] = draft.reference
    if draft.remark:
        params["message"] = draft.remark
    return params


def _cargo(line: Line) -> dict[str, object]:
    cargo: dict[str, object] = {"offerId": offer_id(line.product_id), "quantity": line.quantity}
    if line.sku_id is not None:
        cargo["specId"] = line.sku_id
    return cargo


def _address(address: Address) -> dict[str, str]:
    """In words: there is no id of ours at 1688. A number that is no Chinese mobile is a phone."""
    digits = re.sub(r"[\s()-]", "", address.phone).removeprefix("+86").removeprefix("0086")
    said = {
        "fullName": address.name,
        "provinceText": address.province,
        "cityText": address.city,
        "areaText": address.district,
        "address": address.detail,
    }
    if _MOBILE.fullmatch(digits):
        said["mobile"] = digits
    else:
        said["phone"] = address.phone
    if address.postal_code:
        said["postCode"] = address.postal_code
    return said


@dataclass(frozen=True, slots=True)
class Costs:
    """What a basket costs, part by part, and the lines that the platform set apart by itself."""

    parts: Sequence[SellerPreview]
    unavailable: Sequence[UnavailableLine]


def costs(answer: Json, lines: Sequence[Line], seller_id: str = "") -> Costs:
    """A preview. 1688 does not say whose part it is, so `seller_id` is what the caller knows."""
    listed = entries(answer.get("orderPreviewResuslt"))
    if not listed:
        raise UnreadableResponse("The preview is empty.")
    good: list[SellerPreview] = []
    bad: list[UnavailableLine] = []
    for part in listed:
        its_lines = lines if len(listed) == 1 else _lines_of(part, lines)
        if flag(part.get("status")) is False:
            reason = errors.reason_of(errors.spelled(part)) or Reason.OTHER
            bad += [UnavailableLine(one.product_id, one.sku_id, reason) for one in its_lines]
        else:
            good.append(_part(part, its_lines, seller_id))
    return Costs(good, bad)


def _part(part: Json, lines: Sequence[Line], seller_id: str) -> SellerPreview:
    total = fen(part.get("sumPayment"), "sumPayment")
    if total is None:
        raise UnreadableResponse("The preview has no sumPayment.")
    freight = fen(part.get("sumCarriage"), "sumCarriage") or 0
    discount = abs(fen(part.get("discountFee"), "discountFee") or 0)
    return SellerPreview(
        seller_id=seller_id,
        lines=lines,
        # As in an order: the goods before the discount, from the sum that is to be paid.
        goods_fen=total - freight + discount,
        freight_fen=freight,
        discount_fen=discount,
        total_fen=total,
    )


def _lines_of(part: Json, lines: Sequence[Line]) -> list[Line]:
    """Our lines in one part of a split; one line may be in two parts, a share in each."""
    found = []
    for cargo in entries(part.get("cargoList")):
        number, spec = text(cargo.get("offerId")), text(cargo.get("specId"))
        for line in lines:
            if line.product_id == number and line.sku_id in (spec, None):
                found.append(Line(line.product_id, line.sku_id, _quantity(cargo, line)))
                break
    return found


def _quantity(cargo: Json, line: Line) -> int:
    """How many of a line are in this part; all of it, unless amount and price tell otherwise."""
    amount = yuan_or_none(cargo.get("amount"))
    price = yuan_or_none(cargo.get("finalUnitPrice"))
    if not amount or not price or amount % price:
        return line.quantity
    return min(amount // price, line.quantity)


def blamed(message: str, lines: Sequence[Line]) -> list[Line]:
    """The lines that a refusal's sentence names; none when it names nothing of this basket."""
    named = _NAMED.findall(message)
    exact = [
        line
        for line in lines
        if any(line.product_id == number and spec == line.sku_id for number, spec in named)
    ]
    numbers = {number for number, _ in named}
    return exact or [line for line in lines if line.product_id in numbers]


def placed(answer: Json) -> Placed | None:
    """The orders that were made; None when the answer names none."""
    result = entry(answer.get("result"))
    listed = entries(result.get("orderList"))
    split = [(number, one) for one in listed if (number := _order_id(one))]
    if split:
        amounts = [_fen_or_none(one.get("orderAmmount")) for _, one in split]
        known = [amount for amount in amounts if amount is not None]
        return Placed(
            order_ids=[number for number, _ in split],
            total_fen=sum(known) if len(known) == len(split) else None,
        )
    number = _order_id(result)
    if number is None:
        return None
    return Placed([number], _fen_or_none(result.get("totalSuccessAmount")))


def _order_id(made: Json) -> str | None:
    """Orders count from one: a zero stands where there is none."""
    number = text(made.get("orderId"))
    return number if number and number.strip("0") else None


def _fen_or_none(value: object) -> int | None:
    """An order that was made is not lost for an amount that cannot be read."""
    try:
        return fen(value, "")
    except UnreadableResponse:
        return None


def failed_offers(answer: Json) -> Mapping[str, AlibabaError]:
    """Offers that did not come into the order, and why."""
    failed = entries(entry(answer.get("result")).get("failedOfferList"))
    return {text(one.get("offerId")) or "": errors.spelled(one) for one in failed}


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
        rest = [line for line in lines if offer_id(line.product_id) is not None]
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
        params = basket_params(lines, self._address, self._flow)
        answer = await self._gateway.ask(gateway.PREVIEW, params)
        try:
            return costs(answer, lines, seller_id)
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
        named = [] if two_meanings else blamed(refusal.message, lines)
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
        number = offer_id(product_id)
        if number is None:
            return None
        params = products.detail_params(number, _LANG)
        answer = await self._gateway.ask(gateway.DETAIL, params)
        try:
            product = products.product(answer)
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
