"""The screen of `tradewind top`: lines for a terminal of any size, from the state (pure)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from tradewind.cli.output import printable
from tradewind.dashboard.performance.queries import WorkerProcess
from tradewind.dashboard.performance.views import rate
from tradewind.dashboard.shell.labels import duration
from tradewind.operations.model import PaymentBacklog
from tradewind.operations.overview import WaitingWork
from tradewind.operations.sql_top import OrderState, WebhookLoad

# A delivery that waits longer than this is late; so is an order, which waits for a marketplace.
_LATE_DELIVERY = 30.0
_LATE_ORDER = 300.0
_LARGEST_COUNT = 10_000
_FIXED_LINES = 8
_LEAST_ROWS = 2
# The width of the figures of a webhook, and the least of its name.
_FIGURES_WIDTH, _LEAST_NAME = 45, 32
_BOLD, _RED, _PLAIN = "\x1b[1m", "\x1b[31m", "\x1b[0m"


@dataclass(frozen=True, slots=True)
class TopState:
    """Everything that the screen shows. Rates are those of the last complete minute."""

    now: datetime
    pending: int
    oldest_due_seconds: float | None
    delivered_per_second: float
    failed_per_second: float
    workers: Sequence[WorkerProcess]
    waiting: WaitingWork


@dataclass(frozen=True, slots=True)
class ScreenLine:
    """A line of text. `is_alarming` is shown in red, a heading in bold."""

    text: str
    is_heading: bool = False
    is_alarming: bool = False

    def shown(self, width: int, *, colours: bool) -> str:
        text = printable(self.text)
        text = text if len(text) <= width else text[: width - 1] + "…"
        style = _BOLD if self.is_heading else _RED if self.is_alarming else ""
        return f"{style}{text}{_PLAIN}" if style and colours else text


def render(state: TopState, *, width: int, height: int, colours: bool, hint: str) -> list[str]:
    """The screen, at most `height` lines of at most `width` characters."""
    rooms = share_rows(
        [len(state.workers), len(state.waiting.webhooks), len(state.waiting.orders)],
        height - _FIXED_LINES,
    )
    lines = [
        ScreenLine(
            f"Tradewind  {state.now:%Y-%m-%d %H:%M:%S} UTC  {hint}".rstrip(), is_heading=True
        ),
        _queue(state),
        *_payments(state.waiting),
        ScreenLine(""),
        *_workers(state, rooms[0]),
        *_webhooks(state, rooms[1], max(_LEAST_NAME, width - _FIGURES_WIDTH)),
        *_orders(state.waiting.orders, rooms[2]),
    ]
    return [line.shown(width, colours=colours) for line in lines[:height]]


def share_rows(wanted: Sequence[int], room: int) -> list[int]:
    """How many rows each table gets: at least two, and what others leave."""
    shares = [min(count, _LEAST_ROWS) for count in wanted]
    while sum(shares) < room and any(s < w for s, w in zip(shares, wanted, strict=True)):
        for index, count in enumerate(wanted):
            if shares[index] < count and sum(shares) < room:
                shares[index] += 1
    return shares


def _queue(state: TopState) -> ScreenLine:
    overdue = state.oldest_due_seconds
    return ScreenLine(
        f"Deliveries  {_count(state.pending)} pending"
        + ("  none overdue" if overdue is None else f"  oldest {duration(overdue)} overdue")
        + f"  ok {rate(state.delivered_per_second)}/s"
        + f"  failed {rate(state.failed_per_second)}/s",
        is_alarming=(overdue or 0) > _LATE_DELIVERY,
    )


def _payments(waiting: WaitingWork) -> list[ScreenLine]:
    """Open payment requests, with the age of the oldest in each status."""

    def part(label: str, status: str, mode: str | None = None) -> str:
        chosen = [p for p in waiting.payments if p.status == status and mode in {None, p.mode}]
        count = sum(p.requests for p in chosen)
        oldest = max((p.oldest_seconds for p in chosen), default=0.0)
        return f"{_count(count)} {label}" + (f" ({duration(oldest)})" if count else "")

    expiring = waiting.payments_expiring
    for_people = [
        part("to approve", "pending_approval"),
        part("by link", "approved", "link"),
        *([f"{_count(expiring)} expire"] if expiring else []),
    ]
    for_us = [part("to debit", "approved", "auto"), part("processing", "processing")]
    unclear = any(
        p.requests and p.oldest_seconds > _LATE_ORDER for p in waiting.payments if _is_ours(p)
    )
    return [
        ScreenLine(f"Payments    {'  '.join(for_people)}", is_alarming=expiring > 0),
        ScreenLine(f"            {'  '.join(for_us)}", is_alarming=unclear),
    ]


def _is_ours(payments: PaymentBacklog) -> bool:
    """Whether these payments wait for us, and not for a person."""
    return payments.status == "processing" or (
        payments.status == "approved" and payments.mode == "auto"
    )


def _workers(state: TopState, room: int) -> list[ScreenLine]:
    running = sum(not worker.is_silent for worker in state.workers)
    silent = len(state.workers) - running
    title = f"WORKERS  {running} reporting" + (f", {silent} silent" if silent else "")
    heading = ScreenLine(
        f"{title:<36}{'REPORTED':>10}{'CPU':>8}{'ATTEMPTS/s':>13}", is_heading=True
    )
    if not state.workers:
        return [heading, ScreenLine("  No worker has reported in the last hour.", is_alarming=True)]
    return [
        heading,
        *(
            ScreenLine(
                f"  {_cut(f'{worker.host} {worker.pid}', 32):<34}"
                f"{duration((state.now - worker.reported_at).total_seconds()):>10}"
                f"{f'{worker.cpu_share:.0%}':>8}{rate(worker.attempts_per_second):>13}",
                is_alarming=worker.is_silent,
            )
            for worker in state.workers[:room]
        ),
    ]


def _webhooks(state: TopState, room: int, width: int) -> list[ScreenLine]:
    heading = ScreenLine(
        f"{'WEBHOOKS  overdue, failing, slow':<{width + 3}}{'DUE':>8}{'OVERDUE':>11}{'FAILING':>11}"
        f"{'P95':>10}",
        is_heading=True,
    )
    if not state.waiting.webhooks:
        return [heading, ScreenLine("  Nothing waits, nothing fails.")]
    rows = state.waiting.webhooks[:room]
    return [heading, *(_webhook(webhook, state.now, width) for webhook in rows)]


def _webhook(webhook: WebhookLoad, now: datetime, width: int) -> ScreenLine:
    failing = webhook.failing_since and duration((now - webhook.failing_since).total_seconds())
    p95 = "—" if webhook.p95_ms is None else duration(webhook.p95_ms / 1000)
    overdue = webhook.overdue_seconds
    name = f"{urlsplit(webhook.url).hostname} {webhook.webhook}"
    return ScreenLine(
        f"  {_cut(name, width):<{width + 1}}{_count(webhook.due):>8}{duration(overdue):>11}"
        f"{failing or '—':>11}{p95:>10}",
        is_alarming=failing is not None or (overdue or 0) > _LATE_DELIVERY,
    )


def _orders(orders: Sequence[OrderState], room: int) -> list[ScreenLine]:
    heading = ScreenLine(
        f"{'ORDERS  waiting for a marketplace':<36}{'PLATFORM':>10}{'WORK':>8}{'FAILURES':>10}"
        f"{'WAITING':>12}",
        is_heading=True,
    )
    if not orders:
        return [heading, ScreenLine("  No order waits to be created, cancelled or paid.")]
    return [
        heading,
        *(
            ScreenLine(
                f"  {order.order:<34}{_cut(order.platform, 10):>10}{order.work:>8}"
                f"{order.failures:>10}{duration(order.waiting_seconds):>12}",
                is_alarming=order.waiting_seconds > _LATE_ORDER,
            )
            for order in orders[:room]
        ),
    ]


def _count(count: int) -> str:
    return f"{_LARGEST_COUNT:,}+" if count >= _LARGEST_COUNT else f"{count:,}"


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
