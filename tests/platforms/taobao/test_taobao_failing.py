"""Every way a call can go wrong on the wire, for each operation of the connector."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from platforms.taobao.scripted import (
    DROP,
    GARBAGE,
    HANG,
    SERVER_ERROR,
    Answer,
    Marketplace,
    Scripted,
    Stand,
)

from tradewind.egress.client import Client
from tradewind.platforms.access import PlatformAccess
from tradewind.platforms.failures import (
    NotAuthorised,
    OutcomeUnknown,
    PlatformFailure,
    Rejected,
    Throttled,
    Unavailable,
)
from tradewind.platforms.model import Address, Line, OrderRequest, Query
from tradewind.platforms.paced_client import PacedClient
from tradewind.platforms.taobao.connector import TaobaoConnector
from tradewind.platforms.taobao.marketplace import TRAITS

ORDER = "2200778678370001234"
LINES = [Line("641592387397", "5159117406243", 2)]
ADDRESS = Address("李雷", "13800000000", "浙江省", "杭州市", "西湖区", "文三路 1 号")
SINCE, UNTIL = datetime(2025, 11, 14, tzinfo=UTC), datetime(2025, 11, 15, tzinfo=UTC)


@dataclass(frozen=True)
class Operation:
    """A call of the contract, the path that it is about, and a good answer of that path."""

    path: str
    good: str
    call: Callable[[TaobaoConnector], Awaitable[object]]


QUERY = "/purchase/orders/query"
SAFE = {
    "search": Operation("/traffic/item/search", "search", lambda t: t.search(Query("bag"))),
    "detail": Operation("/traffic/item/get", "item", lambda t: t.detail("641592387397", "en")),
    "preview": Operation("/purchase/order/render", "render", lambda t: t.preview(LINES, ADDRESS)),
    "read_one": Operation(QUERY, "order_unpaid", lambda t: t.read_one(ORDER)),
    "read_many": Operation(QUERY, "order_unpaid", lambda t: t.read_many([ORDER])),
    "changed": Operation(QUERY, "order_unpaid", lambda t: t.modified_between(SINCE, UNTIL, 1)),
    "by_reference": Operation(QUERY, "order_unpaid", lambda t: t.find_by_reference("ORD1")),
    "find_payment": Operation(QUERY, "order_unpaid", lambda t: t.find_payment(ORDER, "op")),
    "refunds": Operation(QUERY, "order_unpaid", lambda t: t.refunds(ORDER)),
}
UNSAFE = {
    "create": Operation(
        "/purchase/order/create",
        "create_split",
        lambda t: t.create(OrderRequest("ORD1", LINES, ADDRESS, expected_total_fen=8180)),
    ),
    "pay": Operation(
        "/purchase/order/batch/pay", "pay_accepted", lambda t: t.pay(ORDER, 10500, "op")
    ),
    "cancel": Operation(
        "/purchase/order/asyn/cancel", "cancel_accepted", lambda t: t.cancel(ORDER)
    ),
}
EVERY = {**SAFE, **UNSAFE}


def refusing(code: str) -> Answer:
    said = {"code": code, "type": "ISV", "message": "No.", "request_id": "1"}
    return Answer(json.dumps(said).encode())


def script(market: Marketplace, operation: Operation, *answers: Scripted) -> None:
    """What the operation needs besides works; its own path is scripted."""
    market.on(operation.path, *answers)
    for path, good in (("/product/get", "product"), (QUERY, "order_unpaid")):
        if path != operation.path:
            market.on(path, good)


async def fails(stand: Stand, operation: Operation) -> PlatformFailure:
    with pytest.raises(PlatformFailure) as raised:
        await operation.call(stand.taobao)
    return raised.value


@pytest.mark.parametrize("name", EVERY)
async def test_a_good_answer_is_taken_at_once(stand: Stand, name: str) -> None:
    operation = EVERY[name]
    script(stand.market, operation, operation.good)

    await operation.call(stand.taobao)

    assert len(stand.market.asked(operation.path)) == 1


@pytest.mark.parametrize("name", SAFE)
@pytest.mark.parametrize("trouble", [SERVER_ERROR, DROP])
async def test_what_changes_nothing_is_tried_again(
    stand: Stand, name: str, trouble: Answer
) -> None:
    operation = SAFE[name]
    script(stand.market, operation, trouble, operation.good)

    await operation.call(stand.patient)

    assert len(stand.market.asked(operation.path)) == 2


@pytest.mark.parametrize("name", SAFE)
@pytest.mark.parametrize("trouble", [SERVER_ERROR, DROP, HANG, GARBAGE])
async def test_what_changes_nothing_may_be_asked_later(
    stand: Stand, name: str, trouble: Answer
) -> None:
    operation = SAFE[name]
    script(stand.market, operation, trouble)

    assert type(await fails(stand, operation)) is Unavailable


@pytest.mark.parametrize("name", UNSAFE)
@pytest.mark.parametrize("trouble", [SERVER_ERROR, DROP, HANG, GARBAGE, refusing("ServiceTimeout")])
async def test_what_may_have_been_done_is_sent_once_and_must_be_found_out(
    stand: Stand, name: str, trouble: Answer
) -> None:
    operation = UNSAFE[name]
    script(stand.market, operation, trouble)

    assert type(await fails(stand, operation)) is OutcomeUnknown
    assert len(stand.market.asked(operation.path)) == 1


@pytest.mark.parametrize("name", UNSAFE)
async def test_what_was_turned_away_was_not_done(stand: Stand, name: str) -> None:
    operation = UNSAFE[name]
    script(stand.market, operation, refusing("ApiCallLimit"), refusing("MissingParameter"))

    assert type(await fails(stand, operation)) is Throttled
    assert type(await fails(stand, operation)) is Rejected
    assert len(stand.market.asked(operation.path)) == 2


@pytest.mark.parametrize("name", UNSAFE)
async def test_what_never_left_was_not_done(name: str) -> None:
    async def get_access(_: str | None) -> PlatformAccess:
        return PlatformAccess("k", "s", "t")

    async def no_pace(_: float) -> None:
        pass

    client = Client()
    nowhere = PacedClient("taobao", "http://127.0.0.1:9/rest", client, no_pace)
    taobao = TaobaoConnector(TRAITS, nowhere, get_access)

    with pytest.raises(Unavailable):
        await UNSAFE[name].call(taobao)
    await client.close()


@pytest.mark.parametrize("name", EVERY)
async def test_a_token_that_ended_is_replaced_once(stand: Stand, name: str) -> None:
    operation = EVERY[name]
    script(stand.market, operation, "error_token", operation.good)

    await operation.call(stand.taobao)

    first, second = stand.market.asked(operation.path)
    assert stand.refused == ["token-0"]
    assert (first["access_token"], second["access_token"]) == ("token-0", "token-1")


@pytest.mark.parametrize("name", EVERY)
async def test_a_token_that_is_refused_again_needs_an_operator(stand: Stand, name: str) -> None:
    operation = EVERY[name]
    script(stand.market, operation, "error_token")

    failure = await fails(stand, operation)

    assert isinstance(failure, NotAuthorised)
    assert failure.code == "IllegalAccessToken"
    assert stand.refused == ["token-0"]
    assert len(stand.market.asked(operation.path)) == 2


async def test_an_order_whose_products_cannot_be_looked_up_was_not_placed(stand: Stand) -> None:
    stand.market.on("/product/get", GARBAGE)

    assert type(await fails(stand, UNSAFE["create"])) is Unavailable
    assert stand.market.asked("/purchase/order/create") == []
