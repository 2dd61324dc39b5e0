"""Signed calls to the gateway of Taobao Global."""

import hashlib
import hmac
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import urlencode

from tradewind.egress.client import Reply
from tradewind.platforms.access import GetAccess, PlatformAccess
from tradewind.platforms.failures import UnreadableResponse
from tradewind.platforms.paced_client import PacedClient
from tradewind.platforms.taobao import errors
from tradewind.platforms.taobao.values import Json, decode

T = TypeVar("T")
# Returns the time in seconds since 1970, as time.time does.
Now = Callable[[], float]

HEADERS = ("Content-Type: application/x-www-form-urlencoded;charset=utf-8",)


def sign_request(secret: str, path: str, params: Mapping[str, str]) -> str:
    """Sign a request: the API's path, then names and raw values, sorted by name."""
    concatenated = "".join(name + params[name] for name in sorted(params) if name != "sign")
    return _hex(secret, (path + concatenated).encode()).upper()


def sign_notice(secret: str, app_key: str, body: bytes) -> str:
    """Return the `Authorization` header of a notice, computed over its raw bytes."""
    return _hex(secret, app_key.encode() + body)


def _hex(secret: str, message: bytes) -> str:
    return hmac.new(secret.encode(), message, hashlib.sha256).hexdigest()


def decode_response(body: bytes) -> Json:
    response = decode(body)
    if not isinstance(response, dict):
        raise UnreadableResponse("not an object")
    return response


def data_of(response: Json) -> Any:
    return errors.inner(response).get("data")


def form(
    path: str, params: Mapping[str, str], app_key: str, secret: str, token: str, at: float
) -> bytes:
    """Write the signed body of a call, without empty values: they would not be signed."""
    all_params = {
        **params,
        "app_key": app_key,
        "access_token": token,
        "timestamp": str(int(at * 1000)),
        "sign_method": "sha256",
    }
    sent = {name: value for name, value in all_params.items() if value}
    return urlencode({**sent, "sign": sign_request(secret, path, sent)}).encode()


def read_reply(reply: Reply, read: Callable[[Json], T], *, safe: bool) -> T:
    """Read a successful response with `read`; raise the failure of any other."""
    try:
        response = decode_response(reply.body)
        error = errors.error_in(response)
        if error is None:
            return read(response)
    except UnreadableResponse as unreadable:
        message = f"The response cannot be read: {unreadable}."
        raise errors.unknown("unreadable", message, safe=safe) from None
    raise errors.failure(error, safe=safe)


class TaobaoGateway:
    """Makes calls for the buyer whose token `get_access` returns."""

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
        """Call an operation and read the data of its response with `read`.

        The gateway rejects a token before it calls the operation, so the call is sent again, once,
        with a fresh token, even if it is not safe.
        """
        access = await self._get_access(None)
        reply = await self._send(operation, path, params, access, safe=safe)
        if _token_rejected(reply):
            access = await self._get_access(access.access_token)
            reply = await self._send(operation, path, params, access, safe=safe)
        return read_reply(reply, lambda response: read(data_of(response)), safe=safe)

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


def _token_rejected(reply: Reply) -> bool:
    try:
        error = errors.error_in(decode_response(reply.body))
    except UnreadableResponse:
        return False
    return error is not None and error.code in errors.TOKEN_REJECTED
