"""OAuth at Taobao Global: the authorisation page, and tokens for a code or a refresh token."""

from collections.abc import Mapping
from functools import partial
from time import time
from urllib.parse import urlencode

from tradewind.platforms.access import OAuthTokens, PlatformAccess
from tradewind.platforms.failures import UnreadableResponse
from tradewind.platforms.paced_client import FORM, Api, PacedClient
from tradewind.platforms.taobao.gateway import Now, form, read_response
from tradewind.platforms.taobao.values import Json, text, whole

_CREATE = Api("token_create", "/auth/token/create", safe=False)
_REFRESH = Api("token_refresh", "/auth/token/refresh")
_OWNERS = ("account", "short_code", "user_id", "seller_id", "account_id")


class TaobaoOAuth:
    """Requests tokens with signed calls."""

    def __init__(self, now: Now = time) -> None:
        self._now = now

    def authorize_url(self, app_key: str, redirect_uri: str, state: str) -> str:
        """Return the URL of the authorisation page, which redirects with a code and `state`."""
        params = {
            "response_type": "code",
            "force_auth": "true",
            "client_id": app_key,
            "redirect_uri": redirect_uri,
            "state": state,
        }
        return f"https://api.taobao.global/oauth/authorize?{urlencode(params)}"

    async def exchange(
        self,
        client: PacedClient,
        app_key: str,
        app_secret: str,
        code: str,
        redirect_uri: str,  # noqa: ARG002 - only the page asks for it here
    ) -> OAuthTokens:
        """Exchange a code, which works once: after OutcomeUnknown, authorise again."""
        access = PlatformAccess(app_key, app_secret, "")
        return await self._tokens(client, _CREATE, access, {"code": code})

    async def refresh(
        self, client: PacedClient, app_key: str, app_secret: str, refresh_token: str
    ) -> OAuthTokens:
        """Refresh the tokens; NotAuthorised when the refresh token has expired as well.

        The call is repeated after a lost response, since there is no alternative.
        """
        access = PlatformAccess(app_key, app_secret, "")
        return await self._tokens(client, _REFRESH, access, {"refresh_token": refresh_token})

    async def _tokens(
        self, client: PacedClient, api: Api, access: PlatformAccess, params: Mapping[str, str]
    ) -> OAuthTokens:
        return await client.call(
            api,
            lambda: (form(api.path, params, access, self._now()), FORM),
            partial(read_response, read=_read, safe=api.safe),
        )


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
