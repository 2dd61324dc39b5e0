"""Every connector reports misbehaving marketplaces correctly: done, not done, or unknown."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from connectors.stand import (
    BUILT_SECONDS,
    HASTY_SECONDS,
    SETTLED_SECONDS,
    HastyClient,
    Stand,
    adds_up,
    new_operation,
    outcome,
    until,
)
from tradewind_simulator.faults import Mode

from tradewind.egress.client import Client
from tradewind.platforms.failures import (
    NotAuthorised,
    OutcomeUnknown,
    Reason,
    Rejected,
    Unavailable,
)
from tradewind.platforms.model import (
    CancelState,
    Payment,
    PaymentState,
    Placed,
    PlatformOrderStatus,
    Query,
)

# Longer than a hasty connector waits, and so short that any connector does.
TOO_LONG, BRIEFLY = 0.9, 0.1


@dataclass(frozen=True)
class Case:
    """A fault; `done` is whether the marketplace does what it was asked all the same."""

    mode: Mode
    expected: type
    done: bool
    more: dict[str, Any] = field(default_factory=dict)

    def strike(self, stand: Stand, operation: str) -> None:
        """Befall the next call; before what does not answer in time, nobody waits long."""
        if self.mode is Mode.HANG or self.more.get("seconds") == TOO_LONG:
            stand.hurry()
        stand.fault(operation, self.mode, count=1, **self.more)

    def __str__(self) -> str:
        said = "-".join(f"{name}={value}" for name, value in self.more.items())
        return f"{self.mode}-{said}" if said else self.mode.value


# What changes something: `expected` for a create, and for a payment unless it is Placed.
UNSAFE = (
    Case(Mode.ERROR, OutcomeUnknown, done=False),
    Case(Mode.ERROR, OutcomeUnknown, done=True, more={"after": True}),
    Case(Mode.HTTP500, OutcomeUnknown, done=False),
    Case(Mode.HTTP500, OutcomeUnknown, done=True, more={"after": True}),
    Case(Mode.SLOW, Placed, done=True, more={"seconds": BRIEFLY}),
    Case(Mode.SLOW, OutcomeUnknown, done=True, more={"seconds": TOO_LONG}),
    Case(Mode.HANG, OutcomeUnknown, done=False),
    Case(Mode.DROP, OutcomeUnknown, done=True),
    Case(Mode.LATE, Placed, done=True, more={"seconds": BRIEFLY}),
    Case(Mode.LATE, OutcomeUnknown, done=True, more={"seconds": TOO_LONG}),
    Case(Mode.TWICE, Placed, done=True),
    Case(Mode.DOUBLED, OutcomeUnknown, done=True),
    Case(Mode.GARBAGE, OutcomeUnknown, done=True),
    Case(Mode.WRONG_SIGNATURE, NotAuthorised, done=False),
    Case(Mode.DRIFT, Placed, done=True),
)
# What changes nothing: faults that a second try or a tolerant reader gets past, and the others.
PASSING = {Mode.HTTP500, Mode.SLOW, Mode.DROP, Mode.LATE, Mode.TWICE, Mode.DRIFT}

Ask = Callable[[Stand, str, str], Awaitable[object]]


async def _search(stand: Stand, _: str, __: str) -> object:
    return await stand.connector.search(Query("backpack", size=5))


async def _detail(stand: Stand, _: str, __: str) -> object:
    return await stand.connector.detail("900000000001", "en")


async def _preview(stand: Stand, _: str, __: str) -> object:
    return await stand.connector.preview((await stand.draft()).lines, (await stand.draft()).address)


async def _by_reference(stand: Stand, reference: str, _: str) -> object:
    return await stand.connector.find_by_reference(reference)


async def _payment(stand: Stand, _: str, order_id: str) -> object:
    return await stand.connector.find_payment(order_id, "an-operation")


# By the simulator's word for the operation.
SAFE: dict[str, Ask] = {
    "search": _search,
    "detail": _detail,
    "preview": _preview,
    "list": _by_reference,
    "read": _payment,
}
# Where a platform has no call of that word, or two that it makes at once.
ITS_OWN = {("taobao", "read"): "list", ("taobao", "detail"): "/traffic/item/get"}


def test_no_fault_is_forgotten() -> None:
    assert {case.mode for case in UNSAFE} == set(Mode)


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("operation", list(SAFE))
async def test_what_changes_nothing_is_answered_or_said_to_be_later(
    stand: Stand, operation: str, mode: Mode
) -> None:
    order = await stand.order()
    ask, reference = SAFE[operation], order.reference or ""
    good = await ask(stand, reference, order.id)
    struck = ITS_OWN.get((stand.platform, operation), operation)
    if mode is Mode.HANG:
        stand.hurry()
    stand.fault(struck, mode, count=1, seconds=0 if mode is Mode.HANG else BRIEFLY)

    result = await outcome(ask(stand, reference, order.id))
    stand.heal()

    assert result == good or isinstance(result, Unavailable)
    assert (result == good) == (mode in PASSING)
    assert await ask(stand, reference, order.id) == good


@pytest.mark.parametrize("mode", [Mode.HTTP500, Mode.DROP, Mode.ERROR])
async def test_a_marketplace_that_is_down_is_asked_a_few_times_only(
    stand: Stand, mode: Mode
) -> None:
    before = stand.count("search.calls")
    stand.fault("search", mode)

    with pytest.raises(Unavailable):
        await stand.connector.search(Query("backpack", size=5))

    assert 1 <= stand.count("search.calls") - before <= 3


@pytest.mark.parametrize("case", UNSAFE, ids=str)
async def test_creating(stand: Stand, case: Case) -> None:
    """One call, whatever comes of it; and who looks afterwards sees what is true."""
    draft = await stand.draft()
    before = stand.count("create.calls")
    case.strike(stand, "create")

    result = await outcome(stand.connector.create(draft))

    async def has_come() -> bool:
        return bool(stand.made(draft.reference)) == case.done

    await until(has_come)
    stand.heal()
    made = stand.made(draft.reference)
    results = await stand.connector.find_by_reference(draft.reference)
    assert isinstance(result, case.expected)
    assert stand.count("create.calls") == before + 1
    assert {item.id for item in results} == made
    assert all(item.reference == draft.reference and adds_up(item) for item in results)
    assert len(made) <= (2 if case.mode is Mode.TWICE else 1)
    if isinstance(result, Placed):
        assert set(result.order_ids) <= made
        assert result.total_fen == 1_500


async def test_a_gateway_that_repeats_itself_leaves_every_order_findable(stand: Stand) -> None:
    draft = await stand.draft()
    stand.fault("create", "twice", count=1)

    await stand.connector.create(draft)

    result = await stand.connector.find_by_reference(draft.reference)
    assert {item.id for item in result} == stand.made(draft.reference)


@pytest.mark.parametrize("case", UNSAFE, ids=str)
async def test_paying(stand: Stand, case: Case) -> None:
    """Rejected two debits, never a failure that was a debit, and in the end it is known."""
    order, operation = await stand.order(), new_operation()
    before = stand.count("pay.calls")
    case.strike(stand, "pay")

    result = await outcome(stand.connector.pay(order.id, order.total_fen, operation))

    async def has_come() -> bool:
        stand.wait(SETTLED_SECONDS)
        return bool(stand.debits(order.id)) == case.done

    assert stand.count("pay.calls") == before + 1
    await until(has_come)
    stand.heal()
    results = await stand.connector.find_payment(order.id, operation)
    assert results.state is not PaymentState.FAILED
    assert (results.state is PaymentState.PAID) == case.done
    if isinstance(result, Payment):
        assert result.state in (PaymentState.PAID, PaymentState.PROCESSING)
    else:
        assert isinstance(result, Unavailable | OutcomeUnknown)
        assert not (isinstance(result, Unavailable) and case.done)

    again = await stand.connector.pay(order.id, order.total_fen, operation)
    assert again.state in (PaymentState.PAID, PaymentState.PROCESSING)
    assert (await stand.later(order.id)).payment is PaymentState.PAID
    assert stand.debits(order.id) == [order.total_fen]


@pytest.mark.parametrize("case", UNSAFE, ids=str)
async def test_cancelling(stand: Stand, case: Case) -> None:
    order = await stand.order()
    before = stand.count("cancel.calls")
    case.strike(stand, "cancel")

    result = await outcome(stand.connector.cancel(order.id))

    async def has_come() -> bool:
        status = (await stand.later(order.id)).status
        return (status is PlatformOrderStatus.CANCELLED) == case.done

    assert stand.count("cancel.calls") == before + 1
    await until(has_come)
    if case.mode is Mode.TWICE:
        # The second of two answers may be that it is cancelled already.
        assert isinstance(result, CancelState | Rejected)
    else:
        assert isinstance(result, CancelState if case.expected is Placed else case.expected)


@pytest.mark.parametrize("operation", ["detail", "preview"])
@pytest.mark.parametrize("mode", [Mode.HTTP500, Mode.DROP, Mode.GARBAGE, Mode.HANG])
async def test_trouble_before_a_create_is_no_reason_to_find_out(
    stand: Stand, operation: str, mode: Mode
) -> None:
    """Whatever a connector asks first changes nothing: if it fails, nothing was placed."""
    draft = await stand.draft()
    stand.hurry()
    stand.fault(operation, mode)

    result = await outcome(stand.connector.create(draft))

    assert isinstance(result, Placed | Unavailable)
    assert bool(stand.made(draft.reference)) == isinstance(result, Placed)


async def test_trouble_before_a_payment_is_no_reason_to_find_out(stand: Stand) -> None:
    order = await stand.order()
    stand.fault("list", "http500")

    result = await outcome(stand.connector.pay(order.id, order.total_fen, new_operation()))
    stand.wait(SETTLED_SECONDS)

    assert isinstance(result, Payment | Unavailable)
    assert bool(stand.debits(order.id)) == isinstance(result, Payment)


@pytest.mark.parametrize("code", ["500_004", "500_005"])
async def test_a_refusal_that_is_known_is_final(stand: Stand, code: str) -> None:
    draft = await stand.draft()
    stand.fault("create", "error", code=code, count=1)

    with pytest.raises(Rejected) as refused:
        await stand.connector.create(draft)

    assert refused.value.code == code
    assert refused.value.reason in (Reason.OUT_OF_STOCK, Reason.BELOW_MINIMUM)
    assert stand.made(draft.reference) == set()


@pytest.mark.parametrize("operation", ["list", "detail", "preview", "create", "pay"])
async def test_numbers_and_strings_may_change_places(stand: Stand, operation: str) -> None:
    """Through a whole purchase, with amounts and ids as exact as ever."""
    stand.fault(operation, "drift")

    order = await stand.paid(await stand.line(quantity=2))

    assert (order.total_fen, order.payment) == (2_500, PaymentState.PAID)
    assert stand.debits(order.id) == [2_500]


async def test_nobody_is_there(stand: Stand) -> None:
    """What never left is definitely not done."""
    draft = replace(await stand.draft(), expected_total_fen=1_500)
    client = Client()

    async def no_pace(_: float) -> None: ...

    hasty = HastyClient(stand.platform, "http://127.0.0.1:9", client, no_pace)
    hasty.patience = HASTY_SECONDS
    lost = stand.marketplace.connect(hasty, stand.keys.access)
    try:
        calls: list[Awaitable[object]] = [
            lost.search(Query("backpack")),
            lost.create(draft),
            lost.pay("1234567890123456789", 1_500, new_operation()),
            lost.cancel("1234567890123456789"),
        ]
        results = [await outcome(call) for call in calls]
    finally:
        await client.close()

    assert [type(result) for result in results] == [Unavailable] * 4


async def test_a_stormy_day(stand: Stand) -> None:
    """Half of all calls go wrong, this way or that; what is said of each order stays true."""
    drafts = [await stand.draft() for _ in range(12)]
    for mode in (Mode.HTTP500, Mode.DROP, Mode.GARBAGE, Mode.DRIFT, Mode.TWICE):
        stand.fault("*", mode, rate=0.12)

    results = [await outcome(stand.connector.create(draft)) for draft in drafts]
    stand.heal()
    stand.wait(BUILT_SECONDS)

    for draft, result in zip(drafts, results, strict=True):
        made = stand.made(draft.reference)
        orders = await stand.connector.find_by_reference(draft.reference)
        assert {order.id for order in orders} == made
        if isinstance(result, Placed):
            assert set(result.order_ids) <= made
        elif isinstance(result, Unavailable):
            assert made == set()
        else:
            assert isinstance(result, OutcomeUnknown)
