"""`tradewind platforms`: lists marketplaces, and connects this installation to one."""

import sys
from typing import Annotated, Any

import msgspec
import typer

from tradewind.audit.model import COMMAND_LINE
from tradewind.cli.context import Context, run
from tradewind.cli.output import say, write_json, write_record, write_table
from tradewind.egress.client import Client
from tradewind.platforms import connect as connecting
from tradewind.platforms.connect import Credentials
from tradewind.platforms.registry import Platforms
from tradewind.platforms.wire import ConnectionOut, PlatformOut
from tradewind.runtime.wiring import platforms_of

app = typer.Typer(help="Marketplaces.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="JSON for programs.")]


@app.command("list")
def list_platforms(*, as_json: Json = False) -> None:
    """List the marketplaces, and whether each is connected."""

    async def work(context: Context) -> list[dict[str, Any]]:
        listed = await _platforms(context, Client()).listed()
        return [msgspec.to_builtins(PlatformOut.of(platform)) for platform in listed]

    rows = run(work)
    if as_json:
        write_json(rows)
        return
    columns = ("platform", "name", "configured", "connection", "simulated", "capabilities")
    write_table([{column: row[column] for column in columns} for row in rows], "None.")


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
    if (
        returned is None
        and shown["connection"] != "connected"
        and sys.stdin.isatty()
        and not as_json
    ):
        say(f"Open this URL, and authorise the application:\n\n  {shown['authorize_url']}\n")
        code, state = _read_returned(typer.prompt("The URL that it redirected to"))
        shown = run(lambda c: _connect(c, platform, Credentials(code=code, state=state)))
    if as_json:
        write_json(shown)
    else:
        write_record(shown)


@app.command()
def disconnect(platform: str) -> None:
    """Delete a marketplace's credentials."""

    async def work(context: Context) -> None:
        client = Client()
        try:
            platforms = _platforms(context, client)
            await connecting.disconnect(context.db, platforms, COMMAND_LINE, platform)
        finally:
            await client.close()

    run(work)
    say(f"{platform} is disconnected.")


def _read_returned(address: str | None) -> tuple[str | None, str | None]:
    return (None, None) if address is None else connecting.read_return_address(address)


async def _connect(context: Context, platform: str, credentials: Credentials) -> dict[str, Any]:
    client = Client()
    try:
        platforms = _platforms(context, client)
        public_url = context.settings.public_url
        connection = await connecting.connect(
            context.db, platforms, COMMAND_LINE, platform, credentials, public_url
        )
        name = platforms.named(platform)
        url = await connecting.authorize_url(platforms, COMMAND_LINE, name, connection, public_url)
        shown: dict[str, Any] = msgspec.to_builtins(ConnectionOut.of(name, connection, url))
        return shown
    finally:
        await client.close()


def _platforms(context: Context, client: Client) -> Platforms:
    return platforms_of(context.settings, context.db, context.keyring, client)
