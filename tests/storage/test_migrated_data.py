"""What migrations make of the data that a database already has."""

from uuid import UUID, uuid4

from tradewind import ids
from tradewind.storage import sql
from tradewind.storage.migrate import known
from tradewind.storage.pool import Database

_AUDIT = """
    INSERT INTO audit (id, at, action, actor_id, actor, account_id, subject, details)
    VALUES ($1, tradewind_now() - $2 * interval '1 hour', $3, $4, 'op', $5, 'x', $6)
"""
_ACCOUNT = """
    INSERT INTO account (id, email, roles, plan, created_at, updated_at)
    VALUES ($1, $2, ARRAY['buyer'], 'pro', tradewind_now(), tradewind_now())
"""


async def migrated_below(db: Database, number: int) -> None:
    """Empty the database, and apply the migrations before this one."""
    await db.execute("DROP SCHEMA public CASCADE")
    await db.execute("CREATE SCHEMA public")
    for migration in known():
        if migration.number < number:
            await apply(db, migration.number)


async def apply(db: Database, number: int) -> None:
    (migration,) = (one for one in known() if one.number == number)
    connection = await db.connect()
    try:
        await sql.run_migration(connection, migration.statements)
    finally:
        await connection.close()


async def test_the_audit_log_loses_the_query_of_its_urls(db: Database) -> None:
    await migrated_below(db, 11)
    account = await an_account(db)
    for url in (
        "https://a.example/p?token=1",
        "https://u:p@b.example:8443/p#x",
        "https://c.example",
    ):
        details = f'{{"url": "{url}", "is_active": true}}'
        await db.execute(_AUDIT, ids.new(), 1, "webhook.changed", account, account, details)

    await apply(db, 11)

    rows = await db.fetch("SELECT details ->> 'url' AS url, details FROM audit ORDER BY id")
    assert [row["url"] for row in rows] == [
        "https://a.example/p",
        "https://b.example:8443/p",
        "https://c.example",
    ]
    assert all('"is_active": true' in row["details"] for row in rows)


async def test_who_gave_access_in_the_last_day_is_taken_from_the_audit_log(db: Database) -> None:
    await migrated_below(db, 11)
    operator, account = await an_account(db), await an_account(db)
    for hours, action, actor, details in (
        (1, "account.created", operator, '{"roles": ["approver"]}'),
        (2, "account.roles_changed", operator, '{"before": ["buyer"], "after": ["operator"]}'),
        (3, "account.roles_changed", operator, '{"before": ["approver"], "after": ["buyer"]}'),
        (4, "account.password_link_made", operator, "{}"),
        (5, "account.password_link_made", None, "{}"),
        (6, "account.unlocked", operator, "{}"),
        (7, "webhook.created", operator, "{}"),
        (25, "account.unlocked", operator, "{}"),
    ):
        await db.execute(_AUDIT, ids.new(), hours, action, actor, account, details)

    await apply(db, 11)

    rows = await db.fetch(
        "SELECT account_id, granted_by, kind,"
        " round(extract(epoch FROM tradewind_now() - granted_at) / 3600)::int AS hours"
        " FROM account_grant ORDER BY granted_at DESC, kind"
    )
    assert [tuple(row) for row in rows] == [
        (account, operator, "password", 1),
        (account, operator, "role", 1),
        (account, operator, "role", 2),
        (account, operator, "password_link", 4),
        (account, operator, "unlock", 6),
    ]


async def an_account(db: Database) -> UUID:
    account = uuid4()
    await db.execute(_ACCOUNT, account, f"{account.hex}@test.example")
    return account
