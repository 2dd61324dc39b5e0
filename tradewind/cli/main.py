"""The command `tradewind`: its command groups, and its exit status."""

import asyncio
import os
import sys
from typing import Annotated

import typer
import uvloop

from tradewind.cli import account, doctor, keys, platforms, secrets
from tradewind.cli import dev as dev_output
from tradewind.cli.context import Context, run
from tradewind.cli.output import Json, say, write_error, write_json
from tradewind.errors import CannotStart, TradewindError
from tradewind.observability import logs
from tradewind.runtime import child_processes
from tradewind.settings import settings
from tradewind.settings.settings import Settings
from tradewind.storage import migrate as migrations
from tradewind.storage.pool import DatabaseAway

app = typer.Typer(
    name="tradewind",
    help="Cross-border purchasing: search, order, pay with approval, signed webhooks.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(account.app, name="account")
app.add_typer(keys.app, name="keys")
app.add_typer(platforms.app, name="platforms")
app.add_typer(secrets.app, name="secrets")

Port = Annotated[int | None, typer.Option(help="The API's port; default TRADEWIND_PORT.")]


@app.command()
def dev(
    port: Port = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON line when everything is ready.")
    ] = False,
    demo: Annotated[
        bool,
        typer.Option(help="Create demo orders, which progress by themselves, and demo webhooks."),
    ] = True,
) -> None:
    """Start everything on this machine, with its own PostgreSQL, demo accounts and orders."""
    from tradewind.dev import run as everything  # noqa: PLC0415 - only this command needs it

    _override("PORT", port)
    introduce = dev_output.introduce_as_json if as_json else dev_output.introduce
    asyncio.run(everything.run(_configured(database=False), introduce, show=demo))


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
