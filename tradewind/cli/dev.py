"""`tradewind dev`: what it prints for people, scripts and shells."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tradewind.cli.output import say, say_on_stderr, write_json
from tradewind.dev import data_dir
from tradewind.dev.data_dir import Running, Secrets
from tradewind.dev.run import Terminal
from tradewind.errors import CannotStart


def terminal(folder: Path, *, as_json: bool, show_logs: bool) -> Terminal:
    """What a run shows: its steps and the banner, or for scripts one line of JSON only."""
    if as_json:
        return Terminal(
            report=lambda _: None,
            introduce=lambda running, secrets: write_json(_as_json(running, secrets)),
            show_logs=show_logs,
        )
    log = None if show_logs else data_dir.log_path(folder)
    return Terminal(
        report=say_on_stderr,
        introduce=lambda running, secrets: say(_banner(running, secrets, log)),
        show_logs=show_logs,
    )


def show_credentials(folder: Path, default_url: str, *, as_json: bool, as_shell: bool) -> None:
    """Show the demo credentials in a data directory, whether or not `tradewind dev` runs on it."""
    secrets = data_dir.stored_secrets(folder)
    if secrets is None:
        raise CannotStart(
            f"There are no credentials in {folder}; the first start of `tradewind dev` makes them. "
            "If it was started in another folder, go there, or name its data with `--data-dir`."
        )
    running = data_dir.running(folder)
    if as_json:
        write_json(_as_json(running, secrets))
    elif as_shell:
        say(_exports(running.url if running else default_url, secrets))
    else:
        state = f"running at {running.url}/" if running else "not running"
        say(f"Tradewind is {state}.\n\n{_people(secrets)}")


def _as_json(running: Running | None, secrets: Secrets) -> Mapping[str, Any]:
    """The one line that scripts wait for."""
    return {
        "url": running and running.url,
        "database_url": running and running.database_url,
        "sandbox_url": running and running.sandbox_url,
        "buyer": secrets.buyer,
        "operator": secrets.operator,
    }


def _exports(url: str, secrets: Secrets) -> str:
    """Commands for `eval` in a shell."""
    variables = {
        "TRADEWIND_URL": url,
        "TRADEWIND_API_KEY": secrets.buyer.api_key,
        "OPERATOR_API_KEY": secrets.operator.api_key,
    }
    return "\n".join(f"export {name}={shlex.quote(value)}" for name, value in variables.items())


def _people(secrets: Secrets) -> str:
    return f"""\
  buyer      {secrets.buyer.email}  password {secrets.buyer.password}
             API key {secrets.buyer.api_key}
  operator   {secrets.operator.email}  password {secrets.operator.password}
             API key {secrets.operator.api_key}"""


def _banner(running: Running, secrets: Secrets, log: Path | None) -> str:
    return f"""
Tradewind is running.

  dashboard  {running.url}/ (log in as the buyer or the operator below)
  API        {running.url}/v1
  reference  {running.url}/docs
  sandbox    {running.sandbox_url} (the simulated marketplace)
  database   {running.database_url}
  logs       {log or "on this terminal"}

{_people(secrets)}

Try it:

  curl {running.url}/v1/products/search -H "x-api-key: {secrets.buyer.api_key}" \\
    -H "content-type: application/json" -d '{{"q": "dress", "platform": "sandbox"}}'

`tradewind dev --credentials` shows the credentials again.
Ctrl-C stops everything and keeps the data.
"""
