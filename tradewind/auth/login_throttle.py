"""The login throttle: ten failed logins for an e-mail block its logins for 15 minutes."""

import hashlib
import hmac
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta

from tradewind.auth import sql
from tradewind.auth.errors import AccountLocked, TooManyLogins
from tradewind.auth.sql import LoginFailures
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx, transaction

MOST_FAILURES = 10
WINDOW = timedelta(minutes=15)
STOP = timedelta(minutes=15)
# A login that nobody ended, because its process died, stops counting after this.
_LONGEST_LOGIN = timedelta(seconds=60)


class PasswordCheck:
    """One comparison of a password; it counts as a failure once it is marked as `failed`."""

    failed = False


@asynccontextmanager
async def throttled(db: Database, keyring: Keyring, email: str) -> AsyncIterator[PasswordCheck]:
    """Compare a password inside; AccountLocked after ten failures, TooManyLogins while ten run.

    The check is counted in the database before the password is compared, so that the number is
    exact however many processes compare at the same time. A check that did not fail is taken back.
    """
    email_hash = _hashes(keyring, email)[0]
    async with transaction(db) as tx:
        stored, started = await sql.lock_login_failures(tx, email_hash)
        failures = current(stored, started)
        if failures.locked_until is not None:
            rest = failures.locked_until - started
            raise AccountLocked.after_failures(max(1, round(rest.total_seconds() + 0.5)))
        if len(failures.failed_at) + len(failures.tried_at) >= MOST_FAILURES:
            raise TooManyLogins
        began = replace(failures, tried_at=[*failures.tried_at, started])
        await sql.save_login_failures(tx, email_hash, began)
    check = PasswordCheck()
    try:
        yield check
    finally:
        async with transaction(db) as tx:
            stored, now = await sql.lock_login_failures(tx, email_hash)
            ended = _without(current(stored, now), started)
            if check.failed:
                ended = with_failure(ended, now)
            await sql.save_login_failures(tx, email_hash, ended)


async def reset(tx: Tx, keyring: Keyring, email: str) -> None:
    """Start counting anew: somebody knew the password, or an operator lets them in."""
    await sql.delete_login_failures(tx, _hashes(keyring, email))


def current(failures: LoginFailures, now: datetime) -> LoginFailures:
    """What still counts: failures of the window, checks that run, and a stop that goes on."""
    if failures.locked_until is not None and failures.locked_until <= now:
        failures = replace(failures, failed_at=(), locked_until=None)
    return replace(
        failures,
        failed_at=[moment for moment in failures.failed_at if moment > now - WINDOW],
        tried_at=[moment for moment in failures.tried_at if moment > now - _LONGEST_LOGIN],
    )


def with_failure(failures: LoginFailures, now: datetime) -> LoginFailures:
    """The failures and one more; the last of ten starts the stop."""
    failed_at = [*failures.failed_at, now]
    stop = now + STOP if len(failed_at) >= MOST_FAILURES else failures.locked_until
    return replace(failures, failed_at=failed_at, locked_until=stop)


def _without(failures: LoginFailures, started: datetime) -> LoginFailures:
    running = list(failures.tried_at)
    if started in running:
        running.remove(started)
    return replace(failures, tried_at=running)


def _hashes(keyring: Keyring, email: str) -> list[bytes]:
    """The e-mail under every master secret in force, the current one first."""
    return [hmac.digest(key, email.encode(), hashlib.sha256) for _, key in keyring.every("logins")]
