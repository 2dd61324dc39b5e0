"""Payments and refunds in the Taobao dialect; refunds are requested on its own pages."""

from typing import Any

from tradewind_simulator import magic, payments, times
from tradewind_simulator.calls import Call, Operation
from tradewind_simulator.model import Order, Refund
from tradewind_simulator.payments import PaymentError
from tradewind_simulator.responses import BusinessError, Response
from tradewind_simulator.taobao import errors, orders

_MOST_PAID = 10


def batch_pay(call: Call) -> Any:
    """Accept payments; the orders show the outcome some seconds later."""
    ids = call.read("purchaseOrderIdList", list[int])
    if not 1 <= len(ids) <= _MOST_PAID:
        raise BusinessError("PARAM_ILLEGAL", f"purchaseOrderIdList: 1 to {_MOST_PAID} orders")
    will: list[int] = []
    failed: list[dict[str, Any]] = []
    silent = False
    for number in dict.fromkeys(ids):
        order = call.world.of_app(call.app.name, number)
        outcome: Order | str = (
            payments.accept(call.world, order, call.at) if order else "ORDER_NOT_EXIST"
        )
        if isinstance(outcome, Order):
            will.append(number)
            silent = silent or magic.PAYMENT_TIMES_OUT in call.world.magic_words(outcome)
        else:
            reason = outcome.value if isinstance(outcome, PaymentError) else outcome
            failed.append({"purchase_order_id": number, "reason": reason})
    if silent:
        return Response(b"", silence=magic.SILENT_SECONDS)
    data = {
        "will_pay_purchase_order_ids": will,
        "pay_failure_purchase_order_ids": [result["purchase_order_id"] for result in failed],
        "pay_failed_results": failed,
    }
    return {"success": True, "error_code": None, "error_msg": None, "data": data}


def query(call: Call) -> dict[str, Any]:
    name = "refundId" if call.params.get("refundId") else "refund_id"
    number = call.number(name)
    for order in call.world.latest_changed(call.app.name):
        for refund in order.refunds:
            if refund.id == number:
                return _shown(call, order, refund)
    raise BusinessError("REFUND_NOT_EXIST", "refund not found")


def _shown(call: Call, order: Order, refund: Refund) -> dict[str, Any]:
    seller = call.world.sellers[order.seller]
    line = next(each for each in order.lines if each.id in refund.lines)
    aggregate = {
        "refund_order": {
            "refund_id": refund.id,
            "refund_fee": refund.total_fen,
            "refund_status": orders.REFUND_CODES[refund.status],
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


OPERATIONS = (
    Operation("/purchase/order/batch/pay", "pay", batch_pay, errors.order_error),
    Operation("/order/refund/query", "refund_query", query, errors.nested_error),
)
