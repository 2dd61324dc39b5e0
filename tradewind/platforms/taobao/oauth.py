"""Being granted access: the page to send a person to, codes for tokens, and fresh tokens."""

from collections.abc import Mapping, Sequence
from time import time
from urllib.parse import urlencode

from tradewind.platforms.access import OAuthTokens
from tradewind.platforms.failures import UnreadableResponse
from tradewind.platforms.paced_client import PacedClient
from tradewind.platforms.taobao.gateway import HEADERS, Now, form, understood
from tradewind.platforms.taobao.values import Json, text, whole

AUTHORIZE = "https://api.taobao.global/oauth/authorize"
_CREATE = "/auth/token/create"
_REFRESH = "/auth/token/refresh"
_OWNERS = ("account", "short_code", "user_id", "seller_id", "account_id")


class TaobaoOAuth:
    """How an application is let in, and stays so."""

    def __init__(self, now: Now = time, *, authorize: str = AUTHORIZE) -> None:
        self._now = now
        self._authorize = authorize

    def authorize_url(self, app_key: str, redirect_uri: str, state: str) -> str:
        """Where the buyer agrees; they come back to `redirect_uri` with a code and `state`."""
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
        """A code works once: after OutcomeUnknown the buyer has to agree again."""
        asked = {"code": code}
        return await self._tokens(client, _CREATE, (app_key, app_secret), asked, safe=False)

    async def refresh(
        self, client: PacedClient, app_key: str, app_secret: str, refresh_token: str
    ) -> OAuthTokens:
        """NotAuthorised when the refresh token has ended, too.

        Tried again when no answer comes: if the lost one used the token up, all is lost either way.
        """
        asked = {"refresh_token": refresh_token}
        return await self._tokens(client, _REFRESH, (app_key, app_secret), asked, safe=True)

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
        return understood(reply, _read, safe=safe)


def _read(answer: Json) -> OAuthTokens:
    access, refresh = text(answer.get("access_token")), text(answer.get("refresh_token"))
    lasts = whole(answer.get("expires_in"))
    if access is None or refresh is None or lasts is None:
        raise UnreadableResponse("a token is missing")
    return OAuthTokens(
        access_token=access,
        expires_in=lasts,
        refresh_token=refresh,
        refresh_expires_in=whole(answer.get("refresh_expires_in")),
        owner=next((found for name in _OWNERS if (found := text(answer.get(name)))), None),
    )
