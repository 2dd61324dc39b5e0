"""OAuth at 1688: the authorisation page, and tokens for a code or a refresh token."""

from collections.abc import Callable, Mapping, Sequence
from time import time
from typing import Any
from urllib.parse import urlencode

from tradewind.platforms.access import OAuthTokens
from tradewind.platforms.alibaba import errors, values
from tradewind.platforms.alibaba.gateway import FORM
from tradewind.platforms.failures import NotAuthorised, Rejected, UnreadableResponse
from tradewind.platforms.paced_client import PacedClient

AUTHORIZE = "https://auth.1688.com/oauth/authorize"
_SHORTEST = 1


class AlibabaOAuth:
    """Requests tokens from the gateway; these requests are not signed."""

    def __init__(self, authorize: str = AUTHORIZE, now: Callable[[], float] = time) -> None:
        self._authorize = authorize
        self._now = now

    def authorize_url(self, app_key: str, redirect_uri: str, state: str) -> str:
        """Return the URL of the authorisation page; its code is valid for two minutes."""
        params = {
            "client_id": app_key,
            "site": "1688",
            "redirect_uri": redirect_uri,
            "state": state,
        }
        return f"{self._authorize}?{urlencode(params)}"

    async def exchange(
        self, client: PacedClient, app_key: str, app_secret: str, code: str, redirect_uri: str
    ) -> OAuthTokens:
        """Exchange a code, which works once, for tokens. A wrong code raises Rejected."""
        params = {
            "grant_type": "authorization_code",
            "need_refresh_token": "true",
            "redirect_uri": redirect_uri,
            "code": code,
        }
        response = await self._call(client, app_key, app_secret, params, safe=False)
        error = _oauth_error(response)
        if error is not None:
            raise Rejected(client.platform, error.code, error.message)
        return self._tokens(client, response, current=None, safe=False)

    async def refresh(
        self, client: PacedClient, app_key: str, app_secret: str, refresh_token: str
    ) -> OAuthTokens:
        """Refresh the tokens; NotAuthorised when the refresh token is no longer valid.

        The call is repeated after a lost response, since there is no alternative. If the response
        has no refresh token, the current one stays in use.
        """
        params = {"grant_type": "refresh_token", "refresh_token": refresh_token}
        response = await self._call(client, app_key, app_secret, params, safe=True)
        error = _oauth_error(response)
        if error is not None:
            raise NotAuthorised(client.platform, error.code, error.message)
        return self._tokens(client, response, current=refresh_token, safe=True)

    async def _call(
        self,
        client: PacedClient,
        app_key: str,
        app_secret: str,
        params: Mapping[str, str],
        *,
        safe: bool,
    ) -> dict[str, Any]:
        form = {**params, "client_id": app_key, "client_secret": app_secret}

        def prepare() -> tuple[bytes, Sequence[str]]:
            return urlencode(form).encode(), FORM

        path = f"/openapi/http/1/system.oauth2/getToken/{app_key}"
        reply = await client.post("token", path, prepare, safe=safe)
        try:
            response = values.decode(reply.body)
        except UnreadableResponse as unreadable:
            raise errors.unreadable(client.platform, str(unreadable), safe=safe) from None
        error = errors.gateway_error(response)
        if error is not None:
            raise errors.gateway_failure(client.platform, error, safe=safe)
        return response

    def _tokens(
        self, client: PacedClient, response: values.Json, *, current: str | None, safe: bool
    ) -> OAuthTokens:
        try:
            return tokens(response, current=current, now=self._now())
        except UnreadableResponse as unreadable:
            raise errors.unreadable(client.platform, str(unreadable), safe=safe) from None


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
        refresh_token=values.text_or(response.get("refresh_token"), current or ""),
        refresh_expires_in=None if lifetime is None else max(lifetime, _SHORTEST),
        owner=values.text(owner),
    )


def _oauth_error(response: values.Json) -> errors.AlibabaError | None:
    """Read `{error, error_description}`: the code, token or application is not valid."""
    code = values.text(response.get("error"))
    if code is None:
        return None
    return errors.AlibabaError(code, values.text_or(response.get("error_description"), code))
