"""The doctor against each wrong deployment of docs/how-to/deploy.md: it names the wrong line."""

import json
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from cli.test_commands import NEW, Shell
from kit.forks import ForkServer
from kit.missing_standby import missing_standby
from kit.postgres import Postgres

from tradewind.cli.doctor_checks.database_hosts import may_lead_to_standby

pytestmark = pytest.mark.xdist_group("commands")

RIGHT = {
    "TRADEWIND_ENV": "production",
    "TRADEWIND_SECRET_KEY": NEW,
    "TRADEWIND_PUBLIC_URL": "https://localhost",
    "TRADEWIND_HOST": "127.0.0.1",
    "TRADEWIND_TRUSTED_PROXIES": "127.0.0.1",
    "TRADEWIND_METRICS_LISTEN": "127.0.0.1:9464",
    "TRADEWIND_OWN_ADDRESSES": "203.0.113.5",
}
OPERATOR = ("account", "create", "you@your-company.example", "--role", "operator")


@pytest.fixture
def shell(commands: ForkServer, database_url: str) -> Shell:
    """A shell before a deployment as the page describes it."""
    shell = Shell(commands, {**RIGHT, "TRADEWIND_DATABASE_URL": database_url})
    shell.tell(*OPERATOR)
    return shell


def problems(shell: Shell, *words: str) -> list[tuple[str, str, str]]:
    """Everything that is not as it should be."""
    ended = shell.run("doctor", "--json", *words)
    findings = [tuple(finding.values()) for finding in json.loads(ended.stdout)]
    assert (ended.stderr, ended.returncode) == ("", int(any("failed" in f for f in findings)))
    return [finding for finding in findings if finding[1] != "ok"]


def test_the_doctor_has_nothing_to_say_of_a_right_deployment(shell: Shell) -> None:
    assert problems(shell) == []


@dataclass(frozen=True)
class Mistake:
    """Settings that are wrong, and what the doctor says."""

    settings: Mapping[str, str | None]
    result: str
    says: str


MISTAKES = {
    "no environment": Mistake(
        {"TRADEWIND_ENV": "prod"}, "failed", "TRADEWIND_ENV must be one of development, production"
    ),
    "no database": Mistake(
        {"TRADEWIND_DATABASE_URL": None}, "failed", "TRADEWIND_DATABASE_URL is missing"
    ),
    "no secret": Mistake(
        {"TRADEWIND_SECRET_KEY": None}, "failed", "TRADEWIND_SECRET_KEY is missing"
    ),
    "a secret that is not random": Mistake(
        {"TRADEWIND_SECRET_KEY": "ab" * 32}, "failed", "TRADEWIND_SECRET_KEY is a default or not r"
    ),
    "a public URL without TLS": Mistake(
        {"TRADEWIND_PUBLIC_URL": "http://api.your-company.example"},
        "failed",
        "TRADEWIND_PUBLIC_URL is missing or not https",
    ),
    "a public URL that nobody finds": Mistake(
        {"TRADEWIND_PUBLIC_URL": "https://api.your-company.invalid"},
        "warning",
        "The host of TRADEWIND_PUBLIC_URL, api.your-company.invalid, cannot be resolved",
    ),
    "a port that others reach beside the proxy": Mistake(
        {"TRADEWIND_HOST": None},
        "warning",
        "TRADEWIND_HOST is 0.0.0.0, so other machines reach the API without the proxy",
    ),
    "proxies on other machines, which cannot connect": Mistake(
        {"TRADEWIND_TRUSTED_PROXIES": "10.0.3.7"},
        "warning",
        "TRADEWIND_HOST is 127.0.0.1, so the proxies in TRADEWIND_TRUSTED_PROXIES cannot connect",
    ),
    "no proxies": Mistake(
        {"TRADEWIND_TRUSTED_PROXIES": ""},
        "warning",
        "TRADEWIND_TRUSTED_PROXIES is empty, so every client has the address of the proxy",
    ),
    "more than the proxies": Mistake(
        {"TRADEWIND_TRUSTED_PROXIES": "127.0.0.1,10.0.0.0/8"},
        "warning",
        "TRADEWIND_TRUSTED_PROXIES trusts all of 10.0.0.0/8",
    ),
    "no metrics": Mistake(
        {"TRADEWIND_METRICS_LISTEN": None}, "warning", "TRADEWIND_METRICS_LISTEN is not set"
    ),
    "one port for API and metrics": Mistake(
        {"TRADEWIND_METRICS_LISTEN": "127.0.0.1:8000"},
        "warning",
        "TRADEWIND_METRICS_LISTEN has the port of the API, 8000",
    ),
    "a webhook could call the deployment": Mistake(
        {"TRADEWIND_PUBLIC_URL": "https://9.9.9.9"},
        "warning",
        "TRADEWIND_OWN_ADDRESSES does not have 9.9.9.9, the address of TRADEWIND_PUBLIC_URL",
    ),
    "more connections than the server has": Mistake(
        {"TRADEWIND_DATABASE_POOL": "100"},
        "warning",
        "raise max_connections, or lower TRADEWIND_DATABASE_POOL.",
    ),
    "a typing error": Mistake(
        {"TRADEWIND_TRUSTED_PROXY": "127.0.0.1"}, "warning", "settings: TRADEWIND_TRUSTED_PROXY."
    ),
    "a missing file": Mistake(
        {"TRADEWIND_CONFIG": "/nowhere.toml"}, "failed", "TRADEWIND_CONFIG names /nowhere.toml"
    ),
    "a pay mode that does not exist": Mistake(
        {"TRADEWIND_PLATFORM_ALIBABA_PAY_MODE": "cash"},
        "failed",
        "TRADEWIND_PLATFORM_ALIBABA_PAY_MODE must be",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_wrong_setting_is_named(shell: Shell, name: str) -> None:
    mistake = MISTAKES[name]
    changed = {**shell.settings, **mistake.settings}
    wrong = Shell(shell.commands, {k: v for k, v in changed.items() if v is not None})

    ((_, result, detail),) = problems(wrong)

    assert result == mistake.result
    assert mistake.says in detail


def test_a_wrong_line_of_the_file_is_named(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "tradewind.toml"
    file.write_text('prot = 80\npublic_url = "localhost"\n')
    settings = {k: v for k, v in shell.settings.items() if k != "TRADEWIND_PUBLIC_URL"}

    ((_, result, detail),) = problems(
        Shell(shell.commands, {**settings, "TRADEWIND_CONFIG": str(file)})
    )

    assert result == "failed"
    assert f"{file} sets prot, which is not a setting; TRADEWIND_PUBLIC_URL must be" in detail


def alter(statement: str) -> Callable[[Postgres, str], None]:
    def change(postgres: Postgres, url: str) -> None:
        postgres.fetch(url, statement.format(database=urlsplit(url).path[1:]))

    return change


@pytest.mark.parametrize(
    ("change", "check", "result", "says"),
    [
        (
            alter("ALTER DATABASE {database} SET default_transaction_read_only = on"),
            "database",
            "failed",
            "TRADEWIND_DATABASE_URL leads to a server that is read-only, such as a standby; use",
        ),
        (
            alter("DELETE FROM schema_migration WHERE number > 1"),
            "migrations",
            "failed",
            "; run `tradewind migrate`.",
        ),
        (
            alter("UPDATE schema_migration SET checksum = 'x' WHERE number = 1"),
            "migrations",
            "failed",
            "was applied to this database with another text. Run the version of Tradewind that",
        ),
        (
            alter("UPDATE test_clock SET shift = '60 days'"),
            "partitions",
            "failed",
            "Tomorrow's partitions are missing; start `tradewind worker`, which makes them.",
        ),
        (
            alter("UPDATE account SET roles = '{{buyer}}'"),
            "accounts",
            "warning",
            "There is no operator; run `tradewind account create EMAIL --role operator`.",
        ),
    ],
)
def test_a_wrong_database_is_named(
    shell: Shell,
    postgres: Postgres,
    database_url: str,
    change: Callable[[Postgres, str], None],
    check: str,
    result: str,
    says: str,
) -> None:
    change(postgres, database_url)

    ((named, judged, detail),) = problems(shell)

    assert (named, judged) == (check, result)
    assert says in detail


def test_a_standby_that_is_away(shell: Shell, postgres: Postgres, database_url: str) -> None:
    name = urlsplit(database_url).path[1:]
    postgres.fetch(database_url, f"ALTER DATABASE {name} SET synchronous_commit = on")
    with missing_standby(postgres, database_url) as standby:
        standby.leave()

        ((check, result, detail),) = problems(shell)

    assert (check, result) == ("database", "failed")
    assert "a standby of synchronous_standby_names is away" in detail


@pytest.mark.parametrize(
    ("url", "warns"),
    [
        ("postgresql://u:p@h1/db", False),
        ("postgresql://u:p,q@h1/db?target_session_attrs=any", False),
        ("postgresql://u:p@h1,h2:5433/db", True),
        ("postgresql:///db?host=/run/a,/run/b", True),
        ("postgresql://u@h1,h2/db?target_session_attrs=prefer-standby", True),
        ("postgresql://u@h1,h2/db?target_session_attrs=read-write", False),
        ("postgresql://u@h1,h2/db?target_session_attrs=primary", False),
        ("", False),
    ],
)
def test_several_hosts_without_a_choice_may_lead_to_a_standby(url: str, warns: bool) -> None:
    assert may_lead_to_standby(url) is warns


def test_the_setting_with_several_hosts_is_named(shell: Shell, database_url: str) -> None:
    folder = parse_qs(urlsplit(database_url).query)["host"][0]
    url = database_url.replace(quote(folder, safe=""), f"{quote(folder, safe='')},/nowhere")
    assert url != database_url

    ((check, result, detail),) = problems(shell.having({"TRADEWIND_DATABASE_URL": url}))

    assert (check, result) == ("settings", "warning")
    assert detail.startswith("TRADEWIND_DATABASE_URL has several hosts")


def test_a_role_that_owns_nothing_and_tables_of_another_program(
    shell: Shell, postgres: Postgres, database_url: str
) -> None:
    name = urlsplit(database_url).path[1:]
    role = f"guest_of_{name}"
    url = database_url.replace("tradewind@", f"{role}@")
    postgres.fetch(database_url, f"CREATE ROLE {role} LOGIN")
    try:
        postgres.fetch(database_url, f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}")
        ((check, result, detail),) = problems(shell.having({"TRADEWIND_DATABASE_URL": url}))
        assert (check, result) == ("ownership", "failed")
        assert detail == (
            f"The role {role} in TRADEWIND_DATABASE_URL does not own the database {name}; run: "
            f"ALTER DATABASE {name} OWNER TO {role}"
        )

        postgres.fetch(database_url, f"ALTER DATABASE {name} OWNER TO {role}")
        ((check, result, detail),) = problems(shell.having({"TRADEWIND_DATABASE_URL": url}))
        assert (check, result) == ("ownership", "failed")
        assert detail.startswith(f"Tables in the database {name} belong to another role than")
    finally:
        postgres.fetch(database_url, f"ALTER DATABASE {name} OWNER TO tradewind")
        postgres.fetch(database_url, f"DROP OWNED BY {role}")
        postgres.fetch(database_url, f"DROP ROLE {role}")

    postgres.fetch(database_url, "DROP TABLE schema_migration")
    found = {check: (result, detail) for check, result, detail in problems(shell)}
    assert found["ownership"][0] == "failed"
    assert "has tables of another program; create an empty database" in found["ownership"][1]


def test_an_address_that_the_firewall_should_block(shell: Shell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as metadata:
        address = f"127.0.0.1:{metadata.getsockname()[1]}"
        assert problems(shell, "--blocked", address) == [
            (
                "egress",
                "failed",
                f"{address} was reached; block it in the rules of your firewall.",
            )
        ]
    assert problems(shell, "--blocked", address) == []
    ((_, result, detail),) = problems(shell, "--reach", address)
    assert (result, detail.startswith(f"{address} was not reached")) == ("failed", True)
