"""OAuth at 1688: the authorisation page, and tokens for a code or a refresh token."""

from collections.abc import Callable, Mapping
from time import time
from urllib.parse import urlencode

from tradewind.platforms.access import OAuthTokens
from tradewind.platforms.alibaba import values
from tradewind.platforms.alibaba.gateway import send
from tradewind.platforms.failures import NotAuthorised, Rejected, UnreadableResponse
from tradewind.platforms.paced_client import FORM, Api, PacedClient

_SHORTEST = 1


class AlibabaOAuth:
    """Requests tokens from the gateway; these requests are not signed."""

    def __init__(self, now: Callable[[], float] = time) -> None:
        self._now = now

    def authorize_url(self, app_key: str, redirect_uri: str, state: str) -> str:
        """Return the URL of the authorisation page; its code is valid for two minutes."""
        params = {
            "client_id": app_key,
            "site": "1688",
            "redirect_uri": redirect_uri,
            "state": state,
        }
        return f"https://auth.1688.com/oauth/authorize?{urlencode(params)}"

    async def exchange(
        self, client: PacedClient, app_key: str, app_secret: str, code: str, redirect_uri: str
    ) -> OAuthTokens:
        """Exchange a code, which works once, for tokens. A wrong code raises Rejected."""
        form = {
            "grant_type": "authorization_code",
            "need_refresh_token": "true",
            "redirect_uri": redirect_uri,
            "code": code,
            "client_id": app_key,
            "client_secret": app_secret,
        }
        return await self._tokens(client, form, Rejected, safe=False)

    async def refresh(
        self, client: PacedClient, app_key: str, app_secret: str, refresh_token: str
    ) -> OAuthTokens:
        """Refresh the tokens; NotAuthorised when the refresh token is no longer valid.

        The call is repeated after a lost response, since there is no alternative. If the response
        has no refresh token, the current one stays in use.
        """
        form = {
            "grant_type": "refresh_token",
            "refresh_token": refresh_token,
            "client_id": app_key,
            "client_secret": app_secret,
        }
        return await self._tokens(client, form, NotAuthorised, safe=True)

    async def _tokens(
        self,
        client: PacedClient,
        form: Mapping[str, str],
        failure: type[Rejected | NotAuthorised],
        *,
        safe: bool,
    ) -> OAuthTokens:
        """Request tokens; `{error, error_description}` is raised as `failure`."""

        def read(response: values.Json) -> OAuthTokens:
            code = values.text(response.get("error"))
            if code is not None:
                message = values.text(response.get("error_description")) or code
                raise failure(client.platform, code, message)
            return tokens(response, current=form.get("refresh_token"), now=self._now())

        api = Api("token", f"http/1/system.oauth2/getToken/{form['client_id']}", safe=safe)
        return await send(client, api, api.path, lambda: (urlencode(form).encode(), FORM), read)


def tokens(response: values.Json, *, current: str | None, now: float) -> OAuthTokens:
    """Read the tokens; the lifetime is a text, that of the refresh token a date."""
    expires_in = values.whole(response.get("expires_in"), "expires_in")
    if expires_in is None:
        raise UnreadableResponse("The response has no expires_in.")
    expires_at = values.moment(response.get("refresh_token_timeout"))
    lifetime = int(expires_at.timestamp() - now) if expires_at else None
    owner = response.get("resource_owner") or response.get("memberId") or response.get("aliId")
    return OAuthTokens(
        access_token=values.need(response.get("access_token"), "access_token"),
        expires_in=max(expires_in, _SHORTEST),
        refresh_token=values.text(response.get("refresh_token")) or current or "",
        refresh_expires_in=None if lifetime is None else max(lifetime, _SHORTEST),
        owner=values.text(owner),
    )
