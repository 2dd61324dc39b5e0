"""`tradewind queue`: holds and releases the deliveries of all webhooks, and shows what waits."""

from typing import Annotated, Any

import typer

from tradewind.audit.model import COMMAND_LINE
from tradewind.cli.context import Context, run
from tradewind.cli.output import Json, say, write
from tradewind.delivery import hold as holding
from tradewind.delivery import sql_hold

app = typer.Typer(help="The deliveries of all webhooks.", no_args_is_help=True)


@app.command()
def status(*, as_json: Json = False) -> None:
    """Show whether deliveries are held, and what is queued."""

    async def work(context: Context) -> dict[str, Any]:
        hold = await sql_hold.find_hold(context.db)
        queue = await sql_hold.count_queue(context.db)
        return {
            "held_since": hold and hold.since,
            "reason": hold and hold.reason,
            **queue._asdict(),
        }

    write(run(work), as_json=as_json)


@app.command()
def hold(reason: Annotated[str, typer.Argument(help="Why, for those who find it held.")]) -> None:
    """Let no worker send a delivery until they are released."""
    begun = run(lambda context: holding.hold(context.db, COMMAND_LINE, reason))
    say("Deliveries are held." if begun else "Deliveries are held already; the reason stays.")


@app.command()
def release() -> None:
    """Let workers send deliveries again."""
    ended = run(lambda context: holding.release(context.db, COMMAND_LINE))
    say("Deliveries are sent again." if ended else "Deliveries are not held.")
