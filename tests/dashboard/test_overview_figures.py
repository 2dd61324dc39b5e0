"""The figures of the overview: from hourly counts, never from the log of attempts."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from kit.accounts import insert_account

from tradewind import ids
from tradewind.dashboard.account.views import user_agent_name
from tradewind.dashboard.overview import queries, views
from tradewind.dashboard.overview.queries import AttemptCounts, CompletedSteps
from tradewind.dashboard.shell import labels
from tradewind.delivery.model import COUNTED
from tradewind.egress.result import Outcome
from tradewind.storage.pool import Database

DAY, WEEK = views.RANGES


async def a_hook(db: Database, account_id: UUID) -> UUID:
    hook = ids.new()
    await db.execute(
        """
        INSERT INTO webhook_subscription (id, account_id, url, events, is_active, secret,
                                          created_at, updated_at)
        VALUES ($1, $2, 'https://a.example', '{order.updated}', true, '', now(), now())
        """,
        hook,
        account_id,
    )
    return hook


async def an_hour(db: Database, hook: UUID, ago: int, outcomes: list[int]) -> None:
    await db.execute(
        """
        INSERT INTO subscription_hour (subscription_id, hour, buckets, outcomes)
        VALUES ($1, date_trunc('hour', tradewind_now()) - make_interval(hours => $2), $3, $4)
        """,
        hook,
        ago,
        [0, 0, sum(outcomes)],
        outcomes,
    )


@pytest.fixture
async def account(db: Database) -> UUID:
    return await insert_account(db)


async def test_attempts_are_added_up_by_time_and_outcome(db: Database, account: UUID) -> None:
    hooks = [await a_hook(db, account), await a_hook(db, account)]
    for hook in hooks:
        await an_hour(db, hook, 0, [5, 1])
        await an_hour(db, hook, 23, [1])
        await an_hour(db, hook, 24, [100])
    await an_hour(db, await a_hook(db, await insert_account(db)), 0, [1000])

    rows = await queries.count_attempts(db, account, hours=DAY.hours, step=DAY.step)
    result = views.attempt_figures(rows, DAY)

    assert len(rows) == 24
    assert list(rows[-1].outcomes) == [10, 2]
    assert list(rows[0].outcomes) == [2]
    assert (result.attempts, result.delivered) == (14, 12)
    assert result.failures == [(Outcome.HTTP_ERROR, 2)]
    assert (result.p50_ms, result.p99_ms) == (4, 4)
    assert result.rows[0][1] == [10, 2, 0, 0, 12]

    week = await queries.count_attempts(db, account, hours=WEEK.hours, step=WEEK.step)
    assert len(week) == 28
    assert views.attempt_figures(week, WEEK).attempts == 214


async def test_nothing_needs_the_log_of_attempts(db: Database, account: UUID) -> None:
    await db.execute("DROP TABLE delivery_attempt")
    await a_hook(db, account)

    await queries.count_attempts(db, account, hours=WEEK.hours, step=WEEK.step)
    await queries.count_webhooks(db)
    await queries.find_completed_steps(db, account)

    assert await queries.count_pending(db, account, most=10) == (0, None)
    assert await queries.count_orders(db, account, ["paid"], most=10) == {"paid": 0}


async def test_what_waits_is_counted_so_far_and_no_further(db: Database, account: UUID) -> None:
    hook = await a_hook(db, account)
    await db.execute(
        """
        INSERT INTO delivery_queue (account_id, subscription_id, generation, event_id, event_at,
                                    due_at, event, purchase_order_id)
        SELECT $1, $2, 1, gen_random_uuid(), now(), tradewind_now() - make_interval(secs => n),
               'order.updated', gen_random_uuid()
          FROM generate_series(1, 90) AS n
        """,
        account,
        hook,
    )

    pending, oldest = await queries.count_pending(db, account, most=50)

    assert pending == 50
    assert oldest is not None
    assert 89 <= oldest <= 120


def test_every_outcome_has_a_colour() -> None:
    rows = [AttemptCounts(datetime(2026, 11, 15, tzinfo=UTC), [1] * len(COUNTED), [])]

    result = views.attempt_figures(rows, DAY)

    assert result.attempts == len(COUNTED) == sum(series.values[0] for series in result.series)
    assert result.success_rate == 1 / len(COUNTED)


def test_nothing_at_all_is_no_rate() -> None:
    at = datetime(2026, 11, 15, tzinfo=UTC)
    rows = [AttemptCounts(at + n * timedelta(hours=1), [], []) for n in range(24)]

    result = views.attempt_figures(rows, DAY)

    assert (result.attempts, result.success_rate, result.p50_ms) == (0, None, None)
    assert result.failures == []


def test_steps_go_when_all_are_done() -> None:
    names = ("has_key", "used_key", "subscribed", "delivered", "ordered", "approved")
    done = CompletedSteps(**dict.fromkeys(names, True))

    assert views.getting_started(done) == ()
    for name in names:
        steps = views.getting_started(replace(done, **{name: False}))
        assert [step.done for step in steps].count(False) == 1


@pytest.mark.parametrize(("number", "said"), [(0, "0"), (10_000, "10,000"), (10_001, "10,000+")])
def test_a_count_says_where_it_ended(number: int, said: str) -> None:
    assert labels.limited_count(number) == said


@pytest.mark.parametrize(
    ("user_agent", "said"),
    [
        (
            "Mozilla/5.0 (Windows NT 10.0; rv:131.0) Gecko/20100101 Firefox/131.0",
            "Firefox on Windows",
        ),
        (
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like"
                " Gecko) Version/17.6 Safari/605.1.15"
            ),
            "Safari on a Mac",
        ),
        (
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)"
                " Chrome/129.0 Safari/537.36 Edg/129.0"
            ),
            "Edge on Windows",
        ),
        (
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 17_6 like Mac OS X) AppleWebKit/605.1.15"
                " (KHTML, like Gecko) CriOS/129.0 Mobile/15E148 Safari/604.1"
            ),
            "Chrome on an iPhone",
        ),
        (
            (
                "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 Chrome/129.0 Mobile"
                " Safari/537.36"
            ),
            "Chrome on Android",
        ),
        ("Mozilla/5.0 (compatible)", "A browser"),
        ("curl/8.9.1", "curl 8.9.1"),
        ("python-httpx/0.27.2", "python-httpx 0.27.2"),
        ("PostmanRuntime/7.42.0 extra", "PostmanRuntime 7.42.0"),
        ("", "Unknown"),
        ("<script>", "Unknown"),
        ("x" * 300, "x" * 60),
    ],
)
def test_a_browser_is_told_in_words(user_agent: str, said: str) -> None:
    assert user_agent_name(user_agent) == said
