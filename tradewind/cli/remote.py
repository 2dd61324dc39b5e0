"""The HTTP side of client commands: calls to a server, its stream of events, and local posts."""

import ssl
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Self

import httpx
import msgspec

from tradewind.cli import credentials
from tradewind.cli.credentials import SavedLogin
from tradewind.cli.sse import ServerSentEvent, parse
from tradewind.errors import TradewindError

_TIMEOUT = httpx.Timeout(30, connect=10)
# A heartbeat comes every 15 seconds: after two that did not, the connection is lost.
_SILENCE_SECONDS = 35
_FORWARD_SECONDS = 10
_LONGEST_LINE = 4 * 1024 * 1024
_MOST_SHOWN = 4096
_UNAUTHENTICATED = 401

JsonObject = dict[str, Any]


class ServerUnreachable(TradewindError):
    """No response came from the server."""


class RequestFailed(TradewindError):
    """The server answered with an error; `code` is that of its problem document."""

    def __init__(self, status: int, code: str, detail: str, retry_after: float | None) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class LocalAnswer:
    """How a local endpoint answered: its status and the beginning of its body, or the failure."""

    status: int | None
    reason: str
    body: str
    duration_ms: int

    @property
    def accepted(self) -> bool:
        return self.status is not None and 200 <= self.status < 300  # noqa: PLR2004


class Remote:
    """Calls a server with the credentials of a login, and renews its tokens when they expire."""

    def __init__(self, login: SavedLogin) -> None:
        self.login = login
        # Reading all certificates takes long: no server on this machine needs them.
        self._tls: ssl.SSLContext | bool = login.url.startswith("https:")
        self._client = httpx.Client(base_url=login.url, timeout=_TIMEOUT, verify=self._tls)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def get(self, path: str, params: Mapping[str, Any] | None = None) -> JsonObject:
        return self.call("GET", path, params=params)

    def post(self, path: str, body: object | None = None, **options: Any) -> JsonObject:
        return self.call("POST", path, **({} if body is None else {"json": body}), **options)

    def call(self, method: str, path: str, **options: Any) -> JsonObject:
        """The body of a successful response; an empty one is an empty object."""
        headers = dict(options.pop("headers", None) or {})
        try:
            response = self._send(method, path, headers, options)
            if response.status_code == _UNAUTHENTICATED and self._renew():
                response = self._send(method, path, headers, options)
        except httpx.HTTPError as error:
            raise _unreachable(self.login.url, error) from None
        if not response.is_success:
            raise _failed(response)
        body: JsonObject = _json(response.content) if response.content else {}
        return body

    def items(
        self, path: str, params: Mapping[str, Any] | None = None, *, limit: int
    ) -> Iterator[JsonObject]:
        """The items of a list, page by page, up to `limit`."""
        query = {**(params or {}), "limit": min(limit, 100)}
        while limit > 0:
            page = self.get(path, query)
            yield from page["items"][:limit]
            limit -= len(page["items"])
            if not page["has_more"]:
                return
            query["cursor"] = page["next_cursor"]

    @asynccontextmanager
    async def stream(
        self, params: Mapping[str, Any], last_event_id: str | None
    ) -> AsyncIterator[AsyncIterator[ServerSentEvent]]:
        """The account's stream of events: blocks with and without an event.

        ServerUnreachable when it cannot be opened or breaks off, RequestFailed when it is refused.
        """
        headers = {**_authorization(self.login), "accept": "text/event-stream"}
        if last_event_id is not None:
            headers["last-event-id"] = last_event_id
        timeout = httpx.Timeout(_SILENCE_SECONDS, connect=10)
        client = httpx.AsyncClient(base_url=self.login.url, timeout=timeout, verify=self._tls)
        try:
            async with (
                client,
                client.stream("GET", "/v1/events/stream", params=params, headers=headers) as answer,
            ):
                if not answer.is_success:
                    await answer.aread()
                    raise _failed(answer)
                yield parse(answer.aiter_bytes(), longest=_LONGEST_LINE)
        except httpx.HTTPError as error:
            raise _unreachable(self.login.url, error) from None

    def renew(self) -> bool:
        """Replace expired tokens by new ones; False if the login has none."""
        try:
            return self._renew()
        except httpx.HTTPError as error:
            raise _unreachable(self.login.url, error) from None

    def _renew(self) -> bool:
        if self.login.refresh_token is None:
            return False
        body = {"refresh_token": self.login.refresh_token}
        response = self._client.post("/v1/auth/refresh", json=body)
        if not response.is_success:
            return False
        renewed = replace_tokens(self.login, _json(response.content))
        credentials.replace_login(self.login, renewed)
        self.login = renewed
        return True

    def _send(
        self, method: str, path: str, headers: dict[str, str], options: dict[str, Any]
    ) -> httpx.Response:
        credential = _authorization(self.login)
        return self._client.request(method, path, headers={**headers, **credential}, **options)


class LocalEndpoint:
    """A URL on this machine or network, to which events are posted: once each, without retries."""

    def __init__(self, url: str) -> None:
        self.url = url
        # A new connection for each post: one that was kept may be closed just when it is used,
        # and then nobody knows whether the post arrived.
        self._client = httpx.AsyncClient(
            timeout=_FORWARD_SECONDS,
            verify=url.startswith("https:"),
            trust_env=False,
            limits=httpx.Limits(max_keepalive_connections=0),
        )

    async def post(self, headers: Mapping[str, str], body: bytes) -> LocalAnswer:
        started = perf_counter()
        try:
            response = await self._client.post(self.url, headers=dict(headers), content=body)
        except httpx.HTTPError as error:
            return LocalAnswer(None, _reason(error), "", _milliseconds(started))
        shown = response.content[:_MOST_SHOWN].decode(errors="replace")
        return LocalAnswer(
            response.status_code, response.reason_phrase, shown, _milliseconds(started)
        )

    async def close(self) -> None:
        await self._client.aclose()


def replace_tokens(login: SavedLogin, tokens: JsonObject) -> SavedLogin:
    return msgspec.structs.replace(
        login, access_token=tokens["access_token"], refresh_token=tokens["refresh_token"]
    )


def _authorization(login: SavedLogin) -> dict[str, str]:
    if login.api_key is not None:
        return {"x-api-key": login.api_key}
    if login.access_token is not None:
        return {"authorization": f"Bearer {login.access_token}"}
    return {}


def _json(content: bytes) -> JsonObject:
    try:
        body: JsonObject = msgspec.json.decode(content, type=dict[str, Any])
    except msgspec.MsgspecError:
        raise ServerUnreachable(
            "The response is not what Tradewind sends; is this the right URL?"
        ) from None
    return body


def _failed(response: httpx.Response) -> RequestFailed:
    """The sentence of a problem document, with one for each wrong field."""
    try:
        problem = msgspec.json.decode(response.content, type=dict[str, Any])
        detail = str(problem["detail"])
        code = str(problem["code"])
        errors = problem.get("errors") or []
        if len(errors) > 1:
            detail = " ".join(f"{error['pointer']}: {error['message']}" for error in errors)
    except (msgspec.MsgspecError, KeyError, TypeError):
        code = "unknown"
        detail = f"The server answered {response.status_code} {response.reason_phrase}."
        if "location" in response.headers:
            detail += f" It redirects to {response.headers['location']}; use that URL."
    waiting = response.headers.get("retry-after", "")
    return RequestFailed(
        response.status_code, code, detail, float(waiting) if waiting.isdigit() else None
    )


def _unreachable(url: str, error: httpx.HTTPError) -> ServerUnreachable:
    return ServerUnreachable(f"{url} cannot be reached: {_reason(error)}.")


def _reason(error: httpx.HTTPError) -> str:
    if isinstance(error, httpx.TimeoutException):
        return "no response in time"
    return str(error).rstrip(".") or type(error).__name__


def _milliseconds(started: float) -> int:
    return round((perf_counter() - started) * 1000)
