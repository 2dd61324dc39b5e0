"""Refunds as pure functions: requested, approved or rejected, returned, paid."""

from msgspec import Struct
from msgspec.structs import replace

from tradewind_simulator import money
from tradewind_simulator.model import (
    OVER,
    REFUND_OVER,
    Due,
    Line,
    Order,
    Refund,
    RefundStatus,
    Status,
)
from tradewind_simulator.orders import Change, Event, StepNotPossible, touched

_DAY = 86_400.0


class Reason(Struct, frozen=True):
    """A reason for a refund, and what the marketplace requires with it."""

    id: int
    name: str
    needs_voucher: bool = False
    no_freight: bool = False


REASONS = (
    Reason(20006, "不想要了/拍错了"),
    Reason(20007, "卖家缺货"),
    Reason(20008, "未按约定时间发货"),
    Reason(20009, "未收到货"),
    Reason(20021, "颜色/图案/款式不符", needs_voucher=True),
    Reason(20022, "质量问题", needs_voucher=True),
    Reason(20023, "七天无理由退货", no_freight=True),
    Reason(20028, "其他"),
)


def reason(number: int) -> Reason | None:
    return next((reason for reason in REASONS if reason.id == number), None)


def find(order: Order, refund_id: int) -> Refund | None:
    """Return the refund of this id; zero means the latest open refund."""
    if refund_id:
        return next((r for r in order.refunds if r.id == refund_id), None)
    return next((r for r in reversed(order.refunds) if r.status not in REFUND_OVER), None)


def refundable_fen(order: Order) -> tuple[int, int]:
    """Return what can still be refunded: for goods, and for freight."""
    live = [r for r in order.refunds if r.status is not RefundStatus.CLOSED]
    goods = order.paid_fen - order.freight_fen - sum(r.goods_fen for r in live)
    freight = min(order.freight_fen, order.paid_fen) - sum(r.freight_fen for r in live)
    return max(0, goods), max(0, freight)


def ask(order: Order, at: float, refund: Refund, *, agreed_after: float = _DAY) -> Change:
    """Add a refund, which the seller approves after a day."""
    if order.paid_at is None or order.status is Status.TERMINATED:
        raise StepNotPossible(order, "refund")
    order = replace(
        order,
        refunds=(*order.refunds, refund),
        due=(*order.due, Due(at + agreed_after, "refund_agree", refund.id)),
    )
    return Change(touched(order, at), _event(refund))


def reject(order: Order, at: float, refund: Refund) -> Change:
    """Reject a refund; the buyer has three days to change it."""
    _need(order, refund, "refund_refuse", RefundStatus.ASKED)
    due = Due(at + 3 * _DAY, "refund_close", refund.id)
    return _moved(order, at, refund, RefundStatus.REFUSED, due)


def close(order: Order, at: float, refund: Refund) -> Change:
    _need(order, refund, "refund_close", *(set(RefundStatus) - REFUND_OVER))
    return _moved(order, at, refund, RefundStatus.CLOSED)


def agree(order: Order, at: float, refund: Refund) -> Change:
    """Approve a refund: goods are returned first, if that was requested, then it is paid."""
    _need(order, refund, "refund_agree", RefundStatus.ASKED, RefundStatus.REFUSED)
    if refund.with_return:
        due = Due(at + _DAY, "refund_return", refund.id)
        return _moved(order, at, refund, RefundStatus.TO_RETURN, due)
    return pay_back(order, at, refund)


def send_back(order: Order, at: float, refund: Refund) -> Change:
    _need(order, refund, "refund_return", RefundStatus.TO_RETURN)
    due = Due(at + 2 * _DAY, "refund_complete", refund.id)
    return _moved(order, at, refund, RefundStatus.RETURNED, due)


def pay_back(order: Order, at: float, refund: Refund) -> Change:
    """Pay a refund. Lines that were not shipped are closed; without lines the order is closed."""
    _need(order, refund, "refund_complete", *(set(RefundStatus) - REFUND_OVER))
    change = _moved(order, at, refund, RefundStatus.DONE)
    unsent = order.status is Status.PAID
    lines = tuple(
        replace(line, closed=line.closed or (unsent and line.shipped == 0))
        if line.id in refund.lines
        else line
        for line in credited(order, refund)
    )
    order = replace(change.order, lines=lines)
    if order.status not in OVER and (order.refunded_fen >= order.paid_fen or not order.open_lines):
        order = replace(order, status=Status.TERMINATED, over_at=at, due=())
    return Change(order, change.event)


def credited(order: Order, refund: Refund) -> tuple[Line, ...]:
    """Share the money of a refund between its lines."""
    left = [
        line.amount_fen - line.refunded_fen if line.id in refund.lines else 0
        for line in order.lines
    ]
    shares = money.shares(refund.goods_fen, left)
    return tuple(
        replace(line, refunded_fen=line.refunded_fen + share)
        for line, share in zip(order.lines, shares, strict=True)
    )


def _moved(order: Order, at: float, refund: Refund, status: RefundStatus, *due: Due) -> Change:
    done_at = at if status in REFUND_OVER else None
    moved = replace(refund, status=status, changed_at=at, done_at=done_at)
    order = replace(
        order,
        refunds=tuple(moved if each.id == refund.id else each for each in order.refunds),
        due=(*(due_step for due_step in order.due if due_step.which != refund.id), *due),
    )
    return Change(touched(order, at), _event(refund))


def _need(order: Order, refund: Refund, what: str, *allowed: RefundStatus) -> None:
    if refund.status not in allowed:
        raise StepNotPossible(order, f"{what} of a refund that is {refund.status}")


def _event(refund: Refund) -> Event:
    return Event.REFUND_AFTER if refund.after_sales else Event.REFUND
