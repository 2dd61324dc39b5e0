"""Sessions: refreshing, a lost response, the end after a reused token, logging out."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import httpx
import pytest
from kit.accounts import insert_account
from kit.server import Person, Server

from tradewind.audit.model import COMMAND_LINE
from tradewind.auth import sessions, sql, sql_sessions
from tradewind.auth.errors import AccountLocked
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction


def refresh(api: Server, token: str) -> httpx.Response:
    answer = api.call("POST", "/v1/auth/refresh", json={"refresh_token": token})
    if answer.status_code == 200:
        api.launcher.secrets |= {answer.json()["access_token"], answer.json()["refresh_token"]}
    return answer


def works(api: Server, token: str) -> bool:
    return api.call("GET", "/v1/me", token=token).status_code == 200


def audited(api: Server, person: Person) -> list[str]:
    rows = api.fetch("SELECT action FROM audit WHERE account_id = $1 ORDER BY id", person.uuid)
    return [row["action"] for row in rows]


def test_a_refresh_token_gives_a_new_pair(api: Server) -> None:
    first = api.login(api.person())

    answer = refresh(api, first["refresh_token"])

    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    second = answer.json()
    assert set(second) == set(first)
    assert second["refresh_token"] != first["refresh_token"]
    assert works(api, second["access_token"])
    assert works(api, first["access_token"]), "it is the same session"


def test_the_predecessor_gets_the_same_successor_for_a_minute(clock_api: Server) -> None:
    first = clock_api.login(clock_api.person())
    second = refresh(clock_api, first["refresh_token"]).json()

    clock_api.move_clock(timedelta(seconds=55))
    again = refresh(clock_api, first["refresh_token"])

    assert again.status_code == 200
    assert again.json()["refresh_token"] == second["refresh_token"]
    assert refresh(clock_api, second["refresh_token"]).status_code == 200


def test_two_tabs_that_refresh_at_once_stay_signed_in(api: Server) -> None:
    first = api.login(api.person())

    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda _: refresh(api, first["refresh_token"]), range(4)))

    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.json()["refresh_token"] for answer in answers}) == 1


def test_the_predecessor_after_a_minute_ends_the_session(clock_api: Server) -> None:
    person = clock_api.person()
    first = clock_api.login(person)
    second = refresh(clock_api, first["refresh_token"]).json()
    clock_api.move_clock(timedelta(seconds=61))

    reused = refresh(clock_api, first["refresh_token"])

    assert reused.status_code == 401
    assert reused.json()["code"] == "invalid_refresh_token"
    assert refresh(clock_api, second["refresh_token"]).status_code == 401
    assert not works(clock_api, second["access_token"])
    assert audited(clock_api, person)[-1] == "session.ended"


def test_an_older_token_ends_the_session_at_once(api: Server) -> None:
    first = api.login(api.person())
    second = refresh(api, first["refresh_token"]).json()
    third = refresh(api, second["refresh_token"]).json()

    assert refresh(api, first["refresh_token"]).status_code == 401
    assert not works(api, third["access_token"])


def test_a_refresh_token_lasts_180_days(clock_api: Server) -> None:
    first, other = clock_api.login(clock_api.person()), clock_api.login(clock_api.person())
    clock_api.move_clock(timedelta(days=180, seconds=-10))
    assert refresh(clock_api, first["refresh_token"]).status_code == 200

    clock_api.move_clock(timedelta(seconds=11))
    assert refresh(clock_api, other["refresh_token"]).status_code == 401


def test_nonsense_is_no_refresh_token(api: Server) -> None:
    token = api.login(api.person())["refresh_token"]
    forged = token[:-4] + ("AAAA" if token[-4:] != "AAAA" else "BBBB")

    for wrong in ("", "twr_", "twr_!", "ä", "twr_" + "A" * 75, forged):
        assert refresh(api, wrong).status_code == 401, wrong


def test_logging_out_ends_the_session_and_no_other(api: Server) -> None:
    person = api.person()
    first, second = api.login(person), api.login(person)

    answer = api.call("POST", "/v1/auth/logout", token=first["access_token"])

    assert answer.status_code == 204
    assert answer.content == b""
    assert not works(api, first["access_token"])
    assert refresh(api, first["refresh_token"]).status_code == 401
    assert works(api, second["access_token"])


def test_an_api_key_has_no_session_to_log_out_of(api: Server) -> None:
    person = api.person()

    answer = api.call("POST", "/v1/auth/logout", by=person)

    assert answer.status_code == 422
    assert answer.json()["code"] == "no_session"
    assert api.call("GET", "/v1/me", by=person).status_code == 200


async def test_a_refresh_that_waits_for_a_lock_of_the_account_is_told_of_it(
    db: Database, keyring: Keyring
) -> None:
    account_id = await insert_account(db)
    async with transaction(db) as tx:
        tokens = await sessions.begin(tx, keyring, account_id, address="127.0.0.1", user_agent="")

    async with transaction(db) as tx:
        await sql_sessions.end_sessions(tx, account_id, "account_locked")
        await tx.execute(
            "UPDATE account SET locked_at = tradewind_now(), lock_reason = 'fraud' WHERE id = $1",
            account_id,
        )
        refreshing = asyncio.create_task(
            sessions.refresh(db, keyring, tokens.refresh, COMMAND_LINE)
        )
        while not await db.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"):
            assert not refreshing.done()

    with pytest.raises(AccountLocked):
        await refreshing


async def test_a_session_that_a_lock_ended_is_not_to_be_marked_as_used(
    db: Database, keyring: Keyring
) -> None:
    account_id = await insert_account(db)
    async with transaction(db) as tx:
        await sessions.begin(tx, keyring, account_id, address="127.0.0.1", user_agent="")
        await sql_sessions.end_sessions(tx, account_id, "account_locked")
        await tx.execute(
            "UPDATE account SET locked_at = tradewind_now(), lock_reason = 'fraud' WHERE id = $1",
            account_id,
        )
        await tx.execute("UPDATE session SET last_used_at = last_used_at - interval '1 hour'")

    [admission] = await sql.admit(
        db,
        hashes=[None],
        sessions=[await db.fetchval("SELECT id FROM session")],
        addresses=["127.0.0.1"],
        times=[1],
        plans=["pro"],
        steps=[1],
        bursts=[10],
    )

    assert (admission.locked, admission.is_first_use) == (True, False)
