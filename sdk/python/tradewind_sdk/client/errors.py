"""What can go wrong with a call: problem documents of the API as typed exceptions."""

import contextlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any


class TradewindError(Exception):
    """A call failed."""


class ApiConnectionError(TradewindError):
    """There was no response. `may_have_been_sent` says whether the server may have acted."""

    def __init__(self, message: str, *, may_have_been_sent: bool) -> None:
        super().__init__(message)
        self.may_have_been_sent = may_have_been_sent


class ApiTimeout(ApiConnectionError):
    """There was no response in time."""


class InvalidResponse(TradewindError):
    """The response is a success that cannot be read, as of a proxy in between."""


@dataclass(frozen=True, slots=True)
class FieldError:
    """One wrong field of a request."""

    pointer: str
    """Where it is, as a JSON pointer (RFC 6901), for example `/items/0/quantity`."""
    code: str
    message: str


class ApiError(TradewindError):
    """The API answered with an error. Compare `code`: it is stable."""

    def __init__(self, status: int, problem: Mapping[str, Any], headers: Mapping[str, str]) -> None:
        self.status = status
        self.problem = problem
        """The whole problem document; empty if something else than the API answered."""
        self.code = _text(problem, "code") or f"http_{status}"
        self.title = _text(problem, "title") or f"HTTP {status}"
        self.detail = _text(problem, "detail") or "The response has no details."
        self.request_id = _text(problem, "request_id") or headers.get("x-request-id")
        """Names this request in the server's log."""
        self.errors = _field_errors(problem)
        """Every wrong field, if the request was invalid."""
        self.retry_after = read_retry_after(headers, problem)
        """Seconds to wait before the next try, if the server says so."""
        self.current = problem.get("current")
        """The state that forbids it, if a state does."""
        self.allowed = problem.get("allowed")
        """What would be possible, if a state or value is not."""
        self.upstream = problem.get("upstream")
        """What the marketplace answered, if it failed."""
        fields = "".join(f"\n  {error.pointer}: {error.message}" for error in self.errors)
        super().__init__(f"{status} {self.code}: {self.detail}{fields}")


class BadRequest(ApiError):
    """400: the request is malformed."""


class AuthenticationError(ApiError):
    """401: the credentials are missing, wrong, expired or revoked."""


class PermissionDenied(ApiError):
    """403: the account is locked, or its role is not allowed to do this."""


class NotFound(ApiError):
    """404: there is no such thing, or it belongs to another account."""


class Conflict(ApiError):
    """409: the current state does not allow it."""


class Gone(ApiError):
    """410: it is not kept any more."""


class ValidationError(ApiError):
    """422: a field is wrong; `errors` names all of them."""


class RateLimited(ApiError):
    """429: too many requests; `retry_after` says when to try again."""


class ServerError(ApiError):
    """5xx: the server or a marketplace failed."""


_BY_STATUS: dict[int, type[ApiError]] = {
    400: BadRequest,
    401: AuthenticationError,
    403: PermissionDenied,
    404: NotFound,
    409: Conflict,
    410: Gone,
    422: ValidationError,
    429: RateLimited,
}
_FIRST_SERVER_ERROR = 500
_LONGEST_NUMBER = 9


def error_of(status: int, headers: Mapping[str, str], body: bytes) -> ApiError:
    """The exception for a response that is no success, whoever made it."""
    try:
        problem = json.loads(body)
    except (ValueError, RecursionError):
        problem = None
    if not isinstance(problem, dict):
        problem = {}
    kind = _BY_STATUS.get(status, ServerError if status >= _FIRST_SERVER_ERROR else ApiError)
    return kind(status, problem, headers)


def read_retry_after(headers: Mapping[str, str], problem: Mapping[str, Any]) -> int | None:
    """Seconds to wait: the header, else the field of the problem document."""
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit() and len(text) <= _LONGEST_NUMBER:
        return int(text)
    if text:  # the API sends seconds; a proxy may send a date
        with contextlib.suppress(ValueError, TypeError):
            moment = parsedate_to_datetime(text)
            return max(0, math.ceil((moment - datetime.now(UTC)).total_seconds()))
    value = problem.get("retry_after")
    return value if isinstance(value, int) and value >= 0 else None


def _text(problem: Mapping[str, Any], name: str) -> str | None:
    value = problem.get(name)
    return value if isinstance(value, str) and value else None


def _field_errors(problem: Mapping[str, Any]) -> list[FieldError]:
    rows = problem.get("errors")
    if not isinstance(rows, list):
        return []
    return [
        FieldError(*(_text(row, name) or "" for name in ("pointer", "code", "message")))
        for row in rows
        if isinstance(row, dict)
    ]
