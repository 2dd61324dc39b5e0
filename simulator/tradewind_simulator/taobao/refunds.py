"""Refund query in the Taobao dialect; refunds are asked for on the marketplace's own page."""

from typing import Any

from tradewind_simulator import times
from tradewind_simulator.answers import Refused
from tradewind_simulator.calls import Call, Operation
from tradewind_simulator.model import Order, Refund
from tradewind_simulator.taobao import wire


def query(call: Call) -> dict[str, Any]:
    name = "refundId" if call.params.get("refundId") else "refund_id"
    number = call.number(name)
    for order in call.world.latest_changed(call.app.name):
        for refund in order.refunds:
            if refund.id == number:
                return _shown(call, order, refund)
    raise Refused("REFUND_NOT_EXIST", "refund not found")


def _shown(call: Call, order: Order, refund: Refund) -> dict[str, Any]:
    seller = call.world.sellers[order.seller]
    line = next(one for one in order.lines if one.id in refund.lines)
    aggregate = {
        "refund_order": {
            "refund_id": refund.id,
            "refund_fee": refund.total_fen,
            "refund_status": wire.REFUND_CODES[refund.status],
            "refund_type": 2 if refund.with_return else 1,
            "reason_id": refund.reason_id,
            "reason_desc": refund.reason,
            "refund_desc": refund.note,
            "goods_status": 1 if order.shipped_at is None else 2,
        },
        "purchase_order_line": {
            "purchase_order_id": order.id,
            "purchase_order_line_id": line.id,
            "quantity": line.quantity,
            "total_price": order.total_fen,
            "product_fee": line.amount_fen,
            "post_fee": order.freight_fen,
            "item_title": line.title,
            "supplier_id": seller.id,
            "supplier_nick": seller.login,
            "currency": "CNY",
            "create_time": times.milliseconds(order.created_at),
        },
        "logistics": {},
    }
    data = {"currency": "CNY", "refund_order_aggregate": aggregate}
    return {"result": {"success": True, "error_code": None, "error_msg": None, "data": data}}


def refuse(refused: Refused) -> dict[str, Any]:
    told = {"success": False, "error_code": refused.code, "error_msg": refused.message}
    return {"result": {**told, "data": None}}


OPERATIONS = (Operation("/order/refund/query", "refund_query", query, refuse),)
