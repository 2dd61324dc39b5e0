"""Access and refresh tokens: how they are spelled, and how one is told from a forgery (pure)."""

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
_MAC_BYTES = 32
_HEAD_BYTES = 4 + 16 + 4


@dataclass(frozen=True, slots=True)
class Access:
    """What a genuine access token says. Whether its session still lives is for the database."""

    session_id: UUID
    not_before: float
    expires: float

    def valid_at(self, moment: datetime) -> bool:
        return self.not_before <= moment.timestamp() < self.expires


@dataclass(frozen=True, slots=True)
class Refresh:
    """What a genuine refresh token says: the session, and which in the line of its tokens it is."""

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


def read_access(keyring: Keyring, token: str) -> Access | None:
    """What the token says if we made it, else None. Times are judged by the database's clock."""
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
    return Access(session_id, float(claims["nbf"]), float(claims["exp"]))


def make_refresh(keyring: Keyring, session_id: UUID, generation: int) -> str:
    """The refresh token of a session's generation.

    It is computed rather than drawn, so that two tabs that refresh at once, or a client that lost
    the answer, can be given the very same successor, and nothing of it needs to be stored.
    """
    key_id, key = keyring.current("refresh tokens")
    head = bytes.fromhex(key_id) + session_id.bytes + generation.to_bytes(4)
    mac = hmac.digest(key, head, hashlib.sha256)
    return _REFRESH_PREFIX + base64.urlsafe_b64encode(head + mac).decode().rstrip("=")


def read_refresh(keyring: Keyring, token: str) -> Refresh | None:
    """What the token says if we made it, else None."""
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
    return Refresh(UUID(bytes=head[4:20]), int.from_bytes(head[20:24]))
