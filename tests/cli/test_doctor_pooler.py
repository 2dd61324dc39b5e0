"""The doctor against wrong deployments with a real PgBouncer: it names the line that is wrong."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import asyncpg
import pytest
from cli.test_commands import OLD, Shell
from kit.forks import ForkServer
from kit.pgbouncer import POOL_SIZE, Pooler, running_pooler
from kit.postgres import Postgres
from kit.server import free_port

from tradewind.storage.pooler import PoolMode, mode_of

pytestmark = pytest.mark.xdist_group("commands")

TRANSACTION = "pool_mode = transaction"
ENOUGH = {"default_pool_size = 20": "default_pool_size = 20\nadmin_users = tradewind"}
DROPPED = (
    "ignore_startup_parameters = statement_timeout, lock_timeout, jit, "
    "idle_in_transaction_session_timeout"
)
ITSELF = "set TRADEWIND_DATABASE_DIRECT_URL to the address of PostgreSQL itself."


@contextmanager
def pooling(postgres: Postgres, folder: Path, line: str = TRANSACTION) -> Iterator[Pooler]:
    """A PgBouncer of the test's own, with another line for its mode."""
    changes = {**ENOUGH, TRANSACTION: line}
    with running_pooler(postgres.url(), folder, free_port(), changes) as pooler:
        yield pooler


def examine(commands: ForkServer, settings: Mapping[str, str]) -> tuple[int, list[tuple[str, str]]]:
    """The exit status, and what the doctor says of poolers."""
    shell = Shell(commands, {"TRADEWIND_SECRET_KEY": OLD, **settings})
    ended = shell.run("doctor", "--json")
    assert ended.stderr == ""
    findings = json.loads(ended.stdout)
    return ended.returncode, [
        (finding["result"], finding["detail"])
        for finding in findings
        if finding["check"] in ("pooler", "database", "migrations") and finding["result"] != "ok"
    ]


def prepared(commands: ForkServer, pooler: Pooler, direct_url: str) -> Mapping[str, str]:
    """Do what the doctor and the page say, and return the settings of the deployment."""

    async def reconnect() -> None:
        console = await asyncpg.connect(pooler.url("/pgbouncer"), statement_cache_size=0)
        await console.execute("RECONNECT")
        await console.close()

    settings = pooler.settings(direct_url)
    assert Shell(commands, settings).tell("migrate") == {"applied": []}
    Postgres.run(reconnect())
    return settings


def test_a_right_deployment(
    commands: ForkServer, postgres: Postgres, database_url: str, tmp_path: Path
) -> None:
    with pooling(postgres, tmp_path) as pooler:
        status, findings = examine(commands, pooler.settings(database_url))
        assert (status, [result for result, _ in findings]) == (1, ["failed"])
        assert examine(commands, prepared(commands, pooler, database_url)) == (0, [])
    assert examine(commands, {"TRADEWIND_DATABASE_URL": database_url}) == (0, [])


def test_limits_that_are_missing_until_the_database_is_migrated_and_a_small_pool(
    commands: ForkServer, pooler: Pooler, database_url: str
) -> None:
    assert examine(commands, pooler.settings(database_url)) == (
        1,
        [
            (
                "warning",
                (
                    f"The pooler ran {POOL_SIZE} of 10 transactions at a time; raise "
                    "default_pool_size in pgbouncer.ini to TRADEWIND_DATABASE_POOL or more."
                ),
            ),
            (
                "failed",
                (
                    "On connections of the pooler, idle_in_transaction_session_timeout is 0 and "
                    "not 10s, lock_timeout is 0 and not 5s, statement_timeout is 0 and not 10s; "
                    "run `tradewind migrate`, then RECONNECT in PgBouncer's console."
                ),
            ),
        ],
    )


@pytest.mark.parametrize(
    ("line", "mode", "advice"),
    [
        (TRANSACTION, "transaction", ITSELF),
        (f"{TRANSACTION}\n{DROPPED}", "transaction", ITSELF),
        (
            "pool_mode = session",
            "session",
            f"set pool_mode = transaction in pgbouncer.ini, and {ITSELF}",
        ),
        (
            "pool_mode = statement",
            "statement",
            f"set pool_mode = transaction in pgbouncer.ini, and {ITSELF}",
        ),
    ],
)
def test_a_pooler_that_the_settings_do_not_name(
    commands: ForkServer,
    postgres: Postgres,
    database_url: str,
    tmp_path: Path,
    line: str,
    mode: str,
    advice: str,
) -> None:
    with pooling(postgres, tmp_path, line) as pooler:
        settings = {"TRADEWIND_DATABASE_URL": pooler.url(database_url)}
        status, findings = examine(commands, settings)

    assert (status, findings) == (
        1,
        [
            (
                "failed",
                (
                    f"TRADEWIND_DATABASE_URL leads to a pooler in {mode} mode, and "
                    "TRADEWIND_DATABASE_DIRECT_URL is not set, so wake-ups, locks, prepared "
                    f"statements or time limits fail; {advice}"
                ),
            )
        ],
    )


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("pool_mode = session", "processes keep its connections, and others wait for them"),
        ("pool_mode = statement", "it allows no transactions"),
    ],
)
def test_a_pooler_in_a_wrong_mode(
    commands: ForkServer,
    postgres: Postgres,
    database_url: str,
    tmp_path: Path,
    line: str,
    reason: str,
) -> None:
    with pooling(postgres, tmp_path, line) as pooler:
        status, findings = examine(commands, pooler.settings(database_url))

    mode = line.rpartition(" ")[2]
    assert (status, findings) == (
        1,
        [
            (
                "failed",
                (
                    f"TRADEWIND_DATABASE_URL leads to a pooler in {mode} mode: {reason}; set "
                    "pool_mode = transaction in pgbouncer.ini."
                ),
            )
        ],
    )


def test_addresses_that_are_mixed_up(
    commands: ForkServer, postgres: Postgres, database_url: str, tmp_path: Path
) -> None:
    def direct(url: str) -> tuple[int, list[tuple[str, str]]]:
        return examine(commands, {**settings, "TRADEWIND_DATABASE_DIRECT_URL": url})

    with pooling(postgres, tmp_path) as pooler, postgres.fresh_database() as other:
        settings = prepared(commands, pooler, database_url)
        assert direct(pooler.url(database_url)) == (
            1,
            [
                (
                    "failed",
                    (
                        "TRADEWIND_DATABASE_DIRECT_URL leads to a pooler in transaction mode; set "
                        "it to the address of PostgreSQL itself."
                    ),
                )
            ],
        )
        status, (finding,) = direct(other)
        assert (status, finding[0]) == (1, "failed")
        assert "lead to different databases; check host and database in TRAD" in finding[1]
        status, (finding,) = direct("postgresql://127.0.0.1:1/none")
        assert (status, finding[0]) == (1, "failed")
        assert finding[1].startswith("TRADEWIND_DATABASE_DIRECT_URL leads nowhere ([Errno 111]")
        assert examine(
            commands,
            {
                "TRADEWIND_DATABASE_URL": database_url,
                "TRADEWIND_DATABASE_DIRECT_URL": database_url,
            },
        ) == (
            0,
            [
                (
                    "warning",
                    (
                        "TRADEWIND_DATABASE_URL leads to PostgreSQL itself, so each statement is "
                        "parsed again for no reason; remove TRADEWIND_DATABASE_DIRECT_URL, or let "
                        "TRADEWIND_DATABASE_URL lead to the pooler."
                    ),
                )
            ],
        )


@pytest.mark.parametrize(
    ("announced", "pids", "transactions", "mode"),
    [
        ([1, 2], [[1, 1], [2, 2]], True, PoolMode.NONE),
        ([7, 8], [[1, 1], [1, 1]], True, PoolMode.TRANSACTION),
        ([7, 8], [[1, 2], [3, 4]], True, PoolMode.TRANSACTION),
        ([7, 8], [[1, 1], [2, 2]], True, PoolMode.SESSION),
        ([7, 8], [[1, 1], [1, 1]], False, PoolMode.STATEMENT),
    ],
)
def test_the_mode_follows_from_the_processes_of_the_server(
    announced: list[int], pids: list[list[int]], transactions: bool, mode: PoolMode
) -> None:
    assert mode_of(announced, pids, allows_transactions=transactions) is mode
