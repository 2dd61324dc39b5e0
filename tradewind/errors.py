"""The families of errors, each with a sentence for people and a code for programs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar

from tradewind.ids import Kind

T = TypeVar("T")

MOST_ERRORS = 100


class TradewindError(Exception):
    """An error that one sentence explains."""


class CannotStart(TradewindError):
    """A process cannot start; the sentence says why and what to do."""


class ApiError(TradewindError):
    """A request failed. The family says what the caller can do about it.

    `code` is what programs compare, `title` the heading of its page under /problems/, and the
    docstring of the class that page's text. `detail` is the sentence for this request: an error
    that always says the same has it in its class. `facts` become members of the problem document.
    """

    code: ClassVar[str]
    title: ClassVar[str]
    detail: str
    # Only where it differs from that of the family (see `web/problems.py`).
    status: ClassVar[int | None] = None

    def __init__(self, detail: str | None = None, /, **facts: Any) -> None:
        self.detail = self.detail if detail is None else detail
        super().__init__(self.detail)
        self.facts: Mapping[str, Any] = facts


class Malformed(ApiError):
    """The request is malformed."""


class Unauthenticated(ApiError):
    """The caller is not authenticated."""


class Forbidden(ApiError):
    """The caller is not allowed to do this."""


class NotFound(ApiError):
    """It does not exist, or belongs to another account."""


class Conflict(ApiError):
    """The current state does not allow it."""


class Gone(ApiError):
    """It is no longer kept."""


class Invalid(ApiError):
    """The request is well-formed, and a value in it is wrong."""


class TooMany(ApiError):
    """The caller sends too many requests."""


class UpstreamFailed(ApiError):
    """A marketplace failed, and no stored data can replace it."""


class ServiceUnavailable(ApiError):
    """A part of the service is unavailable for the moment."""


class ResourceNotFound(NotFound):
    """Your account has nothing with this id: it never existed, is deleted, or is not yours."""

    code = "not_found"
    title = "Not found"

    def __init__(self, kind: Kind) -> None:
        super().__init__(f"There is no such {kind.noun}.")


def existing(value: T | None, kind: Kind) -> T:
    """What was looked up, or ResourceNotFound."""
    if value is None:
        raise ResourceNotFound(kind)
    return value


class InsufficientPermissions(Forbidden):
    """Your account lacks the role, or your API key the scope, that this endpoint requires.

    An operator can grant a role. The scopes and the allowed networks of a key never change: create
    another key. No key with scopes can approve payments, manage keys, replace the secret of a
    webhook, change a password or act as an operator.
    """

    code = "insufficient_permissions"
    title = "Not allowed"

    @classmethod
    def role(cls, role: str) -> Self:
        return cls(f"This requires the role {role}, which your account does not have.")

    @classmethod
    def scope(cls, scope: str) -> Self:
        return cls(f"This requires the scope {scope}, which this API key does not have.")

    @classmethod
    def full_access(cls) -> Self:
        return cls("No API key with scopes can do this; log in, or use a key without scopes.")

    @classmethod
    def address(cls, address: str) -> Self:
        return cls(f"This API key cannot be used from {address}: see its allowed_cidrs.")


@dataclass(frozen=True, slots=True)
class FieldError:
    """A wrong value, and where: an RFC 6901 pointer, or `?name` and then a pointer."""

    pointer: str
    message: str
    code: str = "invalid"

    def shown(self) -> dict[str, str]:
        return {"pointer": self.pointer, "code": self.code, "message": self.message}


class ValidationFailed(Invalid):
    """A field or parameter is wrong, missing or unknown.

    `errors` lists all of them, at most 100. `pointer` says where: in the
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
        self.errors = [FieldError(pointer, message, code), *also]
        detail = f"{pointer or 'The body'}: {message}"
        if also:
            detail += f" And {len(also)} more error{'s' if len(also) > 1 else ''}."
        super().__init__(detail, errors=[error.shown() for error in self.errors])

    @classmethod
    def several(cls, errors: Sequence[FieldError]) -> Self:
        first, *also = errors[:MOST_ERRORS]
        return cls(first.pointer, first.message, first.code, also=also)
