"""docs/how-to/deploy.md: its settings are accepted, and its unit starts a command that exists.

The configuration of nginx, Caddy and nftables is not run: it needs those programs.
"""

import configparser
import secrets
import shlex
import subprocess
import sys

from kit import docs

from tradewind.settings import settings

PAGE = "docs/how-to/deploy.md"


def test_the_settings_are_accepted_as_printed() -> None:
    environment, *_ = (block for block in docs.blocks(PAGE) if block.language == "ini")
    # As systemd reads such a file: a comment is a line of its own.
    lines = [line for line in environment.text.splitlines() if line and line[0] != "#"]
    environ = dict(line.split("=", 1) for line in lines)
    assert environ["TRADEWIND_SECRET_KEY"] == "…"

    chosen = settings.load({**environ, "TRADEWIND_SECRET_KEY": secrets.token_hex(32)})

    assert chosen.production
    assert [str(network) for network in chosen.trusted_proxies] == ["10.0.3.7/32", "10.0.3.8/32"]


def test_the_unit_starts_a_command_that_exists() -> None:
    *_, unit = (block for block in docs.blocks(PAGE) if block.language == "ini")
    parsed = configparser.ConfigParser()
    parsed.optionxform = str  # type: ignore[assignment, method-assign]
    parsed.read_string(unit.text)
    program, command, *options = shlex.split(parsed["Service"]["ExecStart"])
    described = subprocess.run(
        [sys.executable, "-m", "tradewind", command, "--help"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert program.endswith("/.venv/bin/tradewind")
    assert all(option in described for option in options if option.startswith("--"))
