"""`tradewind dev`: starts everything, and prints how to use it for people or for scripts."""

from tradewind.cli.output import say, write_json
from tradewind.dev.data_dir import Running, Secrets


def introduce_as_json(running: Running, secrets: Secrets) -> None:
    """The one line that scripts wait for."""
    write_json(
        {
            "url": running.url,
            "database_url": running.database_url,
            "sandbox_url": running.sandbox_url,
            "buyer": secrets.buyer,
            "operator": secrets.operator,
        }
    )


def introduce(running: Running, secrets: Secrets) -> None:
    say(
        f"""
Tradewind is running.

  dashboard  {running.url}/ (log in as the buyer or the operator below)
  API        {running.url}/v1
  reference  {running.url}/docs
  sandbox    {running.sandbox_url} (the simulated marketplace)
  database   {running.database_url}

  buyer      {secrets.buyer.email}  password {secrets.buyer.password}
             API key {secrets.buyer.api_key}
  operator   {secrets.operator.email}  password {secrets.operator.password}
             API key {secrets.operator.api_key}

Try it:

  curl {running.url}/v1/products/search -H "x-api-key: {secrets.buyer.api_key}" \\
    -H "content-type: application/json" -d '{{"q": "dress", "platform": "sandbox"}}'

Ctrl-C stops everything and keeps the data.
"""
    )
