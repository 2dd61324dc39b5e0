"""The gate: from a request's headers to its caller, one statement for many requests."""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar
from uuid import UUID

import asyncpg

from tradewind import ids
from tradewind.accounts.errors import AccountLocked
from tradewind.auth.api_keys import spelling, sql
from tradewind.auth.errors import CredentialsMissing, InvalidCredentials
from tradewind.auth.tokens import Access, read_access
from tradewind.ids import Kind
from tradewind.observability.logs import log, note
from tradewind.observability.metrics import ADMISSION_BATCH, RATE_LIMITED
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database, DatabaseAway
from tradewind.web import limits
from tradewind.web.caller import Caller
from tradewind.web.limits import Budget, Rate, RateLimited
from tradewind.web.request import Request

T = TypeVar("T")

_LARGEST_BATCH = 500
# While this many statements are under way, requests gather for the next one.
_STATEMENTS = 2
_REMEMBERED_TOKENS = 4096
# A caller is told that the database is away rather than kept waiting for it: for the statement
# before, and for its own.
_PATIENCE_SECONDS = 2.2
_URGENT_RATE = Rate(30, 30)


@dataclass(frozen=True, slots=True)
class _Ask:
    """Credentials as they can be looked up; requests that carry the same ones are one ask."""

    key: str | None
    session_id: UUID | None


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What the database said about an ask, for one request that carried it."""

    row: asyncpg.Record
    granted: bool


class Authenticator:
    """Looks up credentials and takes from rate budgets, for all requests of a turn of the loop.

    Nothing is remembered between statements, and a request only joins a statement that has not
    been sent yet. So revocations, locks and limits hold on every process from the moment they
    were answered, without caches and without broadcasts.
    """

    def __init__(self, db: Database, keyring: Keyring, plans: Mapping[str, Rate]) -> None:
        self._db = db
        self._keyring = keyring
        self._plans = plans
        self._waiting: dict[_Ask, list[asyncio.Future[_Verdict | None]]] = {}
        self._under_way: set[asyncio.Task[None]] = set()
        self._scheduled = False
        # Whether a token is genuine never changes; whether its session lives is asked every time.
        self._genuine = lru_cache(maxsize=_REMEMBERED_TOKENS)(self._verify)

    async def admit(self, request: Request, *, urgent: bool) -> Caller:
        key = request.single_header("x-api-key")
        bearer = request.single_header("authorization")
        if key is None and bearer is None:
            raise CredentialsMissing
        if key is not None and not spelling.is_well_formed(key):
            raise InvalidCredentials.mistyped()
        access = None if bearer is None else self._read_bearer(bearer)
        verdict = await self._look_up(_Ask(key, access.session_id if access else None))
        if verdict is None or (access and not access.valid_at(verdict.row["now"])):
            raise _refusal(key, access)
        row = verdict.row
        budget = Budget(self._plans[row["plan"]], row["debt"])
        credential = row["key_id"] or row["session_id"]
        kind = ids.API_KEY if row["key_id"] else ids.SESSION
        note(account=_shown(ids.ACCOUNT, row["account_id"]), credential=_shown(kind, credential))
        if row["locked"]:
            raise AccountLocked.by_operator(budget)
        if not verdict.granted and not (urgent and await self._urgent(credential)):
            RATE_LIMITED.labels(row["plan"]).inc()
            raise RateLimited(budget)
        if key is not None and row["made_with"] != self._keyring.current_id:
            await self._rehash(row["key_id"], key)
        return Caller(
            account_id=row["account_id"],
            email=row["email"],
            name=row["name"],
            roles=frozenset(row["roles"]),
            plan=row["plan"],
            created_at=row["created_at"],
            key_id=row["key_id"],
            session_id=row["session_id"],
            budget=budget,
        )

    async def _urgent(self, credential: UUID) -> bool:
        """A way out for who must stop an abuse: a budget per credential, not per account."""
        granted, _ = await limits.take(self._db, f"urgent:{credential}", _URGENT_RATE)
        return granted

    def _read_bearer(self, header: str) -> Access:
        scheme, _, token = header.partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise InvalidCredentials.malformed_header()
        return self._genuine(token.strip())

    def _verify(self, token: str) -> Access:
        access = read_access(self._keyring, token)
        if access is None:  # a refusal is not remembered: forgeries cannot crowd out real ones
            raise InvalidCredentials.token()
        return access

    async def _look_up(self, ask: _Ask) -> _Verdict | None:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[_Verdict | None] = loop.create_future()
        self._waiting.setdefault(ask, []).append(answer)
        if not self._scheduled and len(self._under_way) < _STATEMENTS:
            self._scheduled = True
            loop.call_soon(self._start)
        return await answer

    def _start(self) -> None:
        """Send one statement for everything that gathered up to this turn of the loop."""
        self._scheduled = False
        if not self._waiting:
            return
        batch = self._waiting
        self._waiting = {}
        for ask in list(batch)[_LARGEST_BATCH:]:
            self._waiting[ask] = batch.pop(ask)
        task = asyncio.create_task(self._run(batch))
        self._under_way.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._under_way.discard(task)
        if self._waiting and not self._scheduled:
            self._start()

    async def _run(self, batch: dict[_Ask, list[asyncio.Future[_Verdict | None]]]) -> None:
        ADMISSION_BATCH.observe(sum(map(len, batch.values())))
        try:
            answers = await _in_time(self._decide(batch))
        except BaseException as error:
            for futures in batch.values():
                for future in futures:
                    if not future.done():
                        future.set_exception(error)
            if not isinstance(error, Exception):
                raise
            return
        for future, verdict in answers:
            if not future.done():
                future.set_result(verdict)

    async def _decide(
        self, batch: Mapping[_Ask, Sequence["asyncio.Future[_Verdict | None]"]]
    ) -> list[tuple["asyncio.Future[_Verdict | None]", _Verdict | None]]:
        """Ask the database once, and share what each account was granted among its requests."""
        rows = await self._fetch(batch)
        left: dict[UUID, int] = {}
        answers: list[tuple[asyncio.Future[_Verdict | None], _Verdict | None]] = []
        for ask, futures in batch.items():
            row = rows.get(ask)
            for future in futures:
                if row is None:
                    answers.append((future, None))
                    continue
                account_id = row["account_id"]
                remaining = left.setdefault(account_id, row["granted"])
                left[account_id] = remaining - 1
                answers.append((future, _Verdict(row, remaining > 0)))
        return answers

    async def _fetch(
        self, batch: Mapping[_Ask, Sequence["asyncio.Future[_Verdict | None]"]]
    ) -> dict[_Ask, asyncpg.Record]:
        # A key is asked for under every master secret in force; at most one of them knows it.
        asks = [
            (ask, hash_)
            for ask in batch
            for hash_ in (spelling.hashes(self._keyring, ask.key) if ask.key else (None,))
        ]
        rows = await sql.admit(
            self._db,
            hashes=[hash_ for _, hash_ in asks],
            sessions=[ask.session_id for ask, _ in asks],
            times=[len(batch[ask]) for ask, _ in asks],
            plans=list(self._plans),
            steps=[rate.step for rate in self._plans.values()],
            bursts=[rate.burst for rate in self._plans.values()],
        )
        return {asks[row["no"] - 1][0]: row for row in rows}

    async def _rehash(self, key_id: UUID, key: str) -> None:
        made_with, hash_ = spelling.hash_now(self._keyring, key)
        await sql.rehash_key(self._db, key_id, hash_=hash_, made_with=made_with)
        log.info("api_key.rehashed", key=key_id, made_with=made_with)


async def _in_time(work: Coroutine[Any, Any, T]) -> T:
    """What `work` brings, or DatabaseAway in time; then it is ended, but not waited for."""
    task = asyncio.create_task(work)
    done, _ = await asyncio.wait({task}, timeout=_PATIENCE_SECONDS)
    if done:
        return task.result()
    task.cancel()
    task.add_done_callback(lambda late: late.cancelled() or late.exception())  # nobody waits for it
    raise DatabaseAway


@lru_cache(maxsize=4096)
def _shown(kind: Kind, value: UUID) -> str:
    return kind.show(value)


def _refusal(key: str | None, access: Access | None) -> InvalidCredentials:
    if key is not None and access is not None:
        return InvalidCredentials.both()
    return InvalidCredentials.unknown_key() if key is not None else InvalidCredentials.token()
