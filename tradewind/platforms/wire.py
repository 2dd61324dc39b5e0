"""Marketplaces and our connections to them as JSON."""

from typing import Annotated

from msgspec import Meta

from tradewind import clock
from tradewind.platforms.connection import Connection, ConnectionState
from tradewind.platforms.contract import Capability
from tradewind.platforms.marketplace import Marketplace
from tradewind.platforms.registry import MARKETPLACES, PlatformListing
from tradewind.web.inputs import Input, Output


def _names(market: Marketplace) -> str:
    """Write a marketplace's name and its aliases as documentation does."""
    aliases = "".join(f" (or `{alias}`)" for alias in market.traits.aliases)
    return f"`{market.traits.platform}`{aliases}"


PlatformName = Annotated[
    str,
    Meta(
        max_length=50,
        description=", ".join(map(_names, MARKETPLACES.values())) + ".",
        examples=["sandbox"],
    ),
]
_Secret = Annotated[str, Meta(min_length=1, max_length=2000, examples=["…"])]
_Time = clock.Timestamp


class SellerOut(Output):
    """The seller of a product."""

    id: Annotated[str | None, Meta(examples=["b2b-2200000001"])]
    name: Annotated[str | None, Meta(examples=["义乌市晨曦服饰厂"])]


class PlatformOut(Output):
    """A marketplace: its capabilities, and whether it is connected here."""

    platform: PlatformName
    name: Annotated[str, Meta(examples=["Sandbox"])]
    capabilities: Annotated[list[Capability], Meta(examples=[["search", "detail"]])]
    configured: Annotated[bool, Meta(description="Whether it has credentials.", examples=[True])]
    connection: Annotated[
        ConnectionState,
        Meta(
            description="`expiring`: the authorisation ends within a week. `none`: there is none.",
            examples=["connected"],
        ),
    ]
    simulated: Annotated[bool, Meta(description="No real money, no real goods.", examples=[True])]
    currency: Annotated[str, Meta(examples=["CNY"])]
    max_lines: Annotated[int, Meta(description="Lines in one order.", examples=[50])]
    single_seller: Annotated[
        bool, Meta(description="Whether an order's lines must be of one seller.", examples=[True])
    ]

    @staticmethod
    def of(listing: PlatformListing) -> "PlatformOut":
        traits = listing.traits
        return PlatformOut(
            platform=traits.platform,
            name=traits.name,
            capabilities=[each for each in Capability if each in traits.capabilities],
            configured=listing.connection is not None,
            connection=listing.connection.state if listing.connection else "none",
            simulated=listing.simulated,
            currency="CNY",
            max_lines=traits.max_lines,
            single_seller=traits.single_seller,
        )


class CredentialsIn(Input):
    """Credentials to set. Send the application once, then `code` and `state`, or tokens.

    The page at `authorize_url` redirects with both. The state is valid for 30 minutes, once, and
    only with the session or API key that requested the `authorize_url`.
    """

    app_key: Annotated[str, Meta(min_length=1, max_length=200, examples=["1000001"])] | None = None
    app_secret: _Secret | None = None
    code: _Secret | None = None
    state: Annotated[str, Meta(max_length=500)] | None = None
    redirect_uri: Annotated[str, Meta(max_length=2000)] | None = None
    access_token: _Secret | None = None
    refresh_token: _Secret | None = None


class ConnectionOut(Output):
    """Our connection to a marketplace, as operators see it; secrets are never shown."""

    platform: PlatformName
    app_key: Annotated[str, Meta(examples=["1000001"])]
    connection: Annotated[ConnectionState, Meta(examples=["connected"])]
    owner: Annotated[
        str | None, Meta(description="The account that authorised us.", examples=["demo-buyer"])
    ]
    access_expires_at: _Time | None
    refresh_expires_at: _Time | None
    failure: Annotated[
        str | None, Meta(description="Why the last token refresh failed.", examples=[None])
    ]
    authorize_url: Annotated[
        str,
        Meta(
            description="Open it, authorise, and send the `code` and `state` it redirects with.",
            examples=["https://auth.1688.com/oauth/authorize?client_id=…"],
        ),
    ]

    @staticmethod
    def of(platform: str, connection: Connection, authorize_url: str) -> "ConnectionOut":
        return ConnectionOut(
            platform=platform,
            app_key=connection.app_key,
            connection=connection.state,
            owner=connection.owner,
            access_expires_at=clock.show_or_none(connection.access_expires_at),
            refresh_expires_at=clock.show_or_none(connection.refresh_expires_at),
            failure=connection.failure,
            authorize_url=authorize_url,
        )
