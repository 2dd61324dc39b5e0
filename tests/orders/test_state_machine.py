"""Random actions of people, sellers, time and broken calls: the invariants hold."""

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from kit import chaos, invariants, scorecard
from kit.server import Person, ServerLauncher
from kit.system import System, running_system

from tradewind import ids
from tradewind.auth.model import Role

# A soak tells more stories, and others each time.
_SOAK = int(os.environ.get("SOAK_STORIES", "0"))
_EXAMPLES, _STEPS = _SOAK or 15, 30
_SETTLE_SECONDS = 20.0
# Those whose sellers close, raise prices, ship in parts or refuse; and payments that fail.
_PRODUCTS = [f"9000000000{number:02}" for number in (1, 1, 1, 1, 4, 6, 8, 9, 10, 12, 14, 15)]
_OPERATIONS = ["preview", "create", "pay", "list", "read", "cancel", "refund", "refund_query"]
_MODES = ["drop", "doubled", "garbage", "http500", "http500 after", "late", "slow", "busy"]
_SELLER_STEPS = [
    "pay",
    "ship",
    "partial_ship",
    "receive",
    "complete",
    "refund_request",
    "refund_agree",
    "refund_refuse",
    "refund_complete",
    "refund_close",
]
_ENDS = ["close_by_seller", "close_by_platform", "close_by_buyer", "expire"]
_PATIENCE = [timedelta(seconds=2), timedelta(seconds=40), timedelta(minutes=3)]
# How far an order has come when a story finds it.
_WAY = ["request", "approve", "paid", "ship", "receive", "complete"]
_MOST_ORDERS = 3
# Of two of these at once, one wins at the most.
_EXCLUSIVE = [
    ("request", "request"),
    ("withdraw", "approve"),
    ("withdraw", "reject"),
    ("approve", "approve"),
    ("approve", "reject"),
]
_AT_ONCE = [*_EXCLUSIVE, ("cancel", "request"), ("cancel", "approve")]
_COMMANDS = ["request", "request", "withdraw", "approve", "approve", "reject", "cancel"]


def _awaits(order: Any) -> bool:
    return order["status"] == "pending_payment" and not order["cancel_requested"]


# When a command must be taken, by the order as it is stored.
_ALLOWED: dict[str, Callable[[Any], bool]] = {
    "request": lambda order: (
        _awaits(order) and order["payment_status"] in ("unpaid", "rejected", "failed")
    ),
    "withdraw": lambda order: order["payment_status"] == "pending_approval",
    "approve": lambda order: _awaits(order) and order["payment_status"] == "pending_approval",
    "reject": lambda order: order["payment_status"] == "pending_approval",
    "cancel": lambda order: (
        order["cancel_requested"]
        or (
            order["status"] in ("creating", "pending_payment")
            and order["payment_status"]
            in ("unpaid", "pending_approval", "approved", "rejected", "failed")
            and order["paid_fen"] == 0
        )
    ),
}


class Trade(RuleBasedStateMachine):
    """Several people and an unreliable marketplace. The system is set for each run."""

    system: System
    buyers: list[Person]
    approvers: list[Person]
    orders = Bundle("orders")

    @initialize()
    def begin(self) -> None:
        self.owner: dict[str, Person] = {}
        self.numbers = 0
        chaos.clear_faults(self.system.market)

    # What people do

    @precondition(lambda self: len(self.owner) < _MOST_ORDERS)
    @rule(
        target=orders,
        product=st.sampled_from(_PRODUCTS),
        quantity=st.integers(1, 3),
        buyer=st.integers(0, 1),
        way=st.integers(0, len(_WAY)).map(lambda far: _WAY[:far]),
    )
    def place(self, product: str, quantity: int, buyer: int, way: list[str]) -> Any:
        by = self.buyers[buyer]
        answer = self.system.place(self.system.order_body(product, quantity), by=by)
        assert answer.status_code == 201, answer.text
        order: str = answer.json()["id"]
        self.owner[order] = by
        for step in way:
            self.go(order, step)
        return order

    @rule(order=orders, command=st.sampled_from(_COMMANDS), who=st.integers(0, 1))
    def command(self, order: str, command: str, who: int) -> None:
        """A command is taken when the order allows it, and refused with 409 when it does not."""
        before = self.system.stored(order)
        answer = self.send(order, command, who)
        if answer is None:
            return
        after = self.system.stored(order)
        taken = answer.status_code < 300
        alone = after["version"] == before["version"] + taken
        if alone and command != "cancel" and answer.json().get("code") != "own_request":
            assert taken == _ALLOWED[command](before), (command, dict(before), answer.text)
        if not taken and command == "cancel" and after["version"] == before["version"]:
            assert not _ALLOWED["cancel"](before), (dict(before), answer.text)

    @rule(order=orders, pair=st.sampled_from(_AT_ONCE), who=st.integers(0, 1))
    def two_at_once(self, order: str, pair: tuple[str, str], who: int) -> None:
        with ThreadPoolExecutor(2) as pool:
            asked = [pool.submit(self.send, order, command, who) for command in pair]
            answers = [item.result() for item in asked]
        won = [answer for answer in answers if answer is not None and answer.status_code < 300]
        assert pair not in _EXCLUSIVE or len(won) <= 1, [
            answer and answer.text for answer in answers
        ]

    @rule(
        order=orders,
        fen=st.one_of(st.none(), st.integers(1, 2000)),
        kind=st.sampled_from(["refund_only", "return_and_refund"]),
    )
    def refund(self, order: str, fen: int | None, kind: str) -> None:
        self.numbers += 1
        body = {"type": kind, "reason": "damaged"} | (
            {} if fen is None else {"amount_cny": fen / 100}
        )
        before = self.system.stored(order)
        headers = {"idempotency-key": f"{order} {self.numbers}"}
        path = f"/v1/orders/{order}/refunds"
        answer = self.system.call("POST", path, by=self.owner[order], json=body, headers=headers)
        # A marketplace that cannot be asked is told as such; it is no crash of ours.
        assert answer.status_code in (201, 409, 422, 502, 503), answer.text
        if answer.status_code == 201:
            assert before["payment_status"] not in ("refunded", "cancelled"), answer.text

    @rule(order=orders)
    def look(self, order: str) -> None:
        before = self.system.stored(order)["version"]
        shown = self.system.ok("GET", f"/v1/orders/{order}", by=self.owner[order])
        assert shown["version"] >= before
        other = next(buyer for buyer in self.buyers if buyer is not self.owner[order])
        assert self.system.call("GET", f"/v1/orders/{order}", by=other).status_code == 404

    # What the marketplace does

    @rule(order=orders, step=st.sampled_from(_SELLER_STEPS), fen=st.integers(1, 3000))
    def seller(self, order: str, step: str, fen: int) -> None:
        details = {"fen": fen} if step == "refund_request" else {}
        self.move(order, {"to": step, **details})

    @rule(order=orders, step=st.sampled_from(_ENDS))
    def end(self, order: str, step: str) -> None:
        self.move(order, {"to": step})

    @rule(order=orders, fen=st.integers(1, 5000))
    def change_price(self, order: str, fen: int) -> None:
        self.move(order, {"to": "change_price", "fen": fen})

    @rule(operation=st.sampled_from(_OPERATIONS), mode=st.sampled_from(_MODES))
    def break_the_next_call(self, operation: str, mode: str) -> None:
        word, _, after = mode.partition(" ")
        fault: dict[str, Any] = {"after": bool(after), "seconds": 0.3, "count": 1}
        if word == "busy":
            fault |= {"code": "gw.QosAppFrequencyLimit"}
        self.system.market.fault(operation, "error" if word == "busy" else word, **fault)

    @rule(duplicates=st.integers(0, 3), shuffle=st.booleans())
    def notices(self, duplicates: int, *, shuffle: bool) -> None:
        """From now on they come several times, and not in their order."""
        url = f"{self.system.api.url}/v1/notices/{{app}}"
        self.system.market.control(
            "push", url=url, duplicates=duplicates, shuffle=shuffle, window_seconds=0.2
        )

    @rule(time_passes=st.sampled_from(_PATIENCE))
    def wait(self, time_passes: timedelta) -> None:
        """A jump of the clock in the middle of a call would be none that can happen."""
        if self.is_quiet():
            self.system.market.clock(advance_seconds=time_passes.total_seconds())
            self.system.api.move_clock(time_passes)

    # What must hold

    @invariant()
    def the_story_of_every_order_is_sound(self) -> None:
        self.steps = getattr(self, "steps", 0) + 1
        if self.steps % 5 == 0:
            invariants.check_ours(self.system.api, list(self.owner))

    def teardown(self) -> None:
        """Once nothing is wrong any more, every order comes to rest, and all accounts agree."""
        owner = getattr(self, "owner", {})
        if not owner:
            return
        chaos.clear_faults(self.system.market)
        deadline = time.monotonic() + _SETTLE_SECONDS
        while left := [
            item for item in invariants.undecided(self.system.api) if item["work"] != "none"
        ]:
            assert time.monotonic() < deadline, [dict(item) for item in left]
            time.sleep(0.1)
            if self.is_quiet():
                self.system.market.clock(advance_seconds=20)
                self.system.api.move_clock(timedelta(seconds=20))
        for order, by in owner.items():
            shown = self.system.ok("GET", f"/v1/orders/{order}", by=by)
            assert not shown["stale"], shown
        invariants.check(self.system.api, self.system.market, only=list(owner))

    # How it is done

    def go(self, order: str, step: str) -> None:
        """One step of a good story, if it is possible."""
        if step in ("request", "approve"):
            self.send(order, step, 0)
        elif step == "paid":
            deadline = time.monotonic() + 2
            while self.system.stored(order)["payment_status"] in ("approved", "processing"):
                if time.monotonic() > deadline:
                    return
                time.sleep(0.05)
        else:
            self.move(order, {"to": step})
            self.look(order)

    def send(self, order: str, command: str, who: int) -> httpx.Response | None:
        """Send a command; None: there is nothing yet that could be decided."""
        by = self.owner[order]
        if command in ("approve", "reject"):
            query = "SELECT id FROM payment_request WHERE purchase_order_id = $1 ORDER BY id DESC"
            result = self.system.api.fetch(query, ids.ORDER.read(order))
            if not result:
                return None
            path = f"/v1/payments/{ids.PAYMENT.show(result[0]['id'])}/{command}"
            body = {"json": {"reason": "no"}} if command == "reject" else {}
            answer = self.system.call("POST", path, by=self.approvers[who], **body)
        elif command == "cancel":
            answer = self.system.call("POST", f"/v1/orders/{order}/cancel", by=by)
        else:
            method = "POST" if command == "request" else "DELETE"
            answer = self.system.call(method, f"/v1/orders/{order}/payment", by=by)
        assert answer.status_code in (200, 201, 202, 409), answer.text
        sent: httpx.Response = answer
        return sent

    def move(self, order: str, step: dict[str, Any]) -> None:
        for part in self.system.stored(order)["order_ids"]:
            path = f"/_control/orders/{part}/advance"
            assert self.system.market.client.post(path, json=step).status_code in (200, 409)

    def is_quiet(self) -> bool:
        """Whether nobody is in the middle of a call for an order, soon at the latest."""
        query = "SELECT 1 FROM purchase_order WHERE lease_until > tradewind_now() LIMIT 1"
        deadline = time.monotonic() + 2
        while self.system.api.fetch(query):
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True


@pytest.fixture(scope="module")
def own_system(
    launcher: ServerLauncher, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[System]:
    with (
        chaos.no_errors_logged(launcher),
        running_system(launcher, tmp_path_factory.mktemp("town")) as system,
    ):
        yield system


def test_no_story_breaks_the_rules(own_system: System) -> None:
    Trade.system = own_system
    # One of the buyers may decide too, but never about their own.
    both = own_system.api.person(roles=(Role.BUYER, Role.APPROVER))
    Trade.buyers = [own_system.buyer, both]
    Trade.approvers = [own_system.approver, both]
    failure: Exception | None = None
    try:
        run_state_machine_as_test(
            Trade,
            settings=settings(
                max_examples=_EXAMPLES,
                stateful_step_count=_STEPS,
                deadline=None,
                derandomize=not _SOAK,
                database=None,
                phases=[Phase.generate],  # stories of real processes do not shrink
                suppress_health_check=list(HealthCheck),
            ),
        )
    except Exception as error:  # noqa: BLE001 - the figures come first
        failure = error
    scorecard.record(13, _EXAMPLES, violations=int(failure is not None), steps_in_a_story=_STEPS)
    if failure is not None:
        raise failure
