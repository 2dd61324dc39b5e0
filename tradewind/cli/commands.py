"""The commands that do one thing and end; those that start processes are in `main`."""

from typing import Annotated

import typer

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
    queue,
    restored,
    secrets,
    top,
    trigger,
    verify,
)
from tradewind.cli.context import Context, run
from tradewind.cli.output import Json, say, write_json
from tradewind.storage import migrate as migrations

# The heading of commands that call a server over HTTP.
_CLIENT = "Commands that use a server, as an account"

app = typer.Typer()
app.add_typer(account.app, name="account")
app.add_typer(keys.app, name="keys")
app.add_typer(platforms.app, name="platforms")
app.add_typer(secrets.app, name="secrets")
app.add_typer(queue.app, name="queue")
app.command(rich_help_panel=_CLIENT)(login.login)
app.command(rich_help_panel=_CLIENT)(login.logout)
app.command(rich_help_panel=_CLIENT)(listen.listen)
app.command(rich_help_panel=_CLIENT)(trigger.trigger)
app.command(rich_help_panel=_CLIENT)(verify.verify)
app.command(rich_help_panel=_CLIENT)(products.search)
app.add_typer(orders.app, name="orders", rich_help_panel=_CLIENT)
app.add_typer(deliveries.app, name="deliveries", rich_help_panel=_CLIENT)


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


app.command("top")(top.top)
app.command("restored")(restored.prepare)
app.command("mcp")(mcp.serve_agents)


@app.command("doctor")
def check(
    *,
    reach: Annotated[
        list[str] | None,
        typer.Option(help="Also test a connection to this host:port; repeat for several."),
    ] = None,
    blocked: Annotated[
        list[str] | None,
        typer.Option(help="Also test that there is no connection to this host:port."),
    ] = None,
    proxy: Annotated[
        bool,
        typer.Option(
            "--proxy",
            help="Also check the TLS proxy: call the public URL, and listen in place of the API.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Check settings, database, migrations, clock and egress, and say how to fix problems."""
    raise typer.Exit(
        doctor.check(reach=reach or [], blocked=blocked or [], proxy=proxy, as_json=as_json)
    )
