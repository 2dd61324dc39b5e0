"""Logins and their accounts as JSON, in and out."""

from typing import Annotated

from msgspec import Meta

from tradewind import clock, ids
from tradewind.auth.model import Identity, Plan, Role, TokenPair
from tradewind.auth.passwords import MAXIMUM
from tradewind.auth.tokens import ACCESS_LIFETIME
from tradewind.web.inputs import Input, Output, id_text
from tradewind.web.validation import EMPTY_OR_NOT_BLANK

Email = Annotated[
    str,
    Meta(
        max_length=254,
        pattern=r"^[!-?A-~]+@[!-?A-~]+$",
        description="ASCII only; case does not matter.",
        examples=["buyer@example.com"],
        extra={
            "expected": "an e-mail address in ASCII of at most 254 characters, such as "
            "buyer@example.com"
        },
    ),
]
AccountIdText = Annotated[str, id_text(ids.ACCOUNT)]
Roles = Annotated[list[Role], Meta(examples=[["buyer"]])]
PlanName = Annotated[Plan, Meta(examples=["pro"])]
Name = Annotated[
    str,
    Meta(
        max_length=200,
        pattern=EMPTY_OR_NOT_BLANK,
        description="What people call it.",
        examples=["Nordic Imports"],
    ),
]
RefreshToken = Annotated[
    str,
    Meta(
        max_length=200,
        description="Works once; lasts 180 days.",
        examples=["twr_…"],
    ),
]


class LoginIn(Input):
    """An e-mail and its password."""

    email: Annotated[str, Meta(max_length=320, examples=["buyer@example.com"])]
    password: Annotated[str, Meta(max_length=MAXIMUM, examples=["correct horse battery"])]


class RefreshIn(Input):
    """The refresh token of the pair to replace."""

    refresh_token: RefreshToken


class AccountOut(Output):
    """An account."""

    id: AccountIdText
    email: Email
    name: Name
    roles: Roles
    plan: PlanName
    created_at: clock.Timestamp

    @staticmethod
    def of(account: Identity) -> "AccountOut":
        return AccountOut(
            id=ids.ACCOUNT.show(account.id),
            email=account.email,
            name=account.name,
            roles=sorted(account.roles),
            plan=account.plan,
            created_at=clock.show(account.created_at),
        )


class TokensOut(Output):
    """A pair of tokens, and their account."""

    access_token: Annotated[
        str, Meta(description="A JWT; send it as a Bearer token.", examples=["eyJhbGciOiJIUzI1…"])
    ]
    refresh_token: RefreshToken
    token_type: Annotated[str, Meta(examples=["Bearer"])]
    expires_in: Annotated[
        int, Meta(description="How long the access token lasts, in seconds.", examples=[7776000])
    ]
    account: AccountOut

    @staticmethod
    def of(account: Identity, tokens: TokenPair) -> "TokensOut":
        return TokensOut(
            access_token=tokens.access,
            refresh_token=tokens.refresh,
            token_type="Bearer",  # noqa: S106 - a kind of token, not one
            expires_in=int(ACCESS_LIFETIME.total_seconds()),
            account=AccountOut.of(account),
        )
