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
            f"{_subject(error.pointer)} is wrong: it {error.message[0].lower()}{error.message[1:]}"
            for error in failed.errors
        ]
        raise WrongArgument(" ".join(sentences)) from None


def _subject(pointer: str) -> str:
    """`/name` as "The name", and a value of a list, `/scopes/0`, as "A value of scopes"."""
    name, _, index = pointer.strip("/").replace("_", " ").partition("/")
    return f"A value of {name}" if index else f"The {name}"
