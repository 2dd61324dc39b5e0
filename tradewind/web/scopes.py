"""The scopes of API keys: what a key with scopes may do, and the scope that a route requires."""

from enum import StrEnum
from typing import Final, Literal


class Scope(StrEnum):
    """One permission of an API key. A key without scopes can do what its account can.

    `read` reads and searches, `order` buys and keeps the address book, `pay_request` requests
    payments and refunds, `webhooks` changes webhooks and sends events again.
    """

    READ = "read"
    ORDER = "order"
    PAY_REQUEST = "pay_request"
    WEBHOOKS = "webhooks"


# A route that no key with scopes may call. It is the scope of no key.
FULL_ACCESS: Final = "full_access"

# A route that a key may call whatever its scopes are. It is the scope of no key either.
ANY_SCOPE: Final = "any_scope"

RequiredScope = Scope | Literal["full_access", "any_scope"]


def describe(required: RequiredScope | None) -> str:
    """The sentence about the required scope in the reference."""
    if isinstance(required, Scope):
        return f"Scope: `{required}`."
    if required == ANY_SCOPE:
        return "Scope: any."
    return "Not for API keys with scopes."
