"""The context of a command: settings, and a database that is open while it runs."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TypeVar

import asyncpg

from tradewind.auth.passwords import Passwords
from tradewind.dev import data_dir
from tradewind.errors import CannotStart
from tradewind.observability import logs
from tradewind.platforms.registry import simulated_urls
from tradewind.settings import settings
from tradewind.settings.settings import Settings
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Context:
    """The parts that every command gets."""

    settings: Settings
    db: Database
    keyring: Keyring
    passwords: Passwords


def load_settings() -> Settings:
    """The settings; without a database URL, those of a running `tradewind dev`."""
    chosen = settings.load(database=False)
    if chosen.database_url or chosen.production:
        return settings.load()
    running = data_dir.running(chosen.data_dir)
    if running is None:
        return settings.load()
    return replace(
        chosen,
        database_url=running.database_url,
        database_direct_url="",
        public_url=running.url,
        sandbox_url=running.sandbox_url,
        platforms={
            name: settings.PlatformSettings(url=url)
            for name, url in simulated_urls(running.sandbox_url).items()
        }
        | dict(chosen.platforms),
        secret_key=tuple(map(bytes.fromhex, running.secret_key.split(","))),
    )


def run(work: Callable[[Context], Awaitable[T]]) -> T:
    """Run `work` with a context, and close it afterwards."""
    chosen = load_settings()
    logs.configure(chosen.log_style, os.environ.get("TRADEWIND_LOG_LEVEL", "warning"))

    async def inside() -> T:
        db = Database(
            chosen.database_url,
            size=2,
            name="tradewind command",
            direct_url=chosen.database_direct_url,
        )
        await db.open()
        passwords = Passwords()
        try:
            return await work(Context(chosen, db, Keyring(chosen.secret_key), passwords))
        except (asyncpg.UndefinedTableError, asyncpg.UndefinedColumnError):
            raise CannotStart("The database lacks migrations; run `tradewind migrate`.") from None
        finally:
            passwords.close()
            await db.close()

    return asyncio.run(inside())
