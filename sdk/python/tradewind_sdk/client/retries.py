"""Decides whether a call is tried again, and when. Pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from tradewind_sdk.client.call import Call
from tradewind_sdk.client.errors import read_retry_after

_TOO_MANY_REQUESTS = 429
_CONFLICT = 409
_WORTH_ANOTHER_TRY = {408, 500, 502, 503, 504}
_LONGEST_DELAY = 8.0
_DOUBLINGS = 4


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a call is tried again, and how long the server may make it wait."""

    max_retries: int = 3
    first_delay: float = 0.5
    """Seconds before the first retry; each further one waits twice as long, up to 8 seconds."""
    longest_wait: float = 60.0
    """If Retry-After is longer, the error is raised at once, and carries it."""

    def delay_after_response(
        self,
        call: Call,
        retry: int,
        status: int,
        headers: Mapping[str, str],
        body: bytes,
        chance: float,
    ) -> float | None:
        """Seconds until the next try; None if the response stands. `retry` counts from 0."""
        problem = _problem_of(body)
        if not _may_repeat(call, status, problem):
            return None
        wait = read_retry_after(headers, problem)
        if wait is not None and wait > self.longest_wait:
            return None
        if retry >= self.max_retries:
            return None
        return max(self.backoff(retry, chance), wait or 0)

    def delay_after_failure(
        self, call: Call, retry: int, *, may_have_been_sent: bool, chance: float
    ) -> float | None:
        """Seconds until the next try after there was no response; None if it is not tried."""
        if retry >= self.max_retries or (may_have_been_sent and not call.is_repeatable):
            return None
        return self.backoff(retry, chance)

    def backoff(self, retry: int, chance: float) -> float:
        """Exponential, between half and all of it, so that clients do not come back together."""
        longest = min(_LONGEST_DELAY, self.first_delay * 2.0 ** min(retry, _DOUBLINGS))
        return longest / 2 + longest / 2 * chance


def _may_repeat(call: Call, status: int, problem: Mapping[str, object]) -> bool:
    if status == _TOO_MANY_REQUESTS:  # it was not looked at
        return True
    if status == _CONFLICT:  # an earlier try with the same key is still running
        return problem.get("code") == "request_in_flight"
    return status in _WORTH_ANOTHER_TRY and call.is_repeatable


def _problem_of(body: bytes) -> Mapping[str, object]:
    try:
        problem = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return problem if isinstance(problem, dict) else {}
