"""Checks whether a pooler is where the settings say, and nothing is lost between it and us."""

from collections.abc import AsyncIterator, Mapping, Sequence

from tradewind.cli.doctor_checks.finding import Finding
from tradewind.settings.settings import Settings
from tradewind.storage import sql
from tradewind.storage.errors import DatabaseAway
from tradewind.storage.pool import SESSION_SETTINGS, connect_plainly
from tradewind.storage.pooler import PoolMode, find_mode, settings_at_once

_CHECK = "pooler"
_URL, _DIRECT_URL = "TRADEWIND_DATABASE_URL", "TRADEWIND_DATABASE_DIRECT_URL"
# So many transactions are tried at the same time; a larger pool is large enough.
_MOST_TRANSACTIONS = 20
_TRANSACTION_MODE = "set pool_mode = transaction in pgbouncer.ini"


async def check_pooler(chosen: Settings, mode: PoolMode) -> AsyncIterator[Finding]:
    """Check both addresses; `mode` is what TRADEWIND_DATABASE_URL leads to."""
    if not chosen.database_direct_url:
        yield without_direct_url(mode)
        return
    yield with_direct_url(mode)
    try:
        direct_mode = await find_mode(chosen.database_direct_url)
        is_same = await _lead_to_same_database(chosen)
    except DatabaseAway as error:
        yield Finding(
            _CHECK,
            "failed",
            f"{_DIRECT_URL} leads nowhere ({error.__cause__}); set it to the address of "
            "PostgreSQL itself.",
        )
        return
    if direct_mode is not PoolMode.NONE:
        yield Finding(
            _CHECK,
            "failed",
            f"{_DIRECT_URL} leads to a pooler in {direct_mode} mode; set it to the address of "
            "PostgreSQL itself.",
        )
    if not is_same:
        yield Finding(
            _CHECK,
            "failed",
            f"{_URL} and {_DIRECT_URL} lead to different databases; check host and database in "
            f"{_DIRECT_URL}, and the section [databases] of pgbouncer.ini.",
        )
    if mode is PoolMode.TRANSACTION:
        most = min(chosen.database_pool, _MOST_TRANSACTIONS)
        sessions = await settings_at_once(chosen.database_url, [*SESSION_SETTINGS], most=most)
        yield pool_size(len(sessions), most)
        yield limits(sessions)


def without_direct_url(mode: PoolMode) -> Finding:
    """Judge a deployment that is not told of any pooler."""
    if mode is PoolMode.NONE:
        return Finding(_CHECK, "ok", f"There is none: {_URL} leads to PostgreSQL itself.")
    advice = f"set {_DIRECT_URL} to the address of PostgreSQL itself"
    if mode is not PoolMode.TRANSACTION:
        advice = f"{_TRANSACTION_MODE}, and {advice}"
    return Finding(
        _CHECK,
        "failed",
        f"{_URL} leads to a pooler in {mode} mode, and {_DIRECT_URL} is not set, so wake-ups, "
        f"locks, prepared statements or time limits fail; {advice}.",
    )


def with_direct_url(mode: PoolMode) -> Finding:
    """Judge a deployment that is told of a pooler."""
    match mode:
        case PoolMode.TRANSACTION:
            return Finding(_CHECK, "ok", f"{_URL} leads to a pooler in transaction mode.")
        case PoolMode.NONE:
            return Finding(
                _CHECK,
                "warning",
                f"{_URL} leads to PostgreSQL itself, so each statement is parsed again for no "
                f"reason; remove {_DIRECT_URL}, or let {_URL} lead to the pooler.",
            )
        case PoolMode.SESSION:
            reason = "processes keep its connections, and others wait for them"
        case PoolMode.STATEMENT:
            reason = "it allows no transactions"
    return Finding(
        _CHECK, "failed", f"{_URL} leads to a pooler in {mode} mode: {reason}; {_TRANSACTION_MODE}."
    )


def pool_size(transactions: int, most: int) -> Finding:
    return Finding.when(
        transactions >= most,
        _CHECK,
        f"The pooler ran {transactions} of {most} transactions at a time",
        "raise default_pool_size in pgbouncer.ini to TRADEWIND_DATABASE_POOL or more.",
        "warning",
    )


def limits(sessions: Sequence[Mapping[str, str]]) -> Finding:
    """Judge the settings of the connections that the pooler has."""
    wrong = sorted(
        {
            f"{name} is {session[name]} and not {value}"
            for session in sessions
            for name, value in SESSION_SETTINGS.items()
            if session[name] != value
        }
    )
    return Finding.when(
        not wrong,
        _CHECK,
        "Time limits hold for its connections"
        if not wrong
        else f"On connections of the pooler, {', '.join(wrong)}",
        "run `tradewind migrate`, then RECONNECT in PgBouncer's console.",
    )


async def _lead_to_same_database(chosen: Settings) -> bool:
    identities = set()
    for url in (chosen.database_url, chosen.database_direct_url):
        connection = await connect_plainly(url)
        try:
            identities.add(await sql.database_identity(connection))
        finally:
            connection.terminate()
    return len(identities) == 1
