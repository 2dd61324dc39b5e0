"""Runs the simulator: checks its port and state file, then serves until it is stopped."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import structlog
from granian.constants import Interfaces, Loops
from granian.log import LogLevels
from granian.server import Server

from tradewind_simulator.app import PREFIX, options
from tradewind_simulator.errors import CannotRun
from tradewind_simulator.persist import Keeper

DEFAULT_PORT = 8688
_STOP_SECONDS = 3
_LOGS = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"stderr": {"class": "logging.StreamHandler", "stream": "ext://sys.stderr"}},
    "loggers": {"_granian": {"handlers": ["stderr"], "propagate": False}},
}

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class PortTaken(CannotRun):
    def __init__(self, host: str, port: int, why: str) -> None:
        super().__init__(f"Port {port} on {host} cannot be used ({why}); choose another.")


def run(
    *,
    host: str = "127.0.0.1",
    port: int = DEFAULT_PORT,
    state: Path | None = None,
    seed: int | None = None,
    speed: float | None = None,
    notify_url: str | None = None,
) -> None:
    """Serve until SIGTERM or SIGINT; port 0 finds a free one, which the log names.

    The worker reads its options from the environment, so what is given here is put there;
    what is not given stays as the environment has it.
    """
    overrides = {"STATE": state, "SEED": seed, "SPEED": speed, "NOTIFY_URL": notify_url}
    os.environ.update(
        {PREFIX + name: str(value) for name, value in overrides.items() if value is not None}
    )
    try:
        chosen = options()
    except ValueError as error:
        raise CannotRun(f"A variable {PREFIX}… cannot be read: {error}.") from None
    if chosen.state is not None:
        # An unusable or locked file is reported here, and not by a worker that dies.
        keeper = Keeper(chosen.state)
        keeper.claim()
        keeper.load()
        keeper.close()
    kept = str(chosen.state) if chosen.state is not None else None
    with held_port(host, port) as bound:
        log.info("sandbox.listening", host=host, port=bound, state=kept)
        Server(
            "tradewind_simulator.app:create",
            factory=True,
            address=host,
            port=bound,
            interface=Interfaces.ASGI,
            loop=Loops.uvloop,
            workers=1,
            workers_kill_timeout=_STOP_SECONDS,
            websockets=False,
            backlog=1024,
            log_level=LogLevels.warning,
            log_dictconfig=_LOGS,
        ).serve()
    log.info("sandbox.stopped")


@contextmanager
def held_port(host: str, port: int) -> Iterator[int]:
    """Hold a port that nobody else has; 0 finds a free one.

    granian binds with SO_REUSEPORT: it would share a port of others without an error, and it shares
    the one that we hold. Without this, a connection of another process could get a port that was
    found before granian binds.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as held:
        try:
            if port:
                _check_free(family, host, port)
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            held.bind((host, port))
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise PortTaken(host, port, why) from None
        yield held.getsockname()[1]


def _check_free(family: socket.AddressFamily, host: str, port: int) -> None:
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((host, port))
