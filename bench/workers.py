"""Real workers on one queue: what a second one adds, and whether a million rows tire one."""

import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

from bench import servers

_DELIVERED = re.compile(
    r'^tradewind_delivery_attempts_total\{outcome="delivered"\} (\S+)', re.MULTILINE
)
_PEAK = re.compile(r"^VmHWM:\s+(\d+) kB", re.MULTILINE)
_LOOK_SECONDS = 0.25
_PATIENCE_SECONDS = 900.0


@dataclass(frozen=True)
class Worker:
    """A worker process and where it tells its figures."""

    process_id: int
    metrics: str

    def delivered(self) -> int:
        with urlopen(self.metrics, timeout=5) as answer:  # noqa: S310 - loopback
            found = _DELIVERED.search(answer.read().decode())
        return int(float(found[1])) if found else 0

    def peak_mib(self) -> float:
        """The most memory that it ever had."""
        found = _PEAK.search(Path(f"/proc/{self.process_id}/status").read_text())
        return int(found[1]) / 1024 if found else 0.0


@contextmanager
def working(database_url: str, number: int) -> Iterator[Sequence[Worker]]:
    """So many `tradewind worker` while the block lasts."""
    with ExitStack() as stack:
        found = []
        for _ in range(number):
            port = servers.free_port()
            metrics = f"http://127.0.0.1:{port}/metrics"
            environ = {
                "TRADEWIND_DATABASE_URL": database_url,
                "TRADEWIND_METRICS_LISTEN": f"127.0.0.1:{port}",
                "TRADEWIND_LOG_STYLE": "json",
                "TRADEWIND_LOG_LEVEL": "error",
            }
            command = [sys.executable, "-m", "tradewind", "worker"]
            child = stack.enter_context(servers.process(command, environ, metrics))
            found.append(Worker(child.pid, metrics))
        yield found


def times_at(workers: Sequence[Worker], marks: Sequence[int]) -> list[float]:
    """When, in seconds, so many had been delivered by all of them together."""
    began = time.perf_counter()
    reached: list[float] = []
    while len(reached) < len(marks):
        delivered = sum(worker.delivered() for worker in workers)
        now = time.perf_counter() - began
        while len(reached) < len(marks) and delivered >= marks[len(reached)]:
            reached.append(now)
        if now > _PATIENCE_SECONDS:
            raise RuntimeError("The queue was not drained in time.")
        time.sleep(_LOOK_SECONDS)
    return reached
