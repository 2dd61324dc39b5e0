"""Marketplaces, in a browser, for operators: capabilities, connection and credentials."""

from msgspec.structs import asdict

from tradewind.audit.model import Actor
from tradewind.auth.model import Operator
from tradewind.dashboard.shell.forms import errors_of
from tradewind.dashboard.shell.render import PageResult, PageRoutes, Redirect, TemplatePage
from tradewind.errors import (
    Conflict,
    Invalid,
    ServiceUnavailable,
    UpstreamFailed,
    ValidationFailed,
)
from tradewind.orders.payments.modes import PayModes
from tradewind.platforms import connect as connecting
from tradewind.platforms.connect import Credentials
from tradewind.platforms.contract import Capability
from tradewind.platforms.errors import UnsupportedPlatform
from tradewind.platforms.registry import PlatformListing, Platforms
from tradewind.platforms.wire import CredentialsIn
from tradewind.storage.pool import Database
from tradewind.web import inputs
from tradewind.web.problems import RouteNotFound
from tradewind.web.site import Form
from tradewind.web.urls import PublicUrl

routes = PageRoutes("/platforms")

_CREDENTIALS = ("app_key", "app_secret", "code", "state", "access_token", "refresh_token")


class CredentialsForm(Form):
    """Credentials to save; an empty field leaves the stored value."""

    app_key: str = ""
    app_secret: str = ""
    code: str = ""
    state: str = ""
    returned: str = ""
    access_token: str = ""
    refresh_token: str = ""


@routes.get()
async def show_platforms(caller: Operator, platforms: Platforms, modes: PayModes) -> TemplatePage:
    """List the marketplaces with their connection."""
    return TemplatePage(
        "admin/platforms.html",
        listings=await platforms.listed(),
        pay_mode=modes.of,
        reachable=platforms.clients,
        capabilities=_capabilities,
    )


@routes.get("/{platform}")
async def show_platform(
    platform: str, caller: Operator, platforms: Platforms, modes: PayModes, public_url: PublicUrl
) -> TemplatePage:
    """Show a marketplace and the forms that connect it."""
    name = _named(platforms, platform)
    listings = await platforms.listed()
    listing = next(item for item in listings if item.traits.platform == name)
    connection = await platforms.connections.find(name)
    authorize_url = ""
    if connection is not None:
        actor = Actor.of(caller)
        authorize_url = await connecting.authorize_url(
            platforms, actor, name, connection, public_url.text
        )
    return TemplatePage(
        "admin/platform.html",
        listing=listing,
        pay_mode=modes.of(name),
        capabilities=_capabilities(listing),
        connection=connection,
        authorize_url=authorize_url,
        is_reachable=name in platforms.clients,
        url_setting=platforms.marketplace(name).url_setting,
        app_key=connection.app_key if connection else "",
    )


@routes.post("/{platform}")
async def connect(
    platform: str,
    caller: Operator,
    body: CredentialsForm,
    db: Database,
    platforms: Platforms,
    modes: PayModes,
    public_url: PublicUrl,
) -> PageResult:
    """Save the application, or authorise it with a code or tokens; secrets are never shown."""
    name = _named(platforms, platform)
    if body.returned:
        body.code, body.state = connecting.read_return_address(body.returned)
    try:
        if body.returned and not body.code:
            raise ValidationFailed("/returned", "This URL contains no code=…")
        typed = {field: getattr(body, field).strip() or None for field in _CREDENTIALS}
        credentials = Credentials(**asdict(inputs.read_values(CredentialsIn, **typed)))
        if credentials == Credentials():
            raise ValidationFailed("", "Enter something to save.", "missing")
        connected = await connecting.connect(
            db, platforms, Actor.of(caller), name, credentials, public_url.text
        )
    except (Invalid, Conflict, UpstreamFailed, ServiceUnavailable) as error:
        page = await show_platform(name, caller, platforms, modes, public_url)
        errors = {
            # Both are read from the URL that the marketplace returned to.
            "returned" if field in {"code", "state"} else field: message
            for field, message in errors_of(error).items()
        }
        # Of what was typed, only the app key is shown again.
        shown_again = {"app_key": body.app_key} if body.app_key else {}
        return page.rejected(error, errors, **shown_again)
    return Redirect(f"/platforms/{name}", _saved_message(connected.state))


@routes.post("/{platform}/disconnect")
async def disconnect(
    platform: str, caller: Operator, body: Form, db: Database, platforms: Platforms
) -> Redirect:
    """Delete the credentials of a marketplace."""
    name = _named(platforms, platform)
    await connecting.disconnect(db, platforms, Actor.of(caller), name)
    return Redirect(f"/platforms/{name}", "Credentials deleted.")


def _capabilities(listing: PlatformListing) -> list[Capability]:
    return [capability for capability in Capability if capability in listing.traits.capabilities]


def _named(platforms: Platforms, text: str) -> str:
    """The marketplace of a path; an unknown one has no page."""
    try:
        return platforms.named(text)
    except UnsupportedPlatform:
        raise RouteNotFound from None


def _saved_message(state: str) -> str:
    if state == "none":
        return "Application saved. Next, open the authorisation URL."
    return "Saved. The marketplace is connected." if state == "connected" else "Saved."
