"""Sealing: encrypts a secret for one location in the database, and decrypts it only there."""

import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from tradewind.errors import TradewindError
from tradewind.storage.keyring import Keyring

_KEY_ID_BYTES = 4
_NONCE_BYTES = 12


class CannotUnseal(TradewindError):
    """A sealed value was made with a key that is gone, was moved, or was changed."""


def seal(keyring: Keyring, value: bytes, location: str) -> bytes:
    """Encrypt `value` for `location`, such as `subscription/whk_…/secret`.

    The location is authenticated with the value: copied to another row it cannot be decrypted.
    """
    key_id, key = keyring.current("sealing")
    nonce = os.urandom(_NONCE_BYTES)
    return bytes.fromhex(key_id) + nonce + AESGCM(key).encrypt(nonce, value, location.encode())


def unseal(keyring: Keyring, sealed: bytes, location: str) -> bytes:
    """Decrypt a value that `seal` made for the same location."""
    key = keyring.find("sealing", key_id_of(sealed))
    if key is None:
        raise CannotUnseal(
            f"The value sealed for {location} needs the master secret with key id "
            f"{key_id_of(sealed)}, which TRADEWIND_SECRET_KEY no longer lists."
        )
    nonce = sealed[_KEY_ID_BYTES : _KEY_ID_BYTES + _NONCE_BYTES]
    try:
        return AESGCM(key).decrypt(nonce, sealed[_KEY_ID_BYTES + _NONCE_BYTES :], location.encode())
    except (InvalidTag, ValueError):  # ValueError: it was cut off within the nonce
        raise CannotUnseal(f"The value sealed for {location} was changed or moved.") from None


def key_id_of(sealed: bytes) -> str:
    """The key id that a sealed value was made with."""
    return sealed[:_KEY_ID_BYTES].hex()
