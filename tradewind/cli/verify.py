"""`tradewind verify`: checks the signature of a webhook that was received, offline."""

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from tradewind.cli.output import Json, for_programs, say, write_json
from tradewind.errors import TradewindError
from tradewind.webhooks.headers import SIGNATURE, TIMESTAMP
from tradewind.webhooks.verification import SUGGESTED_TOLERANCE, FailedCheck, failed_check

_STDIN = "-"


class UnreadableFile(TradewindError):
    """A file that a command needs cannot be read."""


class WrongHeader(TradewindError):
    """A header is not a name and a value, or the secret is empty."""


def verify(
    body: Annotated[str, typer.Argument(help="The file with the raw body; `-`: standard input.")],
    *,
    secret: Annotated[
        str, typer.Option(envvar="TRADEWIND_WEBHOOK_SECRET", help="The webhook's secret, whsec_….")
    ],
    header: Annotated[
        list[str] | None,
        typer.Option("--header", "-H", help="A received header, `Name: value`; repeat for more."),
    ] = None,
    headers: Annotated[
        str | None, typer.Option(help="A file with the received headers, a line each.")
    ] = None,
    signature: Annotated[
        str | None, typer.Option(help=f"The value of {SIGNATURE}, instead of a header.")
    ] = None,
    timestamp: Annotated[
        str | None, typer.Option(help=f"The value of {TIMESTAMP}, instead of a header.")
    ] = None,
    tolerance: Annotated[
        float, typer.Option(min=0, help="How many seconds ago it may have been sent.")
    ] = SUGGESTED_TOLERANCE,
    as_json: Json = False,
) -> None:
    """Verify a webhook: exit status 0 if it is genuine, 1 with the check that failed."""
    received = _read(body)
    lines = [
        *(_read(headers).decode(errors="replace").splitlines() if headers else ()),
        *(header or ()),
    ]
    named = dict(_header(line) for line in lines if line.strip() and not line.startswith("HTTP/"))
    if signature is not None:
        named[SIGNATURE] = signature
    if timestamp is not None:
        named[TIMESTAMP] = timestamp
    if not secret.strip():
        raise WrongHeader("The secret is empty; give the whole secret, whsec_ included.")
    now = time.time()
    failed = failed_check(secret, named, received, now=now, tolerance=tolerance)
    if failed is None:
        if for_programs(as_json):
            write_json({"valid": True, "timestamp": int(named[TIMESTAMP])})
        else:
            say("Valid: signature and timestamp are right.")
        return
    message = failed.sentence
    # An editor or `echo` often puts a line break at the end of a file.
    bare = received.removesuffix(b"\n").removesuffix(b"\r")
    if (
        failed is FailedCheck.SIGNATURE_WRONG
        and failed_check(secret, named, bare, now=now, tolerance=tolerance) is not failed
    ):
        message += " It fits the body without the line break at its end, which was not sent."
    if for_programs(as_json):
        write_json({"valid": False, "check": failed, "message": message})
    else:
        say(f"Not valid ({failed}): {message}")
    raise typer.Exit(1)


def _read(name: str) -> bytes:
    if name == _STDIN:
        return sys.stdin.buffer.read()
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise UnreadableFile(f"{name} cannot be read: {error.strerror}.") from None


def _header(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon or not name.strip():
        raise WrongHeader(f"{line!r} is not a header; write `Name: value`.")
    # Names in any case are one header, so that an option replaces a line of the file.
    known = {each.lower(): each for each in (SIGNATURE, TIMESTAMP)}
    return known.get(name.strip().lower(), name.strip().lower()), value.strip()
