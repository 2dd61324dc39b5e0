"""`tradewind mcp`: tools for an agent, over the HTTP API and with a key that has scopes."""

import os
import re
from typing import Annotated

import typer

from tradewind.cli.credentials import KEY_VARIABLE, URL_VARIABLE, server_url
from tradewind.errors import CannotStart

_LISTEN = re.compile(r"(?:\[([0-9A-Fa-f:]+)\]|([^:\[\]]+)):([0-9]{1,5})")
_LARGEST_PORT = 65535


def serve_agents(
    *,
    http: Annotated[
        str | None,
        typer.Option(
            help="Serve streamable HTTP at http://HOST:PORT/mcp instead of stdin and stdout; every "
            "caller sends an API key."
        ),
    ] = None,
) -> None:
    """Offer search, orders and payment requests to an agent as MCP tools.

    Needs TRADEWIND_URL, and on stdin and stdout TRADEWIND_API_KEY: a key with scopes.
    """
    url, key = os.environ.get(URL_VARIABLE, ""), os.environ.get(KEY_VARIABLE, "")
    if not url:
        raise CannotStart(f"Set {URL_VARIABLE} to the server, such as https://tradewind.example.")
    url = server_url(url)
    listen = None if http is None else _read_listen(http)
    if listen is None and not key:
        raise CannotStart(f"Set {KEY_VARIABLE} to an API key that has scopes.")
    if listen is not None and key:
        raise CannotStart(f"With --http every caller sends a key: unset {KEY_VARIABLE}.")
    try:
        from tradewind.mcp import server  # noqa: PLC0415 - only with the extra `mcp`
    except ModuleNotFoundError as missing:
        raise CannotStart(
            f"`tradewind mcp` needs the package {missing.name}; in the source folder, run "
            "`pip install '.[mcp]'`."
        ) from None
    if listen is None:
        server.run_stdio(url, key)
    else:
        server.run_http(url, *listen)


def _read_listen(text: str) -> tuple[str, int]:
    match = _LISTEN.fullmatch(text)
    port = int(match[3]) if match else 0
    if match is None or not 1 <= port <= _LARGEST_PORT:
        raise CannotStart("--http must be HOST:PORT, such as 127.0.0.1:8765.")
    return match[1] or match[2], port
