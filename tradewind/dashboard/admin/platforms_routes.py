"""Marketplaces, in a browser, for operators: capabilities, connection and credentials."""

from msgspec.structs import asdict

from tradewind.audit.model import Actor
from tradewind.auth.model import Operator
from tradewind.dashboard.shell.forms import errors_of
from tradewind.dashboard.shell.render import PageResult, PageRoutes, Redirect, TemplatePage
from tradewind.errors import (
    ApiError,
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
from tradewind.web.caller import Caller
from tradewind.web.problems import RouteNotFound
from tradewind.web.request import Request
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
    platform: str,
    request: Request,
    caller: Operator,
    platforms: Platforms,
    modes: PayModes,
    public_url: PublicUrl,
) -> TemplatePage:
    """Show a marketplace and the forms that connect it."""
    name = _named(platforms, platform)
    return await _page(request, caller, platforms, modes, public_url, name)


@routes.post("/{platform}")
async def connect(
    platform: str,
    request: Request,
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
        typed = {name: getattr(body, name).strip() or None for name in _CREDENTIALS}
        credentials = Credentials(**asdict(inputs.read_values(CredentialsIn, **typed)))
        if credentials == Credentials():
            raise ValidationFailed("", "Enter something to save.", "missing")
        connected = await connecting.connect(
            db, platforms, Actor.of(caller, request), name, credentials, public_url.text
        )
    except (Invalid, Conflict, UpstreamFailed, ServiceUnavailable) as error:
        return await _page(request, caller, platforms, modes, public_url, name, error, body.app_key)
    return Redirect(f"/platforms/{name}", _saved_message(connected.state))


@routes.post("/{platform}/disconnect")
async def disconnect(
    platform: str,
    request: Request,
    caller: Operator,
    body: Form,
    db: Database,
    platforms: Platforms,
) -> Redirect:
    """Delete the credentials of a marketplace."""
    name = _named(platforms, platform)
    await connecting.disconnect(db, platforms, Actor.of(caller, request), name)
    return Redirect(f"/platforms/{name}", "Credentials deleted.")


async def _page(
    request: Request,
    caller: Caller,
    platforms: Platforms,
    modes: PayModes,
    public_url: PublicUrl,
    name: str,
    error: ApiError | None = None,
    app_key: str = "",
) -> TemplatePage:
    """The page of a marketplace. Of what was typed, only the app key is shown again."""
    listings = await platforms.listed()
    listing = next(item for item in listings if item.traits.platform == name)
    connection = await platforms.connections.find(name)
    authorize_url = ""
    if connection is not None:
        actor = Actor.of(caller, request)
        authorize_url = await connecting.authorize_url(
            platforms, actor, name, connection, public_url.text
        )
    messages = {
        # Both are read from the URL that the marketplace returned to.
        "returned" if field in {"code", "state"} else field: message
        for field, message in (errors_of(error) if error else {}).items()
    }
    return TemplatePage(
        "admin/platform.html",
        error=error,
        errors=messages,
        listing=listing,
        pay_mode=modes.of(name),
        capabilities=_capabilities(listing),
        connection=connection,
        authorize_url=authorize_url,
        is_reachable=name in platforms.clients,
        url_setting=platforms.marketplace(name).url_setting,
        app_key=app_key or (connection.app_key if connection else ""),
    )


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
