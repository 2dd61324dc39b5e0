"""Authorisation codes, access tokens, and refresh tokens that work once."""

import secrets
from collections.abc import Callable, Iterable

from msgspec.structs import replace

from tradewind_simulator.model import App, Code, Dialect, Token

CODE_SECONDS = 120.0
_ACCESS_SECONDS = {Dialect.ALIBABA: 36_000.0, Dialect.TAOBAO: 30 * 86_400.0}
_REFRESH_SECONDS = {Dialect.ALIBABA: 182 * 86_400.0, Dialect.TAOBAO: 60 * 86_400.0}


class Tokens:
    """Tokens expire in real time: a client's clock does not follow the simulated clock."""

    def __init__(self, apps: Iterable[App]) -> None:
        self.apps = {app.name: app for app in apps}
        self.by_access: dict[str, Token] = {}
        self._by_refresh: dict[str, str] = {}
        self._codes: dict[str, Code] = {}
        self.on_change: Callable[[Token], None] = lambda _: None
        self.revive()

    def revive(self) -> None:
        """Make the public demo tokens valid again; a demo access token does not expire."""
        for app in self.apps.values():
            self.load(Token(app.name, app.access_token, app.refresh_token, None, None))

    def load(self, token: Token) -> None:
        self.by_access[token.access] = token
        self._by_refresh[token.refresh] = token.access

    def good(self, app: App, access: str, real: float) -> bool:
        token = self.by_access.get(access)
        if token is None or token.app != app.name:
            return False
        return token.access_until is None or real < token.access_until

    def grant(self, app: App, redirect_uri: str, real: float) -> str:
        """Issue a code, valid for two minutes."""
        code = secrets.token_hex(16)
        self._codes[code] = Code(app.name, code, redirect_uri, real + CODE_SECONDS)
        return code

    def exchange(self, app: App, code: str, real: float) -> Token | None:
        """Issue a token for a code; None if it is unknown, expired, used, or another app's."""
        issued = self._codes.pop(code, None)
        if issued is None or issued.app != app.name or real >= issued.until:
            return None
        return self._issue(app, real)

    def refresh(self, app: App, refresh: str, real: float) -> Token | None:
        """Issue new tokens; the refresh token is used up, the old access token stays valid."""
        old = self.by_access.get(self._by_refresh.get(refresh, ""))
        if old is None or old.app != app.name or old.refresh_used:
            return None
        if old.refresh_until is not None and real >= old.refresh_until:
            return None
        self._keep(replace(old, refresh_used=True))
        return self._issue(app, real)

    def expire(self, real: float, app: str | None = None, *, refresh: bool = False) -> int:
        """Expire the access tokens of an app or of all, on request the refresh tokens too."""
        ended = [t for t in self.by_access.values() if app is None or t.app == app]
        for token in ended:
            until = real if refresh else token.refresh_until
            self._keep(replace(token, access_until=real, refresh_until=until))
        return len(ended)

    def _issue(self, app: App, real: float) -> Token:
        token = Token(
            app=app.name,
            access=secrets.token_hex(20),
            refresh=secrets.token_hex(20),
            access_until=real + _ACCESS_SECONDS[app.dialect],
            refresh_until=real + _REFRESH_SECONDS[app.dialect],
        )
        self._keep(token)
        return token

    def _keep(self, token: Token) -> None:
        self.load(token)
        self.on_change(token)
