"""Signed calls to the gateway of 1688, and the errors it answers with."""

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
    """`path` runs from `param2` up to the app's key; the values are raw, not URL-encoded."""
    return _sign(secret, path + _listed(params))


def sign_push(secret: str, params: Mapping[str, str]) -> str:
    """A push is signed without a path. No official text says so, hence a push is only a hint."""
    return _sign(secret, _listed(params))


def same_signature(given: str, expected: str) -> bool:
    """Compare in a time that does not tell how much of it was right."""
    return hmac.compare_digest(given.encode(), expected.encode())


def _listed(params: Mapping[str, str]) -> str:
    return "".join(name + params[name] for name in sorted(params) if name != SIGNATURE)


def _sign(secret: str, text: str) -> str:
    return hmac.new(secret.encode(), text.encode(), hashlib.sha1).hexdigest().upper()


_PRODUCTS = "com.alibaba.fenxiao.crossborder"
_TRADE = "com.alibaba.trade"
FORM = ("Content-Type: application/x-www-form-urlencoded; charset=UTF-8",)


@dataclass(frozen=True, slots=True)
class Api:
    """One operation. `safe`: it changes nothing, or nothing more when it is repeated."""

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
    """Calls operations. `now` is the time in seconds, for the stamp on each request."""

    def __init__(
        self, client: PacedClient, get_access: GetAccess, now: Callable[[], float]
    ) -> None:
        self.platform = client.platform
        # What pushes are verified with: the secret of the last call, None before the first.
        self._client = client
        self._get_access = get_access
        self._now = now

    async def ask(self, api: Api, params: Mapping[str, str]) -> dict[str, Any]:
        """The answer, or the failure that the gateway's refusal or the operation's own means."""
        answer = await self.hear(api, params)
        refusal = errors.of_operation(answer)
        if refusal is not None:
            raise errors.operation_failure(self.platform, refusal, safe=api.safe)
        return answer

    async def hear(self, api: Api, params: Mapping[str, str]) -> dict[str, Any]:
        """The answer as it is, also one by which the operation itself says no.

        A token is refused before anything is done, so even what must not be repeated is sent
        again, once, with a fresh one.
        """
        access = await self._get_access(None)
        try:
            return await self._send(api, params, access)
        except TokenRejected:
            access = await self._get_access(access.access_token)
            return await self._send(api, params, access)

    def unreadable(self, api: Api, why: Exception) -> PlatformFailure:
        return errors.unreadable(self.platform, str(why), safe=api.safe)

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
            answer = values.decode(reply.body)
        except UnreadableResponse as why:
            raise self.unreadable(api, why) from None
        refusal = errors.at_gateway(answer)
        if refusal is not None:
            raise errors.gateway_failure(self.platform, refusal, safe=api.safe)
        return answer
