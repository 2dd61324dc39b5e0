"""The signing secret of a subscription: random, encrypted for its row, decrypted to sign."""

import secrets
from uuid import UUID

from tradewind import ids
from tradewind.storage.keyring import Keyring
from tradewind.storage.sealing import seal, unseal

_BYTES = 32


def make() -> str:
    """A new secret: `whsec_` and 43 characters."""
    return f"whsec_{secrets.token_urlsafe(_BYTES)}"


def sealed(keyring: Keyring, account_id: UUID, subscription_id: UUID, secret: str) -> bytes:
    return seal(keyring, secret.encode(), sealing_context(account_id, subscription_id))


def sealing_context(account_id: UUID, subscription_id: UUID) -> str:
    """The row that a secret is sealed for: copied to another row it does not open."""
    account = ids.ACCOUNT.show(account_id)
    return f"account/{account}/subscription/{ids.SUBSCRIPTION.show(subscription_id)}/secret"


def unsealed(keyring: Keyring, account_id: UUID, subscription_id: UUID, value: bytes) -> str:
    return unseal(keyring, value, sealing_context(account_id, subscription_id)).decode()
