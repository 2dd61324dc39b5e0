"""The command `tradewind`: the commands that start processes, and the exit status of all."""

import asyncio
import os
import sys
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

import typer
import uvloop
from typer.core import TyperGroup

from tradewind.cli import health
from tradewind.cli.health import Process
from tradewind.cli.output import say, write_error
from tradewind.errors import CannotStart, TradewindError
from tradewind.observability import logs
from tradewind.runtime import child_processes
from tradewind.settings import settings
from tradewind.settings.settings import Settings
from tradewind.storage.errors import DatabaseAway


class _Commands(TyperGroup):
    """Imports the other commands only for the help or to run one of them.

    They need most of the program, which the parent of the API's processes does not.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        self._import_others()
        return super().list_commands(ctx)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.commands:
            self._import_others()
        return super().get_command(ctx, cmd_name)

    def _import_others(self) -> None:
        from tradewind.cli import commands  # noqa: PLC0415 - see above

        self.commands.update(typer.main.get_group(commands.app).commands)


app = typer.Typer(
    name="tradewind",
    cls=_Commands,
    help="Cross-border purchasing: search, order, pay with approval, signed webhooks.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

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


@app.command("health")
def check_health(
    process: Annotated[Process, typer.Argument(help="The process on this machine.")],
) -> None:
    """Ask the API or the worker on this machine whether it works; exit status 1 if not."""
    say(health.check(settings.load(database=False), process))


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
