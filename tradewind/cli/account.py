"""`tradewind account`: creates, lists, locks and unlocks accounts, and changes plan and roles."""

import sys
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import msgspec
import typer
from msgspec import structs

from tradewind import ids
from tradewind.accounts import change, change_password, sql
from tradewind.accounts.model import Account
from tradewind.accounts.register import register
from tradewind.accounts.wire import AdminAccountOut, LockIn, NewAccountIn, PasswordLinkOut
from tradewind.audit.model import COMMAND_LINE
from tradewind.auth.model import Plan, Role
from tradewind.auth.passwords import MINIMUM
from tradewind.cli.checked import checked
from tradewind.cli.context import Context, run
from tradewind.cli.output import Json, write
from tradewind.errors import ResourceNotFound, TradewindError

app = typer.Typer(help="Accounts.", no_args_is_help=True)

AccountArgument = Annotated[str, typer.Argument(help="The account's e-mail or id.")]


class PasswordTooShort(TradewindError):
    """A password on the command line's standard input has too few characters."""


async def find(context: Context, email_or_id: str) -> Account:
    """The account with this e-mail or id."""
    account_id = ids.ACCOUNT.read(email_or_id)
    if account_id is not None:
        account = await sql.find_account(context.db, account_id=account_id)
    else:
        account = await sql.find_account(context.db, email=email_or_id.strip().lower())
    if account is None:
        raise ResourceNotFound(ids.ACCOUNT)
    return account


@app.command()
def create(
    email: str,
    *,
    name: Annotated[str, typer.Option(help="The name of the account.")] = "",
    role: Annotated[list[Role] | None, typer.Option(help="Repeat for several.")] = None,
    plan: Annotated[Plan, typer.Option(help="The plan, which sets the rate limit.")] = Plan.PRO,
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from standard input.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Create an account, and a one-time link with which its owner chooses a password."""
    password = sys.stdin.readline().rstrip("\n") if password_stdin else None
    if password is not None and len(password) < MINIMUM:
        raise PasswordTooShort(f"A password has at least {MINIMUM} characters.")
    new = checked(
        NewAccountIn,
        email=email,
        name=name,
        roles=role or [Role.BUYER],
        plan=plan,
        password=password,
    )

    async def work(context: Context) -> dict[str, Any]:
        account = await register(
            context.db,
            context.passwords,
            COMMAND_LINE,
            **structs.asdict(new),
        )
        shown: dict[str, Any] = msgspec.to_builtins(AdminAccountOut.of_account(account))
        if password is None:
            shown |= msgspec.to_builtins(await _link(context, account))
        return shown

    write(run(work), as_json=as_json)


@app.command("list")
def list_accounts(
    *,
    role: Role | None = None,
    plan: Plan | None = None,
    locked: Annotated[bool | None, typer.Option(help="Only locked ones, or only others.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000)] = 100,
    as_json: Json = False,
) -> None:
    """List accounts, newest first."""

    async def work(context: Context) -> list[AdminAccountOut]:
        accounts = await sql.list_accounts(
            context.db,
            email=None,
            roles=[role] if role else None,
            plans=[plan] if plan else None,
            locked=locked,
            below=None,
            limit=limit,
        )
        return [AdminAccountOut.of_account(account) for account in accounts]

    write(
        run(work),
        as_json=as_json,
        columns=("id", "email", "name", "roles", "plan", "locked_at", "created_at"),
        empty="There are no accounts; create one with `tradewind account create`.",
    )


@app.command()
def lock(
    account: AccountArgument,
    *,
    reason: Annotated[str, typer.Option(help="The reason; operators see it.")],
    as_json: Json = False,
) -> None:
    """Lock an account: its credentials stop working."""
    checked_reason = checked(LockIn, reason=reason).reason
    _change(
        account, lambda c, a: change.lock(c.db, COMMAND_LINE, a.id, checked_reason), as_json=as_json
    )


@app.command()
def unlock(account: AccountArgument, *, as_json: Json = False) -> None:
    """Unlock an account."""
    _change(
        account, lambda c, a: change.unlock(c.db, c.keyring, COMMAND_LINE, a.id), as_json=as_json
    )


@app.command("plan")
def change_plan(account: AccountArgument, plan: Plan, *, as_json: Json = False) -> None:
    """Put an account on another plan."""
    _change(
        account, lambda c, a: change.change_plan(c.db, COMMAND_LINE, a.id, plan), as_json=as_json
    )


@app.command("roles")
def change_roles(account: AccountArgument, roles: list[Role], *, as_json: Json = False) -> None:
    """Give an account exactly these roles."""
    _change(
        account, lambda c, a: change.change_roles(c.db, COMMAND_LINE, a.id, roles), as_json=as_json
    )


@app.command("link")
def make_link(account: AccountArgument, *, as_json: Json = False) -> None:
    """Create a one-time link with which the owner chooses a password."""

    async def work(context: Context) -> PasswordLinkOut:
        return await _link(context, await find(context, account))

    write(run(work), as_json=as_json)


async def _link(context: Context, account: Account) -> PasswordLinkOut:
    url, expires = await change_password.make_link(
        context.db, context.keyring, COMMAND_LINE, account.id, context.settings.public_url
    )
    return PasswordLinkOut.of(url, expires)


def _change(
    account: str, act: Callable[[Context, Account], Awaitable[Account]], *, as_json: bool
) -> None:
    async def work(context: Context) -> AdminAccountOut:
        return AdminAccountOut.of_account(await act(context, await find(context, account)))

    write(run(work), as_json=as_json)
