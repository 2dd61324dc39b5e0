"""Idempotency keys: a request that is sent twice has one effect and gets the same response."""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Generic, Protocol, TypeVar
from uuid import UUID

import asyncpg
import msgspec

from tradewind.errors import Conflict, Invalid, Malformed
from tradewind.storage import sql as storage_sql
from tradewind.storage.pool import Database
from tradewind.storage.statements import Part, joined
from tradewind.storage.transaction import Tx
from tradewind.web import sql
from tradewind.web.response import Response

Result = TypeVar("Result")

KEEP_DAYS = 7

_WELL_FORMED = re.compile(r"[\x20-\x7e]{1,255}")


class IdempotencyKeyMissing(Malformed):
    """This request must carry an `Idempotency-Key` header.

    Make a new one, such as a UUID, for each new request, and send the same one again when you
    repeat a request whose response you did not get.
    """

    code = "idempotency_key_missing"
    title = "An Idempotency-Key is required"
    detail = "Send an Idempotency-Key header: a fresh one for each new request."


class IdempotencyKeyMalformed(Malformed):
    """An `Idempotency-Key` has 1 to 255 printable ASCII characters."""

    code = "idempotency_key_malformed"
    title = "The Idempotency-Key is malformed"
    detail = "An Idempotency-Key has 1 to 255 printable ASCII characters."


class IdempotencyKeyReused(Invalid):
    """This `Idempotency-Key` was used before, for a request with another body or path.

    Nothing was done. Send a fresh key for a new request, or exactly the earlier request to get
    its response again. Keys are kept for 7 days.
    """

    code = "idempotency_key_reused"
    title = "The Idempotency-Key was used for another request"
    detail = "This Idempotency-Key was used before, for a different request."


class RequestInFlight(Conflict):
    """A request with the same `Idempotency-Key` is still running. Send it again in a moment."""

    code = "request_in_flight"
    title = "The same request is still running"

    def __init__(self) -> None:
        super().__init__("A request with this Idempotency-Key is still running.", retry_after=1)


class Effect(Protocol):
    """A SQL statement that begins with `WITH`, and its arguments."""

    @property
    def sql(self) -> str: ...

    @property
    def args(self) -> Sequence[object]: ...


class RepeatedRequest(Exception):
    """Ends the repeat of a request, with the response that the request had."""

    def __init__(self, response: Response) -> None:
        super().__init__()
        self.response = response


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """A request that may be repeated: its account, its key, and a fingerprint of its content."""

    account_id: UUID
    route: str
    key: str
    fingerprint: bytes

    @property
    def lock(self) -> int:
        scope = f"{self.account_id}\0{self.route}\0{self.key}".encode()
        return int.from_bytes(hashlib.blake2b(scope, digest_size=8).digest(), signed=True)


def read_key(header: str | None, *, required: bool) -> str | None:
    if header is None:
        if required:
            raise IdempotencyKeyMissing
        return None
    if not _WELL_FORMED.fullmatch(header):
        raise IdempotencyKeyMalformed
    return header


def fingerprint(path: str, body: object) -> bytes:
    """Hash what makes two requests the same: the path and the values of the body."""
    values = msgspec.json.encode(body, order="deterministic")
    return hashlib.sha256(path.encode() + b"\0" + values).digest()


@dataclass(slots=True)
class StoredResponse(Generic[Result]):
    """What a use case stores its result in, so that repeats get the response that shows it.

    Without a key, every request has its effect.
    """

    key: IdempotencyKey | None
    show: Callable[[Result], Response]
    # The result that was shown last, and its response.
    _last: tuple[Result, Response] | None = field(default=None, init=False)

    def response(self, result: Result) -> Response:
        """The response that shows a result. What was stored is not shown and encoded again."""
        if self._last is None or self._last[0] is not result:
            shown = self.show(result)
            shown.body = shown.encoded()
            self._last = result, shown
        return self._last[1]

    async def check(self, db: Database | Tx) -> datetime:
        """Raise what ends a repeat; of a new request, return the database's time."""
        if self.key is None:
            return await storage_sql.now(db)
        stored = await sql.find_response(db, self.key.account_id, self.key.route, self.key.key)
        self._raise_if_stored(stored)
        return stored.now

    async def check_with(
        self, db: Database, query: str, args: Sequence[object]
    ) -> asyncpg.Record | None:
        """Raise what ends a repeat; of a new request, return the row of a query that has an `id`.

        Both are read in one statement.
        """
        if self.key is None:
            return await db.fetchrow(query, *args)
        stored, row = await sql.find_response_with(
            db, self.key.account_id, self.key.route, self.key.key, query, args
        )
        self._raise_if_stored(stored)
        return row

    async def claim(self, tx: Tx) -> None:
        """Raise what ends a repeat. Call it first in the transaction of the effect.

        A repeat that comes while that transaction is open gets RequestInFlight: it does not wait.
        """
        if self.key is None:
            return
        stored = await sql.lock_and_find_response(
            tx, self.key.lock, self.key.account_id, self.key.route, self.key.key
        )
        if stored is None:
            raise RequestInFlight
        self._raise_if_stored(stored)

    def store(self, tx: Tx, result: Result, *, pending: timedelta | None = None) -> None:
        """Store the response with the effect. A `pending` one is about to be replaced.

        It is written, and RequestInFlight raised, at the end of the transaction.
        """
        if self.key is None:
            return
        tx.write_last(
            self._insertion(result, pending),
            # Then the first request has committed after our snapshot.
            conflicts={sql.RESPONSE_KEY: RequestInFlight()},
        )

    async def store_with(
        self, db: Database, result: Result, effect: Effect, *, pending: timedelta
    ) -> None:
        """Store a pending response and run the effect, in one statement."""
        if self.key is None:
            await db.execute(effect.sql, *effect.args)
            return
        statement, args = joined([self._insertion(result, pending)], effect.sql, effect.args)
        try:
            await db.execute(statement, *args)
        except asyncpg.UniqueViolationError as error:
            if error.constraint_name != sql.RESPONSE_KEY:
                raise
        else:
            return
        await self.check(db)
        raise RequestInFlight  # it was released again

    async def replace(self, db: Database, result: Result) -> bool:
        """Replace a pending response; False: it was replaced before."""
        return self.key is None or await sql.replace_response(db, self._row(result))

    def replacement(self, result: Result) -> Part | None:
        """What replaces a pending response, unless it was replaced before, with the effect."""
        if self.key is None:
            return None
        row = self._row(result)
        return lambda after, only_if: sql.update_response(row, after=after, only_if=only_if)

    async def release(self, tx: Tx) -> None:
        """Forget the request: it had no effect after all, and may be sent again."""
        if self.key is not None:
            await sql.delete_response(tx, self.key.account_id, self.key.route, self.key.key)

    def _raise_if_stored(self, stored: sql.ResponseFound) -> None:
        row = stored.row
        if row is None:
            return
        if self.key is None or row.fingerprint != self.key.fingerprint:
            raise IdempotencyKeyReused
        if stored.is_pending:
            raise RequestInFlight
        headers = [(name.encode(), value.encode()) for name, value in row.headers]
        headers.append((b"idempotent-replayed", b"true"))
        raise RepeatedRequest(Response(row.body, row.status, headers, row.content_type.encode()))

    def _insertion(self, result: Result, pending: timedelta | None) -> Part:
        row = self._row(result)
        return lambda after, only_if: sql.insert_response(
            row, pending, after=after, only_if=only_if
        )

    def _row(self, result: Result) -> sql.ResponseRow:
        response = self.response(result)
        if self.key is None or response.status is None:
            raise ValueError("A response that is stored has a key, and names its status.")
        return sql.ResponseRow(
            account_id=self.key.account_id,
            route=self.key.route,
            key=self.key.key,
            fingerprint=self.key.fingerprint,
            status=response.status,
            headers=[(name.decode(), value.decode()) for name, value in response.headers],
            content_type=response.content_type.decode(),
            body=response.encoded(),
        )
