"""Guards a password: counts every guess before it is tried, and gives back what was not."""

import hashlib
import hmac
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

import asyncpg

from tradewind.auth import sql_throttle, throttle_policy
from tradewind.auth.throttle_policy import Guesses
from tradewind.errors import ServiceUnavailable
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx, transaction


class GuessesStopped(Exception):
    """No guess is tried for this e-mail until the rest is over."""

    def __init__(self, rest: timedelta) -> None:
        super().__init__()
        self.seconds = max(1, round(rest.total_seconds() + 0.5))


class TooManyAtOnce(ServiceUnavailable):
    """As many logins as may fail are being tried for this e-mail at this very moment.

    Try again in a second: if those under way succeed, so can yours.
    """

    code = "login_busy"
    title = "Too many logins at once"

    def __init__(self) -> None:
        super().__init__("Too many logins are being tried; try again.", retry_after=1)


class Guess:
    """One guess under way. Say `wrong` of it; without a word it counts as never made."""

    def __init__(self) -> None:
        self.was_wrong = False

    def wrong(self) -> None:
        self.was_wrong = True


@asynccontextmanager
async def guessing(db: Database, keyring: Keyring, email: str) -> AsyncIterator[Guess]:
    """Take a place among the ten guesses, or raise GuessesStopped or TooManyAtOnce.

    The place is taken in the database before the guess is tried, so that the number is exact
    however many processes try at once. Whatever ends the block but a wrong guess gives it back.
    """
    email_hash = _hashes(keyring, email)[0]
    started = await _begin(db, email_hash)
    guess = Guess()
    try:
        yield guess
    finally:
        await _change(
            db,
            email_hash,
            lambda known, now: (
                throttle_policy.failed(known, started, now)
                if guess.was_wrong
                else throttle_policy.ended(known, started)
            ),
        )


async def forget(tx: Tx, keyring: Keyring, email: str) -> None:
    """Somebody knew the password, or an operator vouches for them: begin to count anew."""
    await sql_throttle.forget_guesses(tx, _hashes(keyring, email))


async def _begin(db: Database, email_hash: bytes) -> datetime:
    async with transaction(db) as tx:
        row = await sql_throttle.lock_guesses(tx, email_hash)
        now: datetime = row["now"]
        known = throttle_policy.current(_known(row), now)
        if known.locked_until is not None:
            raise GuessesStopped(known.locked_until - now)
        if not throttle_policy.has_room(known):
            raise TooManyAtOnce
        await _save(tx, email_hash, throttle_policy.begun(known, now))
    return now


async def _change(
    db: Database, email_hash: bytes, change: Callable[[Guesses, datetime], Guesses]
) -> None:
    async with transaction(db) as tx:
        row = await sql_throttle.lock_guesses(tx, email_hash)
        await _save(
            tx, email_hash, change(throttle_policy.current(_known(row), row["now"]), row["now"])
        )


def _known(row: asyncpg.Record) -> Guesses:
    return Guesses(row["failed_at"], row["tried_at"], row["locked_until"])


async def _save(tx: Tx, email_hash: bytes, known: Guesses) -> None:
    await sql_throttle.save_guesses(
        tx,
        email_hash,
        failed_at=known.failed_at,
        tried_at=known.tried_at,
        locked_until=known.locked_until,
    )


def _hashes(keyring: Keyring, email: str) -> list[bytes]:
    """The e-mail under every master secret in force, the current one first."""
    return [hmac.digest(key, email.encode(), hashlib.sha256) for _, key in keyring.every("logins")]
