"""`tradewind keys`: creates, lists and revokes API keys."""

from typing import Annotated, Any

import msgspec
import typer

from tradewind import ids
from tradewind.audit.model import COMMAND_LINE
from tradewind.auth.api_keys import issue, revoke, sql
from tradewind.auth.api_keys.wire import KeyOut, NewKeyIn, NewKeyOut
from tradewind.cli.account import AccountArgument, find
from tradewind.cli.checked import checked
from tradewind.cli.context import Context, run
from tradewind.cli.output import say, write_json, write_record, write_table
from tradewind.errors import ResourceNotFound

app = typer.Typer(help="API keys.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="JSON for programs.")]


@app.command()
def create(account: AccountArgument, name: str, *, as_json: Json = False) -> None:
    """Create an API key; it is shown only once."""
    new = checked(NewKeyIn, name=name)

    async def work(context: Context) -> dict[str, Any]:
        owner = await find(context, account)
        api_key, key = await issue.issue(
            context.db, context.keyring, COMMAND_LINE, owner.id, new.name
        )
        shown: dict[str, Any] = msgspec.to_builtins(NewKeyOut.of_new(api_key, key))
        return shown

    row = run(work)
    if as_json:
        write_json(row)
    else:
        write_record(row)


@app.command("list")
def list_keys(account: AccountArgument, *, as_json: Json = False) -> None:
    """List an account's API keys, newest first."""

    async def work(context: Context) -> list[dict[str, Any]]:
        owner = await find(context, account)
        keys = await sql.list_keys(context.db, owner.id, below=None, limit=1000)
        return [msgspec.to_builtins(KeyOut.of(key)) for key in keys]

    rows = run(work)
    if as_json:
        write_json(rows)
    else:
        write_table(rows, "This account has no API keys; create one with `tradewind keys create`.")


@app.command("revoke")
def revoke_key(
    key: Annotated[str, typer.Argument(help="The key's id, key_….")], *, as_json: Json = False
) -> None:
    """Revoke an API key; no process accepts it any more."""
    key_id = ids.API_KEY.read(key)

    async def work(context: Context) -> None:
        owner = key_id and await sql.find_owner(context.db, key_id)
        if key_id is None or owner is None:
            raise ResourceNotFound(ids.API_KEY)
        await revoke.revoke(context.db, COMMAND_LINE, owner, key_id)

    run(work)
    if as_json:
        write_json({"revoked": key})
    else:
        say(f"{key} is revoked.")
