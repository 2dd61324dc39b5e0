"""Arguments of commands, held to the same rules as the bodies of requests."""

from typing import Any, TypeVar

import msgspec

from tradewind.errors import TradewindError

T = TypeVar("T")


class WrongArgument(TradewindError):
    """An argument breaks a rule that the API has for the same field."""


def checked(kind: type[T], **values: Any) -> T:
    """The values as `kind`, or a sentence about the first that is wrong."""
    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError as error:
        message, _, at = str(error).partition(" - at ")
        raise WrongArgument(
            f"The {at.strip('`').removeprefix('$.')} is wrong: {message}."
        ) from None
