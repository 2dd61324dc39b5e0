"""The marketplace drops, delays and repeats responses while workers die: one order, one debit."""

import os
import random
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from kit import chaos, invariants, scorecard
from kit.server import Person, ServerLauncher
from kit.system import PLAIN, System, running_system, simulated

from tradewind import ids

# A soak places more.
_ORDERS = 500 if "SOAK_STORIES" in os.environ else 60
_CLIENTS = 16
_FAULTS = {
    "preview": {"slow": 0.03, "drop": 0.05},
    "create": {
        "drop": 0.1,
        "late": 0.07,
        "slow": 0.05,
        "doubled": 0.05,
        "http500 after": 0.05,
        "http500": 0.03,
        "garbage": 0.03,
    },
    "pay": {
        "drop": 0.1,
        "late": 0.05,
        "slow": 0.03,
        "doubled": 0.05,
        "http500 after": 0.05,
        "http500": 0.03,
    },
    "list": {"drop": 0.05, "late": 0.02, "slow": 0.02, "doubled": 0.05, "garbage": 0.02},
    "read": {"drop": 0.05, "late": 0.02, "doubled": 0.05},
    "cancel": {"drop": 0.15, "late": 0.1, "twice": 0.1, "doubled": 0.1, "http500 after": 0.1},
}
_LATE, _SLOW = 0.7, 2.5
# So late that whoever asked has left, yet well within the time in which we expect it to come
# true. They are over before time passes faster still, in which 11 seconds would be minutes.
_VERY_LATE = {"seconds": 11, "rate": 0.15, "count": _ORDERS // 25}
# What becomes of an order, and how often.
_WISHES = {"pay": 78, "cancel": 10, "reject": 4, "by_hand": 4, "leave": 4}


@dataclass
class Client:
    """Somebody who orders and pays, and repeats what was not answered."""

    system: System
    buyer: Person
    chance: random.Random
    answers: list[httpx.Response] = field(default_factory=list)
    wishes: dict[str, str] = field(default_factory=dict)
    later: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.http = httpx.Client(base_url=self.system.api.url, timeout=15)

    def call(self, method: str, path: str, *, by: Person | None = None, **more: Any) -> Any:
        headers = {**more.pop("headers", {}), **(by or self.buyer).headers}
        answer = self.http.request(method, path, headers=headers, **more)
        self.answers.append(answer)
        return answer

    def buy(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            body = self.system.order_body(PLAIN, self.chance.randint(1, 3))
            headers = {"idempotency-key": f"order {number}"}
            placed = self.call("POST", "/v1/orders", json=body, headers=headers)
            assert placed.status_code == 201, placed.text
            order_id = placed.json()["id"]
            wish = self.chance.choices(list(_WISHES), list(_WISHES.values()))[0]
            self.wishes[order_id] = wish
            if self.chance.random() < 0.05:
                again = self.call("POST", "/v1/orders", json=body, headers=headers)
                assert (again.status_code, again.json()["id"]) == (201, order_id)
            if not self.fulfil(order_id, wish):
                self.later.append(order_id)

    def catch_up(self) -> None:
        """Do what could not be done at once."""
        for order_id in self.later:
            assert self.fulfil(order_id, self.wishes[order_id]), order_id

    def look(self) -> None:
        """See every order as it is: the platform is well again."""
        for order_id in self.wishes:
            shown = self.call("GET", f"/v1/orders/{order_id}").json()
            assert not shown["stale"], shown

    def fulfil(self, order_id: str, wish: str) -> bool:
        """Do what is wished with an order; False: it is not there yet."""
        if wish == "leave":
            return True
        if wish == "cancel":
            return self.call("POST", f"/v1/orders/{order_id}/cancel").status_code in (200, 202)
        order = self.call("GET", f"/v1/orders/{order_id}").json()
        if order["status"] == "creating":
            return False
        if wish == "by_hand":
            self.system.market.advance(order["order_id"], "pay")
            return True
        asked = self.call("POST", f"/v1/orders/{order_id}/payment")
        assert asked.status_code == 201, asked.text
        path = f"/v1/payments/{asked.json()['id']}"
        if wish == "reject":
            refused = self.call(
                "POST", f"{path}/reject", by=self.system.approver, json={"reason": "no"}
            )
            assert refused.status_code == 200, refused.text
            return True
        approved = self.call("POST", f"{path}/approve", by=self.system.approver)
        assert approved.status_code == 200, approved.text
        return True


_BECOMES = {
    "pay": ("paid", "paid", False),
    "by_hand": ("paid", "paid", True),
    "leave": ("pending_payment", "unpaid", False),
    "reject": ("pending_payment", "rejected", False),
    "cancel": ("cancelled", "cancelled", False),
}


def test_one_order_and_one_debit_each_whatever_the_platform_answers_and_whoever_dies(
    launcher: ServerLauncher, tmp_path: Path
) -> None:
    chance = chaos.seeded_random()
    problems: list[str] = []
    recovery = 0.0
    with chaos.no_errors_logged(launcher), ExitStack() as stack:
        system = stack.enter_context(running_system(launcher, tmp_path, workers=0))
        api, market = system.api, system.market
        settings = simulated(market)
        workers = stack.enter_context(chaos.worker_pool(launcher, api.database_url, settings))
        system.sku()
        clients = [
            Client(system, api.person(), random.Random(chance.random()))  # noqa: S311
            for _ in range(_CLIENTS)
        ]
        for client in clients:
            stack.enter_context(client.http)
        pool = stack.enter_context(ThreadPoolExecutor(_CLIENTS))
        began = time.monotonic()
        market.fault("create", "late", **_VERY_LATE)
        chaos.set_faults(market, _FAULTS, late=_LATE, slow=_SLOW)
        with (
            chaos.killing_workers(workers, chance, 1.0, 4.0),
            chaos.accelerated_clock(api, market, 6),
            scorecard.kept_for_later(problems),
        ):
            shares = [range(first, _ORDERS, _CLIENTS) for first in range(_CLIENTS)]
            list(pool.map(Client.buy, clients, shares))
            chaos.wait_until_decided(api, 30, but=_ORDERS // 10)
            chaos.wait_until_performed(market, "create", _VERY_LATE["seconds"] + 5)
        load = time.monotonic() - began
        still_late = market.control("faults", "GET")["faults"][0]["count"]
        counters = market.state()["counters"]
        workers.kill_all()
        chaos.clear_faults(market)
        with chaos.accelerated_clock(api, market, 20), scorecard.kept_for_later(problems):
            recovery = chaos.wait_until_decided(api, 40)
            list(pool.map(Client.catch_up, clients))
            recovery += chaos.wait_until_decided(api, 40)
        with scorecard.kept_for_later(problems):
            list(pool.map(Client.look, clients))
        workers.stop()
        sys.stdout.write(
            f"load {load:.1f} s, recovery {recovery:.1f} s, {workers.kills} kills, "
            f"{sum(len(client.later) for client in clients)} done later, {counters}\n"
        )

        facts = invariants.read(api, market)
        scorecard.record(
            12,
            _ORDERS,
            kills=workers.kills,
            lost=_ORDERS - len(facts.orders),
            duplicates=facts.second_orders(),
            double_debits=facts.second_debits(),
        )
        assert problems == []
        invariants.assert_holds(facts)

    assert still_late == 0
    assert len(facts.orders) == _ORDERS
    assert sum(map(len, facts.there.values())) == sum(
        1 for order in facts.orders if order["order_ids"]
    )
    wishes = {order_id: wish for client in clients for order_id, wish in client.wishes.items()}
    became = {
        ids.ORDER.show(order["id"]): (
            order["status"],
            order["payment_status"],
            order["paid_outside"],
        )
        for order in facts.orders
    }
    others = {
        item: (wish, became[item])
        for item, wish in wishes.items()
        if became[item] != _BECOMES[wish]
    }
    assert others == {}
    paid = [item for item in wishes.values() if item in ("pay", "by_hand")]
    assert sum(map(len, facts.debits.values())) == len(paid)
