"""OAuth at Taobao Global: the authorisation page, and tokens for a code or a refresh token."""

from collections.abc import Mapping, Sequence
from time import time
from urllib.parse import urlencode

from tradewind.platforms.access import OAuthTokens
from tradewind.platforms.failures import UnreadableResponse
from tradewind.platforms.paced_client import PacedClient
from tradewind.platforms.taobao.gateway import HEADERS, Now, form, read_reply
from tradewind.platforms.taobao.values import Json, text, whole

AUTHORIZE = "https://api.taobao.global/oauth/authorize"
_CREATE = "/auth/token/create"
_REFRESH = "/auth/token/refresh"
_OWNERS = ("account", "short_code", "user_id", "seller_id", "account_id")


class TaobaoOAuth:
    """Requests tokens with signed calls."""

    def __init__(self, now: Now = time, *, authorize: str = AUTHORIZE) -> None:
        self._now = now
        self._authorize = authorize

    def authorize_url(self, app_key: str, redirect_uri: str, state: str) -> str:
        """Return the URL of the authorisation page, which redirects with a code and `state`."""
        params = {
            "response_type": "code",
            "force_auth": "true",
            "client_id": app_key,
            "redirect_uri": redirect_uri,
            "state": state,
        }
        return f"{self._authorize}?{urlencode(params)}"

    async def exchange(
        self,
        client: PacedClient,
        app_key: str,
        app_secret: str,
        code: str,
        redirect_uri: str,  # noqa: ARG002 - only the page asks for it here
    ) -> OAuthTokens:
        """Exchange a code, which works once: after OutcomeUnknown, authorise again."""
        params = {"code": code}
        return await self._tokens(client, _CREATE, (app_key, app_secret), params, safe=False)

    async def refresh(
        self, client: PacedClient, app_key: str, app_secret: str, refresh_token: str
    ) -> OAuthTokens:
        """Refresh the tokens; NotAuthorised when the refresh token has expired as well.

        The call is repeated after a lost response, since there is no alternative.
        """
        params = {"refresh_token": refresh_token}
        return await self._tokens(client, _REFRESH, (app_key, app_secret), params, safe=True)

    async def _tokens(
        self,
        client: PacedClient,
        path: str,
        app: tuple[str, str],
        params: Mapping[str, str],
        *,
        safe: bool,
    ) -> OAuthTokens:
        def prepare() -> tuple[bytes, Sequence[str]]:
            return form(path, params, *app, "", self._now()), HEADERS

        operation = path.removeprefix("/auth/").replace("/", "_")
        reply = await client.post(operation, path, prepare, safe=safe)
        return read_reply(reply, _read, safe=safe)


def _read(response: Json) -> OAuthTokens:
    access, refresh = text(response.get("access_token")), text(response.get("refresh_token"))
    expires_in = whole(response.get("expires_in"))
    if access is None or refresh is None or expires_in is None:
        raise UnreadableResponse("a token is missing")
    return OAuthTokens(
        access_token=access,
        expires_in=expires_in,
        refresh_token=refresh,
        refresh_expires_in=whole(response.get("refresh_expires_in")),
        owner=next(filter(None, (text(response.get(name)) for name in _OWNERS)), None),
    )
