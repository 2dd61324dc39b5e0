"""Signed calls to the gateway of 1688."""

import hashlib
import hmac
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from tradewind.platforms.access import GetAccess, PlatformAccess
from tradewind.platforms.alibaba import errors, values
from tradewind.platforms.alibaba.errors import TokenRejected
from tradewind.platforms.failures import PlatformFailure, UnreadableResponse
from tradewind.platforms.paced_client import PacedClient

SIGNATURE = "_aop_signature"


def sign_request(secret: str, path: str, params: Mapping[str, str]) -> str:
    """Sign a request; `path` runs from `param2` to the app key, values are not URL-encoded."""
    return _sign(secret, path + _concatenated(params))


def sign_notice(secret: str, params: Mapping[str, str]) -> str:
    """Sign a notice: without a path. No official text says so, so a notice is only a hint."""
    return _sign(secret, _concatenated(params))


def same_signature(signature: str, expected: str) -> bool:
    """Compare two signatures in constant time."""
    return hmac.compare_digest(signature.encode(), expected.encode())


def _concatenated(params: Mapping[str, str]) -> str:
    return "".join(name + params[name] for name in sorted(params) if name != SIGNATURE)


def _sign(secret: str, text: str) -> str:
    return hmac.new(secret.encode(), text.encode(), hashlib.sha1).hexdigest().upper()


_PRODUCTS = "com.alibaba.fenxiao.crossborder"
_TRADE = "com.alibaba.trade"
FORM = ("Content-Type: application/x-www-form-urlencoded; charset=UTF-8",)


@dataclass(frozen=True, slots=True)
class Api:
    """An operation. `safe`: it changes nothing, or nothing more when it is repeated."""

    operation: str
    namespace: str
    name: str
    safe: bool


SEARCH = Api("search", _PRODUCTS, "product.search.keywordQuery", safe=True)
DETAIL = Api("detail", _PRODUCTS, "product.search.queryProductDetail", safe=True)
PREVIEW = Api("preview", _TRADE, "alibaba.createOrder.preview", safe=True)
CREATE = Api("create", _TRADE, "alibaba.trade.createCrossOrder", safe=False)
READ = Api("read", _TRADE, "alibaba.trade.get.buyerView", safe=True)
LIST = Api("list", _TRADE, "alibaba.trade.getBuyerOrderList", safe=True)
CANCEL = Api("cancel", _TRADE, "alibaba.trade.cancel", safe=False)
PAY = Api("pay", _TRADE, "alibaba.trade.pay.protocolPay.preparePay", safe=False)
PAY_LINK = Api("pay_link", _TRADE, "alibaba.alipay.url.get", safe=True)
REFUND_REASONS = Api("refund_reasons", _TRADE, "alibaba.trade.getRefundReasonList", safe=True)
REFUND = Api("refund", _TRADE, "alibaba.trade.createRefund", safe=False)
REFUNDS = Api(
    "refunds", _TRADE, "alibaba.trade.refund.OpQueryBatchRefundByOrderIdAndStatus", safe=True
)


class AlibabaGateway:
    """Calls operations. `now` returns the time in seconds, for the timestamp of each request."""

    def __init__(
        self, client: PacedClient, get_access: GetAccess, now: Callable[[], float]
    ) -> None:
        self.platform = client.platform
        self._client = client
        self._get_access = get_access
        self._now = now

    async def call(self, api: Api, params: Mapping[str, str]) -> dict[str, Any]:
        """Call an operation; raise the failure for an error of the gateway or the operation."""
        response = await self.call_raw(api, params)
        error = errors.operation_error(response)
        if error is not None:
            raise errors.operation_failure(self.platform, error, safe=api.safe)
        return response

    async def call_raw(self, api: Api, params: Mapping[str, str]) -> dict[str, Any]:
        """Call an operation and return its response, also one that reports an error.

        The gateway rejects a token before it calls the operation, so the call is sent again, once,
        with a fresh token, even if it is not safe.
        """
        access = await self._get_access(None)
        try:
            return await self._send(api, params, access)
        except TokenRejected:
            access = await self._get_access(access.access_token)
            return await self._send(api, params, access)

    def unreadable(self, api: Api, error: Exception) -> PlatformFailure:
        return errors.unreadable(self.platform, str(error), safe=api.safe)

    async def _send(
        self, api: Api, params: Mapping[str, str], access: PlatformAccess
    ) -> dict[str, Any]:
        path = f"param2/1/{api.namespace}/{api.name}/{access.app_key}"

        def prepare() -> tuple[bytes, Sequence[str]]:
            form = {
                **params,
                "_aop_timestamp": str(int(self._now() * 1000)),
                "access_token": access.access_token,
            }
            form[SIGNATURE] = sign_request(access.app_secret, path, form)
            return urlencode(form).encode(), FORM

        reply = await self._client.post(api.operation, f"/openapi/{path}", prepare, safe=api.safe)
        try:
            response = values.decode(reply.body)
        except UnreadableResponse as unreadable:
            raise self.unreadable(api, unreadable) from None
        error = errors.gateway_error(response)
        if error is not None:
            raise errors.gateway_failure(self.platform, error, safe=api.safe)
        return response
