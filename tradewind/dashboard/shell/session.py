"""Cookies: the session, the CSRF token of its forms, and the flash message of the next page."""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from contextlib import suppress
from uuid import UUID

import msgspec

from tradewind import ids
from tradewind.auth.tokens import ACCESS_LIFETIME, read_access
from tradewind.dashboard.shell import queries
from tradewind.dashboard.shell.labels import Tone
from tradewind.observability.logs import note
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.storage.sealing import CannotUnseal, seal, unseal
from tradewind.web.caller import Caller
from tradewind.web.limits import Budget, Rate
from tradewind.web.request import Request

SESSION_COOKIE = "tradewind_session"
FLASH_COOKIE = "tradewind_flash"
THEME_COOKIE = "tradewind_theme"
FLASH_SECONDS = 60
_LONGEST_TEXT = 500
_KEY_ID_LENGTH = 8


class Sessions:
    """Reads session cookies and writes new ones. Pages do not count towards the API rate limit."""

    def __init__(
        self, db: Database, keyring: Keyring, plans: Mapping[str, Rate], *, secure: bool
    ) -> None:
        self._db = db
        self._keyring = keyring
        self._plans = plans
        self._secure = secure
        # Browsers accept a cookie with this prefix only from this host, over TLS and for all
        # paths: neither a neighbouring site nor a network without TLS can set one.
        self._prefix = "__Host-" if secure else ""

    async def find(self, request: Request) -> Caller | None:
        """The person behind the cookie, read from the database; None if nobody is signed in."""
        token = self.read_cookie(request, SESSION_COOKIE)
        access = read_access(self._keyring, token) if token else None
        if access is None:
            return None
        session = await queries.find_session(self._db, access.session_id)
        if session is None or not access.valid_at(session.now):
            return None
        note(
            account=ids.ACCOUNT.show(session.account_id),
            credential=ids.SESSION.show(session.session_id),
        )
        return Caller(
            account_id=session.account_id,
            email=session.email,
            name=session.name,
            roles=frozenset(session.roles),
            plan=session.plan,
            created_at=session.created_at,
            key_id=None,
            session_id=session.session_id,
            budget=Budget(self._plans[session.plan], 0),
            address=request.address,
            request_id=request.id,
        )

    async def find_or_none(self, request: Request) -> Caller | None:
        """As `find`, for public pages and error pages: a failed lookup counts as signed out."""
        with suppress(Exception):  # a page about an error must not fail with another one
            return await self.find(request)
        return None

    def begin(self, token: str) -> tuple[bytes, bytes]:
        """The header that signs a browser in, with an access token."""
        return self.cookie(SESSION_COOKIE, token, seconds=int(ACCESS_LIFETIME.total_seconds()))

    def end(self) -> tuple[bytes, bytes]:
        """The header that signs a browser out."""
        return self.cookie(SESSION_COOKIE, "", seconds=0)

    def read_cookie(self, request: Request, name: str) -> str | None:
        """The value of a cookie that `cookie` wrote."""
        return request.cookies.get(self._prefix + name)

    def cookie(self, name: str, value: str, *, seconds: int) -> tuple[bytes, bytes]:
        secure = "; Secure" if self._secure else ""
        pair = f"{self._prefix}{name}={value}"
        text = f"{pair}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}"
        return b"set-cookie", text.encode("ascii")


def csrf_token(keyring: Keyring, session_id: UUID) -> str:
    """The token in every form of this session, which no other site can know."""
    key_id, key = keyring.current("page forms")
    return key_id + _mac(key, session_id)


def is_csrf_token(keyring: Keyring, session_id: UUID, token: str) -> bool:
    key = keyring.find("page forms", token[:_KEY_ID_LENGTH])
    sent = token[_KEY_ID_LENGTH:].encode()
    return key is not None and hmac.compare_digest(sent, _mac(key, session_id).encode())


def _mac(key: bytes, session_id: UUID) -> str:
    mac = hmac.digest(key, b"csrf/" + session_id.bytes, hashlib.sha256)
    return base64.urlsafe_b64encode(mac).decode().rstrip("=")


class FlashSecret(msgspec.Struct, frozen=True):
    """A value that is shown once, and what it is; perhaps with the same in another form."""

    value: str
    label: str
    other_value: str | None = None
    other_label: str = ""


class Flash(msgspec.Struct, frozen=True):
    """A message for the next page, perhaps with a secret or values that are stored nowhere."""

    text: str = ""
    tone: Tone = "good"
    secret: FlashSecret | None = None
    values: Mapping[str, object] = {}


def write_flash(keyring: Keyring, session_id: UUID, flash: Flash) -> str:
    """The value of the flash cookie: encrypted, and for this session only.

    Browsers drop a cookie of more than 4 KiB, so a long text, say of a marketplace, is cut.
    """
    if len(flash.text) > _LONGEST_TEXT:
        flash = msgspec.structs.replace(flash, text=f"{flash.text[:_LONGEST_TEXT]}…")
    sealed = seal(keyring, msgspec.json.encode(flash), _flash_context(session_id))
    return base64.urlsafe_b64encode(sealed).decode().rstrip("=")


def read_flash(keyring: Keyring, session_id: UUID, value: str) -> Flash | None:
    """The message that was written for this session; None for anything else."""
    try:
        text = value.encode("ascii")
        sealed = base64.b64decode(text + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
        opened = unseal(keyring, sealed, _flash_context(session_id))
        return msgspec.json.decode(opened, type=Flash)
    except (UnicodeEncodeError, binascii.Error, CannotUnseal, msgspec.MsgspecError):
        return None


def _flash_context(session_id: UUID) -> str:
    return f"flash/{session_id}"
