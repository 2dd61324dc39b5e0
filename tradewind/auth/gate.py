"""The gate: checks API keys, tokens, locks and rate limits of many requests in one statement."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from uuid import UUID

from tradewind import ids
from tradewind.auth import sql
from tradewind.auth.api_keys import key_format
from tradewind.auth.api_keys import sql as key_sql
from tradewind.auth.errors import AccountLocked, CredentialsMissing, InvalidCredentials
from tradewind.auth.sql import Admission
from tradewind.auth.tokens import AccessClaims, read_access
from tradewind.errors import ApiError, InsufficientPermissions
from tradewind.ids import Kind
from tradewind.observability.logs import log, note
from tradewind.observability.metrics import ADMISSION_BATCH, RATE_LIMITED
from tradewind.storage.errors import DatabaseAway
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.web import limits
from tradewind.web.caller import Caller
from tradewind.web.limits import Budget, Rate, RateLimited
from tradewind.web.request import Request, canonical_address

_LARGEST_BATCH = 500
# While this many statements run, requests gather for the next one.
_STATEMENTS = 2
_REMEMBERED_TOKENS = 4096
# How long a request waits for the statements before it and its own, before it gets DatabaseAway.
_PATIENCE_SECONDS = 3.0
_MARKING_SECONDS = 1.0
# After credentials could not be marked as used, none are marked for so long.
_MARKING_PAUSE_SECONDS = 10.0
_URGENT_RATE = Rate(30, 30)


@dataclass(frozen=True, slots=True)
class _Credentials:
    """Credentials as they are looked up; requests with the same ones share a lookup."""

    key: str | None
    session_id: UUID | None
    # Where a key is used from: it may be restricted to some networks.
    address: str | None
    # Whether this only checks again what was admitted before, and takes nothing from the budget.
    is_recheck: bool = False


# A request that waits: its admission, and whether its account's budget had room for it.
_Waiter = asyncio.Future[tuple[Admission, bool] | None]
# Requests whose credentials are looked up by one statement.
_Batch = dict[_Credentials, list[_Waiter]]


class Authenticator:
    """Looks up credentials and takes from rate budgets, for all requests of an event-loop turn.

    Nothing is cached between statements, and a request only joins a statement that has not been
    sent yet. So revocations, locks and limits hold on every process from the moment they were
    confirmed, without broadcasts.
    """

    def __init__(self, db: Database, keyring: Keyring, plans: Mapping[str, Rate]) -> None:
        self._db = db
        self._keyring = keyring
        self._plans = plans
        for plan in plans:
            RATE_LIMITED.labels(plan)  # shown from the start, with 0
        self._waiting: dict[_Credentials, list[_Waiter]] = {}
        self._running: set[asyncio.Task[None]] = set()
        self._scheduled = False
        # When the last of those who wait came.
        self._last_came_at = 0.0
        # Keys and sessions that are to be marked as used, and what marks them.
        self._used: set[tuple[UUID | None, UUID | None]] = set()
        self._marking: asyncio.Task[None] | None = None
        self._mark_again_at = 0.0
        # A signature stays right; whether the session lives is looked up for every request.
        self._verified = lru_cache(maxsize=_REMEMBERED_TOKENS)(self._verify)

    async def recheck(self, request: Request) -> Caller:
        """The caller of a request that was admitted before, for a response that takes long.

        It raises what `admit` would raise now, except that nothing is taken from the budget.
        """
        return await self.admit(request, urgent=False, is_recheck=True)

    async def admit(self, request: Request, *, urgent: bool, is_recheck: bool = False) -> Caller:
        key = request.single_header("x-api-key")
        bearer = request.single_header("authorization")
        if key is None and bearer is None:
            raise CredentialsMissing
        if key is not None and not key_format.is_well_formed(key):
            raise InvalidCredentials.mistyped()
        access = None if bearer is None else self._read_bearer(bearer)
        session_id = access.session_id if access else None
        address = None if key is None else canonical_address(request.address)
        looked_up = await self._look_up(_Credentials(key, session_id, address, is_recheck))
        if looked_up is None:
            raise _invalid(key, access)
        admission, granted = looked_up
        if access and not access.valid_at(admission.now):
            raise _invalid(key, access)
        budget = Budget(self._plans[admission.plan], admission.debt)
        credential = _credential_id(admission.key_id, admission.session_id)
        agent = request.agent
        note(account=_shown(ids.ACCOUNT, admission.account_id), credential=credential)
        if agent is not None:
            note(agent=agent)
        if admission.is_refused:
            raise _refusal(admission, request)
        if admission.locked:
            raise AccountLocked.by_operator(budget)
        if not granted and not (urgent and await self._take_urgent(credential)):
            RATE_LIMITED.labels(admission.plan).inc()
            raise RateLimited(budget)
        if key is not None and admission.made_with != self._keyring.current_id:
            await self._rehash(admission.key_id, key)
        return Caller(
            account_id=admission.account_id,
            email=admission.email,
            name=admission.name,
            roles=frozenset(admission.roles),
            plan=admission.plan,
            created_at=admission.created_at,
            key_id=admission.key_id,
            session_id=admission.session_id,
            budget=budget,
            scopes=None if admission.scopes is None else frozenset(admission.scopes),
            expires_at=admission.expires_at,
            allowed_cidrs=admission.allowed_cidrs,
            agent=agent,
            address=request.address,
            request_id=request.id,
        )

    async def _take_urgent(self, credential: str) -> bool:
        """Take from a small budget per credential: somebody else used up that of the account."""
        granted, _ = await limits.take(self._db, f"urgent:{credential}", _URGENT_RATE)
        return granted

    def _read_bearer(self, header: str) -> AccessClaims:
        scheme, _, token = header.partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise InvalidCredentials.malformed_header()
        return self._verified(token.strip())

    def _verify(self, token: str) -> AccessClaims:
        access = read_access(self._keyring, token)
        if access is None:  # not cached: forged tokens cannot push real ones out
            raise InvalidCredentials.token()
        return access

    async def _look_up(self, credentials: _Credentials) -> tuple[Admission, bool] | None:
        loop = asyncio.get_running_loop()
        waiter: _Waiter = loop.create_future()
        self._last_came_at = loop.time()
        self._waiting.setdefault(credentials, []).append(waiter)
        if not self._scheduled and len(self._running) < _STATEMENTS:
            self._scheduled = True
            loop.call_soon(self._start)
        timer = loop.call_later(_PATIENCE_SECONDS, _turn_away, waiter)
        try:
            return await waiter
        finally:
            timer.cancel()

    def _start(self) -> None:
        """Send one statement for all requests that gathered up to this turn of the loop."""
        self._scheduled = False
        batch: _Batch = {}
        for credentials, waiters in self._waiting.items():
            # Not for those that have waited too long, or whose clients went away.
            if left := [waiter for waiter in waiters if not waiter.done()]:
                batch[credentials] = left
        self._waiting = {}
        for credentials in list(batch)[_LARGEST_BATCH:]:
            self._waiting[credentials] = batch.pop(credentials)
        if not batch:
            return
        task = asyncio.create_task(self._run(batch))
        self._running.add(task)
        nobody_waits_at = self._last_came_at + _PATIENCE_SECONDS
        timer = asyncio.get_running_loop().call_at(nobody_waits_at, self._give_up, task)
        task.add_done_callback(lambda ended: self._ended(ended, timer))

    def _ended(self, task: asyncio.Task[None], timer: asyncio.TimerHandle) -> None:
        timer.cancel()
        if task in self._running:  # else it was given up
            self._make_room(task)

    def _give_up(self, task: asyncio.Task[None]) -> None:
        """Cancel a statement that nobody waits for any more."""
        task.cancel()
        self._make_room(task)

    def _make_room(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        if self._waiting and not self._scheduled:
            self._start()

    async def _run(self, batch: _Batch) -> None:
        ADMISSION_BATCH.observe(sum(map(len, batch.values())))
        try:
            admissions = await self._fetch(batch)
        except BaseException as error:
            # Nobody else is cancelled because the statement was.
            failure = error if isinstance(error, Exception) else DatabaseAway()
            for waiters in batch.values():
                for waiter in waiters:
                    _fail(waiter, failure)
            if not isinstance(error, Exception):
                raise
            return
        left: dict[UUID, int] = {}
        for credentials, waiters in batch.items():
            admission = admissions.get(credentials)
            for waiter in waiters:
                if waiter.done():  # what its request took is left to the others
                    continue
                result = None
                if admission is not None:
                    result = admission, credentials.is_recheck or _takes(admission, left)
                waiter.set_result(result)
        self._mark_used(admissions.values())

    async def _fetch(
        self, batch: Mapping[_Credentials, Sequence[_Waiter]]
    ) -> dict[_Credentials, Admission]:
        # A key is looked up under every master secret in force; at most one of them finds it.
        lookups = [
            (credentials, hash_)
            for credentials in batch
            for hash_ in (
                key_format.hashes(self._keyring, credentials.key) if credentials.key else (None,)
            )
        ]
        admissions = await sql.admit(
            self._db,
            hashes=[hash_ for _, hash_ in lookups],
            sessions=[credentials.session_id for credentials, _ in lookups],
            addresses=[credentials.address for credentials, _ in lookups],
            times=[
                0 if credentials.is_recheck else len(batch[credentials])
                for credentials, _ in lookups
            ],
            plans=list(self._plans),
            steps=[rate.step for rate in self._plans.values()],
            bursts=[rate.burst for rate in self._plans.values()],
        )
        return {lookups[admission.number - 1][0]: admission for admission in admissions}

    def _mark_used(self, admissions: Iterable[Admission]) -> None:
        """Save when keys and sessions were used, at most once a minute for each.

        No request waits for it. If it fails, nothing is marked for a while.
        """
        if asyncio.get_running_loop().time() < self._mark_again_at:
            return
        self._used.update(
            (row.key_id, row.session_id)
            for row in admissions
            if row.is_first_use and not row.is_refused
        )
        if self._used and self._marking is None:
            self._marking = asyncio.create_task(self._mark())

    async def _mark(self) -> None:
        try:
            while self._used:
                used, self._used = self._used, set()
                keys = sorted({key for key, _ in used if key is not None})
                sessions = sorted({session for _, session in used if session is not None})
                async with asyncio.timeout(_MARKING_SECONDS):
                    await sql.mark_used(self._db, keys, sessions)
        except Exception as error:  # noqa: BLE001 - they were admitted, whatever it is
            self._used.clear()
            self._mark_again_at = asyncio.get_running_loop().time() + _MARKING_PAUSE_SECONDS
            log.warning("credentials.not_marked_as_used", error=repr(error))
        finally:
            self._marking = None

    async def _rehash(self, key_id: UUID | None, key: str) -> None:
        made_with, hash_ = key_format.hash_now(self._keyring, key)
        await key_sql.rehash_key(self._db, key_id, hash_=hash_, made_with=made_with)
        log.info("api_key.rehashed", key=key_id, made_with=made_with)


def _fail(waiter: _Waiter, error: Exception) -> None:
    if not waiter.done():
        waiter.set_exception(error)


def _turn_away(waiter: _Waiter) -> None:
    _fail(waiter, DatabaseAway())


def _takes(admission: Admission, left: dict[UUID, int]) -> bool:
    """Whether there is room for another request in what is left of its account's budget."""
    if admission.is_refused:
        return False
    remaining = left.get(admission.account_id, admission.granted)
    left[admission.account_id] = remaining - 1
    return remaining > 0


def _refusal(admission: Admission, request: Request) -> ApiError:
    if admission.expired:
        return InvalidCredentials.expired_key(admission.expires_at)
    return InsufficientPermissions.address(request.address or "an unknown address")


def _credential_id(key_id: UUID | None, session_id: UUID | None) -> str:
    if key_id is not None:
        return _shown(ids.API_KEY, key_id)
    return _shown(ids.SESSION, session_id) if session_id is not None else ""


@lru_cache(maxsize=4096)
def _shown(kind: Kind, value: UUID) -> str:
    return kind.show(value)


def _invalid(key: str | None, access: AccessClaims | None) -> InvalidCredentials:
    if key is not None and access is not None:
        return InvalidCredentials.both()
    return InvalidCredentials.unknown_key() if key is not None else InvalidCredentials.token()
