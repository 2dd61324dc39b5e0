"""`GET /v1/me` against a bare hello on the same server, and the cost of each layer in between."""

from contextlib import ExitStack
from uuid import UUID

from bench import servers
from bench.results import Results
from tradewind.accounts.register import register
from tradewind.audit.model import COMMAND_LINE
from tradewind.auth.api_keys.issue import issue
from tradewind.auth.passwords import Passwords
from tradewind.auth.sessions import begin
from tradewind.settings.settings import DEVELOPMENT_SECRET
from tradewind.storage.keyring import Keyring
from tradewind.storage.migrate import migrate
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction

BAR = 0.1
_WITH_KEY = "GET /v1/me with an API key"


async def prepare(database_url: str) -> tuple[str, str]:
    """An account with an API key and an access token."""
    keyring = Keyring([DEVELOPMENT_SECRET])
    db = Database(database_url, size=1, name="bench")
    await db.open()
    passwords = Passwords()
    try:
        await migrate(db)
        account = await register(db, passwords, COMMAND_LINE, email="bench@bench.example")
        _, key = await issue(db, keyring, COMMAND_LINE, account.id, "bench")
        return key, await _token(db, keyring, account.id)
    finally:
        passwords.close()
        await db.close()


async def _token(db: Database, keyring: Keyring, account_id: UUID) -> str:
    async with transaction(db) as tx:
        tokens = await begin(tx, keyring, account_id, address="127.0.0.1", user_agent="bench")
    return tokens.access


def run(database_url: str, key: str, token: str, results: Results) -> None:
    """Tell the ratios; that of an API key has a bar."""
    with ExitStack() as stack:
        bare = stack.enter_context(servers.granian("bench.bare:app", path="/"))
        http_layer = {
            level: stack.enter_context(
                servers.granian(
                    "bench.http_layer:create", {"BENCH_LOG_LEVEL": level}, path="/hello"
                )
            )
            for level in ("warning", "info")
        }
        api = stack.enter_context(servers.tradewind(database_url))
        rate, ratios = servers.ratios(
            (bare, {}),
            {
                "the HTTP layer: routing, ids, headers, metrics, JSON": (http_layer["warning"], {}),
                "the HTTP layer with its log line": (http_layer["info"], {}),
                "GET /v1/me with an access token": (
                    f"{api}/v1/me",
                    {"authorization": f"Bearer {token}"},
                ),
                _WITH_KEY: (f"{api}/v1/me", {"x-api-key": key}),
            },
        )
    results.section(
        "Requests per second as a ratio to a bare ASGI hello", f" ({rate:,.0f}/s in this run)"
    )
    for name, ratio in ratios.items():
        results.tell(ratio, name, BAR if name == _WITH_KEY else None)
