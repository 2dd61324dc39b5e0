"""The order object of the 1688 dialect: yuan beside fen, ids as numbers and as strings."""

from typing import Any

from tradewind_simulator import times
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
    """`result` of the buyer's view; the list shows the same without the parcels."""
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
    """What is under way counts more than what is over."""
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
        "skuInfos": [{"name": one.name, "value": one.value} for one in line.options],
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
    """A line runs ahead of its order when it was sent first, or refunded before it was sent."""
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
