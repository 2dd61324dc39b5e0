"""Errors of the API as sentences that tell an agent what to do next. Pure."""

from collections.abc import Mapping
from typing import Any

_MOST_FIELDS = 10
_LONGEST = 2000

# What to do about an error, by its code.
_ADVICE: Mapping[str, str] = {
    "insufficient_permissions": "Do not try another way: tell the person which permission is "
    "missing. They can create a key with it, or do this themselves.",
    "invalid_credentials": "Tell the person: they have to provide another API key.",
    "credentials_missing": "Tell the person: the API key of this connection is missing.",
    "account_locked": "Tell the person: an operator locked the account.",
    "price_changed": "Preview the order again, show the person the new total, and place it with "
    "that total only if they agree.",
    "amount_changed": "Read the order again and request its present total.",
    "items_unavailable": "Choose another variant, a smaller quantity or another product.",
    "several_sellers": "Place one order for each seller.",
    "idempotency_key_reused": "This idempotency_key belongs to a call with other arguments; use a "
    "new one.",
    "request_in_flight": "The same call is still being worked on; repeat it in a few seconds.",
    "external_id_taken": "An order with this external_id exists; read it instead of placing one.",
    "not_found": "Check the id: read the list that it comes from.",
    "validation_failed": "Correct the named fields.",
}
_RETRY = "Repeat the same call later; it has no effect twice."


class ApiProblem(Exception):
    """An error of the API, in words for the agent."""

    @staticmethod
    def of(status: int, problem: Mapping[str, Any] | None) -> "ApiProblem":
        """From a problem document (RFC 9457); None: the response was no JSON object."""
        if problem is None or "code" not in problem:
            return ApiProblem(
                f"{status} is no answer of a Tradewind API; check TRADEWIND_URL. {_RETRY}"
            )
        code = str(problem["code"])
        parts = [f"{_text(problem.get('detail'))} [{status} {code}]"]
        parts += [
            f"{_text(field.get('pointer')) or 'body'}: {_text(field.get('message'))}"
            for field in list(problem.get("errors") or ())[:_MOST_FIELDS]
        ]
        if problem.get("allowed"):
            parts.append(f"Allowed now: {', '.join(map(str, problem['allowed']))}.")
        if problem.get("retry_after"):
            parts.append(f"Wait {problem['retry_after']} seconds.")
        if code in _ADVICE:
            parts.append(_ADVICE[code])
        elif status >= 500 or status == 429:  # noqa: PLR2004
            parts.append(_RETRY)
        return ApiProblem("\n".join(parts)[:_LONGEST])


def unreachable(error: Exception) -> ApiProblem:
    """No response: the request may have arrived all the same."""
    return ApiProblem(f"The Tradewind API did not respond ({type(error).__name__}). {_RETRY}")


def _text(value: object) -> str:
    return "" if value is None else str(value)
