"""Limits of refunds, and a refund that the marketplace rejects later."""

import asyncio
from typing import Any

import msgspec
import pytest
from kit.orders import NOW, TOTAL, a_part, an_order, paid_order
from kit.platform import Fake, current, placed
from kit.system import System
from msgspec.structs import replace

from tradewind import ids
from tradewind.audit.model import COMMAND_LINE
from tradewind.background.background_tasks import BackgroundTasks
from tradewind.orders import sql
from tradewind.orders.model import Order, OrderStatus
from tradewind.orders.payments import decide, refund
from tradewind.orders.payments.errors import RefundRejected, RefundTooLarge
from tradewind.orders.payments.model import NewRefund, OrderRefund, PaymentStatus
from tradewind.orders.payments.wire import RefundIn, RefundOut
from tradewind.orders.person import Person
from tradewind.platforms.failures import Rejected
from tradewind.platforms.model import PaymentState, RefundKind, RefundState
from tradewind.platforms.model import PlatformOrderStatus as There
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction
from tradewind.web.idempotency import IdempotencyKey, RepeatedRequest, StoredResponse
from tradewind.web.response import Response

SPLITS = "900000000007"
REFUSAL = Rejected("sandbox", "5011", "The seller takes nothing back.")
S = RefundState


def asked_back(
    fen: int, state: RefundState, order_id: str = "900", freight: int = 0
) -> OrderRefund:
    kind = RefundKind.REFUND_ONLY
    return OrderRefund(
        ids.new(), "R1", order_id, state, kind, fen, freight, "damaged", None, None, NOW, NOW
    )


@pytest.mark.parametrize(
    ("refunds", "refunded", "left"),
    [
        ([], 0, TOTAL),
        ([asked_back(TOTAL, S.SUCCEEDED)], 0, 0),
        ([asked_back(1000, S.SUCCEEDED, freight=200)], 0, 300),
        ([asked_back(1000, S.SUCCEEDED)], 1000, 500),
        ([asked_back(400, S.SUCCEEDED), asked_back(300, S.REQUESTED)], 0, 800),
        ([asked_back(400, S.SUCCEEDED), asked_back(300, S.REQUESTED)], 400, 800),
        ([asked_back(400, S.REFUSED), asked_back(300, S.CLOSED)], 0, TOTAL),
        ([asked_back(400, S.SUCCEEDED)], 600, 900),
    ],
)
def test_what_went_back_counts_before_the_order_says_so(
    refunds: list[OrderRefund], refunded: int, left: int
) -> None:
    order = replace(paid_order(), refunds=refunds, refunded_fen=refunded)

    assert decide.refundable(order) == left


def split(*refunds: OrderRefund) -> Order:
    parts = [a_part(name, There.SHIPPED, PaymentState.PAID) for name in ("A", "B")]
    return an_order(
        OrderStatus.SHIPPED, PaymentStatus.PAID, parts, paid_fen=2 * TOTAL, refunds=list(refunds)
    )


@pytest.mark.parametrize(
    ("refunds", "left"),
    [
        ([], TOTAL),
        ([asked_back(TOTAL, S.SUCCEEDED, "B")], TOTAL),
        ([asked_back(1000, S.REQUESTED, "A")], 500),
        ([asked_back(1000, S.SUCCEEDED, "A", freight=500)], 0),
    ],
)
def test_of_a_split_order_no_more_is_asked_back_than_its_part_has_left(
    refunds: list[OrderRefund], left: int
) -> None:
    order = split(*refunds)
    too_much = _asks(amount_cny=(left + 1) / 100, order_id="A")

    with pytest.raises(RefundTooLarge) as caught:
        refund._new(order, too_much)  # noqa: SLF001 - what is written down

    assert caught.value.facts["left_cny"] == left / 100
    everything = refund._new(order, _asks(order_id="A"))  # noqa: SLF001
    assert everything.amount_fen + everything.freight_fen == left


def test_freight_without_an_amount_of_goods_is_limited_by_the_part_too() -> None:
    """Left out, the goods are what is left of them; freight on top of that has to fit as well."""
    with pytest.raises(RefundTooLarge) as caught:
        refund._new(split(), _asks(freight_cny=5.01, order_id="A"))  # noqa: SLF001

    assert caught.value.facts["left_cny"] == TOTAL / 100
    goods_and_freight = refund._new(split(), _asks(freight_cny=5, order_id="A"))  # noqa: SLF001
    assert (goods_and_freight.amount_fen, goods_and_freight.freight_fen) == (1000, 500)
    goods_alone = refund._new(split(), _asks(freight_cny=0, order_id="A"))  # noqa: SLF001
    assert (goods_alone.amount_fen, goods_alone.freight_fen) == (1000, 0)


def _asks(**more: Any) -> NewRefund:
    wish = msgspec.convert({"type": "refund_only", "reason": "damaged", **more}, RefundIn)
    return wish.refund()


def test_a_part_is_the_limit_over_http_as_well(quiet: System) -> None:
    order = quiet.paid(SPLITS, 2)
    _, second = (order["order_id"] for order in order["platform_orders"])

    answer = quiet.refund(order["id"], order_id=second, amount_cny=10, freight_cny=5.01)

    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (422, "refund_too_large")
    assert problem["left_cny"] == 15
    # The same with the goods left out: what is left of the other part is not for this one.
    answer = quiet.refund(order["id"], order_id=second, freight_cny=15)
    assert (answer.status_code, answer.json()["code"]) == (422, "refund_too_large")
    assert answer.json()["left_cny"] == 15
    assert quiet.look(order["id"])["refunds"] == []


def _show(result: OrderRefund) -> Response:
    return Response(RefundOut.of(result), 201)


def _stored(order: Order) -> StoredResponse[OrderRefund]:
    key = IdempotencyKey(order.account_id, "POST /v1/orders/{id}/refunds", "key", b"print")
    return StoredResponse(key, _show)


async def _ask(
    db: Database,
    fake: Fake,
    order: Order,
    stored: StoredResponse[OrderRefund],
    background_tasks: BackgroundTasks,
) -> Any:
    by = Person(order.account_id, "buyer@test.example")
    wanted = _asks(amount_cny=1)
    result = await refund.request_refund(
        db, fake.platforms, background_tasks, COMMAND_LINE, by, order.id, wanted, stored
    )
    return _show(result).encoded()


async def test_a_refund_refused_after_its_owner_was_told_stays_and_says_why(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refund, "_PATIENCE_SECONDS", 0.1)
    order = await placed(db, a_part("A", There.SHIPPED, PaymentState.PAID))
    stored = _stored(order)
    answered = asyncio.Event()
    fake = Fake(order.parts, {"A": REFUSAL})

    async def wait() -> None:
        await answered.wait()

    fake.meanwhile = wait
    background_tasks = BackgroundTasks()

    reported = msgspec.json.decode(first := await _ask(db, fake, order, stored, background_tasks))
    answered.set()
    await background_tasks.close()

    assert (reported["status"], reported["failure"]) == ("requested", None)
    (kept,) = (await current(db, order)).refunds
    assert (ids.REFUND.show(kept.id), kept.state) == (reported["id"], RefundState.CLOSED)
    assert kept.failure is not None
    assert (kept.failure.code, kept.failure.message) == (REFUSAL.code, REFUSAL.message)
    assert decide.refundable(await current(db, order)) == TOTAL
    with pytest.raises(RepeatedRequest) as caught:
        await _ask(db, fake, order, stored, background_tasks)
    assert caught.value.response.encoded() == first


async def test_a_refusal_that_is_being_written_when_patience_ends_is_what_the_owner_hears(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody else holds the order meanwhile. Told 201, the owner would look for it in vain."""
    monkeypatch.setattr(refund, "_PATIENCE_SECONDS", 0.2)
    order = await placed(db, a_part("A", There.SHIPPED, PaymentState.PAID))
    stored = _stored(order)
    fake = Fake(order.parts, {"A": REFUSAL})
    held, go_on = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        async with transaction(db) as tx:
            await sql.lock_order(tx, None, order.id)
            held.set()
            await go_on.wait()

    holding: list[asyncio.Task[None]] = []

    async def meanwhile() -> None:
        holding.append(asyncio.create_task(hold()))
        await held.wait()

    fake.meanwhile = meanwhile
    background_tasks = BackgroundTasks()

    asking = asyncio.create_task(_ask(db, fake, order, stored, background_tasks))
    early, _ = await asyncio.wait({asking}, timeout=1)
    go_on.set()
    await asyncio.gather(*holding)

    assert not early
    with pytest.raises(RefundRejected):
        await asking
    assert (await current(db, order)).refunds == []
    async with transaction(db) as tx:
        await stored.claim(tx)  # its key is free


async def test_a_refund_refused_at_once_was_never_asked_for(db: Database) -> None:
    order = await placed(db, a_part("A", There.SHIPPED, PaymentState.PAID))
    stored = _stored(order)
    background_tasks = BackgroundTasks()

    with pytest.raises(RefundRejected):
        await _ask(db, Fake(order.parts, {"A": REFUSAL}), order, stored, background_tasks)

    assert (await current(db, order)).refunds == []
    async with transaction(db) as tx:
        await stored.claim(tx)  # its key is free
