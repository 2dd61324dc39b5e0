"""The OAuth `state`: ties an authorisation to the credential that requested it, for one use."""

import base64
import hashlib
import hmac
import secrets
from datetime import datetime, timedelta

from tradewind.audit.model import Actor
from tradewind.errors import ValidationFailed
from tradewind.storage import sql
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.web import limits

LIFETIME = timedelta(minutes=30)
_KEY_ID_LENGTH = 8


class OAuthStates:
    """Issues states and redeems them.

    Without a state, an attacker could make an operator redeem a code of the attacker's own
    marketplace account. A state names its marketplace and when it ends, and carries a signature
    that also covers the session, API key or command line that asked for it. Nothing is stored
    until it is redeemed.
    """

    def __init__(self, db: Database, keyring: Keyring) -> None:
        self._db = db
        self._keyring = keyring

    async def issue(self, by: Actor, platform: str) -> str:
        now = await sql.now(self._db)
        key_id, key = self._keyring.current("platform authorisations")
        nonce = secrets.token_urlsafe(12)
        text = f"{platform}.{int((now + LIFETIME).timestamp())}.{nonce}"
        return f"{text}.{key_id}{_sign(key, text, by)}"

    async def redeem(self, by: Actor, platform: str, state: str | None) -> None:
        """Consume a state; ValidationFailed unless it is valid for this actor and marketplace."""
        if not state:
            raise ValidationFailed(
                "/state", "Send the state that the marketplace returned with the code.", "missing"
            )
        now = await sql.now(self._db)
        if not self._is_valid(by, platform, state, now):
            raise _invalid_state()
        if not await limits.take_once(self._db, f"oauth-state:{state}", within=LIFETIME):
            raise _invalid_state()

    def _is_valid(self, by: Actor, platform: str, state: str, now: datetime) -> bool:
        text, _, signature = state.rpartition(".")
        state_platform, _, rest = text.partition(".")
        expires, _, _ = rest.partition(".")
        key = self._keyring.find("platform authorisations", signature[:_KEY_ID_LENGTH])
        if key is None or state_platform != platform or not expires.isdecimal():
            return False
        expected = _sign(key, text, by).encode()
        genuine = hmac.compare_digest(signature[_KEY_ID_LENGTH:].encode(), expected)
        return genuine and now.timestamp() < int(expires)


def platform_of(state: str) -> str:
    """The marketplace that a state names, whether or not the state is valid."""
    return state.partition(".")[0]


def _sign(key: bytes, text: str, by: Actor) -> str:
    owner = by.credential or by.label
    mac = hmac.digest(key, f"{text}\n{owner}".encode(), hashlib.sha256)
    return base64.urlsafe_b64encode(mac).decode().rstrip("=")


def _invalid_state() -> ValidationFailed:
    return ValidationFailed(
        "/state",
        "This authorisation was started by another session or API key, more than 30 minutes ago, "
        "or was used already. Open the authorisation URL again, and authorise there yourself.",
    )
