"""What is repeated, what is not, and what is said when nobody knows: over real sockets."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from platforms.alibaba.payloads import ADDRESS, ORDER, SHIRT
from platforms.alibaba.scripted import (
    BROKEN,
    DROP,
    GARBAGE,
    HANG,
    SECRET,
    TOKEN_REFUSED,
    Call,
    HastyLink,
    Market,
    Step,
    answer,
    connect,
    linked,
    say,
)

from tradewind.platforms.alibaba import gateway
from tradewind.platforms.contract import Connector
from tradewind.platforms.failures import (
    NotAuthorised,
    OutcomeUnknown,
    PlatformFailure,
    Rejected,
    Throttled,
    Unavailable,
)
from tradewind.platforms.model import OrderRequest, Query, RefundKind, RefundRequest
from tradewind.platforms.paced_client import Api, PacedClient

AT = datetime(2018, 6, 14, tzinfo=UTC)
REFUND = RefundRequest(ORDER, RefundKind.REFUND_ONLY, 2000, 800, "why", None)
Operation = Callable[[Connector], Awaitable[Any]]

# Every operation of the contract by the API that it depends on, with a good answer of that API.
OPERATIONS: list[tuple[Api, Operation, str]] = [
    (gateway.SEARCH, lambda c: c.search(Query("a")), "search"),
    (gateway.DETAIL, lambda c: c.detail("1", "en"), "detail"),
    (gateway.PREVIEW, lambda c: c.preview([SHIRT], ADDRESS), "preview_one"),
    (gateway.CREATE, lambda c: c.create(OrderRequest("ORD1", [SHIRT], ADDRESS)), "create_one"),
    (gateway.READ, lambda c: c.read_one(ORDER), "order_paid"),
    (gateway.READ, lambda c: c.find_payment(ORDER, "pay_1"), "order_paid"),
    (gateway.LIST, lambda c: c.read_many([ORDER]), "list_two"),
    (gateway.LIST, lambda c: c.modified_between(AT, AT, 1), "list_two"),
    (gateway.LIST, lambda c: c.find_by_reference("ORD0001"), "list_two"),
    (gateway.CANCEL, lambda c: c.cancel(ORDER), "pay_link"),
    (gateway.PAY, lambda c: c.pay(ORDER, 4550, "pay_1"), "pay_done"),
    (gateway.PAY_LINK, lambda c: c.pay_link([ORDER]), "pay_link"),
    (gateway.REFUND_REASONS, lambda c: c.refund(REFUND), "refund_reasons"),
    (gateway.REFUND, lambda c: c.refund(REFUND), "refund_created"),
    (gateway.REFUNDS, lambda c: c.refunds(ORDER), "refunds_paid_back"),
]


def name_of(api: Api) -> str:
    """The name of an API, without its namespace."""
    return api.path.rpartition("/")[2]


# Written out, not taken from the code: that one of these is never repeated is the promise.
CHANGES_SOMETHING = {"create", "cancel", "pay", "refund"}
GOOD = {name_of(api): say(name) for api, _, name in OPERATIONS}
IDS = [f"{api.operation}-{name}" for api, _, name in OPERATIONS]


def misbehaving(api: Api, *steps: Step) -> Callable[[Call], Step]:
    """Good answers to everything, but for one API: its steps first, then good as well."""
    left = list(steps)
    return lambda call: left.pop(0) if call.api == name_of(api) and left else GOOD[call.api]


def times(market: Market, api: Api) -> int:
    return sum(call.api == name_of(api) for call in market.calls)


async def failure_of(operation: Operation, connector: Connector) -> PlatformFailure:
    with pytest.raises(PlatformFailure) as raised:
        await operation(connector)
    return raised.value


@pytest.mark.parametrize(("api", "operation", "good"), OPERATIONS, ids=IDS)
async def test_every_request_is_signed_and_stamped(
    api: Api, operation: Operation, good: str, market: Market, connector: Connector
) -> None:
    market.respond = misbehaving(api)

    await operation(connector)

    assert times(market, api) >= 1, good
    assert all(call.signed for call in market.calls)
    assert {call.form["_aop_timestamp"] for call in market.calls} == {"1528942782500"}
    assert {call.form["access_token"] for call in market.calls} == {"token-1"}


@pytest.mark.parametrize("fault", [BROKEN, HANG, DROP, GARBAGE], ids=["500", "hang", "drop", "bad"])
@pytest.mark.parametrize(("api", "operation", "good"), OPERATIONS, ids=IDS)
async def test_without_an_answer_it_is_later_for_reads_and_find_out_for_the_rest(
    api: Api, operation: Operation, good: str, fault: Step,
    market: Market, link: HastyLink, connector: Connector,
) -> None:  # fmt: skip
    market.respond = misbehaving(api, *[fault] * 9)
    link.patience = 0.3 if fault.hang else link.patience

    failure = await failure_of(operation, connector)

    assert type(failure) is (
        OutcomeUnknown if api.operation in CHANGES_SOMETHING else Unavailable
    ), good


UNSAFE = [operation for operation in OPERATIONS if operation[0].operation in CHANGES_SOMETHING]


@pytest.mark.parametrize("fault", [BROKEN, HANG, DROP, GARBAGE], ids=["500", "hang", "drop", "bad"])
@pytest.mark.parametrize(("api", "operation", "good"), UNSAFE, ids=[n[0].operation for n in UNSAFE])
async def test_what_changes_something_is_sent_once_whatever_happens(
    api: Api, operation: Operation, good: str, fault: Step,
    market: Market, link: HastyLink, connector: Connector,
) -> None:  # fmt: skip
    """Over a connection that was used before, as it is in life."""
    market.respond = misbehaving(api, *[fault] * 9)
    await connector.read_one(ORDER)
    link.patience = 0.3 if fault.hang else link.patience

    failure = await failure_of(operation, connector)

    assert type(failure) is OutcomeUnknown, good
    assert times(market, api) == 1


@pytest.mark.parametrize("fault", [BROKEN, DROP], ids=["500", "drop"])
async def test_a_read_is_repeated_until_it_works(
    fault: Step, market: Market, connector: Connector
) -> None:
    market.script(fault, say("order_paid"))

    assert (await connector.read_one(ORDER)).id == ORDER
    assert len(market.calls) == 2


@pytest.mark.parametrize(("api", "operation", "good"), OPERATIONS, ids=IDS)
async def test_a_request_that_never_left_is_later_for_all(
    api: Api, operation: Operation, good: str, market: Market, link: PacedClient
) -> None:
    async with linked("http://127.0.0.1:1") as nowhere:
        failure = await failure_of(operation, connect(market, nowhere))

    assert type(failure) is Unavailable, (api, good, link)


SHAPELESS = [operation for operation in OPERATIONS if operation[0] is not gateway.PAY]


@pytest.mark.parametrize(
    ("api", "operation", "good"), SHAPELESS, ids=[n for n in IDS if n[:4] != "pay-"]
)
@pytest.mark.parametrize("shape", [{}, {"result": None}, {"result": {"result": 1}}])
async def test_an_answer_of_no_known_shape_is_no_crash(
    api: Api, operation: Operation, good: str, shape: Any, market: Market, connector: Connector
) -> None:
    market.respond = misbehaving(api, answer(shape))

    failure = await failure_of(operation, connector)

    if isinstance(failure, Rejected):
        assert (api, failure.code) in (
            (gateway.DETAIL, "no_product"),
            (gateway.REFUND_REASONS, "no_reason"),
        ), good
    else:
        assert type(failure) is (
            OutcomeUnknown if api.operation in CHANGES_SOMETHING else Unavailable
        ), good


@pytest.mark.parametrize(("api", "operation", "good"), OPERATIONS, ids=IDS)
async def test_a_refused_token_is_refreshed_once_and_the_call_repeated(
    api: Api, operation: Operation, good: str, market: Market, connector: Connector
) -> None:
    market.respond = misbehaving(api, TOKEN_REFUSED)

    await operation(connector)

    tokens = [call.form["access_token"] for call in market.calls if call.api == name_of(api)]
    assert tokens[:2] == ["token-1", "token-2"], good
    assert market.refused.count("token-1") == 1


@pytest.mark.parametrize(("api", "operation", "good"), OPERATIONS, ids=IDS)
async def test_a_token_that_is_refused_twice_needs_an_operator(
    api: Api, operation: Operation, good: str, market: Market, connector: Connector
) -> None:
    market.respond = misbehaving(api, *[TOKEN_REFUSED] * 9)

    failure = await failure_of(operation, connector)

    assert isinstance(failure, NotAuthorised), good
    assert times(market, api) == 2


@pytest.mark.parametrize(
    ("code", "expected", "retry_after"),
    [
        ("gw.QosAppFrequencyLimit", Throttled, 10),
        ("gw.SignatureInvalid", NotAuthorised, 60),
        ("gw.APIACLDecline", NotAuthorised, 60),
    ],
)
@pytest.mark.parametrize(("api", "operation", "good"), OPERATIONS, ids=IDS)
async def test_what_the_gateway_refuses_was_not_done(
    api: Api, operation: Operation, good: str, code: str, expected: type, retry_after: float,
    market: Market, connector: Connector,
) -> None:  # fmt: skip
    refusal = answer({"error_code": code, "error_message": "m"}, 400)
    market.respond = misbehaving(api, *[refusal] * 9)

    failure = await failure_of(operation, connector)

    assert type(failure) is expected, good
    assert isinstance(failure, Unavailable)
    assert failure.retry_after == retry_after
    assert times(market, api) == 1


async def test_the_secret_is_never_sent(market: Market, connector: Connector) -> None:
    market.script(say("order_paid"))

    await connector.read_one(ORDER)

    assert SECRET not in str(market.calls)
