"""Orders in the Taobao dialect: the purchase order, cancel, query and logistics."""

from typing import Any

import msgspec
from msgspec.structs import replace

from tradewind_simulator import orders as life
from tradewind_simulator import times
from tradewind_simulator.calls import Call, Operation
from tradewind_simulator.model import Due, Line, Order, Refund, RefundStatus, Status
from tradewind_simulator.money import shares
from tradewind_simulator.responses import BusinessError
from tradewind_simulator.taobao import errors
from tradewind_simulator.world import World

WORDS = {
    Status.BUILDING: "BULIDING",
    Status.UNPAID: "WAIT_BUYER_P",
    Status.PAID: "WAIT_SELLER_SEND_GOODS",
    Status.SHIPPED: "WAIT_BUYER_CONFIRM_GOODS",
    Status.RECEIVED: "WAIT_BUYER_CONFIRM_GOODS",
    Status.SUCCESS: "TRADE_FINISHED",
    Status.CANCELLED: "TRADE_CLOSED",
    Status.TERMINATED: "TRADE_CLOSED",
}
REFUND_CODES = {
    RefundStatus.ASKED: 10,
    RefundStatus.TO_RETURN: 20,
    RefundStatus.RETURNED: 30,
    RefundStatus.DONE: 100,
    RefundStatus.REFUSED: -10,
    RefundStatus.CLOSED: -20,
}


def status_word(order: Order) -> str:
    return WORDS[order.status]


def line_word(order: Order, line: Line) -> str:
    """Return the status of a line, which may be shipped before its order."""
    if line.closed:
        return "TRADE_CLOSED"
    if order.status is Status.PAID and line.shipped == line.quantity:
        return WORDS[Status.SHIPPED]
    return status_word(order)


def purchase_order(world: World, order: Order, base: str) -> dict[str, Any]:
    app = world.apps[order.app]
    seller = world.sellers[order.seller]
    postage = shares(order.freight_fen, [line.amount_fen for line in order.lines])
    return {
        "purchase_id": order.id,
        "outer_purchase_id": order.reference,
        "status": status_word(order),
        "order_source": app.name,
        "source_market": "TAOBAO",
        "distributor_nick": app.name,
        "supplier_nick": seller.login,
        "purchase_currency": "CNY",
        "pay_currency": "CNY",
        "purchase_amount": order.total_fen,
        "product_amount": order.goods_fen - order.discount_fen,
        "pay_amount": order.paid_fen,
        "domestic_post_fee": order.freight_fen,
        "hongbao_deduction_amount": 0,
        "created_time": times.milliseconds(order.created_at),
        "modify_time": times.milliseconds(order.changed_at),
        "pay_time": _ms(order.paid_at),
        "next_close_time_without_payment": _close_time(order),
        "receiver": {
            "country": "中国",
            "state": order.address.province,
            "city": order.address.city,
            "district": order.address.area,
            "address": order.address.detail,
            "zip": order.address.zip,
        },
        "sub_purchase_orders": [
            _sub_order(world, order, line, fee, base)
            for line, fee in zip(order.lines, postage, strict=True)
        ],
    }


def _ms(at: float | None) -> int | None:
    return None if at is None else times.milliseconds(at)


def _close_time(order: Order) -> int | None:
    unpaid = order.status in (Status.UNPAID, Status.BUILDING)
    return times.milliseconds(order.pay_before) if unpaid else None


def _refund_of(order: Order, line: Line) -> Refund | None:
    mine = [refund for refund in order.refunds if line.id in refund.lines]
    return max(mine, key=lambda refund: (refund.changed_at, refund.id)) if mine else None


def _sub_order(world: World, order: Order, line: Line, fee: int, base: str) -> dict[str, Any]:
    refund = _refund_of(order, line)
    seller = world.sellers[order.seller]
    zh = msgspec.json.encode({option.name: option.value for option in line.options}).decode()
    en = msgspec.json.encode({option.name_en: option.value_en for option in line.options}).decode()
    return {
        "sub_purchase_order_id": line.id,
        "status": line_word(order, line),
        "close_reason": _close_reason(order, line),
        "item_id": str(line.product),
        "sku_id": line.sku,
        "title": line.title,
        "quantity": line.quantity,
        "purchase_amount": line.amount_fen + fee,
        "product_amount": line.amount_fen,
        "pay_amount": line.amount_fen + fee if order.paid_at is not None else 0,
        "domestic_post_fee": fee,
        "hongbao_deduction_amount": "0",
        "purchase_currency": "CNY",
        "pay_currency": "CNY",
        "pay_time": _ms(order.paid_at),
        "close_time_without_payment": _close_time(order),
        "purchase_order_outer_id": str(order.id),
        "purchase_order_line_outer_id": str(line.id),
        "error_code": order.pay_error or None,
        "error_message": None,
        "refund_id": refund.id if refund else None,
        "refund_status": REFUND_CODES[refund.status] if refund else 0,
        "logistic_orders": [
            {
                "logistic_company_name": parcel.carrier,
                "logistic_number": parcel.number,
                "rts_time": times.milliseconds(parcel.at),
            }
            for parcel in order.parcels
            if line.id in parcel.lines
        ],
        "sku_info": {
            "skuPv": {"en": en, "zh": zh},
            "skuImgUrl": f"{base}/images/{line.product}/{line.picture}.svg",
        },
        "option_fields": {"supplierNick": seller.login, "shopName": seller.name},
    }


def _close_reason(order: Order, line: Line) -> str | None:
    if line.closed or order.status is Status.TERMINATED:
        return "REFUND"
    if order.status is Status.CANCELLED:
        return {
            "CLOSE_TRADE_BY_BUYER": "BUYER_CANCEL",
            "CLOSE_TRADE_BY_SELLER": "SELLER_CLOSE",
            "CLOSE_TRADE_BY_SYSTEM": "PAY_TIMEOUT",
        }.get(order.closed_by, "PLATFORM_CLOSE")
    return None


CANCEL_SECONDS = 5.0  # of world time, from the acceptance of a cancel to its end
_MOST_LISTED = 50
_DEFAULT_PAGE = 20


def cancel(call: Call) -> dict[str, Any]:
    """Accept a cancellation; an order that is paid before it takes effect stays."""
    call.text("cancel_reason")
    order = call.world.of_app(call.app.name, call.number("purchase_id"))
    if order is None:
        raise BusinessError("ORDER_NOT_EXIST", "purchase order not found")
    if order.status not in (Status.UNPAID, Status.BUILDING):
        raise BusinessError("ORDER_STATUS_ERROR", f"purchase order is {status_word(order)}")
    if not order.cancelling:
        cancelling = replace(
            order,
            cancelling=True,
            due=(*order.due, Due(call.at + CANCEL_SECONDS, "cancel_settle")),
        )
        call.world.put(life.Change(life.touched(cancelling, call.at), None))
    return {"success": True, "error_code": None, "error_msg": None}


def query(call: Call) -> dict[str, Any]:
    low = call.number("modify_time_start", 0) / 1000
    high = call.number("modify_time_end", 0) / 1000
    status = call.params.get("status", "")
    matching = [
        order
        for order in _candidates(call, low)
        if order.changed_at >= low
        and (not high or order.changed_at <= high)
        and (not status or status_word(order) == status)
    ]
    by_change = call.params.get("sort_field", "modify_time").lower() != "created_time"
    matching.sort(
        key=lambda order: (order.changed_at if by_change else order.created_at, order.id),
        reverse=call.params.get("sort_type", "DESC").upper() != "ASC",
    )
    size = min(max(call.number("page_size", _DEFAULT_PAGE), 1), _MOST_LISTED)
    page = max(call.number("page_no", 1), 1)
    page_orders = matching[(page - 1) * size : page * size]
    data = {
        "results_total": len(matching),
        "page_no": page,
        "page_size": size,
        "purchase_orders": [purchase_order(call.world, order, call.base) for order in page_orders],
    }
    return {"success": True, "error_code": None, "error_msg": None, "data": data}


def _candidates(call: Call, low: float) -> list[Order]:
    if call.params.get("purchase_ids"):
        ids = dict.fromkeys(_ids(call))
        orders = (call.world.of_app(call.app.name, number) for number in ids)
        return [order for order in orders if order is not None]
    if call.params.get("outer_purchase_id"):
        return call.world.referenced(call.app.name, call.text("outer_purchase_id"))
    recent: list[Order] = []
    for order in call.world.latest_changed(call.app.name):
        if order.changed_at < low:
            break
        recent.append(order)
    return recent


def _ids(call: Call) -> list[int]:
    """Read a JSON list, or numbers separated by commas."""
    text = call.text("purchase_ids")
    try:
        return msgspec.json.decode(text, type=list[int], strict=False)
    except msgspec.MsgspecError:
        pass
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise call.missing("purchase_ids") from None


def logistics(call: Call) -> dict[str, Any]:
    number = call.number("purchase_order_line_id")
    mine = call.world.latest_changed(call.app.name)
    order = next((each for each in mine if life.line_of(each, number)), None)
    if order is None:
        raise BusinessError("ORDER_NOT_EXIST", "purchase order line not found")
    received = order.status in (Status.RECEIVED, Status.SUCCESS)
    parcels = [parcel for parcel in order.parcels if number in parcel.lines]
    details = [
        {
            "mail_no": parcel.number,
            "logistics_status": "SIGN" if received else "TRANSPORT",
            "logistics_desc": "已签收" if received else "运输中",
            "logistics_partner": [{"company": parcel.carrier}],
            "logistics_traces": [],
        }
        for parcel in parcels
    ]
    data = {"pnm_logistics_details": details, "purchase_order_outer_id": order.id}
    return {"result": {"success": True, "error_code": None, "error_msg": None, "data": data}}


OPERATIONS = (
    Operation("/purchase/order/asyn/cancel", "cancel", cancel, errors.order_error),
    Operation("/purchase/orders/query", "list", query, errors.order_error),
    Operation("/logistics/detail/get", "logistics", logistics, errors.nested_error),
)
