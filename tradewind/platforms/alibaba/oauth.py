"""Authorisation at 1688: the page where an operator agrees, codes for tokens, tokens for newer."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
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
    """Asks for tokens over a link to the gateway; these requests carry no signature."""

    def __init__(self, authorize: str = AUTHORIZE, now: Callable[[], float] = time) -> None:
        self._authorize = authorize
        self._now = now

    def authorize_url(self, app_key: str, redirect_uri: str, state: str) -> str:
        """Where the operator says yes; the code that comes back lasts two minutes."""
        asked = {
            "client_id": app_key,
            "site": "1688",
            "redirect_uri": redirect_uri,
            "state": state,
        }
        return f"{self._authorize}?{urlencode(asked)}"

    async def exchange(
        self, client: PacedClient, app_key: str, app_secret: str, code: str, redirect_uri: str
    ) -> OAuthTokens:
        """Exchange a code, which works once, for tokens. A wrong code raises Rejected."""
        asked = {
            "grant_type": "authorization_code",
            "need_refresh_token": "true",
            "redirect_uri": redirect_uri,
            "code": code,
        }
        answer = await self._ask(client, app_key, app_secret, asked, safe=False)
        refusal = _denied(answer)
        if refusal is not None:
            raise Rejected(client.platform, refusal.code, refusal.message)
        return self._tokens(client, answer, kept=None, safe=False)

    async def refresh(
        self, client: PacedClient, app_key: str, app_secret: str, refresh_token: str
    ) -> OAuthTokens:
        """Newer tokens; NotAuthorised when the refresh token does not count any more.

        It is repeated after a lost answer: there is nothing else that could be tried. Where
        the answer has no refresh token, the old one goes on.
        """
        asked = {"grant_type": "refresh_token", "refresh_token": refresh_token}
        answer = await self._ask(client, app_key, app_secret, asked, safe=True)
        refusal = _denied(answer)
        if refusal is not None:
            raise NotAuthorised(client.platform, refusal.code, refusal.message)
        return self._tokens(client, answer, kept=refresh_token, safe=True)

    async def _ask(
        self,
        client: PacedClient,
        app_key: str,
        app_secret: str,
        asked: Mapping[str, str],
        *,
        safe: bool,
    ) -> dict[str, Any]:
        form = {**asked, "client_id": app_key, "client_secret": app_secret}

        def prepare() -> tuple[bytes, Sequence[str]]:
            return urlencode(form).encode(), FORM

        path = f"/openapi/http/1/system.oauth2/getToken/{app_key}"
        reply = await client.post("token", path, prepare, safe=safe)
        try:
            answer = values.decode(reply.body)
        except UnreadableResponse as why:
            raise errors.unreadable(client.platform, str(why), safe=safe) from None
        refusal = errors.at_gateway(answer)
        if refusal is not None:
            raise errors.gateway_failure(client.platform, refusal, safe=safe)
        return answer

    def _tokens(
        self, client: PacedClient, answer: values.Json, *, kept: str | None, safe: bool
    ) -> OAuthTokens:
        try:
            return tokens(answer, kept=kept, now=self._now())
        except UnreadableResponse as why:
            raise errors.unreadable(client.platform, str(why), safe=safe) from None


def tokens(answer: values.Json, *, kept: str | None, now: float) -> OAuthTokens:
    """What `getToken` hands out. A lifetime comes as text, the refresh token's as a date."""
    expires_in = values.whole(answer.get("expires_in"), "expires_in")
    if expires_in is None:
        raise UnreadableResponse("The answer has no expires_in.")
    ends = values.moment(answer.get("refresh_token_timeout"))
    left = None if ends is None else int((ends - datetime.fromtimestamp(now, UTC)).total_seconds())
    owner = answer.get("resource_owner") or answer.get("memberId") or answer.get("aliId")
    return OAuthTokens(
        access_token=values.need(answer.get("access_token"), "access_token"),
        expires_in=max(expires_in, _SHORTEST),
        refresh_token=values.text_or(answer.get("refresh_token"), kept or ""),
        refresh_expires_in=None if left is None else max(left, _SHORTEST),
        owner=values.text(owner),
    )


def _denied(answer: values.Json) -> errors.AlibabaError | None:
    """`{error, error_description}`: this very code, token or application is refused."""
    code = values.text(answer.get("error"))
    if code is None:
        return None
    return errors.AlibabaError(code, values.text_or(answer.get("error_description"), code))
