"""Idempotency keys: a request sent twice has one effect and gets the same answer."""

import hashlib
import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec

from tradewind.errors import Conflict, Invalid, Malformed
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx
from tradewind.web import sql
from tradewind.web.response import Response, encode

KEEP_DAYS = 7
# How long a first answer waits for the one that replaces it; a process that died replaces none.
PENDING = timedelta(seconds=10)

_WELL_FORMED = re.compile(r"[\x20-\x7e]{1,255}")


class IdempotencyKeyMissing(Malformed):
    """This request must carry an `Idempotency-Key` header.

    Make a new one, such as a UUID, for each thing you want to happen, and send the same one
    again when you repeat a request whose answer you did not get.
    """

    code = "idempotency_key_missing"
    title = "An Idempotency-Key is required"

    def __init__(self) -> None:
        super().__init__("Send an Idempotency-Key header: a fresh one for each new request.")


class IdempotencyKeyMalformed(Malformed):
    """An `Idempotency-Key` has 1 to 255 printable ASCII characters."""

    code = "idempotency_key_malformed"
    title = "The Idempotency-Key is malformed"

    def __init__(self) -> None:
        super().__init__("An Idempotency-Key has 1 to 255 printable ASCII characters.")


class IdempotencyKeyReused(Invalid):
    """This `Idempotency-Key` was used before, for a request with another body or path.

    Nothing was done. Send a fresh key for a new request, or exactly the earlier request to have
    its answer again. Keys are kept for 7 days.
    """

    code = "idempotency_key_reused"
    title = "The Idempotency-Key was used for another request"

    def __init__(self) -> None:
        super().__init__("This Idempotency-Key was used before, for a different request.")


class RequestInFlight(Conflict):
    """A request with the same `Idempotency-Key` is being worked on. Ask again in a moment."""

    code = "request_in_flight"
    title = "The same request is still being worked on"

    def __init__(self) -> None:
        super().__init__(
            "A request with this Idempotency-Key is still being worked on.", retry_after=1
        )


class Replay(Exception):
    """Ends a request that was answered before, with that same answer."""

    def __init__(self, answer: Response) -> None:
        super().__init__()
        self.answer = answer


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """A request that may come again: whose it is, which one, and what exactly it asked."""

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


def fingerprint(path: str, body: Any) -> bytes:
    """What makes two requests the same: the path and the values of the body, not its spelling."""
    values = msgspec.json.encode(body, order="deterministic")
    return hashlib.sha256(path.encode() + b"\0" + values).digest()


async def claim(tx: Tx, once: IdempotencyKey | None) -> None:
    """Go on only if this request is new; else end it with the answer that it had.

    Call it first in the transaction of the effect. Whoever comes while that transaction is open
    is told to come back, rather than kept waiting.
    """
    if once is None:
        return
    if not await sql.try_lock(tx, once.lock):
        raise RequestInFlight
    stored = await sql.find_answer(tx, once.account_id, once.route, once.key)
    if stored is None:
        return
    if stored["fingerprint"] != once.fingerprint:
        raise IdempotencyKeyReused
    if stored["pending"]:
        raise RequestInFlight
    headers = [(name.encode(), value.encode()) for name, value in stored["headers"]]
    headers.append((b"idempotent-replayed", b"true"))
    raise Replay(
        Response(stored["body"], stored["status"], headers, stored["content_type"].encode())
    )


async def keep(
    tx: Tx, once: IdempotencyKey | None, answer: Response, *, pending: timedelta | None = None
) -> Response:
    """Store the answer with the effect: what a repeat gets if we die before we reply.

    A `pending` one is about to be replaced: whoever repeats the request before that, or before so
    much time has passed, is told to come back.
    """
    if once is not None:
        await sql.insert_answer(
            tx, once.account_id, once.route, once.key, pending=pending, **_stored(once, answer)
        )
    return answer


async def replace(db: Database, once: IdempotencyKey | None, answer: Response) -> Response:
    """Store a later, fuller answer before we reply with it."""
    if once is not None:
        await sql.update_answer(db, once.account_id, once.route, once.key, **_stored(once, answer))
    return answer


async def release(tx: Tx, once: IdempotencyKey | None) -> None:
    """Forget the request: it had no effect after all, and may be sent again."""
    if once is not None:
        await sql.delete_answer(tx, once.account_id, once.route, once.key)


def _stored(once: IdempotencyKey, answer: Response) -> dict[str, Any]:
    if answer.status is None:
        raise ValueError("An answer that is kept names its status.")
    return {
        "fingerprint": once.fingerprint,
        "status": answer.status,
        "headers": encode([(n.decode(), v.decode()) for n, v in answer.headers]).decode(),
        "content_type": answer.content_type.decode(),
        "body": answer.encoded(),
    }
