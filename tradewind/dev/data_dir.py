"""The data directory of `tradewind dev`: its secrets, its log, and whether it runs."""

import os
import secrets
from pathlib import Path
from typing import TextIO

import msgspec

from tradewind.auth.api_keys import key_format
from tradewind.errors import CannotStart

_SECRETS = "secrets.json"
_RUNNING = "running.json"
_LOG = "tradewind.log"
_PREVIOUS_LOG = "tradewind.log.1"


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


def stored_secrets(folder: Path) -> Secrets | None:
    """The secrets in the directory; None before the first start."""
    path = folder / _SECRETS
    try:
        return msgspec.json.decode(path.read_bytes(), type=Secrets)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise CannotStart(
            f"{path} cannot be read ({error}); restore it, or delete the whole data directory "
            "to start anew."
        ) from None


def secrets_of(folder: Path) -> Secrets:
    """The secrets in the directory; the first call generates them."""
    stored = stored_secrets(folder)
    if stored is not None:
        return stored
    generated = Secrets(
        secret_key=secrets.token_hex(32),
        buyer=DemoCredentials("buyer@demo.example", secrets.token_urlsafe(12), key_format.make()),
        operator=DemoCredentials(
            "operator@demo.example", secrets.token_urlsafe(12), key_format.make()
        ),
    )
    _write(folder / _SECRETS, generated)
    return generated


def log_path(folder: Path) -> Path:
    return folder / _LOG


def open_log(folder: Path) -> TextIO:
    """Open a new log for the processes of this run. The log of the previous run is kept."""
    path = log_path(folder)
    if path.exists():
        path.replace(folder / _PREVIOUS_LOG)
    # Several processes write to it: each line is appended.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    return os.fdopen(descriptor, "a", encoding="utf-8", buffering=1)


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
