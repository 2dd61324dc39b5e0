"""Problem documents (RFC 9457): the one table from families of errors to statuses."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tradewind import errors
from tradewind.ids import Kind
from tradewind.web.response import NO_STORE, PROBLEM, Answer, Headers
from tradewind.web.validation import MOST_ERRORS, FieldError

STATUS: Mapping[type[errors.Refusal], int] = {
    errors.Malformed: 400,
    errors.Unauthenticated: 401,
    errors.Forbidden: 403,
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.Gone: 410,
    errors.Invalid: 422,
    errors.TooMany: 429,
    errors.UpstreamFailed: 502,
    errors.Unavailable: 503,
}


class RouteNotFound(errors.NotFound):
    """No endpoint has this path. The API reference at /docs lists every path."""

    code = "route_not_found"
    title = "No such path"

    def __init__(self) -> None:
        super().__init__("There is no endpoint at this path; /docs lists them all.")


class NoSuch(errors.NotFound):
    """Nothing of yours has this id: it never existed, is deleted, or belongs to somebody else."""

    code = "not_found"
    title = "No such thing"

    def __init__(self, kind: Kind) -> None:
        super().__init__(f"There is no such {kind.noun}.")


class MethodNotAllowed(errors.Refusal):
    """The path exists, but not with this method. `Allow` lists the methods that it has."""

    code = "method_not_allowed"
    title = "Method not allowed"
    status = 405

    def __init__(self, allowed: str) -> None:
        super().__init__(f"This path takes {allowed}.", allowed=allowed.split(", "))
        self.allow = allowed


class BodyTooLarge(errors.Refusal):
    """A request body may have 256 KiB at most."""

    code = "body_too_large"
    title = "The body is too large"
    status = 413

    def __init__(self, limit: int) -> None:
        super().__init__(f"The body is longer than {limit} bytes.")


class BodyTooSlow(errors.Refusal):
    """A request body must arrive within 30 seconds."""

    code = "body_too_slow"
    title = "The body came too slowly"
    status = 408

    def __init__(self, seconds: int) -> None:
        super().__init__(f"The body did not arrive within {seconds} seconds.")


class UnsupportedMediaType(errors.Refusal):
    """Requests with a body send JSON, and say so with `Content-Type: application/json`."""

    code = "unsupported_media_type"
    title = "Not JSON"
    status = 415

    def __init__(self, expected: str = "application/json") -> None:
        super().__init__(f"Send the body with Content-Type: {expected}.")


class MalformedJson(errors.Malformed):
    """The body is not JSON. The detail says where reading it stopped."""

    code = "malformed_json"
    title = "The body is not JSON"

    def __init__(self, reason: str) -> None:
        super().__init__(f"The body is not JSON: {reason}.")


class DuplicateHeader(errors.Malformed):
    """A header came twice, with different values, and only one of them can be meant.

    It is `Authorization`, `x-api-key` or `Idempotency-Key`. Send it once.
    """

    code = "duplicate_header"
    title = "A header came twice"

    def __init__(self, name: str) -> None:
        super().__init__(f"The header {name} came more than once, with different values.")


class ValidationFailed(errors.Invalid):
    """Something in the body or the query is wrong, missing or unknown.

    `errors` lists everything that is wrong, 100 entries at the most. `pointer` says where: in the
    body a JSON pointer (RFC 6901) such as `/items/0/quantity`, with "" for the body as a whole; in
    the query `?name`, and `?name/1` for the second value of a parameter that takes several.
    `message` says what would be right. `code` is `missing`, `unknown` (a name that this endpoint
    does not have), `duplicate`, `invalid`, or one that the endpoint's description explains.
    """

    code = "validation_failed"
    title = "Invalid request"

    def __init__(
        self, pointer: str, message: str, code: str = "invalid", *, also: Sequence[FieldError] = ()
    ) -> None:
        self.found = [FieldError(pointer, message, code), *also]
        detail = f"{pointer or 'The body'}: {message}"
        if also:
            detail += f" And {len(also)} more error{'s' if len(also) > 1 else ''}."
        super().__init__(detail, errors=[error.shown() for error in self.found])

    @classmethod
    def several(cls, found: Sequence[FieldError]) -> "ValidationFailed":
        first, *also = found[:MOST_ERRORS]
        return cls(first.pointer, first.message, first.code, also=also)


class InsufficientPermissions(errors.Forbidden):
    """Your account lacks the role that this endpoint asks for; an operator can grant it."""

    code = "insufficient_permissions"
    title = "Your account may not do this"

    def __init__(self, role: str) -> None:
        super().__init__(f"This needs the role {role}, which your account does not have.")


class InternalError(errors.Refusal):
    """Something failed that should not have. Tell the operator the `request_id`.

    Whether the request had an effect is not known: look before you repeat it, or repeat it with
    the same Idempotency-Key.
    """

    code = "internal_error"
    title = "Internal error"
    status = 500

    def __init__(self) -> None:
        super().__init__("Something failed on our side; the log has it under this request id.")


def catalogue() -> dict[str, type[errors.Refusal]]:
    """Every refusal that this program knows, by its code."""
    return {kind.code: kind for kind in _subclasses(errors.Refusal) if "code" in vars(kind)}


def _subclasses(kind: type[errors.Refusal]) -> Iterator[type[errors.Refusal]]:
    for child in kind.__subclasses__():
        yield child
        yield from _subclasses(child)


def status_of(kind: type[errors.Refusal]) -> int:
    """The status of a refusal: its own where it names one, else its family's."""
    own = getattr(kind, "status", None)
    if isinstance(own, int):
        return own
    return next(status for family, status in STATUS.items() if issubclass(kind, family))


def document(refusal: errors.Refusal, base_url: str, request_id: str) -> Mapping[str, Any]:
    return {
        "type": f"{base_url}/problems/{refusal.code}",
        "title": refusal.title,
        "status": status_of(type(refusal)),
        "detail": refusal.detail,
        "code": refusal.code,
        "request_id": request_id,
        **refusal.facts,
    }


def answer(refusal: errors.Refusal, base_url: str, request_id: str) -> Answer:
    """The whole answer for a refusal, with the headers that belong to its kind."""
    headers: Headers = [NO_STORE]
    retry_after = refusal.facts.get("retry_after")
    if retry_after is not None:
        headers.append((b"retry-after", str(retry_after).encode()))
    if isinstance(refusal, errors.Unauthenticated):
        headers.append((b"www-authenticate", b'Bearer realm="tradewind", ApiKey realm="tradewind"'))
    if isinstance(refusal, MethodNotAllowed):
        headers.append((b"allow", refusal.allow.encode()))
    return Answer(
        document(refusal, base_url, request_id), status_of(type(refusal)), headers, PROBLEM
    )
