"""What a subscription keeps secret: its signing key, and the values of its headers."""

import secrets
from base64 import b64encode, urlsafe_b64decode
from collections.abc import Mapping
from uuid import UUID

import msgspec

from tradewind import ids
from tradewind.storage.keyring import Keyring
from tradewind.storage.sealing import seal, unseal

_BYTES = 32
_PREFIX = "whsec_"
_HEADERS = msgspec.json.Decoder(dict[str, str])


def make() -> str:
    """A new secret: `whsec_` and 43 characters."""
    return f"{_PREFIX}{secrets.token_urlsafe(_BYTES)}"


def standard_key(secret: str) -> bytes:
    """The key of the signatures of Standard Webhooks: the random bytes of the secret."""
    return urlsafe_b64decode(f"{secret.removeprefix(_PREFIX)}=")


def standard_form(secret: str) -> str:
    """The secret as libraries of Standard Webhooks read it: base64 with padding, not base64url."""
    return f"{_PREFIX}{b64encode(standard_key(secret)).decode()}"


def sealed(keyring: Keyring, account_id: UUID, subscription_id: UUID, secret: str) -> bytes:
    return seal(keyring, secret.encode(), sealing_context(account_id, subscription_id))


def sealing_context(account_id: UUID, subscription_id: UUID, what: str = "secret") -> str:
    """The row that a value is sealed for: copied to another row it does not open."""
    account = ids.ACCOUNT.show(account_id)
    return f"account/{account}/subscription/{ids.SUBSCRIPTION.show(subscription_id)}/{what}"


def unsealed(keyring: Keyring, account_id: UUID, subscription_id: UUID, value: bytes) -> str:
    return unseal(keyring, value, sealing_context(account_id, subscription_id)).decode()


def sealed_headers(
    keyring: Keyring, account_id: UUID, subscription_id: UUID, headers: Mapping[str, str]
) -> bytes | None:
    """The headers of a subscription, encrypted; None if there are none."""
    if not headers:
        return None
    context = sealing_context(account_id, subscription_id, "headers")
    return seal(keyring, msgspec.json.encode(headers), context)


def unsealed_headers(
    keyring: Keyring, account_id: UUID, subscription_id: UUID, value: bytes | None
) -> Mapping[str, str]:
    if value is None:
        return {}
    context = sealing_context(account_id, subscription_id, "headers")
    return _HEADERS.decode(unseal(keyring, value, context))
