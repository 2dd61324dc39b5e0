"""`tradewind secrets`: re-encrypts secrets with the first master secret, and lists the rest."""

from typing import Any

import typer

from tradewind.accounts import sql as accounts
from tradewind.auth import sql_sessions
from tradewind.auth.api_keys import sql as keys
from tradewind.cli.context import Context, run
from tradewind.cli.output import Json, say, write_json, write_table
from tradewind.platforms.reencrypt import reencrypt
from tradewind.webhooks.reencrypt import reencrypt as reencrypt_webhooks

# Hashed and signed values move to the new master secret when their owner uses them again.
_MOVES = {
    "API keys": "when next used",
    "sessions": "when next refreshed",
    "password links": "never; they expire within a day",
}

app = typer.Typer(help="The master secret.", no_args_is_help=True)


@app.callback()
def group() -> None:
    """The master secret."""


@app.command()
def rotate(*, as_json: Json = False) -> None:
    """Re-encrypt everything with the first master secret, and report what still uses another.

    Put the new secret first in TRADEWIND_SECRET_KEY, restart every process, run this, and remove
    the old secret once nothing uses it.
    """

    async def work(context: Context) -> dict[str, Any]:
        current, in_force = context.keyring.current_id, context.keyring.ids
        resealed = await reencrypt(context.db, context.keyring)
        resealed += await reencrypt_webhooks(context.db, context.keyring)
        counts = {
            "API keys": await keys.count_keys_by_master_secret(context.db),
            "sessions": await sql_sessions.count_sessions_by_master_secret(context.db),
            "password links": await accounts.count_links_by_master_secret(context.db),
        }
        return {
            "current": current,
            "resealed": resealed,
            "still_old": [
                {
                    "what": what,
                    "count": count,
                    "key_id": key_id,
                    "works": key_id in in_force,
                    "moves": _MOVES[what],
                }
                for what, by_master in counts.items()
                for key_id, count in sorted(by_master.items())
                if key_id != current
            ],
        }

    report = run(work)
    if as_json:
        write_json(report)
        return
    say(f"New values are made with key id {report['current']}.")
    say(f"{report['resealed']} encrypted values were moved to it.")
    write_table(report["still_old"], "Nothing stored uses another master secret.")
