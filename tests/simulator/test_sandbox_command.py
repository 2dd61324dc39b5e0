"""The command of the simulator, alone and by way of `tradewind sandbox`."""

import re
import socket
import sys
import tomllib
from pathlib import Path

import pytest
from tradewind_simulator import command
from tradewind_simulator.run import PortTaken, held_port
from typer.testing import CliRunner

from tradewind.cli.main import app
from tradewind.errors import CannotStart

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _own_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the command from configuring the logs of this process."""
    monkeypatch.setattr("structlog.configure", lambda **_: None)


def test_the_package_has_the_command() -> None:
    project = tomllib.loads((ROOT / "simulator/pyproject.toml").read_text())["project"]

    assert project["scripts"] == {"tradewind-simulator": "tradewind_simulator.command:main"}
    assert not any("tradewind" in requirement for requirement in project["dependencies"])


def test_every_option_is_on_the_page() -> None:
    page = (ROOT / "docs/reference/simulator.md").read_text()
    options = set(re.findall(r"--[a-z-]+", command.parser().format_help())) - {"--help"}

    assert options
    assert all(f"`{option}`" in page for option in options)


@pytest.mark.parametrize("port", ["99999", "-1"])
def test_what_cannot_run_is_said_in_a_sentence(
    port: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main([f"--port={port}"]) == 1

    assert f"Port {port} on 127.0.0.1 cannot be used" in capsys.readouterr().err


def test_nobody_gets_a_port_that_was_found_before_the_server_binds() -> None:
    with held_port("127.0.0.1", 0) as port:
        with socket.socket() as other, pytest.raises(OSError, match="in use"):
            other.bind(("127.0.0.1", port))
        with pytest.raises(PortTaken), held_port("127.0.0.1", port):
            pass
        with socket.socket() as server:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            server.bind(("127.0.0.1", port))
            server.listen()
            socket.create_connection(("127.0.0.1", port), timeout=5).close()


def test_a_variable_that_cannot_be_read_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRADEWIND_SANDBOX_SPEED", "fast")

    assert command.main(["--port=0"]) == 1
    assert "TRADEWIND_SANDBOX_… cannot be read" in capsys.readouterr().err


def test_tradewind_hands_its_options_over(monkeypatch: pytest.MonkeyPatch) -> None:
    handed: list[object] = []
    monkeypatch.setattr(command, "run", lambda **options: handed.append(options))

    result = CliRunner().invoke(app, ["sandbox", "--port", "0", "--seed", "7", "--speed=2"])

    assert result.exit_code == 0
    (options,) = handed
    assert options == {
        "host": "127.0.0.1",
        "port": 0,
        "state": None,
        "seed": 7,
        "speed": 2.0,
        "notify_url": None,
    }


def test_a_missing_package_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tradewind_simulator", None)

    result = CliRunner().invoke(app, ["sandbox"])

    assert isinstance(result.exception, CannotStart)
    assert "pip install ./simulator" in str(result.exception)
