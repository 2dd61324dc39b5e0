"""The parent process of the API: checks the port, then runs and watches granian's processes."""

import multiprocessing
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from granian.constants import HTTPModes, Interfaces, Loops
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server import Server

from tradewind.observability import listener, metrics
from tradewind.observability.logs import log
from tradewind.runtime import child_processes
from tradewind.settings.settings import Settings

_STOP_SECONDS = 10
_POLL_SECONDS = 0.02
# A connection that does not send all headers of its next request within this time is closed,
# whether it is silent, slow, or idle after a response.
HEADER_SECONDS = 15
# The request line and all headers of one request; longer ones are answered with 431.
HEADER_BYTES = 64 * 1024
_GRANIAN_LOGS = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"stderr": {"class": "logging.StreamHandler", "stream": "ext://sys.stderr"}},
    "loggers": {"_granian": {"handlers": ["stderr"], "propagate": False}},
}


def run(chosen: Settings, *, workers: int) -> None:
    """Serve until SIGTERM or SIGINT; running requests are finished first."""
    port = child_processes.claim_port(chosen.host, chosen.port)
    # granian's children read the settings from the environment, after the command's options.
    os.environ["TRADEWIND_HOST"] = chosen.host
    os.environ["TRADEWIND_PORT"] = str(port)
    with ExitStack() as stack:
        metrics_dir = tempfile.mkdtemp(prefix="tradewind-metrics-")
        stack.callback(shutil.rmtree, metrics_dir, ignore_errors=True)
        os.environ[metrics.SHARED_FILES] = metrics_dir
        if chosen.metrics_listen is not None:
            host, metrics_port = chosen.metrics_listen
            registry = metrics.registry(metrics_dir)
            bound = stack.enter_context(listener.serving(host, metrics_port, registry))
            log.info("metrics.listening", host=host, port=bound)
        # Spawn instead of fork: this process has a thread, and children count into shared files.
        multiprocessing.set_start_method("spawn", force=True)
        stack.enter_context(_announcing(chosen.host, port, workers))
        Server(
            "tradewind.runtime.api:create",
            factory=True,
            address=chosen.host,
            port=port,
            interface=Interfaces.ASGI,
            loop=Loops.uvloop,
            workers=workers,
            workers_kill_timeout=_STOP_SECONDS,
            respawn_failed_workers=True,
            # HTTP/2 is for the proxy in front of us: this server limits neither the size of
            # HTTP/2 headers nor the silence of a connection before it knows the protocol.
            http=HTTPModes.http1,
            http1_settings=HTTP1Settings(
                header_read_timeout=HEADER_SECONDS * 1000, max_buffer_size=HEADER_BYTES
            ),
            websockets=False,
            backlog=2048,
            log_level=LogLevels.warning,
            log_dictconfig=_GRANIAN_LOGS,
        ).serve()
    log.info("api.stopped")


@contextmanager
def _announcing(host: str, port: int, workers: int) -> Iterator[None]:
    """Log `api.listening` once, as soon as every worker process accepts connections."""
    ended = threading.Event()

    def announce() -> None:
        while not ended.wait(_POLL_SECONDS):
            if child_processes.count_listeners(host, port) >= workers:
                log.info("api.listening", host=host, port=port, workers=workers)
                return

    thread = threading.Thread(target=announce, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
