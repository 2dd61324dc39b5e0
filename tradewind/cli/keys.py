"""`tradewind keys`: creates, lists and revokes API keys."""

from typing import Annotated

import typer

from tradewind import ids
from tradewind.audit.model import COMMAND_LINE
from tradewind.auth.api_keys import issue, revoke, sql
from tradewind.auth.api_keys.wire import KeyOut, NewKeyIn, NewKeyOut
from tradewind.cli.account import AccountArgument, find
from tradewind.cli.checked import checked
from tradewind.cli.context import Context, run
from tradewind.cli.output import Json, say, write, write_json
from tradewind.errors import ResourceNotFound
from tradewind.web.scopes import Scope

app = typer.Typer(help="API keys.", no_args_is_help=True)


@app.command()
def create(
    account: AccountArgument,
    name: str,
    *,
    scope: Annotated[
        list[str] | None,
        typer.Option(
            help=f"What the key may do: {', '.join(Scope)}; repeat for several. Default: all."
        ),
    ] = None,
    expires_at: Annotated[
        str | None, typer.Option(help="When it ends, such as 2027-01-31T00:00:00Z. Default: never.")
    ] = None,
    allowed_cidr: Annotated[
        list[str] | None,
        typer.Option(help="A network it can be used from; repeat for several. Default: any."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Create an API key; it is shown only once."""
    limits = {"scopes": scope, "expires_at": expires_at, "allowed_cidrs": allowed_cidr}
    set_limits = {option: value for option, value in limits.items() if value}
    new = checked(NewKeyIn, name=name, **set_limits)

    async def work(context: Context) -> NewKeyOut:
        owner = await find(context, account)
        api_key, key = await issue.issue(
            context.db, context.keyring, COMMAND_LINE, owner.id, new.name, limits=new.limits
        )
        return NewKeyOut.of_new(api_key, key)

    write(run(work), as_json=as_json)


@app.command("list")
def list_keys(account: AccountArgument, *, as_json: Json = False) -> None:
    """List an account's API keys, newest first."""

    async def work(context: Context) -> list[KeyOut]:
        owner = await find(context, account)
        keys = await sql.list_keys(context.db, owner.id, below=None, limit=1000)
        return [KeyOut.of(key) for key in keys]

    empty = "This account has no API keys; create one with `tradewind keys create`."
    write(run(work), as_json=as_json, empty=empty)


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
