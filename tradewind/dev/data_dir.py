"""The data directory of `tradewind dev`: its secrets and credentials, and whether it runs."""

import os
import secrets
from pathlib import Path

import msgspec

from tradewind.auth.api_keys import key_format
from tradewind.errors import CannotStart

_SECRETS = "secrets.json"
_RUNNING = "running.json"


class DemoCredentials(msgspec.Struct):
    """A demo account's credentials."""

    email: str
    password: str
    api_key: str


class Secrets(msgspec.Struct):
    """The secrets that the first start generates, and later starts use again."""

    secret_key: str
    buyer: DemoCredentials
    operator: DemoCredentials


class Running(msgspec.Struct):
    """What other commands need to use the system that runs on a data directory."""

    pid: int
    url: str
    database_url: str
    sandbox_url: str
    secret_key: str


def secrets_of(folder: Path) -> Secrets:
    """The secrets in the directory; the first call generates them."""
    path = folder / _SECRETS
    if path.exists():
        try:
            return msgspec.json.decode(path.read_bytes(), type=Secrets)
        except (OSError, msgspec.MsgspecError) as error:
            raise CannotStart(
                f"{path} cannot be read ({error}); restore it, or delete the whole data directory "
                "to start anew."
            ) from None
    generated = Secrets(
        secret_key=secrets.token_hex(32),
        buyer=DemoCredentials("buyer@demo.example", secrets.token_urlsafe(12), key_format.make()),
        operator=DemoCredentials(
            "operator@demo.example", secrets.token_urlsafe(12), key_format.make()
        ),
    )
    _write(path, generated)
    return generated


def write_running(folder: Path, running: Running) -> None:
    _write(folder / _RUNNING, running)


def delete_running(folder: Path) -> None:
    (folder / _RUNNING).unlink(missing_ok=True)


def running(folder: Path) -> Running | None:
    """The system that runs on this directory, if there is one."""
    try:
        system = msgspec.json.decode((folder / _RUNNING).read_bytes(), type=Running)
        os.kill(system.pid, 0)
    except (OSError, msgspec.MsgspecError):
        return None
    return system


def _write(path: Path, value: msgspec.Struct) -> None:
    """Write a file atomically, readable only by its owner."""
    new = path.with_suffix(".new")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(msgspec.json.format(msgspec.json.encode(value)) + b"\n")
    new.rename(path)
