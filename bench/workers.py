"""Real workers on one queue: what a second one adds, and whether a million rows slow one down."""

import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

from bench import servers
from bench.servers import THIS_PROGRAM, Program

_DELIVERED = re.compile(
    r'^tradewind_delivery_attempts_total\{outcome="delivered"\} (\S+)', re.MULTILINE
)
_MEMORY = re.compile(r"^(VmRSS|VmHWM):\s+(\d+) kB", re.MULTILINE)
_LOOK_SECONDS = 0.25
_PATIENCE_SECONDS = 900.0


@dataclass(frozen=True)
class Worker:
    """A worker process and where it tells its figures."""

    process_id: int
    metrics: str

    def delivered(self) -> int:
        with urlopen(self.metrics, timeout=5) as response:  # noqa: S310 - loopback
            match = _DELIVERED.search(response.read().decode())
        return int(float(match[1])) if match else 0

    def memory_mib(self) -> float:
        """How much memory it has now."""
        return self._memory("VmRSS")

    def peak_mib(self) -> float:
        """The most memory that it ever had."""
        return self._memory("VmHWM")

    def _memory(self, name: str) -> float:
        lines = _MEMORY.findall(Path(f"/proc/{self.process_id}/status").read_text())
        return int(dict(lines)[name]) / 1024


@dataclass(frozen=True)
class Mark:
    """When a number of deliveries was reached: the time, the CPU used by then, the memory.

    `delivered` is the number that was seen at that moment, which may be higher.
    `endpoint_cpu_seconds` is the CPU of the endpoint, which does the same for each delivery.
    """

    seconds: float
    cpu_seconds: float
    memory_mib: float
    endpoint_cpu_seconds: float
    delivered: int


@contextmanager
def working(
    database_url: str,
    number: int,
    settings: Mapping[str, str] | None = None,
    program: Program = THIS_PROGRAM,
) -> Iterator[Sequence[Worker]]:
    """Run `number` times `tradewind worker` while the block lasts."""
    with ExitStack() as stack:
        running = []
        for _ in range(number):
            port = servers.free_port()
            metrics = f"http://127.0.0.1:{port}/metrics"
            environ = {
                "TRADEWIND_DATABASE_URL": database_url,
                "TRADEWIND_METRICS_LISTEN": f"127.0.0.1:{port}",
                "TRADEWIND_LOG_STYLE": "json",
                "TRADEWIND_LOG_LEVEL": "error",
                **(settings or {}),
            }
            command = [sys.executable, "-m", "tradewind", "worker"]
            child = stack.enter_context(servers.process(command, environ, metrics, program))
            running.append(Worker(child.pid, metrics))
        yield running


def marks_at(
    workers: Sequence[Worker], counts: Sequence[int], postmaster: int, endpoint: int
) -> list[Mark]:
    """Wait for each number of deliveries by all workers together, and note the moment.

    The CPU is that of the workers and of PostgreSQL.
    """
    process_ids = [postmaster, *(worker.process_id for worker in workers)]
    began = time.perf_counter()
    reached: list[Mark] = []
    while len(reached) < len(counts):
        delivered = sum(worker.delivered() for worker in workers)
        now = time.perf_counter() - began
        while len(reached) < len(counts) and delivered >= counts[len(reached)]:
            cpu = sum(servers.tree_cpu_seconds(process_id) for process_id in process_ids)
            memory = sum(worker.memory_mib() for worker in workers)
            reached.append(Mark(now, cpu, memory, servers.cpu_seconds(endpoint), delivered))
        if now > _PATIENCE_SECONDS:
            raise RuntimeError("The queue was not drained in time.")
        time.sleep(_LOOK_SECONDS)
    return reached
