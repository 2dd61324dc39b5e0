"""The overview leads with work: failed payments, late parcels, spend and refunds, by account."""

import itertools
import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from kit.accounts import insert_account

from tradewind import ids
from tradewind.dashboard.overview import queries, views
from tradewind.dashboard.shell import labels, zone
from tradewind.dashboard.shell import queries as shell_queries
from tradewind.dashboard.shell.queries import Spend
from tradewind.platforms.model import Goods, Line
from tradewind.storage.pool import Database

NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
LONG_AGO = NOW - timedelta(days=30)
BERLIN = ZoneInfo("Europe/Berlin")
_numbers = itertools.count(1)


async def an_order(
    db: Database,
    account_id: UUID,
    *,
    status: str = "paid",
    payment_status: str = "paid",
    platform: str = "alibaba",
    paid: int = 0,
    refunded: int = 0,
    created_at: datetime = NOW,
    **json_columns: Any,
) -> UUID:
    number = next(_numbers)
    order_id = UUID(int=int(created_at.timestamp() * 1000) << 80 | 7 << 76 | 2 << 62 | number)
    await db.execute(
        """
        INSERT INTO purchase_order (id, account_id, platform, items, address, metadata, previewed,
                                    status, payment_status, platform_payment_status, order_ids,
                                    paid_fen, refunded_fen, parts, refunds, created_at, updated_at,
                                    work)
        VALUES ($1, $2, $3, '[]', '{}', '{}', true, $4, $5, 'unpaid', ARRAY[$6], $7, $8, $9, $10,
                $11, $11, 'none')
        """,
        order_id,
        account_id,
        platform,
        status,
        payment_status,
        str(number),
        paid,
        refunded,
        json.dumps(json_columns.get("parts", [])),
        json.dumps(json_columns.get("refunds", [])),
        created_at,
    )
    return order_id


def a_part(status: str, *shipped_at: datetime) -> dict[str, Any]:
    parcels = [
        {"carrier": "SF", "tracking_number": f"SF{at:%d}", "shipped_at": at.isoformat()}
        for at in shipped_at
    ]
    return {"status": status, "shipments": parcels}


async def a_failed_payment(db: Database, account_id: UUID, order_id: UUID, fen: int) -> None:
    await db.execute(
        """
        INSERT INTO payment_request (id, purchase_order_id, account_id, status, amount_fen, sums,
                                     mode, requested_by, requested_email, requested_at, decided_by,
                                     decided_email, decided_at, failure, updated_at)
        VALUES ($1, $2, $3, 'failed', $4, '{}', 'auto', $3, 'a@b.example', now(), $5, 'c@d.example',
                now(), '{"code": "balance", "message": "The balance is too low."}', now())
        """,
        ids.new(),
        order_id,
        account_id,
        fen,
        UUID(int=1),
    )


@pytest.fixture
async def account(db: Database) -> UUID:
    return await insert_account(db)


async def test_a_failed_payment_needs_its_buyer_until_the_order_is_paid_or_closed(
    db: Database, account: UUID
) -> None:
    open_order = await an_order(db, account, status="pending_payment", payment_status="failed")
    await a_failed_payment(db, account, open_order, 100)
    await a_failed_payment(db, account, open_order, 250)
    for status, payment_status in (("paid", "paid"), ("closed", "failed")):
        ended = await an_order(db, account, status=status, payment_status=payment_status)
        await a_failed_payment(db, account, ended, 100)
    other = await insert_account(db)
    foreign = await an_order(db, other, status="pending_payment", payment_status="failed")
    await a_failed_payment(db, other, foreign, 100)

    [failed] = await queries.list_failed_payments(db, account, limit=5)

    assert (failed.order_id, failed.amount_fen) == (open_order, 250)
    assert failed.message == "The balance is too low."


async def test_a_parcel_is_late_when_it_was_shipped_long_ago_and_not_received(
    db: Database, account: UUID
) -> None:
    days = [NOW - timedelta(days=days) for days in (20, 12, 9)]
    late = await an_order(
        db, account, status="shipped", created_at=LONG_AGO, parts=[a_part("shipped", *days)]
    )
    older = await an_order(
        db,
        account,
        status="partially_shipped",
        created_at=LONG_AGO,
        parts=[a_part("received", LONG_AGO), a_part("partially_shipped", NOW - timedelta(days=25))],
    )
    for status, part in (
        ("shipped", a_part("shipped", days[2])),
        ("received", a_part("received", days[0])),
        ("shipped", {"status": "shipped", "shipments": [{"shipped_at": None}]}),
    ):
        await an_order(db, account, status=status, created_at=LONG_AGO, parts=[part])
    await an_order(
        db,
        await insert_account(db),
        status="shipped",
        created_at=LONG_AGO,
        parts=[a_part("shipped", LONG_AGO)],
    )

    parcels = await queries.list_late_parcels(
        db, account, shipped_before=NOW - views.LATE_AFTER, limit=5
    )

    assert [(parcel.order_id, parcel.parcels) for parcel in parcels] == [(older, 1), (late, 2)]
    assert (parcels[1].shipped_at, parcels[1].tracking_number) == (days[0], f"SF{days[0]:%d}")


async def test_spend_counts_in_the_week_of_the_order_in_the_viewers_zone(
    db: Database, account: UUID
) -> None:
    monday = datetime(2026, 11, 16, tzinfo=BERLIN)
    await an_order(db, account, paid=1000, created_at=monday)
    await an_order(db, account, paid=200, created_at=monday - timedelta(seconds=1))
    await an_order(db, account, platform="taobao", paid=30, created_at=monday)
    await an_order(
        db,
        account,
        platform="taobao",
        payment_status="partially_refunded",
        paid=10,
        refunded=4,
        created_at=monday,
    )
    await an_order(db, account, paid=0, created_at=monday)
    await an_order(db, account, paid=5, created_at=monday - timedelta(weeks=12))
    await an_order(db, await insert_account(db), paid=7, created_at=monday)

    starts = zone.week_starts(NOW, BERLIN, views.WEEKS)
    weekly = await shell_queries.sum_spend(db, [account], starts)
    monthly = await shell_queries.sum_spend(db, [account], [zone.month_start(NOW, BERLIN)])
    figures = views.spend_figures(weekly, monthly, starts)

    assert weekly == [
        Spend(account, 11, "alibaba", 200),
        Spend(account, 12, "alibaba", 1000),
        Spend(account, 12, "taobao", 36),
    ]
    assert figures.month_fen == figures.total_fen == 1236
    assert figures.month_by_marketplace == [("1688", 1200), ("Taobao and Tmall", 36)]
    assert figures.rows[0] == (monday, [1000, 36, 1036])
    assert len(figures.rows) == views.WEEKS
    assert "1688 CNY 10.00, Taobao and Tmall CNY 0.36" in figures.chart
    assert ">16 Nov</span>" in figures.chart


async def test_open_refunds_are_those_that_have_not_ended(db: Database, account: UUID) -> None:
    states = ("requested", "approved", "refused", "succeeded", "closed")
    refunds = [{"state": state, "amount_fen": 100, "freight_fen": 7} for state in states]
    await an_order(db, account, refunds=refunds)
    await an_order(db, account)
    await an_order(db, await insert_account(db), refunds=refunds)

    assert await queries.count_open_refunds(db, account) == queries.OpenRefunds(2, 214)


def test_an_order_is_named_by_its_goods() -> None:
    dress = Line("1", None, 2, Goods(title="连衣裙", title_translated="Dress"))
    cup = Line("2", None, 2, Goods(title="杯子"))
    unknown = Line("3", None, 1)

    assert labels.goods_title([dress]) == "Dress"
    assert labels.goods_title([unknown, cup, dress]) == "杯子 and 2 more"
    assert labels.goods_title([unknown]) == ""


def test_open_orders_say_what_they_wait_for() -> None:
    counts = {"creating": 1, "pending_payment": 2, "shipped": 3, "partially_shipped": 4, "paid": 0}

    total, waits = views.open_orders({**counts, "completed": 99})

    assert total == 10
    assert [(words, count) for words, count, _ in waits] == [
        ("being created", 1),
        ("to pay", 2),
        ("in transit", 7),
    ]
    assert waits[2][2] == "/orders?status=partially_shipped&status=shipped"


def test_weeks_start_on_monday_at_midnight_also_when_the_clocks_change() -> None:
    starts = zone.week_starts(NOW, BERLIN, 5)

    assert [start.isoformat() for start in starts] == [
        "2026-10-19T00:00:00+02:00",
        "2026-10-26T00:00:00+01:00",
        "2026-11-02T00:00:00+01:00",
        "2026-11-09T00:00:00+01:00",
        "2026-11-16T00:00:00+01:00",
    ]
    assert zone.month_start(NOW, BERLIN).isoformat() == "2026-11-01T00:00:00+01:00"


class _Cookies:
    def __init__(self, value: str) -> None:
        self.cookies = {zone.ZONE_COOKIE: value}


@pytest.mark.parametrize(
    ("cookie", "expected"),
    [
        ("Asia/Shanghai", "Asia/Shanghai"),
        ("", "UTC"),
        ("Nowhere/Atall", "UTC"),
        ("../../etc/passwd", "UTC"),
        ("/etc/passwd", "UTC"),
        ("America", "UTC"),
        ("a" * 1000, "UTC"),
        ("Ünïcode", "UTC"),
        ("\x00", "UTC"),
    ],
)
def test_a_zone_that_does_not_exist_is_utc(cookie: str, expected: str) -> None:
    assert str(zone.viewer_zone(_Cookies(cookie))) == expected  # type: ignore[arg-type]
