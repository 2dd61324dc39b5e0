"""The API is killed under load: every acknowledged order exists once, and a retry finds it."""

import os
import random
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from kit import chaos, invariants, scorecard
from kit.processes import family_of, wait_until_gone
from kit.server import Person, Server, ServerLauncher
from kit.system import System, simulated
from simulator.sandbox_kit import serving

from tradewind import ids
from tradewind.auth.model import Role
from tradewind.orders.idempotency import PENDING

_CLIENTS = 8
_FAULTS = {
    "preview": {"slow": 0.05},
    "create": {"drop": 0.1, "late": 0.1, "slow": 0.1, "http500": 0.05},
    "list": {"drop": 0.05, "slow": 0.05},
}


@dataclass
class Client:
    """Orders with a fresh key each time, until nobody answers; then sends every key again."""

    buyer: Person
    body: dict[str, Any]
    sent: list[str] = field(default_factory=list)
    acknowledged: dict[str, str] = field(default_factory=dict)

    def order(self, http: httpx.Client, key: str) -> httpx.Response:
        headers = {**self.buyer.headers, "idempotency-key": key}
        return http.post("/v1/orders", json=self.body, headers=headers)

    def buy(self, url: str, gone: threading.Event) -> None:
        with httpx.Client(base_url=url, timeout=15) as http:
            while not gone.is_set():
                key = f"{self.buyer.id} {len(self.sent)}"
                self.sent.append(key)
                try:
                    answer = self.order(http, key)
                except httpx.TransportError:
                    return
                assert answer.status_code == 201, answer.text
                self.acknowledged[key] = answer.json()["id"]

    def repeat(self, url: str) -> None:
        with httpx.Client(base_url=url, timeout=15) as http:
            for key in self.sent:
                answer = self.order(http, key)
                assert answer.status_code == 201, answer.text
                known = self.acknowledged.setdefault(key, answer.json()["id"])
                assert answer.json()["id"] == known
                again = self.order(http, key)
                assert again.content == answer.content
                assert again.headers["idempotent-replayed"] == "true"


def _kill(api: Server) -> None:
    """End every process of the API at once, as a machine that dies does."""
    family = [api.process.pid, *family_of(api.process.pid)]
    for pid in family:
        os.kill(pid, signal.SIGKILL)
    api.process.wait(10)
    wait_until_gone(family)


def test_what_a_killed_api_acknowledged_exists_once_and_a_repeat_finds_it(
    launcher: ServerLauncher, tmp_path: Path
) -> None:
    chance: random.Random = chaos.seeded_random()
    problems: list[str] = []
    with chaos.no_errors_logged(launcher), ExitStack() as stack:
        url = stack.enter_context(launcher.postgres.fresh_database())
        market = stack.enter_context(serving(tmp_path))
        settings = simulated(market)
        workers = stack.enter_context(chaos.worker_pool(launcher, url, settings, 1))
        with launcher.serving_on(url, settings=settings) as api:
            system = System(api, market, api.person(), api.person(roles=(Role.APPROVER,)))
            clients = [Client(api.person(), system.order_body()) for _ in range(_CLIENTS)]
            chaos.set_faults(market, _FAULTS, late=0.5, slow=2.5)
            gone = threading.Event()
            with ThreadPoolExecutor(_CLIENTS) as pool:
                buying = [pool.submit(client.buy, api.url, gone) for client in clients]
                gone.wait(chance.uniform(3, 5))
                killed_at = time.monotonic()
                _kill(api)
                gone.set()
            for item in buying:
                with scorecard.kept_for_later(problems):
                    item.result()
        reported = sum(len(client.acknowledged) for client in clients)
        lost = sum(len(client.sent) for client in clients) - reported
        sys.stdout.write(f"{reported} acknowledged, {lost} not answered\n")
        chaos.clear_faults(market)

        with launcher.serving_on(url, settings=settings) as api:
            recovery = time.monotonic() - killed_at
            # Who died replaces no answer any more; so long its first one is not the last word.
            api.move_clock(PENDING)
            with ThreadPoolExecutor(_CLIENTS) as pool, scorecard.kept_for_later(problems):
                list(pool.map(Client.repeat, clients, [api.url] * _CLIENTS))
            with chaos.accelerated_clock(api, market, 20), scorecard.kept_for_later(problems):
                chaos.wait_until_decided(api, 30)
            workers.stop()
            facts = invariants.read(api, market)

    by_key = {key: order_id for client in clients for key, order_id in client.acknowledged.items()}
    stored = {ids.ORDER.show(order["id"]) for order in facts.orders}
    scorecard.record(
        2,
        len(by_key),
        kills=1,
        lost=len(set(by_key.values()) - stored),
        duplicates=len(stored) - len(by_key),
        recovery=[recovery],
    )
    assert problems == []
    invariants.assert_holds(facts)
    assert reported > _CLIENTS
    assert lost > 0
    assert len(set(by_key.values())) == len(by_key)
    assert stored == set(by_key.values())
    assert {order["status"] for order in facts.orders} == {"pending_payment"}
    assert sum(map(len, facts.there.values())) == len(by_key)
