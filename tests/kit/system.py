"""A whole system for tests: API, worker and simulated marketplace, a buyer and an approver."""

import itertools
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import httpx
from simulator.sandbox_kit import Market, serving

from kit.pgbouncer import Pooler
from kit.server import Person, Server, ServerLauncher
from tradewind.auth.model import Role

T = TypeVar("T")

PLAIN = "900000000001"
ADDRESS = {
    "name": "张三",
    "phone": "15251667788",
    "province": "浙江省",
    "city": "杭州市",
    "district": "滨江区",
    "detail": "网商路699号",
}
_PATIENCE_SECONDS = 20.0
_LOOKS = {"next_sync_at", "synced_at", "sync_failures", "lease", "lease_until", "hints"}
_numbers = itertools.count(1)


def simulated(market: Market) -> dict[str, str]:
    """The settings by which every marketplace is the simulator."""
    return {
        "TRADEWIND_SANDBOX_URL": market.url,
        "TRADEWIND_PLATFORM_ALIBABA_URL": market.url,
        "TRADEWIND_PLATFORM_TAOBAO_URL": f"{market.url}/rest",
    }


@dataclass
class System:
    """Everything that runs, and two people who use it."""

    api: Server
    market: Market
    buyer: Person
    approver: Person
    skus: dict[tuple[str, str], str] = field(default_factory=dict)

    def call(self, method: str, path: str, *, by: Person | None = None, **options: Any) -> Any:
        """One request; by the buyer unless somebody else is named."""
        return self.api.call(method, path, by=by or self.buyer, **options)

    def ok(self, method: str, path: str, *, by: Person | None = None, **options: Any) -> Any:
        """The body of an answer that must be a success."""
        answer: httpx.Response = self.call(method, path, by=by, **options)
        assert answer.status_code < 300, answer.text
        return answer.json()

    def refused(
        self,
        method: str,
        path: str,
        status: int,
        code: str,
        *,
        by: Person | None = None,
        **options: Any,
    ) -> Any:
        """The problem that a request must be answered with."""
        answer: httpx.Response = self.call(method, path, by=by, **options)
        assert answer.headers["content-type"] == "application/problem+json"
        problem = answer.json()
        assert (answer.status_code, problem["code"]) == (status, code), problem
        assert problem["status"] == status
        assert " fen" not in problem["detail"], "callers read CNY"
        return problem

    def read_journal(self, cursor: str = "") -> tuple[list[str], str]:
        """The ids of the events after a cursor, page by page, and where the journal ends."""
        events: list[str] = []
        while True:
            after = f"&after={cursor}" if cursor else ""
            page = self.ok("GET", f"/v1/events?limit=100{after}")
            events += [item["id"] for item in page["items"]]
            cursor = page["next_cursor"]
            if not page["has_more"]:
                return events, cursor

    def sku(self, product: str = PLAIN, platform: str = "sandbox") -> str:
        """The first variant of a product, as an order names it."""
        key = (platform, product)
        if key not in self.skus:
            result = self.ok("GET", f"/v1/products/{platform}/{product}")
            self.skus[key] = result["skus"][0]["id"]
        return self.skus[key]

    def order_body(self, product: str = PLAIN, quantity: int = 1, **more: Any) -> dict[str, Any]:
        """The body of an order."""
        platform = more.get("platform", "sandbox")
        items = [
            {"product_id": product, "sku_id": self.sku(product, platform), "quantity": quantity}
        ]
        return {"platform": platform, "items": items, "address": ADDRESS, **more}

    def place(
        self, body: dict[str, Any], *, key: str | None = None, by: Person | None = None
    ) -> Any:
        """The answer to an order."""
        key = key or f"key-{next(_numbers)}-{time.time_ns()}"
        headers = {"idempotency-key": key}
        return self.call("POST", "/v1/orders", by=by, json=body, headers=headers)

    def order(self, product: str = PLAIN, quantity: int = 1, **more: Any) -> Any:
        """A new order that waits for payment."""
        answer = self.place(self.order_body(product, quantity, **more))
        assert answer.status_code == 201, answer.text
        return self.until(answer.json()["id"], lambda order: order["status"] != "creating")

    def look(self, order_id: str) -> Any:
        """The order, refreshed."""
        return self.ok("GET", f"/v1/orders/{order_id}")

    def stored(self, order_id: str) -> Any:
        """The order as it is stored, without asking the platform."""
        row = self.api.fetch("SELECT * FROM purchase_order WHERE id = $1", _uuid(order_id))
        return row[0]

    def until(self, order_id: str, good: Callable[[Any], bool]) -> Any:
        """Look at an order until it is as it should become, for a while at the most."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            order = self.look(order_id)
            if good(order):
                return order
            assert time.monotonic() < deadline, order
            time.sleep(0.05)

    def facts(self, order_id: str) -> dict[str, Any]:
        """The stored order, without what only says when it was and will be looked at."""
        row = dict(self.stored(order_id))
        return {name: value for name, value in row.items() if name not in _LOOKS}

    def until_stored(self, order_id: str, good: Callable[[Any], bool]) -> Any:
        """Wait for an order to become so by itself: nobody looks at it through the API."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            row = self.stored(order_id)
            if good(row):
                return row
            assert time.monotonic() < deadline, dict(row)
            time.sleep(0.05)

    def force(self, order_id: str, **columns: Any) -> None:
        """Bring an order where it is hard to get by real means, with one UPDATE."""
        if columns.get("payment_status") not in (
            None,
            "pending_approval",
            "approved",
            "processing",
        ):
            columns.setdefault("payment_id", None)
            ended = "UPDATE payment_request SET status = 'superseded' WHERE purchase_order_id = $1"
            self.api.fetch(ended, _uuid(order_id))
        names = ", ".join(f"{name} = ${number}" for number, name in enumerate(columns, 2))
        statement = f"UPDATE purchase_order SET {names} WHERE id = $1"  # noqa: S608 - ours
        self.api.fetch(statement, _uuid(order_id), *columns.values())

    def due_now(self, order_id: str) -> None:
        """Make the scheduled sync due."""
        statement = "UPDATE purchase_order SET next_sync_at = tradewind_now() WHERE id = $1"
        self.api.fetch(statement, _uuid(order_id))

    def hear_notices(self) -> None:
        """Have the marketplace tell us of every change."""
        self.market.control("push", url=f"{self.api.url}/v1/notices/{{app}}")

    def refund(self, order_id: str, /, **body: Any) -> Any:
        """The answer to a wish for money back."""
        wish = {"type": "refund_only", "reason": "damaged", **body}
        headers = {"idempotency-key": f"refund-{next(_numbers)}-{time.time_ns()}"}
        return self.call("POST", f"/v1/orders/{order_id}/refunds", json=wish, headers=headers)

    def request_payment(self, order_id: str) -> Any:
        return self.ok("POST", f"/v1/orders/{order_id}/payment")

    def approve(self, payment_id: str) -> Any:
        return self.ok("POST", f"/v1/payments/{payment_id}/approve", by=self.approver)

    def copy_order(self, order: Any, count: int) -> None:
        """Store copies of an order, which nobody placed."""
        columns = [
            row["attname"]
            for row in self.api.fetch(
                """
                SELECT attname FROM pg_attribute
                 WHERE attrelid = 'purchase_order'::regclass AND attnum > 0 AND NOT attisdropped
                   AND attgenerated = '' AND attname NOT IN ('id', 'external_id')
                """
            )
        ]
        names = ", ".join(columns)
        self.api.fetch(
            f"INSERT INTO purchase_order (id, {names}) SELECT tradewind_uuid7(), {names}"  # noqa: S608 - names that the database gave
            "   FROM purchase_order, generate_series(1, $2) WHERE id = $1",
            self.stored(order["id"])["id"],
            count,
        )

    def paid(self, product: str = PLAIN, quantity: int = 1, **more: Any) -> Any:
        """A new order that is paid through an approval."""
        order = self.order(product, quantity, **more)
        self.approve(self.request_payment(order["id"])["id"])
        return self.until(order["id"], lambda order: order["payment_status"] == "paid")

    def advance(self, order_id: str, to: str, **more: Any) -> Any:
        return self.ok("POST", f"/v1/sandbox/orders/{order_id}/advance", json={"to": to, **more})

    def events(self, order_id: str | None = None, *, by: Person | None = None) -> list[Any]:
        """The whole journal of the buyer, or of one order, oldest first."""
        result: list[Any] = []
        query = f"&order={order_id}" if order_id else ""
        cursor = ""
        while True:
            page = self.ok("GET", f"/v1/events?limit=100{query}{cursor}", by=by)
            result += page["items"]
            if not page["has_more"]:
                return result
            cursor = f"&after={page['next_cursor']}"

    def told(self, order_id: str) -> list[tuple[str, str, str]]:
        """What the journal says of an order: event, status and payment status."""
        return [
            (
                event["event"],
                event["data"]["order"]["status"],
                event["data"]["order"]["payment_status"],
            )
            for event in self.events(order_id)
        ]


def _uuid(order_id: str) -> Any:
    from tradewind import ids  # noqa: PLC0415

    return ids.ORDER.read(order_id)


@contextmanager
def running_system(
    launcher: ServerLauncher,
    folder: Path,
    *,
    workers: int = 1,
    api_processes: int = 2,
    settings: dict[str, str] | None = None,
    notices: bool = True,
    pooler: Pooler | None = None,
) -> Iterator[System]:
    """A system of one's own: a fresh database, a simulator, an API and as many workers.

    With a pooler, API and workers reach the database through it.
    """
    with ExitStack() as stack:
        market = stack.enter_context(serving(folder))
        url = stack.enter_context(launcher.postgres.fresh_database())
        addresses = pooler.settings(url) if pooler else {}
        chosen = {**simulated(market), **addresses, **(settings or {})}
        api = stack.enter_context(launcher.serving_on(url, workers=api_processes, settings=chosen))
        for _ in range(workers):
            stack.enter_context(launcher.working(api.database_url, settings=chosen))
        system = System(api, market, api.person(), api.person(roles=(Role.APPROVER,)))
        if notices:
            system.hear_notices()
        yield system
