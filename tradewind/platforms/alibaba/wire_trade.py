"""Baskets and addresses as 1688 wants them; previews and new orders as it answers them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tradewind.platforms.alibaba import errors
from tradewind.platforms.alibaba.errors import AlibabaError
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
from tradewind.platforms.failures import Reason, UnreadableResponse
from tradewind.platforms.model import (
    Address,
    Line,
    OrderRequest,
    Placed,
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
