"""The control API: read the state, move the clock and orders, request faults."""

import time
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from tradewind_simulator import magic, responses, steps
from tradewind_simulator.clock import FASTEST
from tradewind_simulator.faults import Fault, Mode
from tradewind_simulator.model import Dialect, Order
from tradewind_simulator.notices import Notice, Target
from tradewind_simulator.orders import StepNotPossible
from tradewind_simulator.responses import Response
from tradewind_simulator.sandbox import Sandbox
from tradewind_simulator.steps import STEPS, Details

T = TypeVar("T")
_SHOWN = 1_000
_MOST_DUPLICATES = 20


class _BadRequest(Exception):
    def __init__(self, message: str, status: int = 422) -> None:
        super().__init__(message)
        self.status = status


class _ClockIn(Struct, forbid_unknown_fields=True):
    advance_seconds: float | None = None
    speed: float | None = None


class _AdvanceIn(Struct, forbid_unknown_fields=True):
    to: str
    fen: int = 0
    freight_fen: int | None = None
    refund: str = ""
    with_return: bool = False


class _FaultIn(Struct, forbid_unknown_fields=True):
    operation: str
    mode: Mode
    code: str = ""
    message: str = ""
    status: int = 0
    rate: float = 1.0
    count: int | None = None
    seconds: float = 0.0
    after: bool = False


class _ExpireIn(Struct, forbid_unknown_fields=True):
    app: str | None = None
    refresh: bool = False


class _LimitsIn(Struct, forbid_unknown_fields=True):
    per_second: float | None = None


class _PushIn(Struct, forbid_unknown_fields=True):
    url: str
    app: str | None = None
    dialect: Dialect | None = None
    secret: str = ""
    duplicates: int = 0
    shuffle: bool = False
    window_seconds: float = 1.0


def handle(
    sandbox: Sandbox, method: str, path: str, query: dict[str, str], body: bytes
) -> Response:
    """Answer a call below `/_control`."""
    sandbox.settle()
    try:
        return responses.json(_route(sandbox, method, path.strip("/").split("/"), query, body))
    except _BadRequest as wrong:
        return responses.json({"error": str(wrong)}, wrong.status)
    except StepNotPossible as error:
        return responses.json({"error": str(error), "status": error.order.status}, 409)


def _route(
    sandbox: Sandbox, method: str, words: list[str], query: dict[str, str], body: bytes
) -> Any:
    match method, words:
        case "GET", ["state"]:
            return _state(sandbox, query)
        case "GET", ["orders", number]:
            return show(_order(sandbox, number))
        case "POST", ["orders", number, "advance"]:
            return _advance(sandbox, _order(sandbox, number), _read(body, _AdvanceIn))
        case "GET", ["magic"]:
            return {"products": [_spell(product) for product in magic.products()]}
        case _:
            handler = _ROUTES.get((method, "/".join(words)))
            if handler is None:
                raise _BadRequest(f"No such control: {method} /_control/{'/'.join(words)}", 404)
            return handler(sandbox, body)


def _read(body: bytes, shape: type[T]) -> T:
    try:
        return msgspec.json.decode(body or b"{}", type=shape)
    except msgspec.MsgspecError as error:
        raise _BadRequest(str(error)) from None


def _order(sandbox: Sandbox, number: str) -> Order:
    order = sandbox.world.orders.get(int(number)) if number.isdecimal() else None
    if order is None:
        raise _BadRequest(f"No order {number}.", 404)
    return order


def _advance(sandbox: Sandbox, order: Order, wanted: _AdvanceIn) -> Any:
    if wanted.to not in STEPS:
        raise _BadRequest(f"`to` is one of {', '.join(STEPS)}.")
    refund = wanted.refund.removeprefix("TQ")
    if refund and not refund.isdecimal():
        raise _BadRequest("`refund` is the id of a refund.")
    details = Details(wanted.fen, wanted.freight_fen, int(refund or 0), wanted.with_return)
    return show(steps.take(sandbox.world, order, sandbox.now(), wanted.to, details))


def show(order: Order) -> dict[str, Any]:
    """Write an order with its sums, and its ids as texts."""
    document: dict[str, Any] = msgspec.to_builtins(order)
    document.pop("type", None)
    document |= {
        "id": str(order.id),
        "total_fen": order.total_fen,
        "refunded_fen": order.refunded_fen,
        "pay_before": order.pay_before,
    }
    for line in document["lines"]:
        line["id"] = str(line["id"])
    for refund in document["refunds"]:
        refund["id"] = str(refund["id"])
    return document


def _state(sandbox: Sandbox, query: dict[str, str]) -> dict[str, Any]:
    """Write the whole state, the latest first; `reference` selects the orders of a reference."""
    world = sandbox.world
    wanted = query.get("reference")
    orders = [
        order
        for order in sorted(world.orders.values(), key=lambda each: -each.id)
        if wanted is None or order.reference == wanted
    ]
    return {
        **_clock_now(sandbox),
        "orders_total": len(orders),
        "orders": [show(order) for order in orders[:_SHOWN]],
        "ledger": [
            {**msgspec.to_builtins(entry), "id": str(entry.id), "order": str(entry.order)}
            for entry in reversed(world.ledger[-_SHOWN:])
        ],
        "counters": dict(world.counters),
        "notices": [_notice(notice) for notice in list(sandbox.notices.log)[-_SHOWN:]],
        "notices_waiting": sandbox.notices.waiting,
        "faults": msgspec.to_builtins(sandbox.faults.wanted),
        "per_second": sandbox.limits.per_second,
        "push": msgspec.to_builtins(list(sandbox.notices.targets.values())),
    }


def _notice(notice: Notice) -> dict[str, Any]:
    return {
        "id": str(notice.id),
        "app": notice.app,
        "order": str(notice.order),
        "topic": notice.topic,
        "born": notice.born,
        "answers": notice.responses,
        "delivered": notice.delivered,
    }


def _spell(product: Any) -> dict[str, Any]:
    skus = [{"id": str(sku.id), "spec": sku.spec} for sku in product.skus]
    return {"id": str(product.id), "title": product.title_en, "skus": skus}


def _clock_now(sandbox: Sandbox) -> dict[str, Any]:
    return {"now": sandbox.now(), "real": time.time(), "speed": sandbox.world.clock.speed}


def _get_clock(sandbox: Sandbox, _: bytes) -> dict[str, Any]:
    return _clock_now(sandbox)


def _set_clock(sandbox: Sandbox, body: bytes) -> dict[str, Any]:
    wanted = _read(body, _ClockIn)
    if wanted.speed is not None and not 0 <= wanted.speed <= FASTEST:
        raise _BadRequest(f"`speed` is between 0 and {FASTEST:.0f}.")
    if wanted.advance_seconds is not None and not 0 <= wanted.advance_seconds <= 1e9:  # noqa: PLR2004
        raise _BadRequest("`advance_seconds` is not below 0: time does not run backwards.")
    if wanted.speed is not None:
        sandbox.run_at(wanted.speed)
    if wanted.advance_seconds is not None:
        sandbox.advance(wanted.advance_seconds)
    return _clock_now(sandbox)


def _reset(sandbox: Sandbox, _: bytes) -> dict[str, Any]:
    sandbox.reset()
    return _clock_now(sandbox)


def _add_fault(sandbox: Sandbox, body: bytes) -> Any:
    wanted = _read(body, _FaultIn)
    if not 0 <= wanted.rate <= 1 or not 0 <= wanted.seconds <= 3_600:  # noqa: PLR2004
        raise _BadRequest("`rate` is between 0 and 1, `seconds` between 0 and 3600.")
    fault = msgspec.convert(wanted, Fault, from_attributes=True)
    sandbox.faults.add(fault)
    return msgspec.to_builtins(fault)


def _clear_faults(sandbox: Sandbox, _: bytes) -> dict[str, Any]:
    return {"cleared": sandbox.faults.clear()}


def _get_faults(sandbox: Sandbox, _: bytes) -> dict[str, Any]:
    return {"faults": msgspec.to_builtins(sandbox.faults.wanted)}


def _expire(sandbox: Sandbox, body: bytes) -> dict[str, Any]:
    wanted = _read(body, _ExpireIn)
    if wanted.app is not None and wanted.app not in sandbox.world.apps:
        raise _BadRequest(f"No app {wanted.app}.")
    ended = sandbox.tokens.expire(time.time(), wanted.app, refresh=wanted.refresh)
    return {"expired": ended}


def _limit(sandbox: Sandbox, body: bytes) -> dict[str, Any]:
    wanted = _read(body, _LimitsIn)
    if wanted.per_second is not None and wanted.per_second <= 0:
        raise _BadRequest("`per_second` is above 0, or null for no limit.")
    sandbox.limits.set(wanted.per_second)
    return {"per_second": wanted.per_second}


def _push(sandbox: Sandbox, body: bytes) -> dict[str, Any]:
    """Set where notices go: those of an app, of a dialect, or all."""
    wanted = _read(body, _PushIn)
    apps = [
        app
        for app in sandbox.world.apps.values()
        if (wanted.app is None or app.name == wanted.app)
        and (wanted.dialect is None or app.dialect is wanted.dialect)
    ]
    if not apps:
        raise _BadRequest("No app is meant by that.")
    if not wanted.url.startswith(("http://", "https://")):
        raise _BadRequest("`url` begins with http:// or https://.")
    if not 0 <= wanted.duplicates <= _MOST_DUPLICATES or not 0 <= wanted.window_seconds <= 60:  # noqa: PLR2004
        raise _BadRequest("`duplicates` is 0 to 20, `window_seconds` 0 to 60.")
    for app in apps:
        url = wanted.url.replace("{app}", app.name)
        target = Target(
            app.name, url, wanted.secret, wanted.duplicates, wanted.shuffle, wanted.window_seconds
        )
        sandbox.aim(target)
    return {"apps": [app.name for app in apps]}


def _stop_push(sandbox: Sandbox, _: bytes) -> dict[str, Any]:
    gone = list(sandbox.notices.targets)
    sandbox.notices.targets.clear()
    return {"apps": gone}


_ROUTES: dict[tuple[str, str], Callable[[Sandbox, bytes], Any]] = {
    ("GET", "clock"): _get_clock,
    ("POST", "clock"): _set_clock,
    ("POST", "reset"): _reset,
    ("GET", "faults"): _get_faults,
    ("POST", "faults"): _add_fault,
    ("DELETE", "faults"): _clear_faults,
    ("POST", "tokens/expire"): _expire,
    ("POST", "limits"): _limit,
    ("POST", "push"): _push,
    ("DELETE", "push"): _stop_push,
}
