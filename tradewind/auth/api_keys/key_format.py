"""The format of an API key: `twk_`, 32 random letters, and a checksum (pure)."""

import hashlib
import hmac
import re
import secrets
import string
import zlib

from tradewind.storage.keyring import Keyring

_ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
_PREFIX = "twk_"
_RANDOM = 32
_CHECKSUM = 6
_SHOWN = 12
_KEY = re.compile(r"twk_([0-9A-Za-z]{32})([0-9A-Za-z]{6})")


def make() -> str:
    """A new key. Secret scanners recognise the prefix; the checksum detects a typo."""
    body = "".join(secrets.choice(_ALPHABET) for _ in range(_RANDOM))
    return f"{_PREFIX}{body}{_checksum(body)}"


def is_well_formed(key: str) -> bool:
    """Whether the checksum is right; if not, the key was mistyped or cut off."""
    match = _KEY.fullmatch(key)
    return match is not None and _checksum(match[1]) == match[2]


def shown_prefix(key: str) -> str:
    """The part of a key that lists show."""
    return key[:_SHOWN]


def hash_now(keyring: Keyring, key: str) -> tuple[str, bytes]:
    """The key id and hash to store for a new key."""
    key_id, secret = keyring.current("api keys")
    return key_id, hmac.digest(secret, key.encode(), hashlib.sha256)


def hashes(keyring: Keyring, key: str) -> tuple[bytes, ...]:
    """The hashes of the key under every master secret, the current one first."""
    return tuple(
        hmac.digest(secret, key.encode(), hashlib.sha256) for _, secret in keyring.every("api keys")
    )


def _checksum(body: str) -> str:
    number = zlib.crc32(body.encode())
    digits = []
    for _ in range(_CHECKSUM):
        number, digit = divmod(number, len(_ALPHABET))
        digits.append(_ALPHABET[digit])
    return "".join(reversed(digits))
