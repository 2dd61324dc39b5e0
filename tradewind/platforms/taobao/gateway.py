"""Signed calls to the gateway of Taobao Global, and their responses."""

import asyncio
import hashlib
import hmac
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import urlencode

from tradewind.egress.client import Reply
from tradewind.platforms.access import GetAccess, PlatformAccess
from tradewind.platforms.failures import UnreadableResponse
from tradewind.platforms.paced_client import PacedClient
from tradewind.platforms.taobao import errors
from tradewind.platforms.taobao.values import Json, decode


def sign_request(secret: str, path: str, params: Mapping[str, str]) -> str:
    """The `sign` of a call: over the API's path, then names and raw values, sorted by name."""
    listed = "".join(name + params[name] for name in sorted(params) if name != "sign")
    return _hex(secret, (path + listed).encode()).upper()


def sign_push(secret: str, app_key: str, body: bytes) -> str:
    """The `Authorization` header of a push, over the bytes exactly as they came."""
    return _hex(secret, app_key.encode() + body)


def _hex(secret: str, message: bytes) -> str:
    return hmac.new(secret.encode(), message, hashlib.sha256).hexdigest()


def decode_response(body: bytes) -> Json:
    answer = decode(body)
    if not isinstance(answer, dict):
        raise UnreadableResponse("not an object")
    return answer


def data_of(answer: Json) -> Any:
    return errors.inner(answer).get("data")


T = TypeVar("T")
# Seconds since 1970, as time.time tells them.
Now = Callable[[], float]

HEADERS = ("Content-Type: application/x-www-form-urlencoded;charset=utf-8",)
_AT_ONCE = 4


def form(
    path: str, params: Mapping[str, str], app_key: str, secret: str, token: str, at: float
) -> bytes:
    """The signed body of a call; what is empty is left out, since it would not be signed."""
    everything = {
        **params,
        "app_key": app_key,
        "access_token": token,
        "timestamp": str(int(at * 1000)),
        "sign_method": "sha256",
    }
    sent = {name: value for name, value in everything.items() if value}
    return urlencode({**sent, "sign": sign_request(secret, path, sent)}).encode()


def understood(reply: Reply, read: Callable[[Json], T], *, safe: bool) -> T:
    """What `read` makes of a good answer; the failure that any other answer stands for."""
    try:
        answer = decode_response(reply.body)
        refused = errors.error_in(answer)
        if refused is None:
            return read(answer)
    except UnreadableResponse as unreadable:
        message = f"The answer cannot be read: {unreadable}."
        raise errors.unknown("unreadable", message, safe=safe) from None
    raise errors.failure(refused, safe=safe)


class TaobaoGateway:
    """Calls for the buyer whose token `get_access` hands out."""

    def __init__(self, client: PacedClient, get_access: GetAccess, now: Now) -> None:
        self._client = client
        self._get_access = get_access
        self._now = now

    async def call(
        self,
        operation: str,
        path: str,
        params: Mapping[str, str],
        read: Callable[[Any], T],
        *,
        safe: bool,
    ) -> T:
        """What `read` makes of the answer's data.

        A token that is refused is replaced once, and the call sent again: the gateway refuses
        before anything is done, so that is right for a call that changes something, too.
        """
        access = await self._get_access(None)
        reply = await self._send(operation, path, params, access, safe=safe)
        if _token_refused(reply):
            access = await self._get_access(access.access_token)
            reply = await self._send(operation, path, params, access, safe=safe)
        return understood(reply, lambda answer: read(data_of(answer)), safe=safe)

    async def _send(
        self,
        operation: str,
        path: str,
        params: Mapping[str, str],
        access: PlatformAccess,
        *,
        safe: bool,
    ) -> Reply:
        def prepare() -> tuple[bytes, Sequence[str]]:
            key, secret, token = access.app_key, access.app_secret, access.access_token
            return form(path, params, key, secret, token, self._now()), HEADERS

        return await self._client.post(operation, path, prepare, safe=safe)


def _token_refused(reply: Reply) -> bool:
    try:
        refused = errors.error_in(decode_response(reply.body))
    except UnreadableResponse:
        return False
    return refused is not None and refused.code in errors.TOKEN_REFUSED


async def together(jobs: Iterable[Callable[[], Awaitable[T]]]) -> list[T]:
    """Do all of them, a few at a time; the first that fails ends the others."""
    turns = asyncio.Semaphore(_AT_ONCE)

    async def in_turn(job: Callable[[], Awaitable[T]]) -> T:
        async with turns:
            return await job()

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(in_turn(job)) for job in jobs]
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return [task.result() for task in tasks]
