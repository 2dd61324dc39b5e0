"""The session cookie: who opens a page, and the token that proves a form is one of ours."""

import base64
import hashlib
import hmac
from collections.abc import Mapping
from contextlib import suppress
from uuid import UUID

from tradewind import ids
from tradewind.auth.tokens import ACCESS_LIFETIME, read_access
from tradewind.dashboard.shell import queries as sql
from tradewind.observability.logs import note
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.web.caller import Caller
from tradewind.web.limits import Budget, Rate
from tradewind.web.request import Request

COOKIE = "tradewind_session"
_KEY_ID_LENGTH = 8


class Sessions:
    """Reads session cookies, and spells new ones. Pages take nothing from the rate budget."""

    def __init__(
        self, db: Database, keyring: Keyring, plans: Mapping[str, Rate], *, secure: bool
    ) -> None:
        self._db = db
        self._keyring = keyring
        self._plans = plans
        self._secure = secure
        # A cookie of such a name comes from this very host, over TLS, and for all of its paths: a
        # neighbour's site, or a network that answers in our name without TLS, cannot set one.
        self._lead = "__Host-" if secure else ""

    async def find(self, request: Request) -> Caller | None:
        """The person behind the cookie, as the database knows them now; None when nobody is."""
        token = self.sent(request, COOKIE)
        access = read_access(self._keyring, token) if token else None
        if access is None:
            return None
        row = await sql.find_session(self._db, access.session_id)
        if row is None or not access.valid_at(row["now"]):
            return None
        note(
            account=ids.ACCOUNT.show(row["account_id"]),
            credential=ids.SESSION.show(row["session_id"]),
        )
        return Caller(
            account_id=row["account_id"],
            email=row["email"],
            name=row["name"],
            roles=frozenset(row["roles"]),
            plan=row["plan"],
            created_at=row["created_at"],
            key_id=None,
            session_id=row["session_id"],
            budget=Budget(self._plans[row["plan"]], 0),
        )

    async def glance(self, request: Request) -> Caller | None:
        """As `find`, for what is open to all: if nobody can be looked up, nobody is there."""
        with suppress(Exception):  # what tells of a failure must not fail by another
            return await self.find(request)
        return None

    def begin(self, token: str) -> tuple[bytes, bytes]:
        """The header that signs a browser in, with an access token."""
        return self.cookie(COOKIE, token, seconds=int(ACCESS_LIFETIME.total_seconds()))

    def end(self) -> tuple[bytes, bytes]:
        """The header that signs a browser out."""
        return self.cookie(COOKIE, "", seconds=0)

    def sent(self, request: Request, name: str) -> str | None:
        """The value of a cookie that `cookie` spelled."""
        return request.cookies.get(self._lead + name)

    def cookie(self, name: str, value: str, *, seconds: int) -> tuple[bytes, bytes]:
        secure = "; Secure" if self._secure else ""
        told = f"{self._lead}{name}={value}"
        text = f"{told}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}"
        return b"set-cookie", text.encode("ascii")


def csrf_token(keyring: Keyring, session_id: UUID) -> str:
    """What every form of this session carries, and no other site can know."""
    key_id, key = keyring.current("page forms")
    return key_id + _mac(key, session_id)


def is_csrf_token(keyring: Keyring, session_id: UUID, token: str) -> bool:
    key = keyring.find("page forms", token[:_KEY_ID_LENGTH])
    sent = token[_KEY_ID_LENGTH:].encode()
    return key is not None and hmac.compare_digest(sent, _mac(key, session_id).encode())


def _mac(key: bytes, session_id: UUID) -> str:
    mac = hmac.digest(key, b"csrf/" + session_id.bytes, hashlib.sha256)
    return base64.urlsafe_b64encode(mac).decode().rstrip("=")
