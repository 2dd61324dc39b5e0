"""The signing secret of a subscription: random, encrypted for its row, decrypted to sign."""

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


def sealed(keyring: Keyring, account_id: UUID, subscription_id: UUID, secret: str) -> bytes:
    return seal(keyring, secret.encode(), sealing_context(account_id, subscription_id))


def sealing_context(account_id: UUID, subscription_id: UUID) -> str:
    """The row that a secret is sealed for: copied to another row it does not open."""
    account = ids.ACCOUNT.show(account_id)
    return f"account/{account}/subscription/{ids.SUBSCRIPTION.show(subscription_id)}/secret"


class Opener:
    """Opens sealed secrets, and remembers them: the sealed value together with its row.

    The row is part of what is remembered, so that a value that was copied from another row is
    opened, and fails, as if nobody had seen it before.
    """

    def __init__(self, keyring: Keyring) -> None:
        self._keyring = keyring
        self._opened: OrderedDict[tuple[UUID, UUID, bytes], str] = OrderedDict()

    def secret(self, account_id: UUID, subscription_id: UUID, value: bytes) -> str:
        key = (account_id, subscription_id, value)
        secret = self._opened.get(key)
        if secret is None:
            secret = unseal(
                self._keyring, value, sealing_context(account_id, subscription_id)
            ).decode()
            self._opened[key] = secret
            if len(self._opened) > _REMEMBERED:
                self._opened.popitem(last=False)
        return secret
