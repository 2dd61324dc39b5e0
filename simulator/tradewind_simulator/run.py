"""Runs the simulator: checks its port and state file, then serves until it is stopped."""

import os
import socket
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
    bound = claim(host, port)
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


def claim(host: str, port: int) -> int:
    """Check that the port is free: granian would share it silently."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise PortTaken(host, port, why) from None
        bound: int = probe.getsockname()[1]
        return bound
