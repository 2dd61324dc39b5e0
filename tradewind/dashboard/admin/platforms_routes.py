"""Marketplaces, in a browser, for operators: how each stands, and how it is connected."""

from tradewind import errors
from tradewind.audit.model import Actor
from tradewind.auth.model import Operator
from tradewind.dashboard.shell.forms import errors_of
from tradewind.dashboard.shell.render import Renderer
from tradewind.errors import ApiError, Conflict, Invalid, ServiceUnavailable, UpstreamFailed
from tradewind.orders.payments.modes import PayModes
from tradewind.platforms import connect as connecting
from tradewind.platforms.connect import Credentials
from tradewind.platforms.errors import UnsupportedPlatform
from tradewind.platforms.registry import Platforms
from tradewind.platforms.wire import ConnectionOut, CredentialsIn, PlatformOut
from tradewind.storage.pool import Database
from tradewind.web import inputs, problems
from tradewind.web.caller import Caller
from tradewind.web.endpoint import Routes
from tradewind.web.problems import RouteNotFound
from tradewind.web.request import Request
from tradewind.web.response import Response
from tradewind.web.site import Form
from tradewind.web.urls import PublicUrl

routes = Routes("/platforms", tag="Dashboard", hidden=True, pages=True)


class CredentialsForm(Form):
    """What to set; what is left empty stays as it is."""

    app_key: str = ""
    app_secret: str = ""
    code: str = ""
    state: str = ""
    returned: str = ""
    access_token: str = ""
    refresh_token: str = ""


@routes.get(media_type="text/html")
async def show_platforms(
    request: Request, caller: Operator, platforms: Platforms, modes: PayModes, renderer: Renderer
) -> Response:
    """Every marketplace, and how our connection to it stands."""
    listed = await platforms.listed()
    return renderer.page(
        "platforms.html",
        request,
        caller,
        platforms=[(PlatformOut.of(one), one.connection) for one in listed],
        modes={one.traits.platform: modes.of(one.traits.platform) for one in listed},
        reachable=platforms.clients,
    )


@routes.get("/{platform}", media_type="text/html")
async def show_platform(
    platform: str,
    request: Request,
    caller: Operator,
    platforms: Platforms,
    modes: PayModes,
    public_url: PublicUrl,
    renderer: Renderer,
) -> Response:
    """One marketplace: what it can, and what it takes to connect it."""
    name = _named(platforms, platform)
    return await _page(renderer, request, caller, platforms, modes, public_url, name)


@routes.post("/{platform}", media_type="text/html")
async def connect(
    platform: str,
    request: Request,
    caller: Operator,
    body: CredentialsForm,
    db: Database,
    platforms: Platforms,
    modes: PayModes,
    public_url: PublicUrl,
    renderer: Renderer,
) -> Response:
    """Set the application, or authorise it by a code or by tokens; nothing of it is shown back."""
    name = _named(platforms, platform)
    code, state = body.code, body.state
    if body.returned:
        code, state = connecting.read_return_address(body.returned)
    try:
        if body.returned and not code:
            raise errors.ValidationFailed("/returned", "There is no code=… in this address.")
        given = inputs.read_values(
            CredentialsIn,
            app_key=body.app_key.strip() or None,
            app_secret=body.app_secret.strip() or None,
            code=code.strip() or None,
            state=state.strip() or None,
            access_token=body.access_token.strip() or None,
            refresh_token=body.refresh_token.strip() or None,
        )
        wanted = Credentials(
            app_key=given.app_key,
            app_secret=given.app_secret,
            code=given.code,
            state=given.state,
            access_token=given.access_token,
            refresh_token=given.refresh_token,
        )
        if wanted == Credentials():
            raise errors.ValidationFailed("", "Nothing was given to set.", "missing")
        connected = await connecting.connect(
            db, platforms, Actor.of(caller, request), name, wanted, public_url.text
        )
    except (Invalid, Conflict, UpstreamFailed, ServiceUnavailable) as refusal:
        return await _page(
            renderer, request, caller, platforms, modes, public_url, name, refusal, body.app_key
        )
    return renderer.to(caller, f"/platforms/{name}", _what_next(connected.state))


@routes.post("/{platform}/disconnect", media_type="text/html")
async def disconnect(
    platform: str,
    request: Request,
    caller: Operator,
    body: Form,
    db: Database,
    platforms: Platforms,
    renderer: Renderer,
) -> Response:
    """Forget a marketplace's credentials."""
    name = _named(platforms, platform)
    await connecting.disconnect(db, platforms, Actor.of(caller, request), name)
    return renderer.to(caller, f"/platforms/{name}", "Its credentials are forgotten.")


async def _page(
    renderer: Renderer,
    request: Request,
    caller: Caller,
    platforms: Platforms,
    modes: PayModes,
    public_url: PublicUrl,
    name: str,
    refusal: ApiError | None = None,
    app_key: str = "",
) -> Response:
    """The marketplace's page. Of what was typed, only the application's key comes back."""
    listing = next(one for one in await platforms.listed() if one.traits.platform == name)
    connection = await platforms.connections.find(name)
    url = ""
    if connection is not None:
        by = Actor.of(caller, request)
        url = await connecting.authorize_url(platforms, by, name, connection, public_url.text)
    errors = {
        # Both are read from the address that a marketplace led back to.
        "returned" if field in {"code", "state"} else field: message
        for field, message in (errors_of(refusal) if refusal else {}).items()
    }
    return renderer.page(
        "platform.html",
        request,
        caller,
        status=problems.status_of(type(refusal)) if refusal else 200,
        platform=PlatformOut.of(listing),
        mode=modes.of(name),
        connection=connection and ConnectionOut.of(name, connection, url),
        is_reachable=name in platforms.clients,
        url_setting=platforms.marketplace(name).url_setting,
        app_key=app_key or (connection.app_key if connection else ""),
        errors=errors,
    )


def _named(platforms: Platforms, text: str) -> str:
    """The marketplace of a path; there is no page for one that nobody knows."""
    try:
        return platforms.named(text)
    except UnsupportedPlatform:
        raise RouteNotFound from None


def _what_next(state: str) -> str:
    if state == "none":
        return "The application is set. Authorise it next: open the address, and agree there."
    return "Saved. The marketplace is connected." if state == "connected" else "Saved."
