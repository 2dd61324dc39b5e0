"""`tradewind platforms`: lists marketplaces, and connects this installation to one."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

import typer

from tradewind.audit.model import COMMAND_LINE
from tradewind.cli.context import Context, run
from tradewind.cli.output import Json, say, write
from tradewind.egress.client import Client
from tradewind.platforms import connect as connecting
from tradewind.platforms.connect import Credentials
from tradewind.platforms.registry import Platforms
from tradewind.platforms.wire import ConnectionOut, PlatformOut
from tradewind.runtime.wiring import platforms_of

app = typer.Typer(help="Marketplaces.", no_args_is_help=True)


@app.command("list")
def list_platforms(*, as_json: Json = False) -> None:
    """List the marketplaces, and whether each is connected."""

    async def work(context: Context) -> list[PlatformOut]:
        async with _platforms(context) as platforms:
            return [PlatformOut.of(listing) for listing in await platforms.listed()]

    columns = ("platform", "name", "configured", "connection", "simulated", "capabilities")
    write(run(work), as_json=as_json, columns=columns)


@app.command()
def connect(
    platform: str,
    *,
    app_key: Annotated[str | None, typer.Option(help="The application's key.")] = None,
    secret_stdin: Annotated[
        bool, typer.Option("--secret-stdin", help="Read the application's secret from stdin.")
    ] = False,
    returned: Annotated[
        str | None,
        typer.Option(help="The URL that the marketplace redirected to, with code and state."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Connect a marketplace: set the application, and authorise it at the printed URL.

    Without --returned, it prints the URL where the holder of the marketplace account authorises
    the application, and on a terminal asks for the URL that the marketplace redirects to.
    """
    secret = sys.stdin.readline().strip() if secret_stdin else None
    if app_key is not None and secret is None:
        secret = typer.prompt("The application's secret", hide_input=True)

    first = Credentials(app_key, secret, *_read_returned(returned))
    shown = run(lambda c: _connect(c, platform, first))
    if returned is None and shown.connection != "connected" and sys.stdin.isatty() and not as_json:
        say(f"Open this URL, and authorise the application:\n\n  {shown.authorize_url}\n")
        code, state = _read_returned(typer.prompt("The URL that it redirected to"))
        shown = run(lambda c: _connect(c, platform, Credentials(code=code, state=state)))
    write(shown, as_json=as_json)


@app.command()
def disconnect(platform: str) -> None:
    """Delete a marketplace's credentials."""

    async def work(context: Context) -> None:
        async with _platforms(context) as platforms:
            await connecting.disconnect(context.db, platforms, COMMAND_LINE, platform)

    run(work)
    say(f"{platform} is disconnected.")


def _read_returned(address: str | None) -> tuple[str | None, str | None]:
    return (None, None) if address is None else connecting.read_return_address(address)


async def _connect(context: Context, platform: str, credentials: Credentials) -> ConnectionOut:
    async with _platforms(context) as platforms:
        public_url = context.settings.public_url
        connection = await connecting.connect(
            context.db, platforms, COMMAND_LINE, platform, credentials, public_url
        )
        name = platforms.named(platform)
        url = await connecting.authorize_url(platforms, COMMAND_LINE, name, connection, public_url)
        return ConnectionOut.of(name, connection, url)


@asynccontextmanager
async def _platforms(context: Context) -> AsyncIterator[Platforms]:
    client = Client()
    try:
        yield platforms_of(context.settings, context.db, context.keyring, client)
    finally:
        await client.close()
