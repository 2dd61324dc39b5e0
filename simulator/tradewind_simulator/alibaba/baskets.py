"""Preview and creation of orders in the 1688 dialect."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from tradewind_simulator import basket, create, freight, magic
from tradewind_simulator.alibaba import errors
from tradewind_simulator.alibaba.orders import NAMESPACE
from tradewind_simulator.answers import Answer, Refused
from tradewind_simulator.basket import Part, Picked, Problem, Wanted
from tradewind_simulator.calls import Call, Operation
from tradewind_simulator.model import Address, Order
from tradewind_simulator.money import yuan

_FLOWS = ("", "general", "fenxiao", "saleproxy", "boutiquefenxiao", "boutiquepifa")
_MOST_SKUS = 50


class _Cargo(Struct):
    offerId: int  # noqa: N815 - the platform's own name
    quantity: float
    specId: str | None = None  # noqa: N815


class _Address(Struct):
    addressId: int | None = None  # noqa: N815
    districtCode: str | None = None  # noqa: N815
    fullName: str = ""  # noqa: N815
    mobile: str = ""
    phone: str = ""
    postCode: str = ""  # noqa: N815
    provinceText: str = ""  # noqa: N815
    cityText: str = ""  # noqa: N815
    areaText: str = ""  # noqa: N815
    townText: str = ""  # noqa: N815
    address: str = ""


def _address(call: Call) -> Address:
    """By id, by district code, or in words; in words it must name a province we know."""
    given = call.read("addressParam", _Address)
    if given.addressId is not None:
        return Address("张三", "15251667788", "浙江省", "杭州市", "滨江区", "网商路699号", "310000")
    if not given.fullName or not (given.mobile or given.phone) or not given.address:
        raise Refused("400", "AddressParam invalid: fullName, mobile and address are required")
    if given.districtCode is None and not freight.known(given.provinceText):
        raise Refused("400", f"AddressParam invalid: provinceText [{given.provinceText}]")
    return Address(
        name=given.fullName,
        phone=given.mobile or given.phone,
        province=given.provinceText or "浙江省",
        city=given.cityText,
        area=given.areaText,
        detail=f"{given.townText}{given.address}",
        zip=given.postCode,
    )


def _wanted(call: Call) -> list[Wanted]:
    cargo = call.read("cargoParamList", list[_Cargo])
    if not cargo or len(cargo) > _MOST_SKUS:
        raise Refused("400", f"cargoParamList: 1 to {_MOST_SKUS} entries")
    if any(one.quantity != int(one.quantity) or one.quantity < 1 for one in cargo):
        raise Refused("400", "cargoParamList: quantity invalid")
    return [Wanted(one.offerId, int(one.quantity), one.specId or "") for one in cargo]


def _parts(call: Call, address: Address, *, creating: bool) -> list[Part]:
    """What the basket becomes; refused as a whole if any line cannot be had."""
    flow = call.params.get("flow", "")
    if flow not in _FLOWS:
        raise Refused("400", f"flow invalid: {flow}")
    shop = call.world.shop()
    wanted = _wanted(call)
    if flow == "saleproxy":
        raise _refusal([Problem(wanted[0], basket.NO_CONSIGN_RELATION)])
    picked, problems = basket.pick(shop, wanted, creating=creating)
    if len(basket.sellers_of(picked)) > 1:
        first = picked[0].product.seller
        other = next(one for one in picked if one.product.seller != first)
        problems.insert(0, Problem(_as_wanted(other), basket.SEVERAL_SELLERS))
    if problems:
        raise _refusal(problems)
    return basket.parts(shop, picked, address.province)


def _as_wanted(picked: Picked) -> Wanted:
    return Wanted(picked.product.id, picked.quantity, picked.sku.spec)


def _refusal(problems: Sequence[Problem]) -> Refused:
    first = problems[0]
    failed = [
        {
            "offerId": str(one.wanted.product),
            "specId": one.wanted.spec,
            "errorCode": one.code,
            "errorMessage": one.sentence,
        }
        for one in problems
    ]
    return Refused(first.code, first.sentence, failed=failed)


def preview(call: Call) -> dict[str, Any]:
    parts = _parts(call, _address(call), creating=False)
    return {"orderPreviewResuslt": [_preview(part) for part in parts], "success": True}


def _preview(part: Part) -> dict[str, Any]:
    return {
        "discountFee": part.discount_fen,
        "tradeModeNameList": ["fxassure"],
        "status": True,
        "taoSampleSinglePromotion": False,
        "sumPayment": part.total_fen,
        "sumCarriage": part.freight_fen,
        "sumPaymentNoCarriage": part.goods_fen,
        "flowFlag": "general",
        "cargoList": [
            {
                "amount": yuan(one.amount_fen),
                "finalUnitPrice": yuan(one.price_fen),
                "specId": one.sku.spec or None,
                "skuId": one.sku.id,
                "offerId": one.product.id,
                "cargoPromotionList": [],
            }
            for one in part.picked
        ],
        "shopPromotionList": [],
        "tradeModelList": [{"tradeType": "fxassure", "name": "交易4.0通用", "opSupport": True}],
        "payChannelInfos": [{"name": "alipay"}, {"name": "shegou", "amountLimit": 5_000_000}],
    }


def create_order(call: Call) -> Any:
    """The reference is for looking up only: the same one twice makes two orders."""
    address = _address(call)
    parts = _parts(call, address, creating=True)
    made = create.create(
        call.world,
        call.app.name,
        parts,
        address=address,
        reference=call.params.get("outOrderId", ""),
        remark=call.params.get("message", ""),
        at=call.at,
    )
    answer = {"result": _created(made), "success": True}
    if any(magic.CREATE_TIMES_OUT in call.world.spells(order) for order in made):
        return Answer(b"", silence=magic.SILENT_SECONDS)
    return answer


def _created(made: Sequence[Order]) -> dict[str, Any]:
    if len(made) == 1:
        order = made[0]
        return {
            "success": True,
            "totalSuccessAmount": order.total_fen,
            "orderId": str(order.id),
            "postFee": order.freight_fen,
            "failedOfferList": [],
        }
    return {
        "success": True,
        "failedOfferList": [],
        "orderList": [
            {
                "postFee": order.freight_fen,
                "orderAmmount": order.total_fen,
                "discount": order.discount_fen,
                "orderId": str(order.id),
                "success": True,
                "resultCode": "200",
            }
            for order in made
        ],
    }


OPERATIONS = {
    f"{NAMESPACE}/{operation.name}": operation
    for operation in (
        Operation("alibaba.createOrder.preview", "preview", preview, errors.preview_error),
        Operation("alibaba.trade.createCrossOrder", "create", create_order, errors.create_error),
        Operation("alibaba.trade.fastCreateOrder", "create", create_order, errors.create_error),
    )
}
