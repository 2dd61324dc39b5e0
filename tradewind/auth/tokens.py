"""Access and refresh tokens: makes them, and verifies those that come back (pure)."""

import base64
import binascii
import hashlib
import hmac
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import jwt

from tradewind import ids
from tradewind.storage.keyring import Keyring

ACCESS_LIFETIME = timedelta(days=90)
REFRESH_LIFETIME = timedelta(days=180)

_ISSUER = "tradewind"
_AUDIENCE = "tradewind-api"
_CLAIMS = ["iss", "aud", "sub", "sid", "iat", "nbf", "exp"]
_REFRESH_PREFIX = "twr_"
_HEAD_BYTES = 4 + 16 + 4


@dataclass(frozen=True, slots=True)
class AccessClaims:
    """The claims of a verified access token. Whether its session lives is in the database."""

    session_id: UUID
    not_before: float
    expires: float

    def valid_at(self, moment: datetime) -> bool:
        return self.not_before <= moment.timestamp() < self.expires


@dataclass(frozen=True, slots=True)
class RefreshClaims:
    """The claims of a verified refresh token: the session, and the number of the token in it."""

    session_id: UUID
    generation: int


def make_access(keyring: Keyring, account_id: UUID, session_id: UUID, now: datetime) -> str:
    key_id, key = keyring.current("access tokens")
    # Whole seconds, rounded down, so that the token is valid at the very moment it is made.
    issued = int(now.timestamp())
    claims = {
        "iss": _ISSUER,
        "aud": _AUDIENCE,
        "sub": ids.ACCOUNT.show(account_id),
        "sid": ids.SESSION.show(session_id),
        "iat": issued,
        "nbf": issued,
        "exp": issued + int(ACCESS_LIFETIME.total_seconds()),
    }
    return jwt.encode(claims, key, algorithm="HS256", headers={"kid": key_id})


def read_access(keyring: Keyring, token: str) -> AccessClaims | None:
    """The claims if we made the token, else None. Its times are checked by the database's clock."""
    try:
        key = keyring.find("access tokens", str(jwt.get_unverified_header(token).get("kid")))
        if key is None:
            return None
        claims = jwt.decode(
            token,
            key,
            algorithms=["HS256"],
            issuer=_ISSUER,
            audience=_AUDIENCE,
            options={
                "require": _CLAIMS,
                "verify_exp": False,
                "verify_nbf": False,
                "verify_iat": False,
            },
        )
    except (jwt.PyJWTError, ValueError, RecursionError):
        return None
    session_id = ids.SESSION.read(str(claims["sid"]))
    if session_id is None:
        return None
    return AccessClaims(session_id, float(claims["nbf"]), float(claims["exp"]))


def make_refresh(keyring: Keyring, session_id: UUID, generation: int) -> str:
    """The refresh token of a session's generation.

    It is computed, not random: two tabs that refresh at once, or a client that lost the response,
    get the same successor, and nothing of it is stored.
    """
    key_id, key = keyring.current("refresh tokens")
    head = bytes.fromhex(key_id) + session_id.bytes + generation.to_bytes(4)
    mac = hmac.digest(key, head, hashlib.sha256)
    return _REFRESH_PREFIX + base64.urlsafe_b64encode(head + mac).decode().rstrip("=")


def read_refresh(keyring: Keyring, token: str) -> RefreshClaims | None:
    """The claims if we made the token, else None."""
    if not token.startswith(_REFRESH_PREFIX):
        return None
    try:
        text = token.removeprefix(_REFRESH_PREFIX).encode("ascii")
        raw = base64.b64decode(text + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (UnicodeEncodeError, binascii.Error):
        return None
    head, mac = raw[:_HEAD_BYTES], raw[_HEAD_BYTES:]
    key = keyring.find("refresh tokens", head[:4].hex())
    if key is None or not hmac.compare_digest(mac, hmac.digest(key, head, hashlib.sha256)):
        return None
    return RefreshClaims(UUID(bytes=head[4:20]), int.from_bytes(head[20:24]))
