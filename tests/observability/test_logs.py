"""Logs: one line for each request, with everything known and nothing secret."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from kit.server import Server, ServerLauncher

from tradewind import ids
from tradewind.runtime import child_processes

pytestmark = pytest.mark.xdist_group("logs")

# A program that logs in every way that we and our libraries do.
PROGRAM = """
import logging, sys
from tradewind.observability import logs
from tradewind.observability.logs import log

logs.configure(sys.argv[1], "info")
log.debug("not written")
log.info("order.created", order="ORD1", note="żółw", path=logging.Handler)
logging.getLogger("library").info("not written")
logging.getLogger("library").warning("%s is full", "disk")
logging.getLogger("library").log(35, "between two levels")
try:
    password = "correct horse"
    1 / 0
except ZeroDivisionError:
    log.exception("job.failed", job=7)
"""

# A program whose database rejects rows, and quotes them.
REFUSED_ROWS = """
import asyncio, logging, sys
import asyncpg
from tradewind.observability import logs
from tradewind.observability.logs import log

async def main():
    db = await asyncpg.connect(sys.argv[2])
    columns = "note text, name text CHECK (name <> 'Zhang'), phone text UNIQUE"
    await db.execute(f"CREATE TEMP TABLE person ({columns})")
    insert = "INSERT INTO person VALUES ($1, $2, $3)"
    await db.execute(insert, "", "Li", "15251667788")
    rows = [
        ("plain", "Zhang", "13900001111"),
        ("a" + chr(10) + chr(10) + "HINT: b" + chr(10) + "HINT: c", "Zhang", "13900001111"),
        ("twice", "Wang", "15251667788"),
    ]
    for row in rows:
        try:
            await db.execute(insert, *row)
        except asyncpg.PostgresError as error:
            log.error("order.not_saved", error=str(error))
            log.error("said " + str(error))
            log.exception("step.broke")
            logging.getLogger("library").exception("library %s", error)
            try:
                raise RuntimeError("after it") from error
            except RuntimeError:
                log.exception("step.broke_again")
    await db.close()

logs.configure(sys.argv[1], "info")
asyncio.run(main())
"""


@pytest.fixture(scope="module")
def server(launcher: ServerLauncher) -> Iterator[Server]:
    with launcher.serving(workers=2) as started:
        yield started


def lines(server: Server) -> list[dict[str, Any]]:
    """Every line of the log, each of which is JSON; a line still being written is left out."""
    text = server.log.read_text()
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]


def line_of(server: Server, request_id: str) -> dict[str, Any]:
    """The one line of a request; it is written just after the answer is sent."""
    deadline = time.monotonic() + 5
    while True:
        result = [line for line in lines(server) if line.get("request_id") == request_id]
        if result:
            break
        assert time.monotonic() < deadline, "the request was not logged"
        time.sleep(0.01)
    assert len(result) == 1
    return result[0]


def test_a_request_is_one_line_with_all_that_is_known(server: Server) -> None:
    person = server.person()

    answer = server.call(
        "GET", "/v1/api-keys?limit=7", by=person, headers={"x-request-id": "wide-line"}
    )

    line = line_of(server, "wide-line")
    took, at, credential = (line.pop(name) for name in ("took_ms", "timestamp", "credential"))
    assert line == {
        "event": "request",
        "level": "info",
        "request_id": "wide-line",
        "method": "GET",
        "route": "GET /v1/api-keys",
        "status": 200,
        "bytes": len(answer.content),
        "address": "127.0.0.1",
        "account": person.id,
    }
    assert 0 < took < 10_000
    assert at.endswith("Z")
    assert credential == answer.json()["items"][0]["id"]


def test_the_line_of_a_rejection_says_which_it_was(server: Server) -> None:
    server.call("GET", "/v1/me", headers={"x-request-id": "rejected"})
    server.call("GET", "/no/such/path", headers={"x-request-id": "unrouted"})

    rejected, unrouted = line_of(server, "rejected"), line_of(server, "unrouted")

    assert (rejected["status"], rejected["error_code"]) == (401, "credentials_missing")
    assert rejected["route"] == "GET /v1/me"
    assert "account" not in rejected
    assert (unrouted["status"], unrouted["error_code"]) == (404, "route_not_found")
    assert unrouted["route"] == "none"


def test_no_query_string_no_path_and_no_secret_is_logged(server: Server) -> None:
    person = server.person()
    token = server.login(person)["access_token"]
    server.call("GET", "/v1/me?from=elsewhere", by=person)
    server.call("GET", "/v1/api-keys?cursor=inquisitive", by=person)
    server.call("GET", "/password?token=twp_guessed")
    server.call("DELETE", "/v1/api-keys/key_imaginary", by=person)
    server.call("GET", "/v1/me", headers={"x-api-key": "twk_mistyped"})
    server.call("GET", "/v1/me", headers={"authorization": "Bearer forged.by.somebody"})
    login = {"email": person.email, "password": "mistaken guess"}
    server.call("POST", "/v1/auth/login", json=login)
    server.call("GET", "/v1/me", token=token, headers={"x-request-id": "the-last"})

    line_of(server, "the-last")
    text = server.log.read_text()

    for word in (
        *("elsewhere", "inquisitive", "twp_guessed", "key_imaginary", "twk_", "forged"),
        *("mistaken", person.email, person.password, person.key, token),
    ):
        assert word not in text


@pytest.mark.parametrize("sent", ["a b", "x" * 200, "-", '"}{"'])
def test_a_malformed_id_is_not_logged_but_the_one_that_took_its_place(
    server: Server, sent: str
) -> None:
    answer = server.call("GET", "/v1/me", headers={"x-request-id": sent})

    value = answer.headers["x-request-id"]
    assert ids.REQUEST.read(value)
    assert line_of(server, value)["request_id"] == value


def test_health_is_not_news_while_all_is_well(server: Server) -> None:
    for path in ("/healthz", "/readyz"):
        server.call("GET", path, headers={"x-request-id": "healthy"})
    server.call("GET", "/v1/me", headers={"x-request-id": "after-health"})

    line_of(server, "after-health")

    assert [line for line in lines(server) if line.get("request_id") == "healthy"] == []


def test_what_fails_on_our_side_is_logged_with_its_cause(server: Server) -> None:
    person = server.person()
    server.fetch("ALTER TABLE api_key RENAME COLUMN prefix TO moved")

    answer = server.call("GET", "/v1/api-keys", by=person, headers={"x-request-id": "broken"})

    server.fetch("ALTER TABLE api_key RENAME COLUMN moved TO prefix")
    assert answer.status_code == 500
    assert answer.json()["code"] == "internal_error"
    assert answer.json()["request_id"] == "broken"
    assert "moved" not in answer.text
    deadline = time.monotonic() + 5
    while len(result := [x for x in lines(server) if x.get("request_id") == "broken"]) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    cause, line = result
    assert (cause["event"], cause["level"]) == ("request.failed", "error")
    assert 'column "prefix" does not exist' in cause["exception"]
    assert (line["event"], line["level"], line["status"]) == ("request", "error", 500)


def test_a_server_logs_json_from_start_to_end_and_listening_when_every_process_does(
    launcher: ServerLauncher,
) -> None:
    with launcher.serving(workers=2) as server:  # it waits for `api.listening`, and no longer
        port = httpx.URL(server.url).port
        assert port is not None
        listeners = child_processes.count_listeners("127.0.0.1", port)
        server.call("GET", "/v1/me")

    assert listeners == 2
    events = [line["event"] for line in lines(server) if line["event"] != "partitions.made"]
    # If midnight has passed since the database was made, a partition is missing.
    assert events == ["api.listening", "request", "api.stopped"]


def written(style: str, program: str = PROGRAM, *more: str) -> list[str]:
    ended = subprocess.run(
        [sys.executable, "-c", program, style, *more],
        capture_output=True,
        text=True,
        check=True,
        timeout=20,
    )
    assert ended.stdout == ""
    return ended.stderr.splitlines()


def test_libraries_log_in_the_same_style_and_nothing_goes_to_stdout() -> None:
    ours, theirs, between, failed = (json.loads(line) for line in written("json"))

    assert (ours["event"], ours["order"], ours["note"]) == ("order.created", "ORD1", "żółw")
    assert (theirs["event"], theirs["level"]) == ("disk is full", "warning")
    assert theirs["logger"] == "library"
    assert (between["event"], between["level"]) == ("between two levels", "warning")
    assert failed["exception"].endswith("ZeroDivisionError: division by zero")


def test_for_people_a_traceback_shows_no_values() -> None:
    text = "\n".join(written("console"))

    assert "order.created" in text
    assert "ZeroDivisionError" in text
    assert "correct horse" not in text
    assert "not written" not in text


@pytest.mark.parametrize("style", ["json", "console"])
def test_the_rows_that_the_database_quotes_are_not_logged(style: str, database_url: str) -> None:
    text = "\n".join(written(style, REFUSED_ROWS, database_url))

    assert text.count("violates check constraint") >= 10
    assert text.count("violates unique constraint") >= 5
    assert text.count("RuntimeError: after it") == 3
    for word in ("DETAIL", "Failing row", "13900001111", "15251667788", "Zhang"):
        assert word not in text
