"""The constraints of the database: it rejects impossible states from any writer."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import pytest
from kit.system import System

from tradewind import ids
from tradewind.storage import migrate

pytestmark = pytest.mark.xdist_group("system")

MIGRATIONS = Path(migrate.__file__).parent / "migrations"
ORDERS = [
    ("status = 'lost'", "purchase_order_status_check"),
    ("payment_status = 'lost', payment_id = NULL", "purchase_order_payment_status_check"),
    (
        "platform_payment_status = 'lost'",
        "purchase_order_platform_payment_status_check",
    ),
    ("work = 'rest'", "purchase_order_work_check"),
    ("external_id = ''", "purchase_order_external_id_check"),
    ("external_id = repeat('x', 101)", "purchase_order_external_id_check"),
    ("total_fen = total_fen + 1", "amounts_add_up"),
    ("discount_fen = 1", "amounts_add_up"),
    ("total_fen = NULL", "amounts_add_up"),
    ("goods_fen = -2000, total_fen = -1500", "purchase_order_total_fen_check"),
    ("paid_fen = -1", "purchase_order_paid_fen_check"),
    ("refunded_fen = -1", "payment_status_as_the_money"),
    ("refunded_fen = 1", "payment_status_as_the_money"),
    (
        "payment_id = NULL, payment_status = 'refunded', paid_fen = 1500, refunded_fen = 1501",
        "payment_status_as_the_money",
    ),
    ("paid_fen = 1500, refunded_fen = 1", "payment_status_as_the_money"),
    (
        "payment_id = NULL, payment_status = 'paid', paid_fen = 1500, refunded_fen = 1",
        "payment_status_as_the_money",
    ),
    (
        "payment_id = NULL, payment_status = 'refunded', paid_fen = 1500, refunded_fen = 1499",
        "payment_status_as_the_money",
    ),
    (
        "payment_id = NULL, payment_status = 'partially_refunded', paid_fen = 5, refunded_fen = 5",
        "payment_status_as_the_money",
    ),
    (
        "payment_id = NULL, payment_status = 'partially_refunded', paid_fen = 1500",
        "payment_status_as_the_money",
    ),
    ("payment_id = NULL", "an_open_payment_is_named"),
    ("payment_status = 'unpaid'", "an_open_payment_is_named"),
    ("order_ids = '{}'", "an_order_there_has_an_id_there"),
    ("next_sync_at = NULL", "purchase_order_check"),
    ("work = 'none'", "purchase_order_check"),
]
PAYMENTS = [
    ("status = 'lost'", "payment_request_status_check"),
    ("mode = 'cash'", "payment_request_mode_check"),
    ("amount_fen = -1", "payment_request_amount_fen_check"),
    ("decided_by = requested_by, decided_at = now()", "four_eyes"),
    ("decided_by = requested_by, decided_at = now(), status = 'paid'", "four_eyes"),
    ("decided_by = gen_random_uuid()", "payment_request_check"),
    ("sent_at = now()", "only_what_was_approved_is_sent"),
    ("note = ''", "payment_request_note_check"),
    ("note = repeat('x', 501)", "payment_request_note_check"),
]


@pytest.fixture
async def connection(shared_system: System) -> AsyncIterator[Any]:
    made = await asyncpg.connect(shared_system.api.database_url)
    yield made
    await made.close()


@pytest.fixture(scope="module")
def an_order(shared_system: System) -> tuple[UUID, UUID]:
    """An order with a request to pay it: the ids of both."""
    order = shared_system.order(external_id="PO of the constraints")
    payment = ids.PAYMENT.read(shared_system.request_payment(order["id"])["id"])
    order_id = ids.ORDER.read(order["id"])
    assert order_id is not None
    assert payment is not None
    return order_id, payment


@pytest.mark.parametrize(("change", "constraint"), ORDERS)
async def test_an_order_cannot_be_made_impossible(
    connection: Any, an_order: tuple[UUID, UUID], change: str, constraint: str
) -> None:
    statement = f"UPDATE purchase_order SET {change} WHERE id = $1"  # noqa: S608 - ours

    with pytest.raises(asyncpg.CheckViolationError) as refused:
        await connection.execute(statement, an_order[0])

    assert refused.value.constraint_name == constraint


@pytest.mark.parametrize(("change", "constraint"), PAYMENTS)
async def test_a_payment_cannot_be_made_impossible(
    connection: Any, an_order: tuple[UUID, UUID], change: str, constraint: str
) -> None:
    statement = f"UPDATE payment_request SET {change} WHERE id = $1"  # noqa: S608 - ours

    with pytest.raises(asyncpg.CheckViolationError) as refused:
        await connection.execute(statement, an_order[1])

    assert refused.value.constraint_name == constraint


@pytest.mark.parametrize("table", ["purchase_order", "payment_request"])
async def test_every_check_of_a_table_is_in_one_function(connection: Any, table: str) -> None:
    """Each CHECK constraint costs every statement that writes to the table (decision 31)."""
    names = await connection.fetch(
        "SELECT conname FROM pg_constraint WHERE contype = 'c' AND conrelid = $1::text::regclass",
        table,
    )

    assert [row["conname"] for row in names] == ["is_possible"]


async def test_a_rejected_row_names_its_table_and_shows_no_content(
    connection: Any, an_order: tuple[UUID, UUID]
) -> None:
    with pytest.raises(asyncpg.CheckViolationError) as refused:
        await connection.execute(
            "UPDATE purchase_order SET paid_fen = -1 WHERE id = $1", an_order[0]
        )

    assert refused.value.table_name == "purchase_order"
    assert refused.value.detail is None
    assert str(refused.value) == (
        'new row for relation "purchase_order" violates check constraint '
        '"purchase_order_paid_fen_check"'
    )


_SECOND_REQUEST = """
    INSERT INTO payment_request (id, purchase_order_id, account_id, status, amount_fen, sums,
                                 mode, requested_by, requested_email, requested_at, updated_at)
    SELECT gen_random_uuid(), purchase_order_id, account_id, 'approved', amount_fen, sums, mode,
           requested_by, requested_email, requested_at, updated_at
      FROM payment_request
     WHERE id = $2 AND purchase_order_id = $1
"""
_SAME_EXTERNAL_ID = """
    INSERT INTO purchase_order (id, account_id, platform, external_id, items, address, metadata,
                                previewed, status, payment_status, platform_payment_status,
                                created_at, updated_at, work, next_sync_at)
    SELECT gen_random_uuid(), account_id, platform, external_id, items, address, metadata,
           previewed, 'creating', 'unpaid', 'unpaid', now(), now(), 'create', now()
      FROM purchase_order
     WHERE id = $1 AND $2::uuid IS NOT NULL
"""
_SAME_ORDER_THERE = """
    INSERT INTO platform_order (platform, order_id, purchase_order_id)
    SELECT platform, order_id, purchase_order_id
      FROM platform_order
     WHERE purchase_order_id = $1 AND $2::uuid IS NOT NULL
"""
_SAME_VERSION = """
    INSERT INTO order_change SELECT * FROM order_change
     WHERE purchase_order_id = $1 AND version = 1 AND $2::uuid IS NOT NULL
"""


@pytest.mark.parametrize(
    ("statement", "constraint"),
    [
        (_SECOND_REQUEST, "payment_request_open"),
        (_SAME_EXTERNAL_ID, "purchase_order_external"),
        (_SAME_ORDER_THERE, "platform_order_pkey"),
        (_SAME_VERSION, "order_change_pkey"),
    ],
)
async def test_what_there_is_one_of_cannot_be_there_twice(
    connection: Any, an_order: tuple[UUID, UUID], statement: str, constraint: str
) -> None:
    with pytest.raises(asyncpg.UniqueViolationError) as refused:
        await connection.execute(statement, *an_order)

    assert refused.value.constraint_name == constraint
