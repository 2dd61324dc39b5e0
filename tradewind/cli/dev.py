"""`tradewind dev`: tells a newcomer, or a script, how to use what was started."""

from tradewind.cli.output import say, write_json
from tradewind.dev_folder import Running, Secrets


def introduce_as_json(running: Running, secrets: Secrets) -> None:
    """The one line that scripts wait for."""
    write_json(
        {
            "url": running.url,
            "database_url": running.database_url,
            "sandbox_url": None,
            "buyer": secrets.buyer,
            "operator": secrets.operator,
        }
    )


def introduce(running: Running, secrets: Secrets) -> None:
    say(
        f"""
Tradewind is running.

  API        {running.url}
  reference  {running.url}/docs
  database   {running.database_url}

  buyer      {secrets.buyer.email}  password {secrets.buyer.password}
             API key {secrets.buyer.api_key}
  operator   {secrets.operator.email}  password {secrets.operator.password}
             API key {secrets.operator.api_key}

Try it:

  curl -H "x-api-key: {secrets.buyer.api_key}" {running.url}/v1/me

Ctrl-C stops everything and keeps the data.
"""
    )
