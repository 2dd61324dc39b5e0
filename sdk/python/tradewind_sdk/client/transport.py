"""Sends calls over httpx: credentials, timeouts, retries, and errors as exceptions."""

import asyncio
import json
import logging
import random
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

import httpx

from tradewind_sdk.client.call import Call
from tradewind_sdk.client.errors import (
    ApiConnectionError,
    ApiTimeout,
    InvalidResponse,
    RateLimited,
    ServerError,
    TradewindError,
    error_of,
)
from tradewind_sdk.client.retries import RetryPolicy
from tradewind_sdk.client.sse import ServerSentEvent
from tradewind_sdk.client.stream_position import StreamPosition

VERSION = "0.1.0"
TIMEOUT_SECONDS = 30.0
_FIRST_ERROR = 300
# A stream is quiet for 15 seconds at most: then the server sends a comment.
_STREAM_TIMEOUT = httpx.Timeout(TIMEOUT_SECONDS, read=30.0)
# Before any of these, no byte of the request was sent.
_BEFORE_SENDING = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)
_chance = random.SystemRandom().random
logger = logging.getLogger("tradewind_sdk.client")


def credentials(api_key: str | None, access_token: str | None) -> dict[str, str]:
    """The headers that let the caller in; none for calls that need no account."""
    for name, value in (("api_key", api_key), ("access_token", access_token)):
        if value is not None and not value.strip():
            raise ValueError(f"{name} is empty.")
    headers = {}
    if api_key is not None:
        headers["x-api-key"] = api_key
    if access_token is not None:
        headers["Authorization"] = f"Bearer {access_token}"
    return headers


class _Requests:
    """Makes requests of calls, and judges how they ended."""

    def __init__(self, base_url: str, headers: Mapping[str, str], policy: RetryPolicy) -> None:
        if not base_url.startswith(("http://", "https://")):
            raise ValueError("base_url has to begin with https:// or http://.")
        self._base_url = base_url.rstrip("/")
        self._headers = {"User-Agent": f"tradewind-sdk-python/{VERSION}", **headers}
        self._policy = policy

    def request(self, client: httpx.Client | httpx.AsyncClient, call: Call) -> httpx.Request:
        headers = {**self._headers, **call.headers}
        if call.content is not None:
            headers.setdefault("Content-Type", "application/json")
        options: dict[str, Any] = {}
        if headers.get("Accept") == "text/event-stream":
            options["timeout"] = _STREAM_TIMEOUT
        return client.build_request(
            call.method,
            self._base_url + call.path,
            params=list(call.query) or None,
            headers=headers,
            content=call.content,
            **options,
        )

    def delay_after_response(
        self, call: Call, retry: int, response: httpx.Response
    ) -> float | None:
        return self._policy.delay_after_response(
            call, retry, response.status_code, response.headers, response.content, _chance()
        )

    def delay_after_failure(
        self, call: Call, retry: int, error: httpx.TransportError
    ) -> float | None:
        sent = not isinstance(error, _BEFORE_SENDING)
        return self._policy.delay_after_failure(
            call, retry, may_have_been_sent=sent, chance=_chance()
        )


def _failure(error: httpx.TransportError) -> ApiConnectionError:
    kind = ApiTimeout if isinstance(error, httpx.TimeoutException) else ApiConnectionError
    message = str(error) or type(error).__name__
    return kind(message, may_have_been_sent=not isinstance(error, _BEFORE_SENDING))


def _error(response: httpx.Response) -> TradewindError:
    return error_of(response.status_code, response.headers, response.content)


def _parsed(response: httpx.Response) -> Any:
    if not response.content:
        return None
    try:
        return json.loads(response.content)
    except (ValueError, RecursionError):
        raise InvalidResponse(
            f"The response with status {response.status_code} is not JSON."
        ) from None


class Transport(_Requests):
    """Sends calls, and waits for their responses."""

    def __init__(
        self, base_url: str, headers: Mapping[str, str], policy: RetryPolicy, http: httpx.Client
    ) -> None:
        super().__init__(base_url, headers, policy)
        self._http = http

    def json(self, call: Call) -> Any:
        """The parsed response; None if it has no body."""
        return _parsed(self._open(call, read=True))

    def bytes(self, call: Call) -> Iterator[bytes]:
        """The body as it comes. Close the iterator to end it early."""
        response = self._open(call)
        try:
            yield from response.iter_bytes()
        except httpx.TransportError as error:
            raise _failure(error) from error
        finally:
            response.close()

    def events(self, call: Call) -> Iterator[ServerSentEvent]:
        """The events of a stream; when it is lost, it is resumed after the last event.

        It ends with an error: of the API, as when the credential has ended, or when the server
        was away for `longest_wait`. Close the iterator to end it.
        """
        position = StreamPosition(self._policy, call)
        while True:
            try:
                response = self._open(position.call)
            except (ApiConnectionError, RateLimited, ServerError) as error:
                if not position.may_resume(time.monotonic()):
                    raise
                logger.info("The stream of events cannot be resumed yet: %s", error)
                time.sleep(position.delay(_chance()))
                continue
            try:
                for chunk in response.iter_bytes():
                    yield from position.feed(chunk)
            except httpx.TransportError as error:
                if not self._policy.max_retries:
                    raise _failure(error) from error
            finally:
                response.close()
            if not self._policy.max_retries:
                return
            position.lose(time.monotonic())
            time.sleep(position.delay(_chance()))

    def _open(self, call: Call, *, read: bool = False) -> httpx.Response:
        """A response that is a success, with the body unread unless `read`."""
        retry = 0
        while True:
            try:
                response = self._http.send(self.request(self._http, call), stream=True)
                if response.status_code < _FIRST_ERROR and not read:
                    return response
                try:
                    response.read()
                finally:
                    response.close()
                if response.status_code < _FIRST_ERROR:
                    return response
            except httpx.TransportError as error:
                delay = self.delay_after_failure(call, retry, error)
                if delay is None:
                    raise _failure(error) from error
            else:
                delay = self.delay_after_response(call, retry, response)
                if delay is None:
                    raise _error(response)
            time.sleep(delay)
            retry += 1


class AsyncTransport(_Requests):
    """Sends calls, and awaits their responses."""

    def __init__(
        self,
        base_url: str,
        headers: Mapping[str, str],
        policy: RetryPolicy,
        http: httpx.AsyncClient,
    ) -> None:
        super().__init__(base_url, headers, policy)
        self._http = http

    async def json(self, call: Call) -> Any:
        """The parsed response; None if it has no body."""
        return _parsed(await self._open(call, read=True))

    async def bytes(self, call: Call) -> AsyncIterator[bytes]:
        """The body as it comes. Close the iterator to end it early."""
        response = await self._open(call)
        try:
            async for chunk in response.aiter_bytes():
                yield chunk
        except httpx.TransportError as error:
            raise _failure(error) from error
        finally:
            await response.aclose()

    async def events(self, call: Call) -> AsyncIterator[ServerSentEvent]:
        """The events of a stream; when it is lost, it is resumed after the last event.

        It ends with an error: of the API, as when the credential has ended, or when the server
        was away for `longest_wait`. Close the iterator to end it.
        """
        position = StreamPosition(self._policy, call)
        while True:
            try:
                response = await self._open(position.call)
            except (ApiConnectionError, RateLimited, ServerError) as error:
                if not position.may_resume(time.monotonic()):
                    raise
                logger.info("The stream of events cannot be resumed yet: %s", error)
                await asyncio.sleep(position.delay(_chance()))
                continue
            try:
                async for chunk in response.aiter_bytes():
                    for event in position.feed(chunk):
                        yield event
            except httpx.TransportError as error:
                if not self._policy.max_retries:
                    raise _failure(error) from error
            finally:
                await response.aclose()
            if not self._policy.max_retries:
                return
            position.lose(time.monotonic())
            await asyncio.sleep(position.delay(_chance()))

    async def _open(self, call: Call, *, read: bool = False) -> httpx.Response:
        """A response that is a success, with the body unread unless `read`."""
        retry = 0
        while True:
            try:
                response = await self._http.send(self.request(self._http, call), stream=True)
                if response.status_code < _FIRST_ERROR and not read:
                    return response
                try:
                    await response.aread()
                finally:
                    await response.aclose()
                if response.status_code < _FIRST_ERROR:
                    return response
            except httpx.TransportError as error:
                delay = self.delay_after_failure(call, retry, error)
                if delay is None:
                    raise _failure(error) from error
            else:
                delay = self.delay_after_response(call, retry, response)
                if delay is None:
                    raise _error(response)
            await asyncio.sleep(delay)
            retry += 1
