"""One checker for everything that must hold of orders, money and the journal."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID

import asyncpg
from simulator.sandbox_kit import Market

from kit.postgres import Postgres
from kit.server import Server
from tradewind import clock, ids

_TICK = timedelta(milliseconds=1)
_NEWS = (
    "id",
    "platform",
    "order_id",
    "status",
    "payment_status",
    "platform_payment_status",
    "total_amount_cny",
    "updated_at",
)
_KINDS = {"status": "order.updated", "payment_status": "payment.updated"}
_OVER = {"create_failed", "completed", "cancelled", "closed"}
_NOT_SENT = ("unpaid", "pending_approval", "approved", "rejected", "failed")
# The contract's table, written down once more: what the code's own table says is not asked.
_MOVES = {
    *((item, "pending_approval") for item in ("unpaid", "rejected", "failed")),
    ("pending_approval", "unpaid"),
    ("pending_approval", "approved"),
    ("pending_approval", "rejected"),
    ("approved", "processing"),
    ("approved", "unpaid"),
    ("processing", "paid"),
    ("processing", "failed"),
    ("processing", "cancelled"),
    *((request, "paid") for request in _NOT_SENT),
    *((request, "cancelled") for request in _NOT_SENT),
    ("paid", "partially_refunded"),
    ("paid", "refunded"),
    ("partially_refunded", "refunded"),
}
_OPEN_AS = {"pending_approval", "approved", "processing"}
_GOT_MONEY = {"paid", "partially_refunded", "refunded"}

# Accounts whose events are not numbered from one, or from what was dropped, to the head's number.
_MISNUMBERED = """
    SELECT coalesce(head.account_id, stored.account_id) AS account_id, head.last_number,
           stored.count, stored.different, stored.first, stored.last
      FROM journal_head AS head
      LEFT JOIN journal_retention AS retention ON retention.account_id = head.account_id
      FULL JOIN (SELECT e.account_id, count(*), count(DISTINCT e.number) AS different,
                        min(e.number) AS first, max(e.number) AS last,
                        (array_agg(e.id ORDER BY e.number DESC))[1] AS last_id
                   FROM event AS e
                   LEFT JOIN journal_retention AS r ON r.account_id = e.account_id
                  WHERE e.number > coalesce(r.dropped_through, 0)
                  GROUP BY e.account_id) AS stored
        ON stored.account_id = head.account_id
     WHERE (head.last_number, coalesce(retention.dropped_through, 0) + 1, stored.count,
            stored.count, head.last_event_id)
           IS DISTINCT FROM
           (stored.last, stored.first, stored.different,
            stored.last - stored.first + 1, stored.last_id)
       AND head.last_number IS DISTINCT FROM retention.dropped_through
"""

Row = asyncpg.Record


@dataclass
class Facts:
    """Everything that the database and the simulator say, read once."""

    orders: Sequence[asyncpg.Record]
    changes: dict[UUID, list[Row]] = field(default_factory=lambda: defaultdict(list))
    events: dict[UUID, dict[UUID, Row]] = field(default_factory=lambda: defaultdict(dict))
    requests: dict[UUID, list[Row]] = field(default_factory=lambda: defaultdict(list))
    there: dict[str, list[Any]] = field(default_factory=lambda: defaultdict(list))
    misnumbered: list[str] = field(default_factory=list)
    debits: dict[str, list[Any]] = field(default_factory=lambda: defaultdict(list))
    refunded: Counter[str] = field(default_factory=Counter)

    def second_orders(self) -> int:
        """How many orders the platform has beyond one for each reference of ours."""
        return sum(max(len(orders) - 1, 0) for orders in self.there.values())

    def second_debits(self) -> int:
        """How many debits there are beyond one for each reference; for orders in one part."""
        debits = [sum(len(self.debits[o["id"]]) for o in there) for there in self.there.values()]
        return sum(max(count - 1, 0) for count in debits)


async def _stored(url: str, only: Sequence[UUID] | None) -> Facts:
    """What the database says, all of it at one moment."""
    connection = await asyncpg.connect(url)
    try:
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            which = "$1::uuid[] IS NULL OR {} = ANY ($1)"
            mine = which.format("purchase_order_id")
            facts = Facts(
                await connection.fetch(
                    f"SELECT * FROM purchase_order WHERE {which.format('id')} ORDER BY id",  # noqa: S608
                    only,
                )
            )
            query = f"SELECT * FROM order_change WHERE {mine} ORDER BY version"  # noqa: S608
            for row in await connection.fetch(query, only):
                facts.changes[row["purchase_order_id"]].append(row)
            query = f"SELECT * FROM event WHERE {mine}"  # noqa: S608
            for row in await connection.fetch(query, only):
                facts.events[row["purchase_order_id"]][row["id"]] = row
            query = f"SELECT * FROM payment_request WHERE {mine} ORDER BY id"  # noqa: S608
            for row in await connection.fetch(query, only):
                facts.requests[row["purchase_order_id"]].append(row)
            facts.misnumbered = await number_problems(connection)
    finally:
        await connection.close()
    return facts


async def number_problems(db: Any) -> list[str]:
    """Accounts whose events do not have each number once, without a gap, up to the last one."""
    return [f"numbers of events: {dict(row)}" for row in await db.fetch(_MISNUMBERED)]


def _add_platform(facts: Facts, market: Market) -> None:
    state = market.state()
    assert state["orders_total"] <= 1000, "the simulator shows no more than so many"
    assert len(state["ledger"]) < 1000, "the simulator shows no more than so many"
    for order in state["orders"]:
        facts.there[order["reference"]].append(order)
    for entry in state["ledger"]:
        if entry["kind"] == "debit":
            facts.debits[entry["order"]].append(entry)
        else:
            facts.refunded[entry["order"]] += entry["fen"]


def _uuids(references: Sequence[str]) -> list[UUID]:
    return [
        order_id for reference in references if (order_id := ids.ORDER.read(reference)) is not None
    ]


def check(api: Server, market: Market, *, only: Sequence[str] | None = None) -> Facts:
    """Assert all of it, when nothing is under way: both sides must tell the same story."""
    facts = read(api, market, only=only)
    assert_holds(facts, only=only)
    return facts


def read(api: Server, market: Market, *, only: Sequence[str] | None = None) -> Facts:
    """What both sides say, for who counts something before it is asserted."""
    facts = Postgres.run(_stored(api.database_url, None if only is None else _uuids(only)))
    _add_platform(facts, market)
    return facts


def assert_holds(facts: Facts, *, only: Sequence[str] | None = None) -> None:
    """Assert that both sides tell the same story, and a story that is allowed."""
    known = {ids.ORDER.show(order["id"]) for order in facts.orders}
    strangers = set() if only is not None else facts.there.keys() - known
    problems = [f"{stranger}: the platform has it, we do not" for stranger in strangers]
    problems += facts.misnumbered
    for order in facts.orders:
        result = [*_ours(facts, order), *_platform(facts, order), *_money(facts, order)]
        problems += [f"{ids.ORDER.show(order['id'])}: {problem}" for problem in result]
    assert not problems, "\n".join([f"{len(problems)} problems", *problems[:40]])


def check_ours(api: Server, only: Sequence[str]) -> None:
    """Assert what holds at every moment, of the orders that are named."""
    facts = Postgres.run(_stored(api.database_url, _uuids(only)))
    problems = facts.misnumbered + [
        f"{ids.ORDER.show(order['id'])}: {problem}"
        for order in facts.orders
        for problem in _ours(facts, order)
    ]
    assert not problems, "\n".join([f"{len(problems)} problems", *problems[:40]])


def undecided(api: Server) -> list[asyncpg.Record]:
    """Orders of which it is not known yet what became of them."""
    return api.fetch(
        """
        SELECT id, status, payment_status, cancel_requested, work, next_sync_at, lease_until,
               create_sent_at, sync_failures, tradewind_now() AS now
          FROM purchase_order
         WHERE status = 'creating' OR payment_status IN ('processing', 'approved')
            OR cancel_requested
         ORDER BY next_sync_at
        """
    )


def _ours(facts: Facts, order: Row) -> Iterator[str]:
    yield from _journal(facts, order)
    yield from _schedule(order)
    yield from _requests(facts, order)


def _journal(facts: Facts, order: Row) -> Iterator[str]:
    """The versions without gaps, each later than the one before, and the events that they make."""
    changes = facts.changes[order["id"]]
    versions = [change["version"] for change in changes]
    if versions != list(range(1, order["version"] + 1)):
        yield f"versions {versions} of {order['version']}"
    standing: dict[str, Any] = {
        "id": ids.ORDER.show(order["id"]),
        "platform": order["platform"],
        "order_id": None,
        "status": "creating",
        "payment_status": "unpaid",
        "platform_payment_status": "unpaid",
        "total_amount_cny": None,
        "updated_at": None,
    }
    for before, after in pairwise(change["at"] for change in changes):
        if after - before < _TICK:
            yield f"a version of {after} is not later than the one of {before}"
    for change in changes:
        yield from _step(facts.events[order["id"]], change, standing)
    reported = sorted(event for change in changes for event in change["events"])
    if reported != sorted(facts.events[order["id"]]):
        yield "the journal and the timeline name other events"
    ends = {name: order[name] for name in ("status", "payment_status", "platform_payment_status")}
    ends["updated_at"] = clock.show(order["updated_at"])
    for name, end in ends.items():
        if standing[name] != end:
            yield f"the timeline ends with {name} {standing[name]}, not {end}"


def _step(events: Mapping[UUID, Row], change: Row, standing: dict[str, Any]) -> Iterator[str]:
    """One version: it begins where the last one ended, and makes its events and no other."""
    version = change["version"]
    seen = json.loads(change["changes"])
    for name, value in seen.items():
        if name in standing and value["from"] != standing[name]:
            yield f"version {version}: {name} was {standing[name]}, not {value}"
    standing |= {name: item["to"] for name, item in seen.items() if name in standing}
    standing["updated_at"] = clock.show(change["at"])
    yield from _moves(version, seen)
    made = [events[event] for event in change["events"] if event in events]
    wanted = [kind for name, kind in _KINDS.items() if name in seen]
    if [event["type"] for event in made] != wanted:
        yield f"version {version} made {made}, not {wanted}"
    for event in made:
        yield from _body(event, standing)


def _moves(version: int, seen: Mapping[str, Any]) -> Iterator[str]:
    if "payment_status" in seen:
        move = (seen["payment_status"]["from"], seen["payment_status"]["to"])
        if move not in _MOVES:
            yield f"version {version}: the payment went {move}"
    if "status" in seen and seen["status"]["from"] in _OVER:
        yield f"version {version}: it came back from its end: {seen['status']}"


def _body(event: Row, news: Mapping[str, Any]) -> Iterator[str]:
    body = json.loads(event["body"])
    wanted = {
        "id": ids.EVENT.show(event["id"]),
        "event": event["type"],
        "created_at": news["updated_at"],
        "data": {"order": {name: news[name] for name in _NEWS}},
    }
    if body != wanted:
        yield f"event {body} should be {wanted}"


def _schedule(order: Row) -> Iterator[str]:
    """Nothing waits for what nobody will do."""
    waits = order["status"] not in {"create_failed", "cancelled"}
    if waits and (order["work"] == "none" or order["next_sync_at"] is None):
        yield f"nothing is scheduled for a {order['status']}, {order['payment_status']} order"
    wanted = {"creating": "create"}.get(order["status"]) if not order["order_ids"] else None
    if order["payment_status"] == "processing" and not order["cancel_requested"]:
        wanted = "pay"
    if wanted is not None and order["work"] != wanted:
        yield f"its work is {order['work']}, not {wanted}"


def _requests(facts: Facts, order: Row) -> Iterator[str]:
    """The requests to pay it say what the order says."""
    requests = facts.requests[order["id"]]
    is_open = [request for request in requests if request["status"] in _OPEN_AS]
    standing = order["payment_status"]
    if [item["status"] for item in is_open] != ([standing] if standing in _OPEN_AS else []):
        yield f"open requests {[item['status'] for item in is_open]} of a {standing} order"
    if order["payment_id"] != (is_open[0]["id"] if is_open else None):
        yield f"its open request is {order['payment_id']}"
    paid = [request for request in requests if request["status"] == "paid"]
    if len(paid) != (standing in _GOT_MONEY and not order["paid_outside"]):
        yield f"{len(paid)} requests are paid of a {standing} order"
    if standing in ("rejected", "failed") and (not requests or requests[-1]["status"] != standing):
        yield f"the last request of a {standing} order is another"
    for request in requests:
        sent = request["status"] in ("processing", "paid", "failed")
        if sent and request["mode"] == "auto" and request["sent_at"] is None:
            yield f"a {request['status']} request was never sent"
        if request["status"] == "superseded" and request["reason"] is None:
            yield "a request was superseded for no reason"


def _platform(facts: Facts, order: Row) -> Iterator[str]:
    """One order of ours is one there, whole, and none once it failed or was dropped."""
    reference = ids.ORDER.show(order["id"])
    there = facts.there[reference]
    result = sorted(order["id"] for order in there)
    if sorted(order["order_ids"]) != result:
        yield f"the platform has {result}, we know of {order['order_ids']}"
    wanted: Counter[str] = Counter()
    for line in json.loads(order["items"]):
        wanted[line["product_id"]] += line["quantity"]
    has: Counter[str] = Counter()
    for item in there:
        for line in item["lines"]:
            has[str(line["product"])] += line["quantity"]
    if there and has != wanted:
        yield f"the platform was asked for {dict(has)} instead of {dict(wanted)}: {result}"
    if not there and order["status"] not in ("creating", "create_failed", "cancelled"):
        yield f"a {order['status']} order is not on the platform"


def _money(facts: Facts, order: Row) -> Iterator[str]:
    """What we say was paid and went back is what the ledger says."""
    entries = [entry for part in order["order_ids"] for entry in facts.debits[part]]
    yield from _debits(facts, order, entries)
    taken = sum(entry["fen"] for entry in entries)
    if taken != order["paid_fen"]:
        yield f"{taken} fen were taken, and paid are {order['paid_fen']}"
    if (order["payment_status"] in _GOT_MONEY) != (taken > 0):
        yield f"{taken} fen were taken of a {order['payment_status']} order"
    back = sum(facts.refunded[part] for part in order["order_ids"])
    if back != order["refunded_fen"] or back > taken:
        yield f"{back} fen went back, and refunded are {order['refunded_fen']} of {taken}"
    if order["total_fen"] is not None:
        total = order["goods_fen"] + order["freight_fen"] - order["discount_fen"]
        if total != order["total_fen"]:
            yield f"the amounts make {total}, not {order['total_fen']}"


def _debits(facts: Facts, order: Row, entries: Sequence[Any]) -> Iterator[str]:
    """Each order there is debited once: for one approval and its amount, or by hand."""
    for part, times in Counter(entry["order"] for entry in entries).items():
        if times > 1:
            yield f"{part} was debited {times} times"
    requests = {ids.PAYMENT.show(request["id"]): request for request in facts.requests[order["id"]]}
    by_hand = order["paid_outside"] or any(request["sent_at"] for request in requests.values())
    taken: Counter[str] = Counter()
    for entry in entries:
        name = _request_of(entry, requests)
        if name is not None:
            taken[name] += entry["fen"]
        elif entry["operation"] or not by_hand:
            yield f"nobody approved the debit {entry}"
    for name, fen in taken.items():
        request = requests[name]
        if request["decided_at"] is None or request["status"] != "paid":
            yield f"{name} is {request['status']} and was debited"
        if fen > request["amount_fen"]:
            yield f"{name} was approved for {request['amount_fen']} fen, and {fen} were taken"


def _request_of(entry: Any, requests: Mapping[str, Row]) -> str | None:
    """Which approval a debit was made for; None: a person paid by hand."""
    if entry["operation"].startswith("batch-"):  # Taobao knows of no operation
        sent = [name for name, request in requests.items() if request["sent_at"] is not None]
        return sent[-1] if sent else None
    name, _, part = entry["operation"].partition("-")
    return name if name in requests and part == entry["order"] else None
