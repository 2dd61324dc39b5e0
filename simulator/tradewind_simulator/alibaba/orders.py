"""Orders in the 1688 dialect: the order object, read, list and cancel."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from tradewind_simulator import steps, times
from tradewind_simulator.alibaba import errors
from tradewind_simulator.calls import Call, Operation
from tradewind_simulator.model import (
    REFUND_OVER,
    Line,
    Order,
    Parcel,
    Refund,
    RefundStatus,
    Status,
)
from tradewind_simulator.money import yuan
from tradewind_simulator.responses import BusinessError
from tradewind_simulator.world import World

WORDS = {
    Status.BUILDING: "waitbuyerpay",
    Status.UNPAID: "waitbuyerpay",
    Status.PAID: "waitsellersend",
    Status.SHIPPED: "waitbuyerreceive",
    Status.RECEIVED: "confirm_goods",
    Status.SUCCESS: "success",
    Status.CANCELLED: "cancel",
    Status.TERMINATED: "terminated",
}
_TOLD = {
    "waitbuyerpay": "等待买家付款",
    "waitsellersend": "等待卖家发货",
    "waitbuyerreceive": "等待买家收货",
    "confirm_goods": "已收货",
    "success": "交易成功",
    "cancel": "交易取消",
    "terminated": "交易终止",
}
ENTRY_REFUND_WORDS = {
    RefundStatus.ASKED: "WAIT_SELLER_AGREE",
    RefundStatus.REFUSED: "WAIT_BUYER_MODIFY",
    RefundStatus.TO_RETURN: "WAIT_BUYER_SEND",
    RefundStatus.RETURNED: "WAIT_SELLER_RECEIVE",
    RefundStatus.DONE: "REFUND_SUCCESS",
    RefundStatus.CLOSED: "REFUND_CLOSED",
}
_UNSENT, _SENT, _RECEIVED, _PART_SENT = 1, 2, 3, 5


def status_word(order: Order) -> str:
    return WORDS[order.status]


def order_object(world: World, order: Order, base: str, *, logistics: bool) -> dict[str, Any]:
    """Write `result` of the buyer's view; the list has no parcels."""
    address = order.address
    native: dict[str, Any] = {
        "address": address.detail,
        "area": address.area,
        "city": address.city,
        "contactPerson": address.name,
        "mobile": address.phone,
        "province": address.province,
        "zip": address.zip,
    }
    if logistics and order.parcels:
        native["logisticsItems"] = [_parcel(parcel) for parcel in order.parcels]
    return {
        "baseInfo": _base_info(world, order),
        "orderBizInfo": {"abnormalPriceChange": order.price_changed},
        "tradeTerms": [_terms(order)],
        "productItems": [_item(order, line, base) for line in order.lines],
        "nativeLogistics": native,
        "orderRateInfo": {"buyerRateStatus": 5, "sellerRateStatus": 5},
    }


def _base_info(world: World, order: Order) -> dict[str, Any]:
    app = world.apps[order.app]
    seller = world.sellers[order.seller]
    info: dict[str, Any] = {
        "id": order.id,
        "idOfStr": str(order.id),
        "status": status_word(order),
        "businessType": "cb",
        "tradeType": "50060",
        "totalAmount": yuan(order.total_fen),
        "sumProductPayment": yuan(order.goods_fen),
        "shippingFee": yuan(order.freight_fen),
        "discount": -order.discount_fen,
        "refund": yuan(order.refunded_fen),
        "refundPayment": order.refunded_fen,
        "createTime": times.compact(order.created_at),
        "modifyTime": times.compact(order.changed_at),
        "payTimeout": order.pay_seconds,
        "buyerID": app.member_id,
        "sellerID": seller.member_id,
        "buyerUserId": app.buyer_id,
        "sellerUserId": seller.id,
        "buyerLoginId": app.name,
        "sellerLoginId": seller.login,
        "sellerContact": {"companyName": seller.name, "imInPlatform": seller.login},
        "receiverInfo": _receiver(order),
        "alipayTradeId": "UNCREAT",
        "outOrderId": order.reference,
        "stepPayAll": False,
        "newStepOrderList": [],
    }
    if order.remark:
        info["buyerFeedback"] = order.remark
    if order.paid_at is not None:
        info["alipayTradeId"] = f"{order.id}{order.seller % 10_000_000:07d}"
    return info | _times(order) | _refunds_and_closing(order)


def _refunds_and_closing(order: Order) -> dict[str, str]:
    info: dict[str, str] = {}
    during = [refund for refund in order.refunds if not refund.after_sales]
    after = [refund for refund in order.refunds if refund.after_sales]
    if during:
        info["refundStatus"] = _latest(during).status.value
        info["refundId"] = f"TQ{_latest(during).id}"
    if after:
        info["refundStatusForAs"] = _latest(after).status.value
        info["refundIdForAs"] = f"TQ{_latest(after).id}"
    if order.closed_by:
        info["closeReason"] = order.close_reason
        info["closeOperateType"] = order.closed_by
    return info


def _times(order: Order) -> dict[str, str]:
    over = order.over_at if order.status is Status.SUCCESS else None
    named = {
        "payTime": order.paid_at,
        "allDeliveredTime": order.shipped_at,
        "receivingTime": order.received_at,
        "completeTime": over,
    }
    return {name: times.compact(at) for name, at in named.items() if at is not None}


def _receiver(order: Order) -> dict[str, str]:
    address = order.address
    return {
        "toFullName": address.name,
        "toMobile": address.phone,
        "toPost": address.zip,
        "toArea": f"{address.province} {address.city} {address.area} {address.detail}",
    }


def _latest(refunds: list[Refund]) -> Refund:
    """Return the latest refund; one in progress has precedence."""
    return max(refunds, key=lambda r: (r.status not in REFUND_OVER, r.changed_at, r.id))


def _terms(order: Order) -> dict[str, Any]:
    terms: dict[str, Any] = {
        "payStatus": pay_status(order),
        "payWay": "1",
        "payWayDesc": "支付宝",
        "phasAmount": yuan(order.total_fen),
        "phase": order.id - 1,
    }
    if order.paid_at is not None:
        terms["payTime"] = times.compact(order.paid_at)
    return terms


def pay_status(order: Order) -> str:
    if order.paid_at is None:
        if order.status is Status.CANCELLED:
            return "8"
        return "9" if order.paying else "1"
    if order.refunded_fen >= order.paid_fen:
        return "4"
    return "6" if order.status in (Status.RECEIVED, Status.SUCCESS) else "2"


def _item(order: Order, line: Line, base: str) -> dict[str, Any]:
    refunds = [refund for refund in order.refunds if line.id in refund.lines]
    word = line_word(order, line)
    item: dict[str, Any] = {
        "subItemID": line.id,
        "subItemIDString": str(line.id),
        "productID": line.product,
        "name": line.title,
        "skuID": line.sku,
        "specId": line.spec,
        "skuInfos": [{"name": option.name, "value": option.value} for option in line.options],
        "quantity": line.quantity,
        "unit": line.unit,
        "price": yuan(line.price_fen),
        "itemAmount": yuan(line.amount_fen),
        "entryDiscount": -line.discount_fen,
        "refund": yuan(line.refunded_fen),
        "status": word,
        "statusStr": _TOLD[word],
        "logisticsStatus": logistics_status(order, line),
        "productImgUrl": [f"{base}/images/{line.product}/{line.picture}.svg"],
        "productSnapshotUrl": f"{base}/offer/{line.product}.html",
        "gmtCreate": times.compact(order.created_at),
        "gmtModified": times.compact(order.changed_at),
        "type": "common",
    }
    if refunds:
        item["refundStatus"] = ENTRY_REFUND_WORDS[_latest(refunds).status]
        item["refundId"] = f"TQ{_latest(refunds).id}"
    return item


def line_word(order: Order, line: Line) -> str:
    """Return the status of a line, which may be shipped or refunded before its order."""
    if line.closed:
        return "terminated"
    if order.status is Status.PAID and line.shipped == line.quantity:
        return "waitbuyerreceive"
    return status_word(order)


def logistics_status(order: Order, line: Line) -> int:
    if line.shipped == 0:
        return _UNSENT
    if line.shipped < line.quantity:
        return _PART_SENT
    return _RECEIVED if order.status in (Status.RECEIVED, Status.SUCCESS) else _SENT


def _parcel(parcel: Parcel) -> dict[str, Any]:
    return {
        "id": parcel.id,
        "logisticsCode": f"LP{parcel.id}",
        "type": "0",
        "status": "alreadysend",
        "logisticsCompanyName": parcel.carrier,
        "logisticsCompanyNo": parcel.carrier_code,
        "logisticsBillNo": parcel.number,
        "deliveredTime": times.compact(parcel.at),
        "gmtCreate": times.compact(parcel.at),
        "gmtModified": times.compact(parcel.at),
        "subItemIds": ",".join(str(line) for line in parcel.lines),
    }


NAMESPACE = "com.alibaba.trade"
_PAGE = 20
_TOO_FAST_SECONDS = 10.0
_REASONS = ("buyerCancel", "sellerGoodsLack", "other")


def read(call: Call) -> dict[str, Any]:
    order = _find(call)
    fields = call.params.get("includeFields", "")
    document = order_object(call.world, order, call.base, logistics=True)
    if fields and "NativeLogistics" not in fields:
        del document["nativeLogistics"]
    return {"success": "true", "result": document}


def _find(call: Call) -> Order:
    """Find an order by id, or the first of a reference."""
    if call.params.get("orderId"):
        order = call.world.of_app(call.app.name, call.number("orderId"))
    else:
        orders = call.world.referenced(call.app.name, call.text("outOrderId"))
        order = orders[0] if orders else None
    if order is None:
        raise BusinessError("ORDER_NOT_EXIST", "订单不存在")
    return order


class _Filter(Struct):
    """The filter of a list; times are simulated."""

    status: str
    refund_status: str
    created: tuple[float | None, float | None]
    changed: tuple[float | None, float | None]

    def fits(self, order: Order) -> bool:
        return (
            (not self.status or status_word(order) == self.status)
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
    """List orders, the newest first, without parcels."""
    narrow = _Filter(
        status=call.params.get("orderStatus", ""),
        refund_status=call.params.get("refundStatus", ""),
        created=(_time(call, "createStartTime"), _time(call, "createEndTime")),
        changed=(_time(call, "modifyStartTime"), _time(call, "modifyEndTime")),
    )
    matching = sorted(
        (order for order in _candidates(call, narrow) if narrow.fits(order)),
        key=lambda order: -order.id,
    )
    size = min(max(call.number("pageSize", _PAGE), 1), _PAGE)
    page = max(call.number("page", 1), 1)
    page_orders = matching[(page - 1) * size : page * size]
    return {
        "result": [
            order_object(call.world, order, call.base, logistics=False) for order in page_orders
        ],
        "totalRecord": len(matching),
    }


def _candidates(call: Call, narrow: _Filter) -> Sequence[Order]:
    if call.params.get("orderIds"):
        ids = call.read("orderIds", list[int])
        orders = (call.world.of_app(call.app.name, number) for number in dict.fromkeys(ids))
        return [order for order in orders if order is not None]
    if call.params.get("outOrderId"):
        return call.world.referenced(call.app.name, call.text("outOrderId"))
    recent: list[Order] = []
    since = narrow.changed[0]
    for order in call.world.latest_changed(call.app.name):
        if since is not None and order.changed_at < since:
            break
        recent.append(order)
    return recent


def _time(call: Call, name: str) -> float | None:
    text = call.params.get(name, "")
    try:
        return times.read_compact(text) if text else None
    except (ValueError, OverflowError):
        raise BusinessError("400", f"{name} invalid: {text}") from None


def cancel(call: Call) -> dict[str, Any]:
    """Cancel an unpaid order, but not within ten seconds of its creation."""
    call.text("webSite")
    if call.text("cancelReason") not in _REASONS:
        raise BusinessError("400", "cancelReason invalid")
    number = call.number("tradeID")
    order = call.world.orders.get(number)
    if order is None:
        raise BusinessError("ORDER_NOT_EXIST", "订单不存在")
    if order.app != call.app.name:
        raise BusinessError("400_3", "无权限取消该订单")
    if order.status is not Status.UNPAID:
        raise BusinessError("ORDER_STATUS_ERROR", "订单状态错误")
    if call.at - order.created_at < _TOO_FAST_SECONDS:
        raise BusinessError("CLOSE_ORDER_TOO_FAST", "订单创建后10秒内不允许关闭")
    steps.take(call.world, order, call.at, "close_by_buyer", steps.Details())
    return {"success": True}


OPERATIONS = {
    f"{NAMESPACE}/{operation.name}": operation
    for operation in (
        Operation("alibaba.trade.get.buyerView", "read", read, errors.read_error),
        Operation("alibaba.trade.getBuyerOrderList", "list", list_orders, errors.list_error),
        Operation("alibaba.trade.cancel", "cancel", cancel, errors.cancel_error),
    )
}
