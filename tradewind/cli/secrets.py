"""`tradewind secrets`: moves what is stored to the first master secret, and tells what is left."""

from typing import Annotated, Any

import typer

from tradewind.cli.context import Context, run
from tradewind.cli.output import say, write_json, write_table
from tradewind.keys import sql as keys

app = typer.Typer(help="The master secret.", no_args_is_help=True)


@app.callback()
def group() -> None:
    """The master secret."""


@app.command()
def rotate(
    *, as_json: Annotated[bool, typer.Option("--json", help="JSON for programs.")] = False
) -> None:
    """Re-seal what can be re-sealed, and report what still uses an old master secret.

    Put the new secret first in TRADEWIND_SECRET_KEY, restart every process, run this, and drop
    the old one once nothing uses it.
    """

    async def work(context: Context) -> dict[str, Any]:
        by_master = await keys.count_keys_by_master(context.db)
        current = context.keyring.current_id
        in_force = set(context.keyring.ids)
        return {
            "current": current,
            "resealed": 0,
            "still_old": [
                {"what": "API keys (re-hashed when next used)", "key_id": key_id, "count": count,
                 "readable": key_id in in_force}
                for key_id, count in sorted(by_master.items()) if key_id != current
            ],
        }  # fmt: skip

    report = run(work)
    if as_json:
        write_json(report)
        return
    say(f"New values are made with key id {report['current']}.")
    write_table(report["still_old"], "Nothing stored uses another master secret.")
