"""Load on a cluster: a client that takes the next API host, orders, and payments by approval."""

import asyncio
import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from kit.server import Person

REQUEST_SECONDS = 6.0


class NextHost(httpx.AsyncBaseTransport):
    """Sends requests to one host, and to the next one after an error, as a load balancer does."""

    def __init__(self, urls: Sequence[str]) -> None:
        self._urls = itertools.cycle([httpx.URL(url) for url in urls])
        self._url = next(self._urls)
        self._inner = httpx.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        used = self._url
        request.url = request.url.copy_with(host=used.host, port=used.port)
        try:
            response = await self._inner.handle_async_request(request)
        except httpx.TransportError:
            self._leave(used)
            raise
        if response.status_code == httpx.codes.SERVICE_UNAVAILABLE:
            self._leave(used)
        return response

    def _leave(self, url: httpx.URL) -> None:
        if self._url is url:  # nobody else has left it yet
            self._url = next(self._urls)

    async def aclose(self) -> None:
        await self._inner.aclose()


def balanced_client(urls: Sequence[str], headers: Mapping[str, str]) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        base_url="http://cluster.example",
        transport=NextHost(urls),
        headers=dict(headers),
        timeout=REQUEST_SECONDS,
    )


class Payments:
    """Requests and approves the payment of orders, again and again until both have succeeded."""

    def __init__(self, urls: Sequence[str], buyer: Person, approver: Person) -> None:
        self._buyer = balanced_client(urls, buyer.headers)
        self._approver = balanced_client(urls, approver.headers)
        self.approved: set[str] = set()
        self.statuses: Counter[int] = Counter()

    async def pay(self, order_id: str) -> None:
        """Pay an order; return when its approval was acknowledged, or is known to have worked."""
        while not await self._step(order_id):  # noqa: ASYNC110 - there is no event for it
            await asyncio.sleep(0.2)

    async def _step(self, order_id: str) -> bool:
        order = await self._call(self._buyer, "GET", f"/v1/orders/{order_id}")
        if order is None or order["status"] == "creating":
            return False
        if order["payment_status"] == "unpaid":
            key = {"idempotency-key": f"pay {order_id}"}
            await self._call(self._buyer, "POST", f"/v1/orders/{order_id}/payment", key)
            return False
        if order["payment_status"] == "pending_approval":
            path = f"/v1/payments/{order['payment']['id']}/approve"
            if await self._call(self._approver, "POST", path) is None:
                return False
            self.approved.add(order_id)
        return True

    async def _call(
        self,
        client: httpx.AsyncClient,
        method: str,
        path: str,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """The body of a success, or None."""
        try:
            answer = await client.request(method, path, headers=headers)
        except httpx.TransportError:
            return None
        self.statuses[answer.status_code] += 1
        return answer.json() if answer.is_success else None

    async def close(self) -> None:
        await self._buyer.aclose()
        await self._approver.aclose()
