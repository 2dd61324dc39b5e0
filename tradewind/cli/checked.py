"""Validates command arguments with the rules of the API's request bodies."""

from typing import Any, TypeVar

from tradewind.errors import TradewindError, ValidationFailed
from tradewind.web.inputs import read_values

T = TypeVar("T")


class WrongArgument(TradewindError):
    """Arguments break the rules of the API for the same fields."""


def checked(kind: type[T], **values: Any) -> T:
    """The values as `kind`, or an error with a sentence about each wrong one."""
    try:
        return read_values(kind, **values)
    except ValidationFailed as failed:
        sentences = [
            f"The {error.pointer.strip('/').replace('_', ' ')} is wrong: "
            f"it {error.message[0].lower()}{error.message[1:]}"
            for error in failed.errors
        ]
        raise WrongArgument(" ".join(sentences)) from None
