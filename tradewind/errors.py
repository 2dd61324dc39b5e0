"""The families of errors: what went wrong, as a sentence for people and a code for programs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from tradewind.ids import Kind

MOST_ERRORS = 100


class TradewindError(Exception):
    """Anything that we can explain in one sentence."""


class CannotStart(TradewindError):
    """A process cannot begin its work; the sentence says why and what to do about it."""


class ApiError(TradewindError):
    """A request is refused. The family says what the caller can do about it.

    `code` is what programs compare, `title` the heading of its page under /problems/, and the
    docstring of the class that page's text. `facts` become members of the problem document.
    """

    code: ClassVar[str]
    title: ClassVar[str]
    # Only where it differs from that of the family (see `web/problems.py`).
    status: ClassVar[int | None] = None

    def __init__(self, detail: str, /, **facts: Any) -> None:
        super().__init__(detail)
        self.detail = detail
        self.facts: Mapping[str, Any] = facts


class Malformed(ApiError):
    """The request cannot be read as what it claims to be."""


class Unauthenticated(ApiError):
    """We do not know who is asking."""


class Forbidden(ApiError):
    """We know who is asking, and they may not."""


class NotFound(ApiError):
    """There is no such thing, or it belongs to somebody else."""


class Conflict(ApiError):
    """The state of things does not allow it now."""


class Gone(ApiError):
    """It was there, and is no longer kept."""


class Invalid(ApiError):
    """The request can be read, and something in it is wrong."""


class TooMany(ApiError):
    """The caller sends more requests than it may."""


class UpstreamFailed(ApiError):
    """A marketplace failed, and nothing stored can answer instead."""


class ServiceUnavailable(ApiError):
    """A part that we need is away for the moment."""


class ResourceNotFound(NotFound):
    """Nothing of yours has this id: it never existed, is deleted, or belongs to somebody else."""

    code = "not_found"
    title = "No such thing"

    def __init__(self, kind: Kind) -> None:
        super().__init__(f"There is no such {kind.noun}.")


class InsufficientPermissions(Forbidden):
    """Your account lacks the role that this endpoint asks for; an operator can grant it."""

    code = "insufficient_permissions"
    title = "Your account may not do this"

    def __init__(self, role: str) -> None:
        super().__init__(f"This needs the role {role}, which your account does not have.")


@dataclass(frozen=True, slots=True)
class FieldError:
    """One thing that is wrong, and where: an RFC 6901 pointer, or `?name` and then a pointer."""

    pointer: str
    message: str
    code: str = "invalid"

    def shown(self) -> dict[str, str]:
        return {"pointer": self.pointer, "code": self.code, "message": self.message}


class ValidationFailed(Invalid):
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
        self.errors = [FieldError(pointer, message, code), *also]
        detail = f"{pointer or 'The body'}: {message}"
        if also:
            detail += f" And {len(also)} more error{'s' if len(also) > 1 else ''}."
        super().__init__(detail, errors=[error.shown() for error in self.errors])

    @classmethod
    def several(cls, errors: Sequence[FieldError]) -> Self:
        first, *also = errors[:MOST_ERRORS]
        return cls(first.pointer, first.message, first.code, also=also)
