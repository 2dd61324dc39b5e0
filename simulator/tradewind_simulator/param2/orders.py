"""Preview, create, read, list and cancel in the 1688 dialect."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from tradewind_simulator import basket, create, freight, magic, steps, times
from tradewind_simulator.answers import Answer, Refused
from tradewind_simulator.basket import Part, Picked, Problem, Wanted
from tradewind_simulator.calls import Call, Operation
from tradewind_simulator.model import Address, Order, Status
from tradewind_simulator.money import yuan
from tradewind_simulator.param2 import wire

NAMESPACE = "com.alibaba.trade"
_FLOWS = ("", "general", "fenxiao", "saleproxy", "boutiquefenxiao", "boutiquepifa")
_MOST_SKUS = 50
_PAGE = 20
_TOO_FAST_SECONDS = 10.0
_REASONS = ("buyerCancel", "sellerGoodsLack", "other")


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


def refuse_preview(refused: Refused) -> dict[str, Any]:
    return {
        "orderPreviewResuslt": [],
        "success": False,
        "errorCode": refused.code,
        "errorMsg": refused.message,
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


def refuse_create(refused: Refused) -> dict[str, Any]:
    told = {"success": False, "code": refused.code, "message": refused.message}
    return {**told, "result": {**told, "failedOfferList": refused.extra.get("failed", [])}}


def read(call: Call) -> dict[str, Any]:
    order = _find(call)
    fields = call.params.get("includeFields", "")
    shown = wire.order_object(call.world, order, call.base, logistics=True)
    if fields and "NativeLogistics" not in fields:
        del shown["nativeLogistics"]
    return {"success": "true", "result": shown}


def _find(call: Call) -> Order:
    """By id, or by the reference: the first order made under it."""
    if call.params.get("orderId"):
        order = call.world.of_app(call.app.name, call.number("orderId"))
    else:
        made = call.world.referenced(call.app.name, call.text("outOrderId"))
        order = made[0] if made else None
    if order is None:
        raise Refused("ORDER_NOT_EXIST", "订单不存在")
    return order


def refuse_read(refused: Refused) -> dict[str, Any]:
    return {"success": "false", "errorCode": refused.code, "errorMessage": refused.message}


class _Filter(Struct):
    """What a list is narrowed to; times are the world's."""

    status: str
    refund_status: str
    created: tuple[float | None, float | None]
    changed: tuple[float | None, float | None]

    def fits(self, order: Order) -> bool:
        return (
            (not self.status or wire.status_word(order) == self.status)
            and (not self.refund_status or self.refund_status in _refund_words(order))
            and _between(order.created_at, self.created)
            and _between(order.changed_at, self.changed)
        )


def _refund_words(order: Order) -> set[str]:
    return {refund.status.value for refund in order.refunds}


def _between(at: float, bounds: tuple[float | None, float | None]) -> bool:
    low, high = bounds
    return (low is None or at >= low) and (high is None or at <= high)


def list_orders(call: Call) -> dict[str, Any]:
    """Newest first; without the parcels, which only the buyer's view shows."""
    narrow = _Filter(
        status=call.params.get("orderStatus", ""),
        refund_status=call.params.get("refundStatus", ""),
        created=(_time(call, "createStartTime"), _time(call, "createEndTime")),
        changed=(_time(call, "modifyStartTime"), _time(call, "modifyEndTime")),
    )
    found = sorted(
        (order for order in _candidates(call, narrow) if narrow.fits(order)),
        key=lambda order: -order.id,
    )
    size = min(max(call.number("pageSize", _PAGE), 1), _PAGE)
    page = max(call.number("page", 1), 1)
    here = found[(page - 1) * size : page * size]
    return {
        "result": [
            wire.order_object(call.world, order, call.base, logistics=False) for order in here
        ],
        "totalRecord": len(found),
    }


def _candidates(call: Call, narrow: _Filter) -> Sequence[Order]:
    if call.params.get("orderIds"):
        ids = call.read("orderIds", list[int])
        orders = (call.world.of_app(call.app.name, one) for one in dict.fromkeys(ids))
        return [order for order in orders if order is not None]
    if call.params.get("outOrderId"):
        return call.world.referenced(call.app.name, call.text("outOrderId"))
    found: list[Order] = []
    since = narrow.changed[0]
    for order in call.world.latest_changed(call.app.name):
        if since is not None and order.changed_at < since:
            break
        found.append(order)
    return found


def _time(call: Call, name: str) -> float | None:
    text = call.params.get(name, "")
    try:
        return times.read_compact(text) if text else None
    except (ValueError, OverflowError):
        raise Refused("400", f"{name} invalid: {text}") from None


def refuse_list(refused: Refused) -> dict[str, Any]:
    return {
        "result": [],
        "totalRecord": 0,
        "errorCode": refused.code,
        "errorMessage": refused.message,
    }


def cancel(call: Call) -> dict[str, Any]:
    """Only what is unpaid, and not within ten seconds of its making."""
    call.text("webSite")
    if call.text("cancelReason") not in _REASONS:
        raise Refused("400", "cancelReason invalid")
    number = call.number("tradeID")
    order = call.world.orders.get(number)
    if order is None:
        raise Refused("ORDER_NOT_EXIST", "订单不存在")
    if order.app != call.app.name:
        raise Refused("400_3", "无权限取消该订单")
    if order.status is not Status.UNPAID:
        raise Refused("ORDER_STATUS_ERROR", "订单状态错误")
    if call.at - order.created_at < _TOO_FAST_SECONDS:
        raise Refused("CLOSE_ORDER_TOO_FAST", "订单创建后10秒内不允许关闭")
    steps.take(call.world, order, call.at, "close_by_buyer", steps.Details())
    return {"success": True}


def refuse_cancel(refused: Refused) -> dict[str, Any]:
    return {"success": False, "errorCode": refused.code, "errorMessage": refused.message}


OPERATIONS = {
    f"{NAMESPACE}/{operation.name}": operation
    for operation in (
        Operation("alibaba.createOrder.preview", "preview", preview, refuse_preview),
        Operation("alibaba.trade.createCrossOrder", "create", create_order, refuse_create),
        Operation("alibaba.trade.fastCreateOrder", "create", create_order, refuse_create),
        Operation("alibaba.trade.get.buyerView", "read", read, refuse_read),
        Operation("alibaba.trade.getBuyerOrderList", "list", list_orders, refuse_list),
        Operation("alibaba.trade.cancel", "cancel", cancel, refuse_cancel),
    )
}
