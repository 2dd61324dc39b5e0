"""`tradewind health`: asks the process on this machine whether it can work, for health checks."""

from enum import StrEnum
from http.client import HTTPConnection, HTTPException

import msgspec

from tradewind.errors import TradewindError
from tradewind.settings.settings import Settings

_SECONDS = 5
_OK = 200
# An address that stands for all addresses of a machine is not one to connect to.
_ALL_ADDRESSES = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - nothing listens here


class Process(StrEnum):
    """A process that can be asked."""

    API = "api"
    WORKER = "worker"


class NotHealthy(TradewindError):
    """The process did not answer, or said that it cannot work."""


class _Answer(msgspec.Struct):
    problems: list[str] = []


def check(chosen: Settings, process: Process) -> str:
    """Return a sentence if the process works; NotHealthy says why it does not.

    The API is asked whether it is ready, a worker whether it lives: nobody connects to a worker.
    """
    host, port, path = _address(chosen, process)
    host = _ALL_ADDRESSES.get(host, host)
    connection = HTTPConnection(host, port, timeout=_SECONDS)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        status, body = answer.status, answer.read()
    except (OSError, HTTPException) as error:
        raise NotHealthy(f"The {process} at {host}:{port} did not answer: {error}.") from None
    finally:
        connection.close()
    if status != _OK:
        raise NotHealthy(f"The {process} at {host}:{port} answered {status}. {_problems(body)}")
    return f"The {process} at {host}:{port} is healthy."


def _address(chosen: Settings, process: Process) -> tuple[str, int, str]:
    if process is Process.API:
        return chosen.host, chosen.port, "/readyz"
    if chosen.metrics_listen is None:
        raise NotHealthy("Set TRADEWIND_METRICS_LISTEN: a worker answers there only.")
    return *chosen.metrics_listen, "/healthz"


def _problems(body: bytes) -> str:
    try:
        return " ".join(msgspec.json.decode(body, type=_Answer).problems)
    except msgspec.DecodeError:
        return ""
