"""`tradewind deliveries`: shows the attempts of webhooks as they are made."""

import time
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from tradewind.cli import client
from tradewind.cli.output import Json, for_programs, printable, say, write_json

app = typer.Typer(help="Deliveries to your webhooks, at a server.", no_args_is_help=True)

_POLL_SECONDS = 2.0
# Attempts are listed by their start and logged at their end: some appear behind newer ones.
_LOOK_BACK = 100
_MOST_AT_ONCE = 1000
_MOST_WEBHOOKS = 1000
_MOST_REMEMBERED = 100_000


@app.command()
def tail(
    webhook: Annotated[
        str | None, typer.Argument(help="The webhook's id, whk_…; all of them if left out.")
    ] = None,
    *,
    lines: Annotated[
        int, typer.Option("--lines", "-n", min=0, max=100, help="How many of the past to show.")
    ] = 10,
    follow: Annotated[bool, typer.Option(help="Wait for more, until Ctrl-C.")] = True,
    as_json: Json = False,
) -> None:
    """Show the last attempts, and then each new one."""
    as_json = for_programs(as_json)
    seen: dict[str, None] = {}
    with client.connected() as remote:
        attempts = _attempts(remote, webhook, seen)
        for attempt in attempts[len(attempts) - min(lines, len(attempts)) :]:
            _write(attempt, as_json=as_json)
        while follow:
            time.sleep(_POLL_SECONDS)
            for attempt in _attempts(remote, webhook, seen):
                _write(attempt, as_json=as_json)


def _attempts(
    remote: client.Remote, webhook: str | None, seen: dict[str, None]
) -> list[dict[str, Any]]:
    """The attempts that were not seen yet, the oldest first; they are seen from now on."""
    if webhook is None:
        hooks = [hook["id"] for hook in remote.items("/v1/webhooks", limit=_MOST_WEBHOOKS)]
    else:
        hooks = [webhook]
    fresh = [attempt for hook in hooks for attempt in _unseen(remote, hook, seen)]
    for oldest in list(seen)[: max(0, len(seen) - _MOST_REMEMBERED)]:
        del seen[oldest]
    return sorted(fresh, key=lambda attempt: str(attempt["started_at"]))


def _unseen(remote: client.Remote, hook: str, seen: dict[str, None]) -> Iterator[dict[str, Any]]:
    is_first = not any(key.startswith(hook) for key in seen)
    known = 0
    limit = _LOOK_BACK if is_first else _MOST_AT_ONCE
    for attempt in remote.items(client.path("webhooks", hook, "deliveries"), limit=limit):
        key = f"{hook} {attempt['id']}"
        if key not in seen:
            seen[key] = None
            yield {"webhook": hook, **attempt}
            continue
        known += 1
        if known >= _LOOK_BACK:
            return


def _write(attempt: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        write_json(attempt)
        return
    result = attempt["status_code"] or (attempt["error"] or {}).get("code") or "-"
    duration = "-" if attempt["duration_ms"] is None else f"{attempt['duration_ms']} ms"
    after = "" if attempt["next_attempt_at"] is None else f"  retry at {attempt['next_attempt_at']}"
    say(
        printable(
            f"{attempt['started_at']}  {attempt['webhook']}  {attempt['event']:<15}"
            f"  {attempt['event_id']}  attempt {attempt['attempt']}"
            f"  {attempt['outcome']} {result}  {duration}{after}"
        )
    )
