"""An HTTP client for one marketplace: paced, with a deadline, metrics and retries of safe calls."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TypeVar
from urllib.parse import quote_plus, urlencode

from tradewind.egress.client import CallFailed, Client, Reply
from tradewind.observability import metrics, tracing
from tradewind.observability.logs import log
from tradewind.observability.metrics import Observe
from tradewind.platforms.failures import (
    BudgetUsedUp,
    PlatformFailure,
    Unavailable,
    UnreadableResponse,
    unclassified,
)

T = TypeVar("T")

# A safe call is tried this often, with a pause that doubles.
_SAFE_ATTEMPTS = 3
_FIRST_PAUSE = 0.2
_SERVER_ERROR = 500
_LONG_VALUE = 16_384
# How a call ended that got no response.
_FAILED = "failed"

FORM = ("Content-Type: application/x-www-form-urlencoded; charset=UTF-8",)

Pace = Callable[[float], Awaitable[None]]
# Writes the body and headers of a request, anew for each attempt: signatures hold the time.
Prepare = Callable[[], tuple[bytes, Sequence[str]]]


@dataclass(frozen=True, slots=True)
class Api:
    """An operation. `safe`: it changes nothing, or nothing more when it is repeated."""

    operation: str
    path: str
    safe: bool = True


def encode_form(params: Mapping[str, str]) -> bytes:
    """Encode a form as `urlencode` does.

    A value of some megabytes, a picture, would take it seconds: those are encoded by replacing one
    character after the other that must not stand in a form.
    """
    short = {name: value for name, value in params.items() if len(value) < _LONG_VALUE}
    parts = [urlencode(short)] if short else []
    parts += [f"{quote_plus(name)}={_quote_long(params[name])}" for name in params.keys() - short]
    return "&".join(parts).encode()


def _quote_long(value: str) -> str:
    for character in sorted(set(value), key=lambda each: each != "%"):  # `%` before all others
        quoted = quote_plus(character)
        if quoted != character:
            value = value.replace(character, quoted)
    return value


class PacedClient:
    """Sends a connector's requests.

    `pace` waits for the marketplace's budget, which all processes share, at most as many seconds
    as its argument says, and raises BudgetUsedUp when that is not enough.
    """

    def __init__(self, platform: str, base_url: str, client: Client, pace: Pace) -> None:
        self.platform = platform
        self.base_url = base_url
        self._client = client
        self._pace = pace
        self._observers: dict[tuple[str, str], Observe] = {}

    async def call(
        self, api: Api, prepare: Prepare, read: Callable[[bytes], T], *, path: str = ""
    ) -> T:
        """Call an operation and read its response; an unreadable one is a failure of the call.

        `path` is where the operation is, if more belongs to it than its own path.
        """
        reply = await self.post(api.operation, path or api.path, prepare, safe=api.safe)
        try:
            return read(reply.body)
        except UnreadableResponse as error:
            message = f"The response cannot be read: {error}"
            raise unclassified(self.platform, "unreadable", message, safe=api.safe) from None

    async def post(
        self, operation: str, path: str, prepare: Prepare, *, safe: bool, seconds: float = 10.0
    ) -> Reply:
        """Send a request.

        `safe` means that the operation may be repeated. If not, a request that may have arrived
        but was not answered becomes OutcomeUnknown; every other failure becomes Unavailable.
        """
        deadline = perf_counter() + seconds
        for attempt in range(1, _SAFE_ATTEMPTS + 1):
            try:
                # The marketplace gets no trace context: it is ours.
                with tracing.client_span(
                    f"{self.platform} {operation}", **{"tradewind.platform": self.platform}
                ):
                    return await self._attempt(
                        operation, path, prepare, safe=safe, deadline=deadline
                    )
            except BudgetUsedUp:  # the pacing has waited until the deadline
                raise
            except Unavailable as failure:
                pause = _FIRST_PAUSE * 2**attempt * random.uniform(0.5, 1)  # noqa: S311 - a jitter
                left = deadline - perf_counter()
                if (
                    not safe
                    or attempt == _SAFE_ATTEMPTS
                    or failure.retry_after > left
                    or pause > left
                ):
                    raise
                await asyncio.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    async def _attempt(
        self, operation: str, path: str, prepare: Prepare, *, safe: bool, deadline: float
    ) -> Reply:
        await self._pace(deadline - perf_counter())
        started = perf_counter()
        if started >= deadline:  # a process that was suspended sends nothing after its deadline
            raise self._failure("no_time", "The deadline passed before the call.")
        body, headers = prepare()
        result = _FAILED
        # Shown with 0 from the first call on: then the first failure is an increase.
        self._observer(operation, _FAILED)
        reason = None
        try:
            reply = await self._client.post(
                self.base_url + path,
                body,
                headers,
                seconds=deadline - started,
                repeatable=safe,
            )
            result = str(reply.status)
        except CallFailed as failure:
            reason = str(failure)  # it may name addresses: it is for the log only
            repeatable = safe or not failure.sent
            raise self._failure("no_answer", "No response came.", safe=repeatable) from None
        finally:
            took = perf_counter() - started
            self._observer(operation, result)(took)
            log.info(
                "platform.called",
                platform=self.platform,
                operation=operation,
                result=result,
                reason=reason,
                took_ms=round(took * 1000, 1),
            )
        if reply.status >= _SERVER_ERROR:
            raise self._failure(f"http_{reply.status}", "The server failed.", safe=safe)
        return reply

    def _observer(self, operation: str, result: str) -> Observe:
        observe = self._observers.get((operation, result))
        if observe is None:
            observe = metrics.platform_call_observer(self.platform, operation, result)
            self._observers[operation, result] = observe
        return observe

    def _failure(self, code: str, message: str, *, safe: bool = True) -> PlatformFailure:
        if safe:
            return Unavailable(self.platform, code, message, retry_after=_FIRST_PAUSE)
        return unclassified(self.platform, code, message, safe=False)
