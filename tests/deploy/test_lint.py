"""Dockerfile, compose file, units and scripts pass their linters, and keep what we promise."""

import json
import os
import re
import stat
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from kit.blocks import ROOT
from kit.linters import run
from kit.toolchains import deployment_tool

from tradewind.settings import settings

DOCKER, SYSTEMD = ROOT / "deploy/docker", ROOT / "deploy/systemd"
# From 0 to 10, as `systemd-analyze security` rates a unit. deploy/README.md states it.
MOST_EXPOSURE = 1.5
UNITS = ("tradewind-serve.service", "tradewind-worker@9465.service", "tradewind-migrate.service")
DOMAINS = ("localhost", "api.your-company.example")


def composed(domain: str = DOMAINS[0]) -> dict[str, Any]:
    """The compose file as `docker compose` reads it."""
    text = run("compose-check", str(DOCKER / "compose.yaml"), TRADEWIND_DOMAIN=domain)
    project: dict[str, Any] = json.loads(text)
    return project


def test_hadolint_accepts_the_dockerfile() -> None:
    assert run("hadolint", "deploy/docker/Dockerfile") == ""


def test_shellcheck_accepts_the_scripts() -> None:
    scripts = [
        str(path)
        for path in (ROOT / "deploy").rglob("*")
        if path.is_file() and re.match(rb"#!.*\b(ba)?sh\b", path.read_bytes()[:40])
    ]

    assert len(scripts) >= 2
    assert run("shellcheck", *scripts) == ""


@pytest.mark.parametrize("domain", DOMAINS)
def test_compose_reads_its_file(domain: str) -> None:
    services = composed(domain)["services"]

    assert set(services) == {"postgres", "migrate", "api", "worker", "caddy"}
    assert services["api"]["environment"]["TRADEWIND_PUBLIC_URL"] == f"https://{domain}"
    for name, service in services.items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert "healthcheck" in service or name == "api", name  # the image has that of the API
    assert {
        name: service["cap_add"] for name, service in services.items() if "cap_add" in service
    } == {"caddy": ["NET_BIND_SERVICE"]}
    assert [name for name, service in services.items() if "ports" in service] == ["caddy"]


def test_the_api_believes_caddy_and_nobody_else() -> None:
    services = composed()["services"]
    shared = services["api"]["networks"].keys() & services["caddy"]["networks"].keys()

    assert shared == {"proxy"}
    address = services["caddy"]["networks"]["proxy"]["ipv4_address"]
    assert services["api"]["environment"]["TRADEWIND_TRUSTED_PROXIES"] == address


def test_the_compose_file_has_no_password() -> None:
    project = composed()

    for service in project["services"].values():
        secret = [n for n in service.get("environment", {}) if re.search("PASSWORD|SECRET|URL$", n)]
        assert set(secret) <= {"POSTGRES_PASSWORD_FILE", "TRADEWIND_PUBLIC_URL"}
    assert {Path(secret["file"]).parent for secret in project["secrets"].values()} == {
        DOCKER / "secrets"
    }


def test_what_compose_starts_has_complete_settings(tmp_path: Path) -> None:
    script = tmp_path / "create-secrets"
    script.write_bytes((DOCKER / "create-secrets").read_bytes())
    subprocess.run(["/bin/sh", str(script)], check=True, capture_output=True)
    folder = tmp_path / "secrets"
    environ = composed()["services"]["api"]["environment"]
    config = folder / Path(environ["TRADEWIND_CONFIG"]).name

    chosen = settings.load(
        {**environ, "TRADEWIND_ENV": "production", "TRADEWIND_CONFIG": str(config)}
    )

    password = (folder / "postgres_password").read_text()
    assert chosen.production
    assert chosen.database_url == f"postgresql://tradewind:{password}@postgres:5432/tradewind"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o444}
    before = tomllib.loads(config.read_text())
    subprocess.run(["/bin/sh", str(script)], check=True, capture_output=True)
    assert tomllib.loads(config.read_text()) == before, "secrets are made once"


@pytest.mark.parametrize("domain", DOMAINS)
def test_caddy_reads_its_file(domain: str) -> None:
    file = str(DOCKER / "Caddyfile")
    command = ("caddy", "adapt", "--validate", "--adapter", "caddyfile", "--config", file)

    adapted = run(*command, TRADEWIND_DOMAIN=domain)

    assert json.dumps([domain]) in json.dumps(json.loads(adapted))


def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    """The program and the account of the units are on no machine that only tests them."""
    for path in SYSTEMD.rglob("*.*"):
        if path.is_file():
            copy = tmp_path / path.relative_to(SYSTEMD)
            copy.parent.mkdir(exist_ok=True)
            text = path.read_text().replace("/opt/tradewind/.venv/bin/tradewind", "/bin/true")
            copy.write_text(text)
    (tmp_path / UNITS[1]).write_text((tmp_path / "tradewind-worker@.service").read_text())

    verified = subprocess.run(
        [deployment_tool("systemd-analyze"), "verify", "--man=no", *UNITS],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "SYSTEMD_UNIT_PATH": f"{tmp_path}:"},
    )

    assert (verified.returncode, verified.stderr) == (0, "")


@pytest.mark.parametrize("unit", sorted(path.name for path in SYSTEMD.glob("*.service")))
def test_a_unit_exposes_little(unit: str) -> None:
    rated = run(
        "systemd-analyze",
        *("security", "--offline=true", "--no-pager", f"--threshold={MOST_EXPOSURE * 10:.0f}"),
        str(SYSTEMD / unit),
    )

    assert "Overall exposure level" in rated
    assert f"at most {MOST_EXPOSURE}" in (ROOT / "deploy/README.md").read_text()
