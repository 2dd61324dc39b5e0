"""A subscription's signing secret: made at random, sealed for its row, opened to sign."""

import secrets
from collections import OrderedDict
from uuid import UUID

from tradewind import ids
from tradewind.storage.keyring import Keyring
from tradewind.storage.sealing import seal, unseal

_BYTES = 32
_REMEMBERED = 10_000


def make() -> str:
    """A new secret: `whsec_` and 43 characters."""
    return f"whsec_{secrets.token_urlsafe(_BYTES)}"


def sealed(keyring: Keyring, subscription_id: UUID, secret: str) -> bytes:
    return seal(keyring, secret.encode(), place(subscription_id))


def place(subscription_id: UUID) -> str:
    """Where a secret belongs: copied to another row it does not open."""
    return f"subscription/{ids.SUBSCRIPTION.show(subscription_id)}/secret"


class Opener:
    """Opens sealed secrets. It remembers what a sealed text says, never what a row has."""

    def __init__(self, keyring: Keyring) -> None:
        self._keyring = keyring
        self._opened: OrderedDict[bytes, str] = OrderedDict()

    def secret(self, subscription_id: UUID, value: bytes) -> str:
        found = self._opened.get(value)
        if found is None:
            found = unseal(self._keyring, value, place(subscription_id)).decode()
            self._opened[value] = found
            if len(self._opened) > _REMEMBERED:
                self._opened.popitem(last=False)
        return found
