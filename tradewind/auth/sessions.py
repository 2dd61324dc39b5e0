"""Sessions: a login begins one, refresh tokens extend it, a logout or a reused token ends it."""

from uuid import UUID

from tradewind import ids
from tradewind.audit.model import Actor
from tradewind.audit.record import record
from tradewind.auth import sql, sql_sessions
from tradewind.auth.errors import AccountLocked, InvalidRefreshToken, NoSession
from tradewind.auth.model import Identity, TokenPair
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
) -> TokenPair:
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
    return TokenPair(
        make_access(keyring, account_id, session_id, opened),
        make_refresh(keyring, session_id, 1),
    )


async def refresh(
    db: Database, keyring: Keyring, token: str, by: Actor
) -> tuple[Identity, TokenPair]:
    """Exchange a refresh token for a new pair.

    The current token makes its successor. For 60 seconds the token before it gets that same
    successor: its response was lost, or two tabs refreshed at once. Any older token was copied by
    somebody, so the session ends for everybody.
    """
    claim = read_refresh(keyring, token)
    if claim is None:
        raise InvalidRefreshToken
    granted, budget = await limits.take(db, f"refresh:{claim.session_id}", _REFRESH_RATE)
    if not granted:
        raise RateLimited(budget, "A session is refreshed 30 times a minute at most: slow down.")
    async with transaction(db) as tx:
        await sql_sessions.lock_session(tx, claim.session_id)
        session = await sql_sessions.find_live_session(tx, claim.session_id)
        if session is None:
            raise InvalidRefreshToken
        if session.locked:
            raise AccountLocked.by_operator()
        current = session.generation
        if claim.generation == current:
            await sql_sessions.rotate_session(
                tx, claim.session_id, made_with=keyring.current_id, lifetime=REFRESH_LIFETIME
            )
            current += 1
        elif claim.generation != current - 1 or not session.just_rotated:
            await sql_sessions.end_session(tx, claim.session_id, "refresh_token_reused")
            await _record_end(
                tx, by, session.account_id, claim.session_id, reason="refresh_token_reused"
            )
            current = 0
        account = await sql.find_identity(tx, session.account_id)
    if not current or account is None:
        raise InvalidRefreshToken
    return account, TokenPair(
        make_access(keyring, account.id, claim.session_id, session.now),
        make_refresh(keyring, claim.session_id, current),
    )


async def log_out(db: Database, session_id: UUID | None) -> None:
    """End the session; no process accepts its tokens after this returns."""
    if session_id is None:
        raise NoSession
    async with transaction(db) as tx:
        await sql_sessions.end_session(tx, session_id, "logout")


async def end_session(db: Database, by: Actor, account_id: UUID, session_id: UUID) -> None:
    """End a session of an account; ending it again changes nothing."""
    async with transaction(db) as tx:
        exists, ended = await sql_sessions.end_own_session(tx, account_id, session_id)
        if not exists:
            raise ResourceNotFound(ids.SESSION)
        if ended:
            await _record_end(tx, by, account_id, session_id)


async def end_other_sessions(db: Database, by: Actor, account_id: UUID, kept: UUID) -> int:
    """End every session of an account except `kept`; returns how many."""
    async with transaction(db) as tx:
        ended = await sql_sessions.end_other_sessions(tx, account_id, kept=kept)
        for session_id in ended:
            await _record_end(tx, by, account_id, session_id)
    return len(ended)


async def _record_end(
    tx: Tx, by: Actor, account_id: UUID, session_id: UUID, *, reason: str = "ended_by_owner"
) -> None:
    record(
        tx,
        by,
        "session.ended",
        account_id=account_id,
        subject=ids.SESSION.show(session_id),
        reason=reason,
    )
