"""Replays what a subscription missed: durable jobs, spaced so that live traffic never waits."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from tradewind import ids
from tradewind.delivery import sql_replays
from tradewind.delivery.errors import NotActive, ReplayRunning
from tradewind.delivery.model import Replay, Total, Window
from tradewind.delivery.retry_policy import RetryPolicy
from tradewind.errors import ValidationFailed, existing
from tradewind.events.journal import DELIVERIES
from tradewind.observability.logs import log
from tradewind.storage import sql as storage_sql
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction
from tradewind.webhooks.subscribe import get_subscription

_LEASE = timedelta(seconds=30)
# A replay queues a batch at a time, with a pause in between, and waits while most are pending.
_BATCH = 100
_SPACING = timedelta(milliseconds=10)
_OUTSTANDING = 50
# Events that one statement examines to find those that were missed.
_EXAMINED_AT_ONCE = 1000
# Where a count of missed events stops: missed events counted, and events read.
_COUNTED = 10_000
_EXAMINED = 50_000
_REST = timedelta(seconds=1)
_LONG_REST = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class ReplayRequest:
    """A window as a person asks for it; until None: until now."""

    since: datetime
    until: datetime | None = None
    order_id: UUID | None = None
    everything: bool = False

    def window(self, now: datetime, policy: RetryPolicy) -> Window:
        """The window, without what is older than the log: nobody can tell if it was delivered."""
        until = self.until or now
        if until <= self.since:
            raise ValidationFailed("/until", "Must be after since.")
        since = self.since if self.everything else max(self.since, now - policy.log_kept)
        return Window(since, until, self.order_id, everything=self.everything)


async def preview(
    db: Database,
    policy: RetryPolicy,
    account_id: UUID,
    subscription_id: UUID,
    requested: ReplayRequest,
) -> Total:
    """Count what a replay that is requested now would deliver, within limits."""
    await get_subscription(db, account_id, subscription_id)
    window = requested.window(await storage_sql.now(db), policy)
    return await count(db, account_id, subscription_id, window)


async def request(
    db: Database,
    policy: RetryPolicy,
    account_id: UUID,
    subscription_id: UUID,
    requested: ReplayRequest,
) -> tuple[UUID, Total]:
    """Begin a replay: its id, and how many events it will deliver.

    NotActive if the subscription is switched off; ReplayRunning if a replay of it runs.
    """
    subscription = await get_subscription(db, account_id, subscription_id)
    window = requested.window(await storage_sql.now(db), policy)
    if not subscription.is_active:
        raise NotActive
    begun = await begin(db, account_id, subscription_id, window)
    if begun is None:
        raise ReplayRunning
    return begun


async def get_replay(
    db: Database, account_id: UUID, subscription_id: UUID, replay_id: UUID
) -> Replay:
    """A replay and how far it has come, or ResourceNotFound."""
    return existing(
        await sql_replays.find_replay(db, account_id, subscription_id, replay_id), ids.JOB
    )


async def list_replays(
    db: Database,
    account_id: UUID,
    subscription_id: UUID,
    *,
    below: UUID | None = None,
    limit: int,
) -> Sequence[Replay]:
    """The replays of a subscription, newest first."""
    await get_subscription(db, account_id, subscription_id)
    return await sql_replays.list_replays(db, account_id, subscription_id, below=below, limit=limit)


async def cancel(db: Database, account_id: UUID, subscription_id: UUID, replay_id: UUID) -> Replay:
    """Cancel a replay; what it has queued and not yet sent is not sent."""
    async with transaction(db) as tx:
        await sql_replays.cancel_replay(tx, account_id, subscription_id, replay_id)
    return await get_replay(db, account_id, subscription_id, replay_id)


async def count(db: Database, account_id: UUID, subscription_id: UUID, window: Window) -> Total:
    """Count what a replay would deliver, within limits: a journal may hold millions of events.

    It stops at 10,000, and after it has examined 50,000 events of the window, delivered or not.
    """
    missed, examined = await sql_replays.count_missed(
        db,
        account_id,
        subscription_id,
        window,
        limit=_COUNTED + 1,
        examine=_EXAMINED,
    )
    return Total(min(missed, _COUNTED), missed <= _COUNTED and examined < _EXAMINED)


async def begin(
    db: Database,
    account_id: UUID,
    subscription_id: UUID,
    window: Window,
    *,
    trigger: str = "request",
) -> tuple[UUID, Total] | None:
    """Begin a replay: its id, and how many events it will deliver. None: one does that already.

    An automatic replay is not counted here: the recorder that begins it must not wait. It waits for
    the end of a requested one.
    """
    total = Total(0, is_exact=True)
    if trigger == "request":
        total = await count(db, account_id, subscription_id, window)
    async with transaction(db) as tx:
        replay_id = await sql_replays.insert_replay(
            tx, ids.new(), account_id, subscription_id, window, total, trigger=trigger
        )
    if replay_id is None:
        return None
    shown = ids.JOB.show(replay_id)
    log.info("replay.begun", replay=shown, total=total.count, trigger=trigger)
    return replay_id, total


async def feed_replays(db: Database) -> bool:
    """Queue the next events of one replay that is due; return whether there was one."""
    replay = await sql_replays.take_replay(db, lease=_LEASE)
    if replay is None:
        return False
    shown = ids.JOB.show(replay.id)
    try:
        await _feed(db, replay, shown)
    except Exception as error:  # noqa: BLE001 - a replay that fails holds up no other
        log.warning("replay.not_fed", replay=shown, error=str(error))
        await sql_replays.postpone_replay(db, replay.id, rest=_LONG_REST)
    return True


async def _feed(db: Database, replay: Replay, shown: str) -> None:
    """Queue the next events. If the subscription was switched off, the replay ends."""
    if not replay.is_active:
        async with transaction(db) as tx:
            await sql_replays.cancel_replay(
                tx, replay.account_id, replay.subscription_id, replay.id
            )
        return
    if replay.at_time is None and replay.trigger == "catch_up":
        window = Window(replay.since, replay.until)
        total = await count(db, replay.account_id, replay.subscription_id, window)
        await sql_replays.set_total(db, replay.id, total.count, is_exact=total.is_exact)
    if await sql_replays.count_outstanding(db, replay.id) > _OUTSTANDING:
        await sql_replays.postpone_replay(db, replay.id, rest=_REST)
        return
    async with transaction(db) as tx:
        queued, over = await sql_replays.feed(
            tx, replay, limit=_BATCH, examine=_EXAMINED_AT_ONCE, spacing=_SPACING
        )
        tx.wake(DELIVERIES)
    log.info("replay.fed", replay=shown, queued=queued, over=over)
