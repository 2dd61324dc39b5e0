"""Signed calls to the gateway of 1688."""

import hmac
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from tradewind.platforms.access import GetAccess, PlatformAccess, with_access
from tradewind.platforms.alibaba import errors
from tradewind.platforms.alibaba.values import Json, decode
from tradewind.platforms.paced_client import FORM, Api, PacedClient, Prepare, encode_form

T = TypeVar("T")

SIGNATURE = "_aop_signature"


def sign_request(secret: str, path: str, params: Mapping[str, str]) -> str:
    """Sign a request; `path` runs from `param2` to the app key, values are not URL-encoded."""
    concatenated = "".join(name + params[name] for name in sorted(params) if name != SIGNATURE)
    return hmac.digest(secret.encode(), (path + concatenated).encode(), "sha1").hex().upper()


def sign_notice(secret: str, params: Mapping[str, str]) -> str:
    """Sign a notice: without a path. No official text says so, so a notice is only a hint."""
    return sign_request(secret, "", params)


_PRODUCTS = "com.alibaba.fenxiao.crossborder"
_TRADE = "com.alibaba.trade"

SEARCH = Api("search", f"{_PRODUCTS}/product.search.keywordQuery")
UPLOAD_IMAGE = Api("upload_image", f"{_PRODUCTS}/product.image.upload")
IMAGE_SEARCH = Api("image_search", f"{_PRODUCTS}/product.search.imageQuery")
DETAIL = Api("detail", f"{_PRODUCTS}/product.search.queryProductDetail")
PREVIEW = Api("preview", f"{_TRADE}/alibaba.createOrder.preview")
CREATE = Api("create", f"{_TRADE}/alibaba.trade.createCrossOrder", safe=False)
READ = Api("read", f"{_TRADE}/alibaba.trade.get.buyerView")
LIST = Api("list", f"{_TRADE}/alibaba.trade.getBuyerOrderList")
CANCEL = Api("cancel", f"{_TRADE}/alibaba.trade.cancel", safe=False)
PAY = Api("pay", f"{_TRADE}/alibaba.trade.pay.protocolPay.preparePay", safe=False)
PAY_LINK = Api("pay_link", f"{_TRADE}/alibaba.alipay.url.get")
REFUND_REASONS = Api("refund_reasons", f"{_TRADE}/alibaba.trade.getRefundReasonList")
REFUND = Api("refund", f"{_TRADE}/alibaba.trade.createRefund", safe=False)
REFUNDS = Api("refunds", f"{_TRADE}/alibaba.trade.refund.OpQueryBatchRefundByOrderIdAndStatus")


class AlibabaGateway:
    """Calls operations. `now` returns the time in seconds, for the timestamp of each request."""

    def __init__(
        self, client: PacedClient, get_access: GetAccess, now: Callable[[], float]
    ) -> None:
        self.platform = client.platform
        self._client = client
        self._get_access = get_access
        self._now = now

    async def call(self, api: Api, params: Mapping[str, str], read: Callable[[Json], T]) -> T:
        """Call an operation and read its response; an error of the operation is a failure."""

        def read_success(response: Json) -> T:
            error = errors.operation_error(response)
            if error is not None:
                raise errors.operation_failure(self.platform, error, safe=api.safe)
            return read(response)

        return await self.call_raw(api, params, read_success)

    async def call_raw(self, api: Api, params: Mapping[str, str], read: Callable[[Json], T]) -> T:
        """Call an operation and read its response, also one that reports an error."""
        send = partial(self._send, api, params, read)
        return await with_access(self._get_access, send)

    async def _send(
        self,
        api: Api,
        params: Mapping[str, str],
        read: Callable[[Json], T],
        access: PlatformAccess,
    ) -> T:
        path = f"param2/1/{api.path}/{access.app_key}"

        def prepare() -> tuple[bytes, Sequence[str]]:
            form = {
                **params,
                "_aop_timestamp": str(int(self._now() * 1000)),
                "access_token": access.access_token,
            }
            form[SIGNATURE] = sign_request(access.app_secret, path, form)
            return encode_form(form), FORM

        return await send(self._client, api, path, prepare, read)


async def send(
    client: PacedClient, api: Api, path: str, prepare: Prepare, read: Callable[[Json], T]
) -> T:
    """Send a request and read its response; an error of the gateway is a failure."""

    def read_body(body: bytes) -> T:
        response = decode(body)
        error = errors.gateway_error(response)
        if error is not None:
            raise errors.gateway_failure(client.platform, error, safe=api.safe)
        return read(response)

    return await client.call(api, prepare, read_body, path=f"/openapi/{path}")
