"""The command `tradewind`: its command groups, and its exit status."""

import asyncio
import os
import sys
from importlib import metadata
from pathlib import Path
from typing import Annotated

import typer
import uvloop

from tradewind.cli import (
    account,
    deliveries,
    doctor,
    keys,
    listen,
    login,
    mcp,
    orders,
    platforms,
    products,
    secrets,
    trigger,
    verify,
)
from tradewind.cli.context import Context, run
from tradewind.cli.output import Json, say, write_error, write_json
from tradewind.errors import CannotStart, TradewindError
from tradewind.observability import logs
from tradewind.runtime import child_processes
from tradewind.settings import settings
from tradewind.settings.settings import Settings
from tradewind.storage import migrate as migrations
from tradewind.storage.pool import DatabaseAway

# The heading of commands that call a server over HTTP.
_CLIENT = "Commands that use a server, as an account"

app = typer.Typer(
    name="tradewind",
    help="Cross-border purchasing: search, order, pay with approval, signed webhooks.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.add_typer(account.app, name="account")
app.add_typer(keys.app, name="keys")
app.add_typer(platforms.app, name="platforms")
app.add_typer(secrets.app, name="secrets")
app.command(rich_help_panel=_CLIENT)(login.login)
app.command(rich_help_panel=_CLIENT)(login.logout)
app.command(rich_help_panel=_CLIENT)(listen.listen)
app.command(rich_help_panel=_CLIENT)(trigger.trigger)
app.command(rich_help_panel=_CLIENT)(verify.verify)
app.command(rich_help_panel=_CLIENT)(products.search)
app.add_typer(orders.app, name="orders", rich_help_panel=_CLIENT)
app.add_typer(deliveries.app, name="deliveries", rich_help_panel=_CLIENT)

Port = Annotated[int | None, typer.Option(help="The API's port; default TRADEWIND_PORT.")]


def _print_version(wanted: bool) -> None:
    if wanted:
        say(f"tradewind {metadata.version('tradewind')}")
        raise typer.Exit


@app.callback()
def configure(
    *,
    data_dir: Annotated[
        Path | None,
        typer.Option(help="The directory of `tradewind dev`; default TRADEWIND_DATA_DIR."),
    ] = None,
    version: Annotated[  # noqa: ARG001 - its callback does it
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show it.")
    ] = False,
) -> None:
    """Apply the options that stand before the command."""
    _override("DATA_DIR", data_dir)


@app.command()
def dev(
    *,
    port: Port = None,
    data_dir: Annotated[
        Path | None,
        typer.Option(
            help="The directory for data, credentials and logs; default TRADEWIND_DATA_DIR."
        ),
    ] = None,
    demo: Annotated[
        bool,
        typer.Option(help="Create demo orders, which progress by themselves, and demo webhooks."),
    ] = True,
    show_logs: Annotated[
        bool,
        typer.Option(
            "--logs", help="Show logs here instead of writing them to the data directory."
        ),
    ] = False,
    credentials: Annotated[
        bool,
        typer.Option("--credentials", help="Start nothing; show the demo credentials again."),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON line when everything is ready.")
    ] = False,
    as_shell: Annotated[
        bool,
        typer.Option("--shell", help="With --credentials: print `export` commands for a shell."),
    ] = False,
) -> None:
    """Start everything on this machine, with its own PostgreSQL, demo accounts and orders."""
    from tradewind.cli import dev as output  # noqa: PLC0415 - only this command needs it
    from tradewind.dev import run as everything  # noqa: PLC0415 - only this command needs it

    if as_shell and (as_json or not credentials):
        raise CannotStart("--shell needs --credentials, and cannot be combined with --json.")
    _override("PORT", port)
    _override("DATA_DIR", data_dir)
    chosen = _configured(database=False)
    folder = chosen.data_dir.absolute()
    if credentials:
        url = everything.url_of(chosen.host, chosen.port)
        output.show_credentials(folder, url, as_json=as_json, as_shell=as_shell)
        return
    terminal = output.terminal(folder, as_json=as_json, show_logs=show_logs)
    asyncio.run(everything.run(chosen, terminal, demo=demo))


@app.command()
def serve(
    workers: Annotated[int, typer.Option(min=1, max=256, help="The number of processes.")] = 1,
    host: Annotated[
        str | None, typer.Option(help="The address to listen on; default TRADEWIND_HOST.")
    ] = None,
    port: Port = None,
) -> None:
    """Serve the API."""
    from tradewind.runtime import serve as api  # noqa: PLC0415 - only this command needs granian

    _override("HOST", host)
    _override("PORT", port)
    api.run(_configured(), workers=workers)


@app.command()
def worker() -> None:
    """Run the background worker."""
    from tradewind.runtime import worker as background  # noqa: PLC0415 - only this command needs it

    uvloop.run(background.run(_configured()))


@app.command(
    add_help_option=False,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)
def sandbox(context: typer.Context) -> None:
    """Run the simulated marketplace; `tradewind sandbox --help` lists its options."""
    try:
        from tradewind_simulator import command  # noqa: PLC0415 - a package of its own
    except ModuleNotFoundError:
        raise CannotStart(
            "The simulated marketplace is a package of its own and is not installed; "
            "run `pip install ./simulator` in the source tree."
        ) from None

    raise typer.Exit(command.main(context.args, program="tradewind sandbox"))


@app.command()
def migrate(*, as_json: Json = False) -> None:
    """Bring the database's schema up to date; safe while the old version serves."""

    async def work(context: Context) -> list[str]:
        done = await migrations.migrate(context.db)
        return [f"{migration.number:04} {migration.name}" for migration in done]

    applied = run(work)
    if as_json:
        write_json({"applied": applied})
    elif applied:
        say("Applied " + ", ".join(applied) + ".")
    else:
        say("The schema is up to date.")


app.command("mcp")(mcp.serve_agents)


@app.command("doctor")
def check(
    *,
    reach: Annotated[
        list[str] | None,
        typer.Option(help="Also test a connection to this host:port; repeat for several."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check settings, database, migrations, clock and egress, and say how to fix problems."""
    raise typer.Exit(doctor.check(reach=reach or [], as_json=as_json))


def _configured(*, database: bool = True) -> Settings:
    """Return the settings, and log as they say."""
    chosen = settings.load(database=database)
    logs.configure(chosen.log_style, chosen.log_level)
    return chosen


def _override(name: str, value: object | None) -> None:
    """Let an option win over the environment, in this process and in its children."""
    if value is not None:
        os.environ[settings.PREFIX + name] = str(value)


def main() -> None:
    child_processes.follow_parent()
    try:
        app()
    except DatabaseAway as away:
        write_error(
            f"The database cannot be reached ({away.__cause__}); check TRADEWIND_DATABASE_URL and "
            "the server."
        )
        sys.exit(1)
    except TradewindError as error:
        write_error(str(error))
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(1)
