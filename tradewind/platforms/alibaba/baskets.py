"""Preview and creation of orders at 1688."""

import re
from collections.abc import Mapping, Sequence
from functools import partial

from tradewind.platforms.alibaba import errors, gateway, products
from tradewind.platforms.alibaba.gateway import AlibabaGateway
from tradewind.platforms.alibaba.values import (
    Json,
    encode,
    entries,
    entry,
    fen,
    flag,
    or_none,
    text,
    yuan,
)
from tradewind.platforms.failures import ErrorResponse, Reason, Rejected, UnreadableResponse
from tradewind.platforms.fan_out import fan_out
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
# 1688's messages name the offer, or the offer and its variant: 商品[610947572360_b266e0…]库存不足
_OFFER_IN_MESSAGE = re.compile(r"\[(\d+)(?:_([0-9A-Za-z]+))?\]")
Group = Sequence[Line]

# The rejections that a single line causes, and that are resolved without that line.
_LINE_REASONS = frozenset(
    {
        Reason.OUT_OF_STOCK,
        Reason.BELOW_MINIMUM,
        Reason.MIXED_BATCH,
        Reason.NOT_FOR_SALE,
        Reason.SEVERAL_SELLERS,
    }
)
# Limits for the extra calls that a rejected basket costs.
_MOST_ROUNDS = 8
_MOST_PROBES = 20
_LANG = "en"


def offer_id(product_id: str) -> int | None:
    """Return the number of an offer; None if this cannot be an offer of 1688."""
    return int(product_id) if _OFFER.fullmatch(product_id) else None


def basket_params(lines: Sequence[Line], address: Address, flow: str) -> dict[str, str]:
    return {
        "flow": flow,
        "addressParam": encode(_address(address)),
        "cargoParamList": encode([_cargo(line) for line in lines]),
    }


def create_params(request: OrderRequest, flow: str) -> dict[str, str]:
    """Write the request; 1688 has no price limit, so `expected_total_fen` is not sent."""
    params = basket_params(request.lines, request.address, flow)
    params["outOrderId"] = request.reference
    if request.remark:
        params["message"] = request.remark
    return params


def _cargo(line: Line) -> dict[str, object]:
    cargo: dict[str, object] = {"offerId": offer_id(line.product_id), "quantity": line.quantity}
    if line.sku_id is not None:
        cargo["specId"] = line.sku_id
    return cargo


def _address(address: Address) -> dict[str, str]:
    """Write an address as text; a number that is not a Chinese mobile is sent as `phone`."""
    digits = re.sub(r"[\s()-]", "", address.phone).removeprefix("+86").removeprefix("0086")
    written = {
        "fullName": address.name,
        "provinceText": address.province,
        "cityText": address.city,
        "areaText": address.district,
        "address": address.detail,
    }
    if _MOBILE.fullmatch(digits):
        written["mobile"] = digits
    else:
        written["phone"] = address.phone
    if address.postal_code:
        written["postCode"] = address.postal_code
    return written


def preview(response: Json, lines: Sequence[Line], seller_id: str = "") -> Preview:
    """Read a preview. 1688 does not name the seller, so `seller_id` is the caller's knowledge."""
    listed = entries(response.get("orderPreviewResuslt"))
    if not listed:
        raise UnreadableResponse("The preview is empty.")
    parts: list[SellerPreview] = []
    unavailable: list[UnavailableLine] = []
    for part in listed:
        part_lines = lines if len(listed) == 1 else _lines_of(part, lines)
        if flag(part.get("status")) is False:
            reason = errors.reason_of(errors.read_error(part)) or Reason.OTHER
            unavailable += [_unavailable(line, reason) for line in part_lines]
        else:
            parts.append(_part(part, part_lines, seller_id))
    return Preview(parts, sum(part.total_fen for part in parts), unavailable)


def _part(part: Json, lines: Sequence[Line], seller_id: str) -> SellerPreview:
    total = fen(part.get("sumPayment"), "sumPayment")
    if total is None:
        raise UnreadableResponse("The preview has no sumPayment.")
    freight = fen(part.get("sumCarriage"), "sumCarriage") or 0
    discount = abs(fen(part.get("discountFee"), "discountFee") or 0)
    return SellerPreview(
        seller_id=seller_id,
        lines=lines,
        # As in an order: the goods before the discount, computed from the total.
        goods_fen=total - freight + discount,
        freight_fen=freight,
        discount_fen=discount,
        total_fen=total,
    )


def _lines_of(part: Json, lines: Sequence[Line]) -> list[Line]:
    """Return our lines in a part of a split; a line may be divided between two parts."""
    part_lines = []
    for cargo in entries(part.get("cargoList")):
        number, spec = text(cargo.get("offerId")), text(cargo.get("specId"))
        for line in lines:
            if line.product_id == number and line.sku_id in (spec, None):
                part_lines.append(Line(line.product_id, line.sku_id, _quantity(cargo, line)))
                break
    return part_lines


def _quantity(cargo: Json, line: Line) -> int:
    """Return how many of a line are in this part, by amount and price; else the whole line."""
    amount = or_none(yuan, cargo.get("amount"))
    price = or_none(yuan, cargo.get("finalUnitPrice"))
    if not amount or not price or amount % price:
        return line.quantity
    return min(amount // price, line.quantity)


def lines_in_message(message: str, lines: Sequence[Line]) -> list[Line]:
    """Return the lines that an error message names; none if it names nothing of this basket."""
    named = _OFFER_IN_MESSAGE.findall(message)
    exact = [
        line
        for line in lines
        if any(line.product_id == number and spec == line.sku_id for number, spec in named)
    ]
    numbers = {number for number, _ in named}
    return exact or [line for line in lines if line.product_id in numbers]


def placed(response: Json) -> Placed | None:
    """Read the orders that were created; None when the response names none."""
    result = entry(response.get("result"))
    listed = entries(result.get("orderList"))
    split = [(number, order) for order in listed if (number := _order_id(order))]
    if split:
        # An unreadable amount must not lose an order that was created.
        amounts = [or_none(fen, order.get("orderAmmount")) for _, order in split]
        readable = [amount for amount in amounts if amount is not None]
        return Placed(
            order_ids=[number for number, _ in split],
            total_fen=sum(readable) if len(readable) == len(split) else None,
        )
    number = _order_id(result)
    if number is None:
        return None
    return Placed([number], or_none(fen, result.get("totalSuccessAmount")))


def _order_id(order: Json) -> str | None:
    """Return the id of an order; zero means that there is none."""
    number = text(order.get("orderId"))
    return number if number and number.strip("0") else None


def failed_offers(response: Json) -> Mapping[str, ErrorResponse]:
    """Return the offers that were left out of the order, with their errors."""
    failed = entries(entry(response.get("result")).get("failedOfferList"))
    return {text(offer.get("offerId")) or "": errors.read_error(offer) for offer in failed}


class BasketPreview:
    """Previews baskets for an address, and finds the lines that make 1688 reject a basket."""

    def __init__(self, alibaba_gateway: AlibabaGateway, flow: str, address: Address) -> None:
        self._gateway = alibaba_gateway
        self._flow = flow
        self._address = address

    async def preview(self, lines: Sequence[Line]) -> Preview:
        """Preview the lines that can be bought, and list the others with their reasons.

        Lines that 1688 rejects are set aside, and the rest is previewed again. Lines of several
        sellers that can be bought separately are returned as one part for each seller.
        """
        rest = [line for line in lines if offer_id(line.product_id) is not None]
        unavailable = [_unavailable(line, Reason.NOT_FOUND) for line in lines if line not in rest]
        for left in reversed(range(_MOST_ROUNDS)):
            if not rest:
                return Preview((), 0, unavailable)
            try:
                return _merged([await self._costs(rest)], unavailable)
            except Rejected as error:
                if error.reason not in _LINE_REASONS or not left:
                    raise
                culprits = await self._culprits(error, rest)
                if not culprits:
                    return _merged(await self._by_seller(error, rest), unavailable)
            unavailable += culprits
            dropped = {(line.product_id, line.sku_id) for line in culprits}
            rest = [line for line in rest if (line.product_id, line.sku_id) not in dropped]
        raise AssertionError("the last round returns or raises")

    async def _costs(self, lines: Group, seller_id: str = "") -> Preview:
        params = basket_params(lines, self._address, self._flow)
        read = partial(preview, lines=lines, seller_id=seller_id)
        return await self._gateway.call(gateway.PREVIEW, params, read)

    async def _culprits(self, error: Rejected, lines: Group) -> list[UnavailableLine]:
        """Return the lines that cause an error; none if the lines are of several sellers.

        The message usually names them. A code that means either several sellers or an unknown
        variant, or a message without names, requires a preview of each offer.
        """
        ambiguous = error.code in errors.SEVERAL_SELLERS_OR_NO_SPEC
        reason = Reason.NOT_FOUND if ambiguous else error.reason
        if len(lines) == 1:
            return [_unavailable(lines[0], reason)]
        named = [] if ambiguous else lines_in_message(error.message, lines)
        if named:
            return [_unavailable(line, reason) for line in named]
        offers = _by_offer(lines)
        if len(offers) == 1:
            return await self._culprits_of_one_offer(error, lines, reason)
        group_errors = await self._probe(error, offers)
        culprits: list[UnavailableLine] = []
        for group, group_error in zip(offers, group_errors, strict=True):
            if group_error is not None:
                culprits += await self._culprits(group_error, group)
        if not culprits and not ambiguous:
            raise error
        return culprits

    async def _culprits_of_one_offer(
        self, error: Rejected, lines: Group, reason: Reason
    ) -> list[UnavailableLine]:
        """Preview each variant alone. Only the same error counts: variants share a minimum."""
        line_errors = await self._probe(error, [[line] for line in lines])
        bad = [
            line
            for line, line_error in zip(lines, line_errors, strict=True)
            if line_error is not None and line_error.code == error.code
        ]
        return [_unavailable(line, reason) for line in bad or lines]

    async def _probe(self, error: Rejected, groups: Sequence[Group]) -> list[Rejected | None]:
        """Preview each group alone and return its error; with too many groups, raise `error`."""
        if len(groups) > _MOST_PROBES:
            raise error

        async def alone(group: Group) -> Rejected | None:
            try:
                await self._costs(group)
            except Rejected as group_error:
                if group_error.reason not in _LINE_REASONS:
                    raise
                return group_error
            return None

        return await fan_out(partial(alone, group) for group in groups)

    async def _by_seller(self, error: Rejected, lines: Group) -> list[Preview]:
        """Preview each seller's lines separately; only a product's detail names its seller."""
        offers = _by_offer(lines)
        sellers = await fan_out(partial(self._seller, group[0].product_id) for group in offers)
        parts: dict[str, list[Line]] = {}
        for seller, group in zip(sellers, offers, strict=True):
            if seller is None:
                raise error
            parts.setdefault(seller, []).extend(group)
        if len(parts) == 1:
            raise error
        return await fan_out(partial(self._costs, parts[seller], seller) for seller in parts)

    async def _seller(self, product_id: str) -> str | None:
        number = offer_id(product_id)
        if number is None:
            return None
        params = products.detail_params(number, _LANG)
        product = await self._gateway.call(gateway.DETAIL, params, products.product)
        return product.offer.seller_id if product else None


def _merged(previews: Sequence[Preview], unavailable: Sequence[UnavailableLine]) -> Preview:
    """Merge the previews of several sellers with the lines that were set aside before."""
    sellers = [seller for preview in previews for seller in preview.sellers]
    missing = [line for preview in previews for line in preview.unavailable]
    total = sum(preview.total_fen for preview in previews)
    return Preview(sellers, total, [*unavailable, *missing])


def _unavailable(line: Line, reason: Reason) -> UnavailableLine:
    return UnavailableLine(line.product_id, line.sku_id, reason)


def _by_offer(lines: Group) -> list[Group]:
    groups: dict[str, list[Line]] = {}
    for line in lines:
        groups.setdefault(line.product_id, []).append(line)
    return list(groups.values())
