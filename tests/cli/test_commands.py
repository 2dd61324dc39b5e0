"""The command line: each command works, or fails with one clear sentence."""

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest
from kit.forks import ForkServer
from kit.postgres import Postgres
from kit.server import Server, ServerLauncher, free_port
from kit.webhook_system import emit

from tradewind import ids
from tradewind.storage.keyring import Keyring
from tradewind.storage.migrate import all_migrations

pytestmark = pytest.mark.xdist_group("commands")

PASSWORD = "correct horse battery"
OLD, NEW = secrets.token_hex(32), secrets.token_hex(32)


@dataclass
class Shell:
    """Runs commands with settings of their own."""

    commands: ForkServer
    settings: Mapping[str, str] = field(default_factory=dict)

    def run(self, *words: str, given: str = "") -> subprocess.CompletedProcess[str]:
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("TRADEWIND_")}
        return self.commands.run(words, {**inherited, **self.settings}, given)

    def having(self, settings: Mapping[str, str]) -> "Shell":
        return Shell(self.commands, {**self.settings, **settings})

    def tell(self, *words: str, given: str = "") -> Any:
        """What a command that succeeds says as JSON, on one line."""
        ended = self.run(*words, "--json", given=given)
        assert (ended.returncode, ended.stderr) == (0, ""), ended.stderr
        assert ended.stdout.count("\n") == 1
        return json.loads(ended.stdout)

    def complaint(self, *words: str, given: str = "") -> str:
        """The one sentence with which a command fails."""
        ended = self.run(*words, given=given)
        assert (ended.returncode, ended.stdout) == (1, ""), ended.stdout
        assert ended.stderr.count("\n") == 1, ended.stderr
        assert ended.stderr.startswith("tradewind: ")
        return ended.stderr.removeprefix("tradewind: ").rstrip("\n")


@pytest.fixture
def shell(commands: ForkServer, database_url: str) -> Shell:
    return Shell(commands, {"TRADEWIND_DATABASE_URL": database_url, "TRADEWIND_SECRET_KEY": OLD})


@pytest.fixture
def empty(commands: ForkServer, database_url: str, postgres: Postgres) -> Shell:
    """A shell before a database without any tables."""
    postgres.fetch(database_url, "DROP SCHEMA public CASCADE")
    postgres.fetch(database_url, "CREATE SCHEMA public")
    return Shell(commands, {"TRADEWIND_DATABASE_URL": database_url})


@pytest.fixture(scope="module")
def running_server(launcher: ServerLauncher) -> Iterator[Server]:
    launcher.secrets |= {OLD, NEW}
    with launcher.serving(workers=1, settings={"TRADEWIND_SECRET_KEY": OLD}) as started:
        yield started


@pytest.fixture
def server(running_server: Server) -> Server:
    """A server that tests share; its database has no accounts yet."""
    running_server.fetch("TRUNCATE account, audit CASCADE")
    return running_server


@pytest.fixture
def server_shell(commands: ForkServer, server: Server) -> Shell:
    """A shell before the database of the server."""
    url = server.database_url
    return Shell(commands, {"TRADEWIND_DATABASE_URL": url, "TRADEWIND_SECRET_KEY": OLD})


def audited(postgres: Postgres, shell: Shell) -> list[tuple[str, str]]:
    url = shell.settings["TRADEWIND_DATABASE_URL"]
    rows = postgres.fetch(url, "SELECT action, actor FROM audit ORDER BY id")
    return [(row["action"], row["actor"]) for row in rows]


def test_an_account_with_a_password_can_sign_in(server_shell: Shell, server: Server) -> None:
    made = server_shell.tell(
        *("account", "create", "Buyer@Test.Example", "--name", "Nordic [/b] Imports"),
        *("--role", "buyer", "--role", "approver", "--plan", "free", "--password-stdin"),
        given=PASSWORD + "\n",
    )

    login = {"email": "buyer@test.example", "password": PASSWORD}
    answer = server.call("POST", "/v1/auth/login", json=login)

    assert answer.status_code == 200
    assert answer.json()["account"] == {
        "id": made["id"],
        "email": "buyer@test.example",
        "name": "Nordic [/b] Imports",
        "roles": ["approver", "buyer"],
        "plan": "free",
        "created_at": made["created_at"],
    }
    assert "url" not in made
    assert "Nordic [/b] Imports" in server_shell.run("account", "list").stdout


def test_an_account_without_a_password_gets_a_link_by_which_one_is_chosen(
    server_shell: Shell, server: Server
) -> None:
    made = server_shell.tell("account", "create", "buyer@test.example")
    link = urlsplit(made["url"])
    assert link.path == "/password"
    assert server.call("GET", f"{link.path}?{link.query}").status_code == 200

    form = {
        "token": link.query.removeprefix("token="),
        "password": PASSWORD,
        "again": PASSWORD,
    }
    assert server.call("POST", "/password", data=form).status_code == 200

    login = {"email": "buyer@test.example", "password": PASSWORD}
    assert server.call("POST", "/v1/auth/login", json=login).status_code == 200
    assert server.call("GET", f"{link.path}?{link.query}").status_code == 410


def test_for_people_the_link_is_a_line_of_its_own(shell: Shell) -> None:
    ended = shell.run("account", "create", "buyer@test.example")
    again = shell.run("account", "link", "buyer@test.example")

    for said in (ended, again):
        [line] = [line for line in said.stdout.splitlines() if line.startswith("url ")]
        assert "http://127.0.0.1:8000/password?token=twp_" in line
        assert said.stderr == ""


def test_accounts_are_listed_newest_first(shell: Shell) -> None:
    emails = ["a@test.example", "b@test.example"]
    made = [shell.tell("account", "create", email)["id"] for email in emails]

    assert [row["id"] for row in shell.tell("account", "list")] == made[::-1]
    assert [row["id"] for row in shell.tell("account", "list", "--limit", "1")] == made[:0:-1]
    assert shell.tell("account", "list", "--locked") == []
    assert shell.tell("account", "list", "--role", "operator") == []


def test_a_lock_a_plan_and_roles_hold_at_once_and_are_written_down(
    server_shell: Shell, server: Server, postgres: Postgres
) -> None:
    account = server_shell.tell("account", "create", "buyer@test.example")["id"]
    key = server_shell.tell("keys", "create", account, "warehouse")["key"]
    server.launcher.secrets.add(key)

    def me() -> Any:
        answer = server.call("GET", "/v1/me", headers={"x-api-key": key})
        return answer.json() | {"answered": answer.status_code}

    locked = server_shell.tell("account", "lock", "Buyer@test.example", "--reason", "unpaid")
    assert (locked["lock_reason"], locked["id"]) == ("unpaid", account)
    assert me()["code"] == "account_locked"
    assert [row["id"] for row in server_shell.tell("account", "list", "--locked")] == [account]

    unlocked = server_shell.tell("account", "unlock", account)
    assert (unlocked["locked_at"], unlocked["lock_reason"]) == (None, None)
    assert me()["answered"] == 200

    assert server_shell.tell("account", "plan", account, "enterprise")["plan"] == "enterprise"
    assert me()["usage"]["requests_per_minute"] == 12000

    assert server_shell.tell("account", "roles", account, "operator", "buyer")["roles"] == [
        "buyer",
        "operator",
    ]
    assert me()["roles"] == ["buyer", "operator"]
    assert audited(postgres, server_shell) == [
        (action, "command line")
        for action in (
            *("account.created", "account.password_link_made", "api_key.created"),
            *("account.locked", "account.unlocked"),
            *("account.plan_changed", "account.roles_changed"),
        )
    ]


def test_a_key_works_until_it_is_revoked(server_shell: Shell, server: Server) -> None:
    server_shell.tell("account", "create", "buyer@test.example")
    made = server_shell.tell("keys", "create", "buyer@test.example", "warehouse")
    key = made.pop("key")
    server.launcher.secrets.add(key)

    assert server.call("GET", "/v1/me", headers={"x-api-key": key}).status_code == 200
    [listed] = server_shell.tell("keys", "list", "buyer@test.example")
    assert listed.pop("last_used_at") is not None
    assert listed == {name: value for name, value in made.items() if name != "last_used_at"}

    assert server_shell.tell("keys", "revoke", made["id"]) == {"revoked": made["id"]}

    assert server.call("GET", "/v1/me", headers={"x-api-key": key}).status_code == 401
    [listed] = server_shell.tell("keys", "list", "buyer@test.example")
    assert listed["revoked_at"] is not None
    limited = server_shell.tell(
        *("keys", "create", "buyer@test.example", "agent", "--scope", "order", "--scope", "read"),
        *("--expires-at", "2046-01-01T00:00:00Z", "--allowed-cidr", "192.0.2.0/24"),
    )
    server.launcher.secrets.add(limited["key"])
    assert limited["scopes"] == ["read", "order"]
    assert limited["allowed_cidrs"] == ["192.0.2.0/24"]
    assert limited["expires_at"] == "2046-01-01T00:00:00.000Z"
    assert key not in server_shell.run("keys", "list", "buyer@test.example").stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("account", "lock", "nobody@test.example", "--reason", "x"), "There is no such account."),
        (("account", "unlock", ids.ACCOUNT.show(ids.new())), "There is no such account."),
        (("keys", "create", "nobody", "x"), "There is no such account."),
        (("keys", "revoke", ids.API_KEY.show(ids.new())), "There is no such API key."),
    ],
)
def test_an_unknown_account_or_key_is_told_in_one_sentence(
    shell: Shell, postgres: Postgres, words: tuple[str, ...], sentence: str
) -> None:
    assert shell.complaint(*words) == sentence
    assert audited(postgres, shell) == []


@pytest.mark.parametrize(
    ("words", "beginning"),
    [
        (
            ("account", "create", "not an e-mail"),
            "The email is wrong: it must be an e-mail address",
        ),
        (
            ("account", "create", "a@b.c", "--name", "x" * 201),
            "The name is wrong: it must be text of at most 200",
        ),
        (("account", "create", "a@b.c", "--password-stdin"), "A password has at least 12 char"),
        (
            ("account", "lock", "a@b.c", "--reason", ""),
            "The reason is wrong: it must be text of 1 to 500",
        ),
        (("keys", "create", "a@b.c", "x" * 101), "The name is wrong: it must be text of 1 to 100"),
        (
            ("keys", "create", "a@b.c", "x", "--scope", "all", "--allowed-cidr", "10.0.0.1/8"),
            "A value of scopes is wrong: it must be one of: read, order, pay_request, webhooks. A",
        ),
    ],
)
def test_a_wrong_argument_is_told_in_one_sentence_and_changes_nothing(
    shell: Shell, postgres: Postgres, words: tuple[str, ...], beginning: str
) -> None:
    assert shell.complaint(*words, given="too short\n").startswith(beginning)
    assert audited(postgres, shell) == []


def test_an_email_is_taken_once(shell: Shell) -> None:
    shell.tell("account", "create", "buyer@test.example")

    assert shell.complaint("account", "create", "BUYER@test.example") == (
        "There is already an account with the e-mail buyer@test.example."
    )


def test_an_empty_database_is_migrated_once_however_many_try(empty: Shell) -> None:
    everything = [f"{migration.number:04} {migration.name}" for migration in all_migrations()]
    assert empty.complaint("account", "list") == (
        "The database lacks migrations; run `tradewind migrate`."
    )

    inherited = {k: v for k, v in os.environ.items() if not k.startswith("TRADEWIND_")}
    both = [
        subprocess.Popen(
            [sys.executable, "-m", "tradewind", "migrate", "--json"],
            env={**inherited, **empty.settings},
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    applied = [json.loads(process.communicate(timeout=30)[0])["applied"] for process in both]

    assert sorted(applied) == [[], everything]
    assert empty.tell("migrate") == {"applied": []}
    assert empty.run("migrate").stdout == "The schema is up to date.\n"
    assert empty.tell("account", "list") == []


def findings(shell: Shell, *words: str) -> tuple[int, dict[str, tuple[str, str]]]:
    ended = shell.run("doctor", "--json", *words)
    assert ended.stderr == ""
    result = json.loads(ended.stdout)
    return ended.returncode, {each["check"]: (each["result"], each["detail"]) for each in result}


def test_the_doctor_finds_a_healthy_system_healthy(shell: Shell) -> None:
    status, results = findings(shell)

    assert status == 0
    assert {check: result for check, (result, _) in results.items() if result == "failed"} == {}
    assert results["database"][1].startswith("PostgreSQL 18")
    assert results["migrations"] == ("ok", f"All {len(all_migrations())} are applied.")
    assert results["clock"][0] == "ok"
    assert results["connections"] == (
        "ok",
        "An API process opens up to 19, a worker up to 17; the server allows 197 for all of them.",
    )


def test_the_doctor_warns_of_more_connections_than_the_server_has_and_of_wide_networks(
    shell: Shell,
) -> None:
    careless = {
        "TRADEWIND_DATABASE_POOL": "130",
        "TRADEWIND_TRUSTED_PROXIES": "10.0.0.0/8,10.0.3.7",
    }

    status, result = findings(shell.having(careless))

    assert status == 0
    assert result["connections"] == (
        "warning",
        (
            "An API process opens up to 139, a worker up to 137; the server allows 197 for all of "
            "them; raise max_connections, or lower TRADEWIND_DATABASE_POOL."
        ),
    )
    assert result["settings"][0] == "warning"
    assert "trusts all of 10.0.0.0/8: any machine there" in result["settings"][1]


def test_the_doctor_names_missing_migrations_and_variables_that_nobody_reads(
    empty: Shell,
) -> None:
    names = ", ".join(f"{migration.number:04} {migration.name}" for migration in all_migrations())

    status, result = findings(empty.having({"TRADEWIND_PROT": "80"}))

    assert status == 1
    assert result["migrations"] == ("failed", f"Missing: {names}; run `tradewind migrate`.")
    assert result["settings"] == ("warning", "Unknown settings: TRADEWIND_PROT.")


def test_the_doctor_warns_of_a_simulated_marketplace_with_the_demo_secret(shell: Shell) -> None:
    production = {
        "TRADEWIND_ENV": "production",
        "TRADEWIND_PUBLIC_URL": "https://api.tradewind.example.com",
        "TRADEWIND_METRICS_LISTEN": "127.0.0.1:9464",
        "TRADEWIND_SANDBOX_URL": "http://127.0.0.1:9",
    }

    _, results = findings(shell.having(production))

    result, detail = results["settings"]
    assert result == "warning"
    assert detail.startswith("sandbox is simulated with the published demo secret")


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("postgresql://nobody@/none?host=/nowhere", "[Errno 2] No such file or directory"),
        ("postgresql://127.0.0.1:1/none", "[Errno 111] Connect call failed ('127.0.0.1', 1)"),
    ],
)
def test_a_database_that_cannot_be_reached_is_told_by_every_command(
    commands: ForkServer, url: str, why: str
) -> None:
    shell = Shell(commands, {"TRADEWIND_DATABASE_URL": url})
    advice = "check TRADEWIND_DATABASE_URL and the server."

    status, result = findings(shell)

    assert status == 1
    assert result["database"] == ("failed", f"Cannot be reached ({why}); {advice}")
    for words in (("migrate",), ("account", "list"), ("secrets", "rotate")):
        assert shell.complaint(*words) == f"The database cannot be reached ({why}); {advice}"


def test_the_doctor_tries_the_addresses_that_it_is_given(
    server_shell: Shell, server: Server
) -> None:
    reachable = server.url.removeprefix("http://")

    status, result = findings(server_shell, "--reach", reachable)
    assert (status, result["egress"]) == (0, ("ok", f"{reachable} was reached."))

    status, result = findings(server_shell, "--reach", "127.0.0.1:1")
    assert (status, result["egress"][0]) == (1, "failed")


def test_the_doctor_counts_authorities_in_a_folder_too(shell: Shell) -> None:
    folder = {"SSL_CERT_FILE": "/nowhere", "SSL_CERT_DIR": "/etc/ssl/certs"}

    _, result = findings(shell.having(folder))

    assert result["certificates"][0] == "ok"


def test_a_restored_database_is_held_until_it_is_released(shell: Shell, postgres: Postgres) -> None:
    prepared = shell.tell("restored")

    held = shell.tell("queue", "status")
    assert prepared == {
        "accounts_with_events": 0, "events": 0, "deliveries_held": 0, "orders_to_look_up": 0
    }  # fmt: skip
    assert held["reason"] == "The database was restored from a backup."
    assert shell.run("queue", "hold", "me too").stdout.endswith("the reason stays.\n")
    assert shell.run("queue", "release").stdout == "Deliveries are sent again.\n"
    assert shell.run("queue", "release").stdout == "Deliveries are not held.\n"
    assert shell.tell("queue", "status")["held_since"] is None
    actions = [("deliveries.held",), ("deliveries.released",)]
    assert [row[:1] for row in audited(postgres, shell)] == actions


def test_a_journal_with_a_gap_is_no_restored_database(shell: Shell, postgres: Postgres) -> None:
    url = shell.settings["TRADEWIND_DATABASE_URL"]
    shell.tell("account", "create", "buyer@test.example")
    (account,) = postgres.fetch(url, "SELECT id FROM account")
    events = emit(url, account["id"], 3)
    assert shell.tell("restored")["events"] == 3

    postgres.fetch(url, "DELETE FROM event WHERE id = $1", ids.EVENT.read(events[1]))

    complaint = shell.complaint("restored")
    assert "missing in the journals of 1 of 1 accounts" in complaint
    assert shell.tell("queue", "status")["held_since"] is not None


def test_health_asks_the_process_on_this_machine(server_shell: Shell, server: Server) -> None:
    port = server.url.rpartition(":")[2]
    listening = server_shell.having({"TRADEWIND_PORT": port})

    healthy = listening.run("health", "api")

    assert (healthy.returncode, healthy.stderr) == (0, "")
    assert healthy.stdout == f"The api at 127.0.0.1:{port} is healthy.\n"
    everywhere = {"TRADEWIND_HOST": "0.0.0.0", "TRADEWIND_DEV_BIND_ANY": "yes"}  # noqa: S104 - a setting
    assert listening.having(everywhere).run("health", "api").stdout == healthy.stdout


def test_health_says_why_a_process_cannot_work(
    server_shell: Shell, server: Server, postgres: Postgres
) -> None:
    port = server.url.rpartition(":")[2]
    nobody = server_shell.having({"TRADEWIND_PORT": str(free_port())})
    assert "did not answer: [Errno 111] Connection refused." in nobody.complaint("health", "api")
    assert "TRADEWIND_METRICS_LISTEN" in nobody.complaint("health", "worker")
    listening = server_shell.having({"TRADEWIND_PORT": port})
    hidden = "UPDATE schema_migration SET number = -number WHERE abs(number) = $1"

    postgres.fetch(server.database_url, hidden, len(all_migrations()))
    try:
        complaint = listening.complaint("health", "api")
    finally:
        postgres.fetch(server.database_url, hidden, len(all_migrations()))

    assert complaint == (
        f"The api at 127.0.0.1:{port} answered 503. "
        "1 migrations are missing: run `tradewind migrate`."
    )


def test_a_new_master_secret_takes_over_key_by_key(
    shell: Shell, launcher: ServerLauncher, database_url: str
) -> None:
    old_id, new_id = (Keyring([bytes.fromhex(secret)]).current_id for secret in (OLD, NEW))
    both = {"TRADEWIND_SECRET_KEY": f"{NEW},{OLD}"}
    rotating = shell.having(both)
    shell.tell("account", "create", "buyer@test.example", "--password-stdin", given=PASSWORD)
    key = shell.tell("keys", "create", "buyer@test.example", "warehouse")["key"]
    launcher.secrets |= {OLD, NEW, key}
    assert shell.tell("secrets", "rotate")["still_old"] == []

    report = rotating.tell("secrets", "rotate")
    assert report["current"] == new_id
    [left] = report["still_old"]
    assert (left["key_id"], left["count"], left["works"]) == (old_id, 1, True)

    with launcher.serving_on(database_url, workers=1, settings=both) as server:
        assert server.call("GET", "/v1/me", headers={"x-api-key": key}).status_code == 200

    assert rotating.tell("secrets", "rotate")["still_old"] == []
    only_new = {"TRADEWIND_SECRET_KEY": NEW}
    with launcher.serving_on(database_url, workers=1, settings=only_new) as server:
        assert server.call("GET", "/v1/me", headers={"x-api-key": key}).status_code == 200


def test_production_names_every_setting_that_it_lacks(commands: ForkServer) -> None:
    shell = Shell(commands, {"TRADEWIND_ENV": "production", "TRADEWIND_PORT": "eighty"})
    lacking = (
        "These settings are wrong: TRADEWIND_PORT must be a whole number from 0 to 65535; "
        "TRADEWIND_DATABASE_URL is missing; "
        "TRADEWIND_SECRET_KEY is missing (make one: openssl rand -hex 32); "
        "TRADEWIND_PUBLIC_URL is missing or not https."
    )

    for words in (("serve",), ("worker",), ("account", "list"), ("dev",)):
        assert shell.complaint(*words) == lacking
    assert findings(shell) == (1, {"settings": ("failed", lacking)})
