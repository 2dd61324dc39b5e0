"""Checks the address of an order that is not placed yet: warnings, never a reason to reject it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tradewind.errors import FieldError
from tradewind.platforms.model import Address


@dataclass(frozen=True, slots=True)
class AddressCheck:
    """What is unusual about an address. The rules are those of the address book."""

    warnings: Callable[[Address], Sequence[FieldError]]
