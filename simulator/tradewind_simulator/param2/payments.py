"""Paying in the 1688 dialect: a link to the cashier, or a debit without a password."""

from typing import Any

from msgspec import Struct

from tradewind_simulator import magic, payments
from tradewind_simulator.answers import Answer, Refused
from tradewind_simulator.calls import Call, Operation
from tradewind_simulator.model import Status
from tradewind_simulator.param2.orders import NAMESPACE
from tradewind_simulator.payments import Refusal

_MOST = 100
_MOST_CROSS_BORDER = 30
_CHANNELS = ("", "alipay", "shegou")
_SENTENCES = {
    Refusal.NOT_UNPAID: "订单状态错误",
    Refusal.ALREADY_PAID: "订单已支付",
    Refusal.WRONG_AMOUNT: "支付金额与订单金额不一致",
    Refusal.NO_BALANCE: "账户余额不足",
    Refusal.OTHER_ORDER: "参数非法",
}


class _Debit(Struct):
    orderId: int  # noqa: N815 - the platform's own name
    payChannel: str = ""  # noqa: N815
    payAmount: int | None = None  # noqa: N815
    opRequestId: str = ""  # noqa: N815


def debit(call: Call) -> Any:
    """The answer of a magic order is silence, or a false that is not true: the debit was made."""
    given = call.read("tradeWithholdPreparePayParam", _Debit)
    order = call.world.of_app(call.app.name, given.orderId)
    if order is None:
        raise Refused("ORDER_NOT_EXIST", "订单不存在")
    if given.payChannel not in _CHANNELS:
        raise Refused(Refusal.OTHER_ORDER.value, "payChannel")
    repeated = bool(given.opRequestId) and call.world.operation(call.app.name, given.opRequestId)
    channel = given.payChannel or "alipay"
    paid = payments.debit(
        call.world,
        order,
        call.at,
        operation=given.opRequestId,
        channel=channel,
        fen=given.payAmount,
    )
    if isinstance(paid, Refusal):
        raise Refused(paid.value, _SENTENCES[paid])
    spells = call.world.spells(paid)
    if magic.PAYMENT_TIMES_OUT in spells and not repeated:
        return Answer(b"", silence=magic.SILENT_SECONDS)
    success = repeated or magic.PAYMENT_SEEMS_TO_FAIL not in spells
    result = {"payChannel": channel, "paySuccess": bool(success)}
    return {"result": {"success": True, "code": None, "message": None, "result": result}}


def refuse_debit(refused: Refused) -> dict[str, Any]:
    return {
        "result": {
            "success": False,
            "code": refused.code,
            "message": refused.message,
            "result": None,
        }
    }


def _link(call: Call, most: int) -> dict[str, Any]:
    """Where the buyer pays by hand; orders that cannot be paid are named and left out."""
    ids = call.read("orderIdList", list[int])
    if not 1 <= len(ids) <= most:
        raise Refused("400", f"orderIdList: 1 to {most} orders")
    good: list[int] = []
    bad: list[int] = []
    for one in ids:
        order = call.world.of_app(call.app.name, one)
        fits = order is not None and order.status is Status.UNPAID
        (good if fits else bad).append(one)
    if not good:
        raise Refused("ORDER_STATUS_ERROR", "没有可支付的订单", failed=bad)
    url = f"{call.base}/order/cashier.htm?orderId={';'.join(str(one) for one in good)}"
    answer: dict[str, Any] = {"payUrl": url, "success": True}
    if bad:
        answer["payFailureOrderList"] = bad
    return answer


def link(call: Call) -> dict[str, Any]:
    return _link(call, _MOST)


def cross_border_link(call: Call) -> dict[str, Any]:
    return _link(call, _MOST_CROSS_BORDER)


def refuse_link(refused: Refused) -> dict[str, Any]:
    return {
        "success": False,
        "errorCode": refused.code,
        "erroMsg": refused.message,
        "payFailureOrderList": refused.extra.get("failed", []),
    }


def ways(call: Call) -> dict[str, Any]:
    order = call.world.of_app(call.app.name, call.number("orderId"))
    if order is None:
        raise Refused("ORDER_NOT_EXIST", "订单不存在")
    channels = [{"code": 1, "name": "支付宝"}, {"code": 3, "name": "诚e赊"}]
    return {
        "success": True,
        "resultList": {"orderId": order.id, "payFee": order.total_fen, "channels": channels},
    }


def is_open(_: Call) -> dict[str, Any]:
    agreed = {"payChannel": "alipay", "signedStatus": True, "bindingStatus": True}
    return {"result": {"success": True, "result": {"paymentAgreements": [agreed]}}}


OPERATIONS = {
    f"{NAMESPACE}/{operation.name}": operation
    for operation in (
        Operation("alibaba.trade.pay.protocolPay.preparePay", "pay", debit, refuse_debit),
        Operation("alibaba.trade.pay.protocolPay.isopen", "pay_agreement", is_open, refuse_debit),
        Operation("alibaba.alipay.url.get", "pay_link", link, refuse_link),
        Operation("alibaba.crossBorderPay.url.get", "pay_link", cross_border_link, refuse_link),
        Operation("alibaba.creditPay.url.get", "pay_link", link, refuse_link),
        Operation("alibaba.trade.payWay.query", "pay_ways", ways, refuse_link),
    )
}
