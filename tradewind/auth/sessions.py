"""Sessions: begun by a login, carried on by refresh tokens, ended by a logout or a reuse."""

from uuid import UUID

from tradewind import ids
from tradewind.accounts import sql
from tradewind.accounts.errors import AccountLocked, NoSession, NotSignedIn
from tradewind.accounts.model import Account, Tokens
from tradewind.audit.model import Actor
from tradewind.audit.record import record
from tradewind.auth import sql_sessions
from tradewind.auth.tokens import REFRESH_LIFETIME, make_access, make_refresh, read_refresh
from tradewind.errors import ResourceNotFound
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx, transaction
from tradewind.web import limits
from tradewind.web.limits import Rate, RateLimited

_USER_AGENT_LENGTH = 300
_REFRESH_RATE = Rate(30, 30)


async def begin(
    tx: Tx, keyring: Keyring, account_id: UUID, *, address: str, user_agent: str
) -> Tokens:
    session_id = ids.new()
    opened = await sql_sessions.insert_session(
        tx,
        session_id,
        account_id,
        made_with=keyring.current_id,
        lifetime=REFRESH_LIFETIME,
        address=address,
        user_agent=user_agent[:_USER_AGENT_LENGTH].replace("\0", ""),
    )
    return Tokens(
        make_access(keyring, account_id, session_id, opened),
        make_refresh(keyring, session_id, 1),
    )


async def refresh(db: Database, keyring: Keyring, token: str, by: Actor) -> tuple[Account, Tokens]:
    """A new pair for a refresh token.

    The current token makes its successor. The one before it, for 60 seconds, gets that same
    successor: its answer was lost, or two tabs asked at once. Any older one was copied by
    somebody, so the session ends for everybody.
    """
    claim = read_refresh(keyring, token)
    if claim is None:
        raise NotSignedIn
    granted, budget = await limits.take(db, f"refresh:{claim.session_id}", _REFRESH_RATE)
    if not granted:
        raise RateLimited(budget, "A session is refreshed 30 times a minute at most: slow down.")
    async with transaction(db) as tx:
        await sql_sessions.lock_session(tx, claim.session_id)
        session = await sql_sessions.find_live_session(tx, claim.session_id)
        if session is None:
            raise NotSignedIn
        if session["locked_at"] is not None:
            raise AccountLocked.by_operator()
        current: int = session["generation"]
        if claim.generation == current:
            await sql_sessions.rotate_session(
                tx, claim.session_id, made_with=keyring.current_id, lifetime=REFRESH_LIFETIME
            )
            current += 1
        elif claim.generation != current - 1 or not session["just_rotated"]:
            await _end_reused(tx, claim.session_id, session["account_id"], by)
            current = 0
        account = await sql.find_account(tx, account_id=session["account_id"])
    if not current or account is None:
        raise NotSignedIn
    return account, Tokens(
        make_access(keyring, account.id, claim.session_id, session["now"]),
        make_refresh(keyring, claim.session_id, current),
    )


async def log_out(db: Database, session_id: UUID | None) -> None:
    """End the session at hand, on every process, from this answer on."""
    if session_id is None:
        raise NoSession
    async with transaction(db) as tx:
        await sql_sessions.end_session(tx, session_id, "logout")


async def end_one(db: Database, by: Actor, account_id: UUID, session_id: UUID) -> None:
    """End a session of an account, on every process; ending it again changes nothing."""
    async with transaction(db) as tx:
        known, ended = await sql_sessions.end_own_session(tx, account_id, session_id)
        if not known:
            raise ResourceNotFound(ids.SESSION)
        if ended:
            await _record_end(tx, by, account_id, session_id)


async def end_others(db: Database, by: Actor, account_id: UUID, kept: UUID) -> int:
    """End every session of an account but one; how many they were comes back."""
    async with transaction(db) as tx:
        ended = await sql_sessions.end_other_sessions(tx, account_id, kept=kept)
        for session_id in ended:
            await _record_end(tx, by, account_id, session_id)
    return len(ended)


async def _record_end(tx: Tx, by: Actor, account_id: UUID, session_id: UUID) -> None:
    await record(
        tx,
        by,
        "session.ended",
        account_id=account_id,
        subject=ids.SESSION.show(session_id),
        reason="ended_by_owner",
    )


async def _end_reused(tx: Tx, session_id: UUID, account_id: UUID, by: Actor) -> None:
    await sql_sessions.end_session(tx, session_id, "refresh_token_reused")
    await record(
        tx,
        by,
        "session.ended",
        account_id=account_id,
        subject=ids.SESSION.show(session_id),
        reason="refresh_token_reused",
    )
