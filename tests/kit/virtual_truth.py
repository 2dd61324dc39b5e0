"""What must be true of deliveries at the end of a scenario in virtual time."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID

import asyncpg

from kit.virtual_story import Happened, Story
from kit.virtual_world import Hook, Sent, Trouble
from tradewind.delivery.lanes import Lane
from tradewind.webhooks.signing import sign

_DELAYS = {1: timedelta(seconds=60), 2: timedelta(seconds=300)}
_LATE = 2.0
_LEASE = 20.0
_STOPPING = 15.0
# How long a claim may wait for its turn, and a record that failed for the next try.
_LONGEST_HELD, _TRIED_AGAIN = 5.0, 6.0
# So often nobody comes back from a delivery before it is given up.
_LOST_MOST = 20
# How old what is known of a subscription may be at the send: in fair weather, and in a storm.
_FRESH, _STALE = 0.2, 5.2
_TICK = timedelta(milliseconds=2)
_ATTEMPTS = """
    SELECT id, subscription_id, event_id, attempt, trigger, outcome, final, error_code, started_at,
           duration_ms, next_attempt_at, status_code, late
      FROM delivery_attempt WHERE subscription_id = ANY ($1) ORDER BY started_at, id
"""
_HEALTH = """
    SELECT s.id, (SELECT sum(delivered) FROM subscription_hour WHERE subscription_id = s.id)
                 AS delivered,
           (SELECT sum(failed) FROM subscription_hour WHERE subscription_id = s.id) AS failed,
           (SELECT sum(n) FROM subscription_hour, unnest(buckets) AS n
             WHERE subscription_id = s.id) AS buckets,
           h.failing_since, h.updated_at
      FROM unnest($1::uuid[]) AS s (id)
      LEFT JOIN subscription_health AS h ON h.subscription_id = s.id
"""
_JOBS = "SELECT * FROM replay WHERE subscription_id = ANY ($1)"
_NUMBERS = """
    SELECT e.id, e.number, head.last_number
      FROM event AS e
      JOIN journal_head AS head ON head.account_id = e.account_id
     WHERE e.account_id = $1
     ORDER BY e.number
"""

Key = tuple[int, UUID, str]


class Truth:
    """One story against what the log, the health and the receivers say."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self.world = story.world
        hooks = [hook.id for hook in self.world.hooks]
        numbers = self._numbers = {hook.id: hook.number for hook in self.world.hooks}
        do = self.world.server.do
        self.rows: dict[Key, list[asyncpg.Record]] = defaultdict(list)
        self.by_id: dict[UUID, list[asyncpg.Record]] = defaultdict(list)
        for row in do("fetch", _ATTEMPTS, hooks):
            self.rows[numbers[row["subscription_id"]], row["event_id"], row["trigger"]].append(row)
            self.by_id[row["id"]].append(row)
        self.health = do("fetch", _HEALTH, hooks)
        self.jobs = do("fetch", _JOBS, hooks)
        self.sent = {request.delivery_id: request for request in self.world.sent}
        self.events = {event.event.id: event for event in story.events}

    def lies(self) -> Iterator[str]:
        """Everything that is not as it must be."""
        if not self.story.drained:
            yield "something is never delivered"
            return
        yield from (f"crashed: {crash}" for crash in self.world.loop.crashes)
        if self.story.most_stopping > _STOPPING:
            yield f"stopping took {self.story.most_stopping} seconds"
        yield from self.numbered_without_gaps()
        yield from self.each_ends_once()
        for key, rows in self.rows.items():
            yield from self.attempts_are_right(key, rows)
            yield from self.attempts_in_turn(key, rows)
        for sent in self.world.sent:
            yield from self.logged_as_it_was(sent)
            yield from self.sent_as_it_should_be(sent)
        yield from self.within_bounds()
        yield from self.within_widths()
        yield from self.figures_add_up()

    def numbered_without_gaps(self) -> Iterator[str]:
        """Each account's events have the numbers from one on, in the order they were journalled."""
        for account_id in sorted({event.event.account_id for event in self.story.events}):
            written = [
                event.event.id
                for event in self.story.events
                if event.event.account_id == account_id
            ]
            rows = self.world.server.do("fetch", _NUMBERS, account_id)
            numbers = [row["number"] for row in rows]
            if numbers != [*range(1, len(written) + 1)] or numbers[-1:] != [rows[-1][2]]:
                yield f"the events of {account_id} are numbered {numbers}"
            if [row["id"] for row in rows] != written:
                yield f"the events of {account_id} are numbered in another order"

    def each_ends_once(self) -> Iterator[str]:
        """One delivery for each event and subscription that wanted it, and it is over, once."""
        wanted: Counter[Key] = Counter()
        for event in self.story.events:
            wanted.update((number, event.event.id, "event") for number in event.queued)
        for hook, event_id, _, _ in self.story.redelivered:
            wanted[hook.number, event_id, "redeliver"] += 1
        ended = Counter(key for key, rows in self.rows.items() for row in rows if row["final"])
        recovered: Counter[int] = Counter()
        for (number, event_id, trigger), count in ended.items():
            if trigger == "recover":
                recovered[number] += count
            elif wanted[number, event_id, trigger] != count:
                yield f"{(number, event_id, trigger)} ended {count} times"
        yield from (f"{key} never ended" for key in wanted if key not in ended)
        for hook in self.world.hooks:
            fed = sum(job["queued"] for job in self.jobs if job["subscription_id"] == hook.id)
            if recovered[hook.number] != fed:
                yield f"of {fed} recovered for hook {hook.number} {recovered[hook.number]} ended"

    def attempts_are_right(self, key: Key, rows: Sequence[asyncpg.Record]) -> Iterator[str]:
        """Whether each attempt is the last one, was lost or was cancelled: there is a reason."""
        for row in rows:
            over = row["outcome"] in ("delivered", "cancelled") or row["attempt"] == 3
            if not _is_lost(row) and row["final"] != over:
                yield f"{key} is final or not: {dict(row)}"
            if _is_lost(row) and row["final"] and not self._is_given_up(row):
                yield f"{key} ended too soon: {dict(row)}"
            if _is_lost(row) and not self._explained_unknown(row):
                yield f"{key} was lost, and nothing happened: {dict(row)}"
            if row["outcome"] == "cancelled":
                yield from self._cancelled_rightly(key, row)

    def attempts_in_turn(self, key: Key, rows: Sequence[asyncpg.Record]) -> Iterator[str]:
        """Three attempts at the most for each time it was queued, each in its turn and time."""
        times = sum(row["final"] for row in rows)
        reported = [row for row in rows if row["outcome"] != "cancelled" and not _is_lost(row)]
        for attempt, count in Counter(row["attempt"] for row in reported).items():
            if count > times:
                yield f"{key} was attempted {count} times for the {attempt}. time"
        if times != 1:
            return
        for first, then in pairwise(sorted(reported, key=lambda row: int(row["attempt"]))):
            if then["attempt"] != first["attempt"] + 1 or first["id"] not in self.sent:
                yield f"{key} jumped from {dict(first)} to {dict(then)}"
                continue
            ended = self.sent[first["id"]].ended_moment
            for row in rows:
                sent = self.sent.get(row["id"])
                if sent is None or ended is None or row["attempt"] != then["attempt"]:
                    continue
                if sent.moment < ended + _DELAYS[first["attempt"]] - _TICK:
                    yield f"{key} was retried early, after {sent.moment - ended}"
            yield from self._in_time(key, rows, then, first["next_attempt_at"])
        at_first = [row for row in reported if row["attempt"] == 1]
        happened = self.events.get(key[1])
        if key[2] == "event" and at_first and happened:
            yield from self._in_time(key, rows, at_first[0], happened.event.at)

    def _in_time(
        self, key: Key, rows: Sequence[asyncpg.Record], row: asyncpg.Record, due: Any
    ) -> Iterator[str]:
        """What nothing stood in the way of was sent when it was due."""
        sent = self.sent.get(row["id"])
        lost = any(_is_lost(item) and item["attempt"] == row["attempt"] for item in rows)
        if sent is None or lost:
            return
        late = (sent.moment - due).total_seconds()
        since = sent.at - late
        if late <= _LATE or self._troubles(since - _LEASE - 10, sent.at):
            return
        if not any(
            person.hired_at <= since and person.left_at > sent.at for person in self.world.everyone
        ):
            return  # nobody was there all the time
        small = self.story.bounds.total < 100
        busy = any(
            other is not sent
            and (small or other.hook is sent.hook)
            and other.at < sent.at
            and other.ended > since - 1
            for other in self.world.sent
        )
        if not busy:
            yield f"{key} was sent {late} seconds late: {dict(row)}"

    def logged_as_it_was(self, sent: Sent) -> Iterator[str]:
        """Every POST is in the log once, as the receiver knows it, or as nobody knows."""
        rows = self.by_id[sent.delivery_id]
        if len(rows) != 1:
            if rows or not self._may_be_forgotten(sent):
                yield f"{_told(sent)} is in the log {len(rows)} times"
            return
        outcome = rows[0]["outcome"]
        if outcome == "unknown":
            return
        if sent.result is None or sent.result.outcome.value != outcome:
            yield f"{_told(sent)} is in the log as {outcome}"
        elif outcome == "delivered" and not sent.arrived:
            yield f"{_told(sent)} never arrived"

    def _may_be_forgotten(self, sent: Sent) -> bool:
        """Whether it was of a recovery that was cancelled after its lease had ended."""
        return any(
            job["subscription_id"] == sent.hook.id and job["status"] == "cancelled"
            for job in self.jobs
        )

    def _is_given_up(self, row: asyncpg.Record) -> bool:
        """Whether it was lost again and again; what is heard of the last one later, is not said."""
        key = self._numbers[row["subscription_id"]], row["event_id"], row["trigger"]
        lost = sum(_is_lost(item) and item["attempt"] == row["attempt"] for item in self.rows[key])
        return lost > _LOST_MOST and bool(row["late"] or row["error_code"] == "given_up")

    def _explained_unknown(self, row: asyncpg.Record) -> bool:
        """Whether nobody could record it before its lease ended.

        Who lives and knows the answer tries again until it is recorded: a storm that was over
        long before is no reason.
        """
        sent = self.sent.get(row["id"])
        if sent is None:
            return bool(self.world.troubles)
        near = self._troubles(sent.at - 6, max(sent.ended, sent.at + _LEASE) + _LEASE)
        storms = [item for item in near if item.kind.startswith("storm")]
        if any(item.process in (None, sent.process) for item in near if item not in storms):
            return True
        recorded = sent.ended + 0.5
        for storm in sorted(storms, key=lambda shown: shown.since):
            if storm.since <= recorded:
                recorded = max(recorded, storm.until + _TRIED_AGAIN)
        return recorded > sent.at + _LEASE - _LONGEST_HELD

    def _cancelled_rightly(self, key: Key, row: asyncpg.Record) -> Iterator[str]:
        hook, happened = self.world.hooks[key[0]], self.events[key[1]]
        reason = row["error_code"]
        queued = happened.queued.get(key[0], 0) if key[2] == "event" else 0
        right = {
            "subscription_deleted": hook.now.is_deleted,
            "subscription_inactive": any(
                not look.is_active or look.generation != queued for look in hook.looks
            ),
            "event_no_longer_wanted": any(
                happened.event.kind not in look.events for look in hook.looks
            ),
            "recover_cancelled": key[2] == "recover",
        }
        if not right.get(reason):
            yield f"{key} was cancelled for {reason}"

    def sent_as_it_should_be(self, sent: Sent) -> Iterator[str]:
        """It was sent as the subscription wanted it at that moment, and signed for it."""
        happened = self.events[sent.event_id]
        stormy = any(trouble.process is None for trouble in self._troubles(sent.at - 15, sent.at))
        since = sent.at - (_STALE if stormy else _FRESH)
        for trouble in self.world.troubles:
            mine = trouble.process is sent.process and trouble.kind == "frozen"
            if mine and trouble.since <= sent.at and trouble.until >= since:
                since = min(since, trouble.since - _STALE)
        wanted = [
            look
            for look in sent.hook.between(since, sent.at)
            if look.is_active and not look.is_deleted and look.url == sent.url
            if happened.event.kind in look.events
            if sign(look.secret, int(sent.signed[0]), sent.body) == sent.signed[1]
        ]
        generations = self._generations(sent, happened)
        if generations is not None:
            wanted = [look for look in wanted if look.generation in generations]
        if not wanted:
            yield f"{_told(sent)} was not wanted so"
        if sent.body != happened.event.body:
            yield f"{_told(sent)} is not what happened"

    def _generations(self, sent: Sent, happened: Happened) -> set[int] | None:
        """Under which generations it was queued; None: that is not known."""
        rows = self.by_id[sent.delivery_id]
        if not rows or rows[0]["trigger"] == "recover":
            return None
        if rows[0]["trigger"] == "event":
            return {happened.queued.get(sent.hook.number, 0)}
        return {
            generation
            for hook, event_id, generation, _ in self.story.redelivered
            if hook is sent.hook and event_id == sent.event_id
        }

    def within_bounds(self) -> Iterator[str]:
        """No worker has more under way than it may: together, to one host, of one account."""
        bounds = self.story.bounds
        moved = {look.url.split("/")[2] for hook in self.world.hooks for look in hook.looks[1:]}
        moved |= {
            hook.looks[0].url.split("/")[2]
            for hook in self.world.hooks
            if len({look.url for look in hook.looks}) > 1
        }
        changes: dict[Any, list[tuple[float, int]]] = defaultdict(list)
        most: dict[Any, int] = {}
        for request in self.world.sent:
            names: list[tuple[str, Any, int]] = [
                ("together", "", bounds.total),
                ("account", request.hook.account_id, bounds.account),
            ]
            if request.host not in moved:
                names.append(("host", request.host, bounds.host))
            for name, which, bound in names:
                place = (request.process.name, name, which)
                changes[place] += [(request.at, 1), (request.ended, -1)]
                most[place] = bound
        for place, steps in changes.items():
            under_way = 0
            for _, step in sorted(steps):
                under_way += step
                if under_way > most[place]:
                    yield f"{place} has {under_way} under way"
                    break

    def within_widths(self) -> Iterator[str]:
        """No lane has more under way than what its worker heard of the receiver allows."""
        lanes: dict[tuple[str, int], list[Sent]] = defaultdict(list)
        for request in self.world.sent:
            lanes[request.process.name, request.hook.number].append(request)
        for place, sent in lanes.items():
            steps = [(request.ended, 0, request) for request in sent] + [
                (request.at, 1, request) for request in sent
            ]
            lane = Lane()
            # Who takes a turn looks at the subscription first, and may hear of trouble meanwhile.
            widths = [(float("inf"), lane.width)]
            for at, begins, request in sorted(steps, key=lambda step: step[:2]):
                lane.in_flight += 1 if begins else -1
                if not begins and request.result is not None:
                    took = 1000 * (at - request.at)
                    outcome = request.result.outcome
                    lane.learn(outcome, request.result.status, took, began=request.at, now=at)
                    widths = [*widths[:-1], (at, widths[-1][1]), (float("inf"), lane.width)]
                most = max(width for until, width in widths if until > at - _FRESH)
                if begins and lane.in_flight > most and not self._troubles(at - 10, at):
                    yield f"{place} has {lane.in_flight} under way where {most} may be"
                    break

    def figures_add_up(self) -> Iterator[str]:
        """Health counts what was sent; a job counts what it queued. In calm, exactly."""
        for row in self.health:
            hook = next(hook for hook in self.world.hooks if hook.id == row["id"])
            yield from self._health_is_right(hook, row)
        for job in self.jobs:
            over = job["delivered"] + job["failed"]
            calm = self.story.calm and job["status"] == "done"
            if over > job["queued"] or (calm and over < job["queued"]):
                yield f"a job counts {over} of {job['queued']}: {dict(job)}"

    def _health_is_right(self, hook: Hook, row: asyncpg.Record) -> Iterator[str]:
        mine = [
            request
            for request in self.world.sent
            if request.hook is hook and request.result is not None
        ]
        good = sum(item.result is not None and item.result.delivered for item in mine)
        bad = len(mine) - good
        counted = (row["delivered"] or 0, row["failed"] or 0)
        if hook.now.is_deleted:
            if row["updated_at"] is not None:
                yield f"hook {hook.number} is gone, and its health is there: {dict(row)}"
            return
        if counted[0] > good or counted[1] > bad or sum(counted) != (row["buckets"] or 0):
            yield f"hook {hook.number} counts {dict(row)} of {good} and {bad}"
        if self.story.calm and counted != (good, bad):
            yield f"hook {hook.number} counts {counted} where {(good, bad)} were sent"
        switched = len({look.is_active for look in hook.looks}) > 1
        if self.story.calm and len(self.world.everyone) == 1 and mine and not switched:
            last = max(mine, key=lambda shown: shown.ended).result
            if (row["failing_since"] is None) != (last is not None and last.delivered):
                yield f"hook {hook.number} fails or not: {dict(row)}, {last}"

    def _troubles(self, since: float, until: float) -> list[Trouble]:
        return [
            trouble
            for trouble in self.world.troubles
            if trouble.since <= until and trouble.until >= since
        ]


def _is_lost(row: asyncpg.Record) -> bool:
    """Whether nobody knew in time what became of it."""
    return row["outcome"] == "unknown" or bool(row["late"])


def _told(sent: Sent) -> str:
    status = sent.result.outcome if sent.result else "no answer"
    return (
        f"{sent.at:.3f}-{sent.ended:.3f} {sent.process.name} {sent.url} {sent.delivery_id} {status}"
    )
