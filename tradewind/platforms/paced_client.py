"""An HTTP client for one marketplace: paced, with a deadline, metrics and retries of safe calls."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from time import perf_counter

from tradewind.egress.client import CallFailed, Client, Reply
from tradewind.observability.logs import log
from tradewind.observability.metrics import PLATFORM_CALLS, PLATFORM_SECONDS
from tradewind.platforms.failures import BudgetUsedUp, OutcomeUnknown, Unavailable

# A safe call is tried this often, with a pause that doubles.
_SAFE_ATTEMPTS = 3
_FIRST_PAUSE = 0.2
_SERVER_ERROR = 500

Pace = Callable[[float], Awaitable[None]]


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

    async def post(
        self,
        operation: str,
        path: str,
        prepare: Callable[[], tuple[bytes, Sequence[str]]],
        *,
        safe: bool,
        seconds: float = 10.0,
    ) -> Reply:
        """Send the request that `prepare` returns, anew for each attempt: signatures hold the time.

        `safe` means that the operation may be repeated. If not, a request that may have arrived
        but was not answered becomes OutcomeUnknown; every other failure becomes Unavailable.
        """
        deadline = perf_counter() + seconds
        for attempt in range(1, _SAFE_ATTEMPTS + 1):
            try:
                return await self._attempt(operation, path, prepare, safe=safe, deadline=deadline)
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
        self,
        operation: str,
        path: str,
        prepare: Callable[[], tuple[bytes, Sequence[str]]],
        *,
        safe: bool,
        deadline: float,
    ) -> Reply:
        await self._pace(deadline - perf_counter())
        started = perf_counter()
        if started >= deadline:  # a process that was suspended sends nothing after its deadline
            raise self._failure("no_time", "The deadline passed before the call.", unknown=False)
        body, headers = prepare()
        result = "failed"
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
            reason = str(failure)  # libcurl's message names addresses: it is for the log only
            unknown = failure.sent and not safe
            raise self._failure("no_answer", "No response came.", unknown=unknown) from None
        finally:
            took = perf_counter() - started
            PLATFORM_CALLS.labels(self.platform, operation, result).inc()
            PLATFORM_SECONDS.labels(self.platform, operation).observe(took)
            log.info(
                "platform.called",
                platform=self.platform,
                operation=operation,
                result=result,
                reason=reason,
                took_ms=round(took * 1000, 1),
            )
        if reply.status >= _SERVER_ERROR:
            raise self._failure(f"http_{reply.status}", "The server failed.", unknown=not safe)
        return reply

    def _failure(self, code: str, message: str, *, unknown: bool) -> Unavailable | OutcomeUnknown:
        if unknown:
            return OutcomeUnknown(self.platform, code, message)
        return Unavailable(self.platform, code, message, retry_after=_FIRST_PAUSE)
