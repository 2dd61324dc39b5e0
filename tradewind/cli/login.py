"""`tradewind login` and `logout`: saves credentials for the commands that call a server."""

import sys
from typing import Annotated

import typer

from tradewind.cli import credentials
from tradewind.cli.credentials import SavedLogin
from tradewind.cli.output import Json, for_programs, say, write_error, write_json
from tradewind.errors import TradewindError

_STDIN = "-"


class LoginIncomplete(TradewindError):
    """Something that a login needs is missing, and nobody can be asked."""


def login(
    url: Annotated[
        str | None,
        typer.Argument(help="The server; default TRADEWIND_URL, or a running `tradewind dev`."),
    ] = None,
    *,
    email: Annotated[str | None, typer.Option(help="The e-mail; asked for if left out.")] = None,
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from standard input.")
    ] = False,
    api_key: Annotated[
        str | None,
        typer.Option(help="An API key instead; `-` reads it from standard input."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Log in at a server, for all commands that follow."""
    from tradewind.cli.remote import Remote, replace_tokens  # noqa: PLC0415 - httpx takes long

    chosen = credentials.server_url(url or credentials.default_url() or _ask("URL of the server"))
    if credentials.is_readable_on_the_way(chosen):
        write_error(f"Warning: {chosen} is not encrypted; others on the way can read the login.")
    if api_key is not None:
        key = sys.stdin.readline().strip() if api_key == _STDIN else api_key
        entry = SavedLogin(chosen, api_key=key)
        with Remote(entry) as remote:
            account = remote.get("/v1/me")
    else:
        address = email or _ask("E-mail")
        secret = (
            sys.stdin.readline().rstrip("\n") if password_stdin else _ask("Password", hide=True)
        )
        with Remote(SavedLogin(chosen)) as remote:
            tokens = remote.post("/v1/auth/login", {"email": address, "password": secret})
            entry = replace_tokens(remote.login, tokens)
            account = tokens["account"]
    path = credentials.save_login(entry)
    if for_programs(as_json):
        write_json({"url": chosen, "account": account, "saved": str(path)})
    else:
        say(f"Logged in at {chosen} as {account['email']}. The login is saved in {path}.")


def logout(*, as_json: Json = False) -> None:
    """Forget the saved login, and end its session."""
    from tradewind.cli.remote import (  # noqa: PLC0415 - httpx takes long
        Remote,
        RequestFailed,
        ServerUnreachable,
    )

    entry = credentials.saved_login()
    ended = False
    if entry is not None and entry.access_token is not None:
        try:
            with Remote(entry) as remote:
                remote.post("/v1/auth/logout")
            ended = True
        except (RequestFailed, ServerUnreachable) as error:
            write_error(f"The session may go on: {error}")
    credentials.delete_login()
    if for_programs(as_json):
        write_json({"logged_out": entry is not None, "session_ended": ended})
    else:
        say("Logged out." if entry is not None else "Nobody was logged in.")


def _ask(question: str, *, hide: bool = False) -> str:
    if not sys.stdin.isatty():
        raise LoginIncomplete(
            "Nobody can be asked here; give the URL, and --email with --password-stdin, or "
            "--api-key."
        )
    answer: str = typer.prompt(question, hide_input=hide)
    return answer
