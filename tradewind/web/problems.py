"""Problem documents (RFC 9457), and the status of each family of errors."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tradewind import errors
from tradewind.web.response import NO_STORE, PROBLEM, Headers, Response

STATUS: Mapping[type[errors.ApiError], int] = {
    errors.Malformed: 400,
    errors.Unauthenticated: 401,
    errors.Forbidden: 403,
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.Gone: 410,
    errors.Invalid: 422,
    errors.TooMany: 429,
    errors.UpstreamFailed: 502,
    errors.ServiceUnavailable: 503,
}


class RouteNotFound(errors.NotFound):
    """No endpoint has this path. The API reference at /docs lists every path."""

    code = "route_not_found"
    title = "Path not found"
    detail = "There is no endpoint at this path; /docs lists them all."


class MethodNotAllowed(errors.ApiError):
    """The path exists, but not with this method. `Allow` lists the methods that it has."""

    code = "method_not_allowed"
    title = "Method not allowed"
    status = 405

    def __init__(self, allowed: Sequence[str]) -> None:
        super().__init__(f"This path takes {', '.join(allowed)}.", allowed=allowed)
        self.allowed = allowed


class BodyTooLarge(errors.ApiError):
    """A request body may have 256 KiB at most, unless the endpoint's description says more."""

    code = "body_too_large"
    title = "The body is too large"
    status = 413

    def __init__(self, limit: int) -> None:
        super().__init__(f"The body is longer than {limit} bytes.")


class BodyTooSlow(errors.ApiError):
    """A request body must arrive within 30 seconds."""

    code = "body_too_slow"
    title = "The body arrived too slowly"
    status = 408

    def __init__(self, seconds: int) -> None:
        super().__init__(f"The body did not arrive within {seconds} seconds.")


class UnsupportedMediaType(errors.ApiError):
    """A request with a body sends JSON, with `Content-Type: application/json`.

    An import sends its file: `detail` lists the types.
    """

    code = "unsupported_media_type"
    title = "Not JSON"
    status = 415

    def __init__(self, expected: str = "application/json") -> None:
        super().__init__(f"Send the body with Content-Type: {expected}.")


class MalformedJson(errors.Malformed):
    """The body is not JSON. `detail` says where parsing stopped."""

    code = "malformed_json"
    title = "The body is not JSON"

    def __init__(self, reason: str) -> None:
        super().__init__(f"The body is not JSON: {reason}.")


class DuplicateHeader(errors.Malformed):
    """A header was sent twice with different values.

    It is `Authorization`, `x-api-key` or `Idempotency-Key`. Send it once.
    """

    code = "duplicate_header"
    title = "Duplicate header"

    def __init__(self, name: str) -> None:
        super().__init__(f"The header {name} was sent more than once, with different values.")


class InternalError(errors.ApiError):
    """An unexpected error on our side. Send the `request_id` to the operator.

    Whether the request had an effect is unknown: check before you repeat it, or repeat it with the
    same Idempotency-Key.
    """

    code = "internal_error"
    title = "Internal error"
    status = 500
    detail = "An unexpected error on our side; it is logged under this request id."


def catalogue() -> dict[str, type[errors.ApiError]]:
    """Every error that the API can answer with, by its code."""
    return {kind.code: kind for kind in _subclasses(errors.ApiError) if "code" in vars(kind)}


def _subclasses(kind: type[errors.ApiError]) -> Iterator[type[errors.ApiError]]:
    for child in kind.__subclasses__():
        yield child
        yield from _subclasses(child)


def status_of(kind: type[errors.ApiError]) -> int:
    """The status of an error: that of its class, else that of its family."""
    if kind.status is not None:
        return kind.status
    return next(status for family, status in STATUS.items() if issubclass(kind, family))


def document(error: errors.ApiError, base_url: str, request_id: str) -> Mapping[str, Any]:
    return {
        "type": f"{base_url}/problems/{error.code}",
        "title": error.title,
        "status": status_of(type(error)),
        "detail": error.detail,
        "code": error.code,
        "request_id": request_id,
        **error.facts,
    }


def response(error: errors.ApiError, base_url: str, request_id: str) -> Response:
    """The response for an error, with the headers that belong to its kind."""
    headers: Headers = [NO_STORE]
    retry_after = error.facts.get("retry_after")
    if retry_after is not None:
        headers.append((b"retry-after", str(retry_after).encode()))
    if isinstance(error, errors.Unauthenticated):
        headers.append((b"www-authenticate", b'Bearer realm="tradewind", ApiKey realm="tradewind"'))
    if isinstance(error, MethodNotAllowed):
        headers.append((b"allow", ", ".join(error.allowed).encode()))
    return Response(document(error, base_url, request_id), status_of(type(error)), headers, PROBLEM)
