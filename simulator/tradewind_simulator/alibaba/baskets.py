"""Preview and creation of orders in the 1688 dialect."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from tradewind_simulator import basket, create, freight, magic
from tradewind_simulator.alibaba import errors
from tradewind_simulator.alibaba.orders import NAMESPACE
from tradewind_simulator.basket import Part, Picked, Problem, Wanted
from tradewind_simulator.calls import Call, Operation
from tradewind_simulator.model import Address, Order
from tradewind_simulator.money import yuan
from tradewind_simulator.responses import BusinessError, Response

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
    """Read an address: by id, by district code, or as text with a known province."""
    address = call.read("addressParam", _Address)
    if address.addressId is not None:
        return Address("张三", "15251667788", "浙江省", "杭州市", "滨江区", "网商路699号", "310000")
    if not address.fullName or not (address.mobile or address.phone) or not address.address:
        raise BusinessError(
            "400", "AddressParam invalid: fullName, mobile and address are required"
        )
    if address.districtCode is None and not freight.is_province(address.provinceText):
        raise BusinessError("400", f"AddressParam invalid: provinceText [{address.provinceText}]")
    return Address(
        name=address.fullName,
        phone=address.mobile or address.phone,
        province=address.provinceText or "浙江省",
        city=address.cityText,
        area=address.areaText,
        detail=f"{address.townText}{address.address}",
        zip=address.postCode,
    )


def _wanted(call: Call) -> list[Wanted]:
    cargo = call.read("cargoParamList", list[_Cargo])
    if not cargo or len(cargo) > _MOST_SKUS:
        raise BusinessError("400", f"cargoParamList: 1 to {_MOST_SKUS} entries")
    if any(entry.quantity != int(entry.quantity) or entry.quantity < 1 for entry in cargo):
        raise BusinessError("400", "cargoParamList: quantity invalid")
    return [Wanted(entry.offerId, int(entry.quantity), entry.specId or "") for entry in cargo]


def _parts(call: Call, address: Address, *, creating: bool) -> list[Part]:
    """Split the basket; an error for the whole basket if a line cannot be bought."""
    flow = call.params.get("flow", "")
    if flow not in _FLOWS:
        raise BusinessError("400", f"flow invalid: {flow}")
    shop = call.world.shop()
    wanted = _wanted(call)
    if flow == "saleproxy":
        raise _basket_error([Problem(wanted[0], basket.NO_CONSIGN_RELATION)])
    picked, problems = basket.pick(shop, wanted, creating=creating)
    if len(basket.sellers_of(picked)) > 1:
        first = picked[0].product.seller
        other = next(item for item in picked if item.product.seller != first)
        problems.insert(0, Problem(_as_wanted(other), basket.SEVERAL_SELLERS))
    if problems:
        raise _basket_error(problems)
    return basket.parts(shop, picked, address.province)


def _as_wanted(picked: Picked) -> Wanted:
    return Wanted(picked.product.id, picked.quantity, picked.sku.spec)


def _basket_error(problems: Sequence[Problem]) -> BusinessError:
    first = problems[0]
    failed = [
        {
            "offerId": str(problem.wanted.product),
            "specId": problem.wanted.spec,
            "errorCode": problem.code,
            "errorMessage": problem.sentence,
        }
        for problem in problems
    ]
    return BusinessError(first.code, first.sentence, failed=failed)


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
                "amount": yuan(item.amount_fen),
                "finalUnitPrice": yuan(item.price_fen),
                "specId": item.sku.spec or None,
                "skuId": item.sku.id,
                "offerId": item.product.id,
                "cargoPromotionList": [],
            }
            for item in part.picked
        ],
        "shopPromotionList": [],
        "tradeModelList": [{"tradeType": "fxassure", "name": "交易4.0通用", "opSupport": True}],
        "payChannelInfos": [{"name": "alipay"}, {"name": "shegou", "amountLimit": 5_000_000}],
    }


def create_order(call: Call) -> Any:
    """Create orders. The reference is for look-up only: the same twice creates two orders."""
    address = _address(call)
    parts = _parts(call, address, creating=True)
    orders = create.create(
        call.world,
        call.app.name,
        parts,
        address=address,
        reference=call.params.get("outOrderId", ""),
        remark=call.params.get("message", ""),
        at=call.at,
    )
    response = {"result": _created(orders), "success": True}
    if any(magic.CREATE_TIMES_OUT in call.world.magic_words(order) for order in orders):
        return Response(b"", silence=magic.SILENT_SECONDS)
    return response


def _created(orders: Sequence[Order]) -> dict[str, Any]:
    if len(orders) == 1:
        order = orders[0]
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
            for order in orders
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
