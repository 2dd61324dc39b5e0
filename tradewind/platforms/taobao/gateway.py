"""Signed calls to the gateway of Taobao Global."""

import hashlib
import hmac
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from tradewind.platforms.access import GetAccess, PlatformAccess, with_access
from tradewind.platforms.failures import UnreadableResponse
from tradewind.platforms.paced_client import FORM, Api, PacedClient, encode_form
from tradewind.platforms.taobao import errors
from tradewind.platforms.taobao.values import Json, decode

T = TypeVar("T")
# Returns the time in seconds since 1970, as time.time does.
Now = Callable[[], float]

SEARCH = Api("search", "/traffic/item/search")
UPLOAD_IMAGE = Api("upload_image", "/upload/image")
IMAGE_SEARCH = Api("image_search", "/traffic/item/imgsearch")
DETAIL = Api("detail", "/traffic/item/get")
LISTING = Api("listing", "/product/get")
PREVIEW = Api("preview", "/purchase/order/render")
CREATE = Api("create", "/purchase/order/create", safe=False)
READ = Api("read", "/purchase/orders/query")
CANCEL = Api("cancel", "/purchase/order/asyn/cancel", safe=False)
PAY = Api("pay", "/purchase/order/batch/pay", safe=False)
REFUNDS = Api("refunds", "/order/refund/query")


def sign_request(secret: str, path: str, params: Mapping[str, str]) -> str:
    """Sign a request: the API's path, then names and raw values, sorted by name."""
    concatenated = "".join(name + params[name] for name in sorted(params) if name != "sign")
    return _hex(secret, (path + concatenated).encode()).upper()


def sign_notice(secret: str, app_key: str, body: bytes) -> str:
    """Return the `Authorization` header of a notice, computed over its raw bytes."""
    return _hex(secret, app_key.encode() + body)


def _hex(secret: str, message: bytes) -> str:
    return hmac.new(secret.encode(), message, hashlib.sha256).hexdigest()


def form(path: str, params: Mapping[str, str], access: PlatformAccess, at: float) -> bytes:
    """Write the signed body of a call, without empty values: they would not be signed."""
    all_params = {
        **params,
        "app_key": access.app_key,
        "access_token": access.access_token,
        "timestamp": str(int(at * 1000)),
        "sign_method": "sha256",
    }
    sent = {name: value for name, value in all_params.items() if value}
    return encode_form({**sent, "sign": sign_request(access.app_secret, path, sent)})


def read_response(body: bytes, read: Callable[[Json], T], *, safe: bool) -> T:
    """Read a successful response with `read`; raise the failure of any other."""
    response = decode(body)
    if not isinstance(response, dict):
        raise UnreadableResponse("not an object")
    error = errors.error_in(response)
    if error is not None:
        raise errors.failure(error, safe=safe)
    return read(response)


class TaobaoGateway:
    """Makes calls for the buyer whose token `get_access` returns."""

    def __init__(self, client: PacedClient, get_access: GetAccess, now: Now) -> None:
        self._client = client
        self._get_access = get_access
        self._now = now

    async def call(self, api: Api, params: Mapping[str, str], read: Callable[[object], T]) -> T:
        """Call an operation and read the data of its response with `read`."""

        def read_body(body: bytes) -> T:
            return read_response(
                body, lambda response: read(errors.inner(response).get("data")), safe=api.safe
            )

        async def send(access: PlatformAccess) -> T:
            def prepare() -> tuple[bytes, Sequence[str]]:
                return form(api.path, params, access, self._now()), FORM

            return await self._client.call(api, prepare, read_body)

        return await with_access(self._get_access, send)
