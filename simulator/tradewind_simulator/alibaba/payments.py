"""Payments and refunds in the 1688 dialect; amounts in fen."""

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from tradewind_simulator import magic, payments, refunds, times
from tradewind_simulator.alibaba import errors
from tradewind_simulator.alibaba.orders import NAMESPACE
from tradewind_simulator.calls import Call, Operation
from tradewind_simulator.model import (
    REFUND_OVER,
    Due,
    Line,
    Order,
    Refund,
    RefundStatus,
    Status,
)
from tradewind_simulator.orders import Change, StepNotPossible
from tradewind_simulator.payments import PaymentError
from tradewind_simulator.refunds import Reason
from tradewind_simulator.responses import BusinessError, Response

_MOST = 100
_MOST_CROSS_BORDER = 30
_CHANNELS = ("", "alipay", "shegou")
_SENTENCES = {
    PaymentError.NOT_UNPAID: "订单状态错误",
    PaymentError.ALREADY_PAID: "订单已支付",
    PaymentError.WRONG_AMOUNT: "支付金额与订单金额不一致",
    PaymentError.NO_BALANCE: "账户余额不足",
    PaymentError.OTHER_ORDER: "参数非法",
}


class _Debit(Struct):
    orderId: int  # noqa: N815 - the platform's own name
    payChannel: str = ""  # noqa: N815
    payAmount: int | None = None  # noqa: N815
    opRequestId: str = ""  # noqa: N815


def debit(call: Call) -> Any:
    """Debit an order; a magic order debits and stays silent, or reports a failure."""
    params = call.read("tradeWithholdPreparePayParam", _Debit)
    order = call.world.of_app(call.app.name, params.orderId)
    if order is None:
        raise BusinessError("ORDER_NOT_EXIST", "订单不存在")
    if params.payChannel not in _CHANNELS:
        raise BusinessError(PaymentError.OTHER_ORDER.value, "payChannel")
    repeated = bool(params.opRequestId) and call.world.operation(call.app.name, params.opRequestId)
    channel = params.payChannel or "alipay"
    paid = payments.debit(
        call.world,
        order,
        call.at,
        operation=params.opRequestId,
        channel=channel,
        fen=params.payAmount,
    )
    if isinstance(paid, PaymentError):
        raise BusinessError(paid.value, _SENTENCES[paid])
    magic_words = call.world.magic_words(paid)
    if magic.PAYMENT_TIMES_OUT in magic_words and not repeated:
        return Response(b"", silence=magic.SILENT_SECONDS)
    success = repeated or magic.PAYMENT_SEEMS_TO_FAIL not in magic_words
    result = {"payChannel": channel, "paySuccess": bool(success)}
    return {"result": {"success": True, "code": None, "message": None, "result": result}}


def _link(call: Call, most: int) -> dict[str, Any]:
    """Return the cashier's URL; orders that cannot be paid are listed and left out."""
    ids = call.read("orderIdList", list[int])
    if not 1 <= len(ids) <= most:
        raise BusinessError("400", f"orderIdList: 1 to {most} orders")
    good: list[int] = []
    bad: list[int] = []
    for number in ids:
        order = call.world.of_app(call.app.name, number)
        fits = order is not None and order.status is Status.UNPAID
        (good if fits else bad).append(number)
    if not good:
        raise BusinessError("ORDER_STATUS_ERROR", "没有可支付的订单", failed=bad)
    url = f"{call.base}/order/cashier.htm?orderId={';'.join(str(one) for one in good)}"
    response: dict[str, Any] = {"payUrl": url, "success": True}
    if bad:
        response["payFailureOrderList"] = bad
    return response


def link(call: Call) -> dict[str, Any]:
    return _link(call, _MOST)


def cross_border_link(call: Call) -> dict[str, Any]:
    return _link(call, _MOST_CROSS_BORDER)


def ways(call: Call) -> dict[str, Any]:
    order = call.world.of_app(call.app.name, call.number("orderId"))
    if order is None:
        raise BusinessError("ORDER_NOT_EXIST", "订单不存在")
    channels = [{"code": 1, "name": "支付宝"}, {"code": 3, "name": "诚e赊"}]
    return {
        "success": True,
        "resultList": {"orderId": order.id, "payFee": order.total_fen, "channels": channels},
    }


def is_open(_: Call) -> dict[str, Any]:
    agreed = {"payChannel": "alipay", "signedStatus": True, "bindingStatus": True}
    return {"result": {"success": True, "result": {"paymentAgreements": [agreed]}}}


NO_ORDER, OTHER_BUYER, BAD_GOODS_STATUS, BAD_REASON = "5001", "5002", "5003", "5004"
NEEDS_VOUCHER, NO_FREIGHT, BAD_STATUS, BAD_AMOUNT = "5005", "5006", "5010", "5011"
BAD_NOTE, BAD_COUNT = "5012", "5013"
_NOTE = range(2, 151)
_FITS = {
    "refundWaitSellerSend": (Status.PAID,),
    "refundWaitBuyerReceive": (Status.SHIPPED, Status.PAID),
    "refundBuyerReceived": (Status.SHIPPED, Status.RECEIVED),
    "aftersaleBuyerNotReceived": (Status.SUCCESS,),
    "aftersaleBuyerReceived": (Status.SUCCESS,),
}
_RECEIVED = frozenset({"refundBuyerReceived", "aftersaleBuyerReceived"})
_ACTIVE, _SUCCESS = "1", "3"


class _Count(Struct):
    id: int
    count: int


def reasons(call: Call) -> dict[str, Any]:
    _order(call)
    if call.text("goodsStatus") not in _FITS:
        raise BusinessError(BAD_GOODS_STATUS, "货物状态不合法")
    listed = [
        {
            "id": reason_offered.id,
            "name": reason_offered.name,
            "needVoucher": reason_offered.needs_voucher,
            "noRefundCarriage": reason_offered.no_freight,
            "tip": "",
        }
        for reason_offered in refunds.REASONS
    ]
    return _good({"reasons": listed})


def _good(result: dict[str, Any]) -> dict[str, Any]:
    return {"result": {"success": True, "result": result}}


def _order(call: Call) -> Order:
    order = call.world.orders.get(call.number("orderId"))
    if order is None:
        raise BusinessError(NO_ORDER, "订单不存在")
    if order.app != call.app.name:
        raise BusinessError(OTHER_BUYER, "订单买家与用户身份不符")
    return order


def ask(call: Call) -> dict[str, Any]:
    order = _order(call)
    lines = _lines(call, order)
    with_return = call.text("disputeRequest") == "returnRefund"
    _check_state(call, order, with_return=with_return)
    reason = _check_reason(call)
    goods, freight = _check_amounts(call, order, lines, reason)
    refund = Refund(
        id=call.world.ids.next(),
        status=RefundStatus.ASKED,
        lines=tuple(line.id for line in lines),
        goods_fen=goods,
        freight_fen=freight,
        with_return=with_return,
        reason_id=reason.id,
        reason=reason.name,
        note=call.text("description"),
        after_sales=order.status is Status.SUCCESS,
        asked_at=call.at,
        changed_at=call.at,
    )
    try:
        change = refunds.ask(order, call.at, refund)
    except StepNotPossible:
        raise BusinessError(BAD_STATUS, "退货状态错误") from None
    if magic.REFUND_REFUSED in call.world.magic_words(order):
        change = _rejected_soon(change, refund, call.at)
    call.world.put(change)
    return _good({"refundId": f"TQ{refund.id}", "innerReasonId": reason.id})


def _rejected_soon(change: Change, refund: Refund, at: float) -> Change:
    """Let the magic seller reject the refund at once instead of approving it."""
    due = tuple(
        Due(at + magic.SOON_SECONDS, "refund_refuse", refund.id)
        if step.which == refund.id
        else step
        for step in change.order.due
    )
    return Change(replace(change.order, due=due), change.event)


def _lines(call: Call, order: Order) -> list[Line]:
    wanted = set(call.read("orderEntryIds", list[int]))
    lines = [line for line in order.lines if line.id in wanted]
    if len(lines) != len(wanted) or not lines:
        raise BusinessError(BAD_STATUS, "子订单不存在")
    busy = {
        line_id
        for refund in order.refunds
        if refund.status not in REFUND_OVER
        for line_id in refund.lines
    }
    if any(line.id in busy or line.closed for line in lines):
        raise BusinessError(BAD_STATUS, "子订单已在退款中")
    return lines


def _check_state(call: Call, order: Order, *, with_return: bool) -> None:
    goods = call.text("goodsStatus")
    if goods not in _FITS:
        raise BusinessError(BAD_GOODS_STATUS, "货物状态不合法")
    if call.text("disputeRequest") not in ("refund", "returnRefund"):
        raise BusinessError(BAD_STATUS, "disputeRequest不合法")
    if order.status not in _FITS[goods] or (with_return and goods not in _RECEIVED):
        raise BusinessError(BAD_STATUS, "退货状态错误")
    if call.params.get("orderEntryCountList"):
        counts = {entry.id: entry.count for entry in call.read("orderEntryCountList", list[_Count])}
        quantities = {line.id: line.quantity for line in order.lines}
        if not with_return or any(
            not 0 < count <= quantities.get(line, 0) for line, count in counts.items()
        ):
            raise BusinessError(BAD_COUNT, "子订单退货数量错误")


def _check_reason(call: Call) -> Reason:
    reason = refunds.reason(call.number("applyReasonId"))
    if reason is None:
        raise BusinessError(BAD_REASON, "退款原因错误")
    if reason.needs_voucher and call.params.get("vouchers", "[]") in ("", "[]"):
        raise BusinessError(NEEDS_VOUCHER, "需要上传凭证")
    if reason.no_freight and call.number("applyCarriage", 0) > 0:
        raise BusinessError(NO_FREIGHT, "退运费金额大于0")
    if len(call.text("description")) not in _NOTE:
        raise BusinessError(BAD_NOTE, "退款说明长度错误")
    return reason


def _check_amounts(call: Call, order: Order, lines: list[Line], reason: Reason) -> tuple[int, int]:
    """Check the amounts: before shipment a line is refunded as a whole, later up to its cost."""
    goods, freight = call.number("applyPayment"), call.number("applyCarriage", 0)
    most = sum(line.amount_fen - line.refunded_fen for line in lines)
    left_goods, left_freight = refunds.refundable_fen(order)
    unsent = order.status is Status.PAID and not any(line.shipped for line in lines)
    if (
        goods < 0
        or freight < 0
        or goods + freight == 0
        or goods > min(most, left_goods)
        or freight > left_freight
        or (unsent and goods != most)
        or (reason.no_freight and freight)
    ):
        raise BusinessError(BAD_AMOUNT, "退款金额错误")
    return goods, freight


def query(call: Call) -> dict[str, Any]:
    """List refunds: type 1 in progress, type 3 paid."""
    order = call.world.of_app(call.app.name, call.number("orderId"))
    if order is None:
        raise BusinessError("500", "ORDER_NOT_EXIST")
    kind = call.text("queryType")
    if kind not in (_ACTIVE, _SUCCESS):
        raise BusinessError("500", "queryType")
    matching = [
        refund
        for refund in order.refunds
        if (refund.status is RefundStatus.DONE) == (kind == _SUCCESS)
        and (kind == _SUCCESS or refund.status not in REFUND_OVER)
    ]
    return {"result": {"opOrderRefundModels": [_model(call, order, refund) for refund in matching]}}


def _model(call: Call, order: Order, refund: Refund) -> dict[str, Any]:
    done = refund.status is RefundStatus.DONE
    model: dict[str, Any] = {
        "id": refund.id,
        "refundId": f"TQ{refund.id}",
        "orderId": order.id,
        "status": refund.status.value,
        "applyPayment": refund.goods_fen,
        "applyCarriage": refund.freight_fen,
        "refundPayment": refund.goods_fen if done else 0,
        "refundCarriage": refund.freight_fen if done else 0,
        "canRefundPayment": order.paid_fen,
        "applyReasonId": refund.reason_id,
        "applyReason": refund.reason,
        "disputeRequest": 3 if refund.with_return else 1,
        "disputeType": 2 if refund.after_sales else 1,
        "isOnlyRefund": not refund.with_return,
        "isRefundGoods": refund.with_return,
        "orderEntryIdList": list(refund.lines),
        "gmtApply": times.compact(refund.asked_at),
        "gmtCreate": times.compact(refund.asked_at),
        "gmtModified": times.compact(refund.changed_at),
        "rejectTimes": 1 if refund.status is RefundStatus.REFUSED else 0,
        "buyerMemberId": call.app.member_id,
        "sellerMemberId": call.world.sellers[order.seller].member_id,
        "success": True,
    }
    if refund.done_at is not None:
        model["gmtCompleted"] = times.compact(refund.done_at)
    return model


OPERATIONS = {
    f"{NAMESPACE}/{operation.name}": operation
    for operation in (
        Operation("alibaba.trade.pay.protocolPay.preparePay", "pay", debit, errors.debit_error),
        Operation(
            "alibaba.trade.pay.protocolPay.isopen", "pay_agreement", is_open, errors.debit_error
        ),
        Operation("alibaba.alipay.url.get", "pay_link", link, errors.pay_link_error),
        Operation(
            "alibaba.crossBorderPay.url.get", "pay_link", cross_border_link, errors.pay_link_error
        ),
        Operation("alibaba.creditPay.url.get", "pay_link", link, errors.pay_link_error),
        Operation("alibaba.trade.payWay.query", "pay_ways", ways, errors.pay_link_error),
        Operation(
            "alibaba.trade.getRefundReasonList", "refund_reasons", reasons, errors.refund_error
        ),
        Operation("alibaba.trade.createRefund", "refund", ask, errors.refund_error),
        Operation(
            "alibaba.trade.refund.OpQueryBatchRefundByOrderIdAndStatus",
            "refund_query",
            query,
            errors.refund_query_error,
        ),
    )
}
