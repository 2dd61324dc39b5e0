"""The clients: `Tradewind` for programs that wait, `AsyncTradewind` for those that await."""

from types import TracebackType
from typing import Self

import httpx

from tradewind_sdk.client.generated.async_resources import AsyncResources
from tradewind_sdk.client.generated.resources import Resources
from tradewind_sdk.client.retries import RetryPolicy
from tradewind_sdk.client.transport import (
    TIMEOUT_SECONDS,
    AsyncTransport,
    Transport,
    credentials,
)


class Tradewind(Resources):
    """A client of one Tradewind server. It may be used by several threads; close it at the end.

    Pass an `api_key` or an `access_token`; without either, only calls that need no account work.
    `timeout` is how many seconds each step of a try may take: connecting, sending, and each wait
    for more of the response. `http` is an httpx client of yours, for proxies and certificates; it
    stays open when this client is closed.
    """

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str | None = None,
        access_token: str | None = None,
        timeout: float = TIMEOUT_SECONDS,
        retries: RetryPolicy | None = None,
        http: httpx.Client | None = None,
    ) -> None:
        headers = credentials(api_key, access_token)
        self._owned = httpx.Client(timeout=timeout) if http is None else None
        transport = Transport(
            base_url, headers, retries or RetryPolicy(), http or self._owned or httpx.Client()
        )
        super().__init__(transport)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        if self._owned is not None:
            self._owned.close()


class AsyncTradewind(AsyncResources):
    """The same client for asyncio: `async with AsyncTradewind(…) as client: …`."""

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str | None = None,
        access_token: str | None = None,
        timeout: float = TIMEOUT_SECONDS,
        retries: RetryPolicy | None = None,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        headers = credentials(api_key, access_token)
        self._owned = httpx.AsyncClient(timeout=timeout) if http is None else None
        transport = AsyncTransport(
            base_url, headers, retries or RetryPolicy(), http or self._owned or httpx.AsyncClient()
        )
        super().__init__(transport)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections."""
        if self._owned is not None:
            await self._owned.aclose()
