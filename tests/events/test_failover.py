"""After a failover a reader continues from its cursor, or gets a clear error."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kit.postgres import Postgres, copy_as_standby, running_server
from kit.server import Person, Server, ServerLauncher
from kit.webhook_system import emit

from tradewind.storage.embedded import EmbeddedServer
from tradewind.storage.migrate import migrate
from tradewind.storage.pool import Database

_PATIENCE_SECONDS = 30


async def _migrated(url: str) -> None:
    db = Database(url, size=1, name="test")
    await db.open()
    try:
        await migrate(db)
    finally:
        await db.close()


def _fetch(server: EmbeddedServer, query: str) -> Any:
    async def ask() -> Any:
        db = Database(server.url(), size=1, name="test")
        await db.open()
        try:
            return await db.fetchval(query)
        finally:
            await db.close()

    return Postgres.run(ask())


def _wait_for(good: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not good():
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.02)


def _cut_off(standby: EmbeddedServer) -> None:
    """Cut the line to the primary: nothing that it commits from now on arrives."""
    _fetch(standby, "ALTER SYSTEM SET primary_conninfo = ''")
    _fetch(standby, "SELECT pg_reload_conf()")
    _wait_for(lambda: _fetch(standby, "SELECT count(*) FROM pg_stat_wal_receiver") == 0)


def _read(api: Server, reader: Person, cursor: str = "") -> Any:
    after = f"?after={cursor}" if cursor else ""
    return api.call("GET", f"/v1/events{after}", by=reader)


def _ids(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [item["id"] for item in answer.json()["items"]]


def test_a_cursor_survives_a_failover_and_one_beyond_what_was_kept_is_refused(
    launcher: ServerLauncher, tmp_path: Path
) -> None:
    """Two readers: nothing of `safe` is lost with the primary, the last event of `unlucky` is.

    Transactions without changes move the primary's counter of transaction ids on, and the standby
    never hears of them, so the ids are given out again after its promotion.
    """
    with running_server(tmp_path / "primary") as primary:
        Postgres.run(_migrated(primary.url()))
        copy_as_standby(primary, tmp_path / "standby")
        with running_server(tmp_path / "standby") as standby:
            with launcher.serving_on(primary.url(), workers=1) as api:
                safe, unlucky = api.person(), api.person()
                kept = [*emit(primary.url(), safe.uuid), *emit(primary.url(), unlucky.uuid)]
                _wait_for(lambda: _fetch(standby, "SELECT count(*) FROM event") == 2)
                _cut_off(standby)
                lost = emit(primary.url(), unlucky.uuid)
                for _ in range(20):
                    _fetch(primary, "SELECT pg_current_xact_id()::text")
                seen = {reader: _read(api, reader) for reader in (safe, unlucky)}
            assert _fetch(standby, "SELECT pg_promote()")

            with launcher.serving_on(standby.url(), workers=1) as api:
                cursors = {reader: page.json()["next_cursor"] for reader, page in seen.items()}
                beyond = _read(api, unlucky, cursors[unlucky])
                new = [emit(standby.url(), reader.uuid)[0] for reader in (safe, unlucky)]
                after = _read(api, safe, cursors[safe])
                same_number = _read(api, unlucky, cursors[unlucky])
                newer = emit(standby.url(), unlucky.uuid)
                passed = _read(api, unlucky, cursors[unlucky])
                afresh = _read(api, unlucky)

    assert (_ids(seen[safe]), _ids(seen[unlucky])) == ([kept[0]], [kept[1], *lost])
    assert _ids(after) == [new[0]]
    for answer in (beyond, same_number, passed):
        assert (answer.status_code, answer.json()["code"]) == (410, "events_rewound")
    assert _ids(afresh) == [kept[1], new[1], *newer]
