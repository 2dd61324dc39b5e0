"""The families of errors: what went wrong, as a sentence for people and a code for programs."""

from collections.abc import Mapping
from typing import Any, ClassVar


class TradewindError(Exception):
    """Anything that we can explain in one sentence."""


class CannotStart(TradewindError):
    """A process cannot begin its work; the sentence says why and what to do about it."""


class Refusal(TradewindError):
    """A request is refused. The family says what the caller can do about it.

    `code` is what programs compare, `title` the heading of its page under /problems/, and the
    docstring of the class that page's text. `facts` become members of the problem document.
    """

    code: ClassVar[str]
    title: ClassVar[str]

    def __init__(self, detail: str, /, **facts: Any) -> None:
        super().__init__(detail)
        self.detail = detail
        self.facts: Mapping[str, Any] = facts


class Malformed(Refusal):
    """The request cannot be read as what it claims to be."""


class Unauthenticated(Refusal):
    """We do not know who is asking."""


class Forbidden(Refusal):
    """We know who is asking, and they may not."""


class NotFound(Refusal):
    """There is no such thing, or it belongs to somebody else."""


class Conflict(Refusal):
    """The state of things does not allow it now."""


class Gone(Refusal):
    """It was there, and is no longer kept."""


class Invalid(Refusal):
    """The request can be read, and something in it is wrong."""


class TooMany(Refusal):
    """The caller sends more requests than it may."""


class UpstreamFailed(Refusal):
    """A marketplace failed, and nothing stored can answer instead."""


class Unavailable(Refusal):
    """A part that we need is away for the moment."""
