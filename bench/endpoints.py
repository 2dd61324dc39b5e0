"""Endpoints for benchmarks: one that answers, one that never does, and one that drips."""

import subprocess
import sys
from types import TracebackType
from typing import Self


class Endpoints:
    """A good endpoint in a process of its own, and two bad ones in another."""

    def __enter__(self) -> Self:
        self._good, ports = _started("bench.endpoint")
        self.good = f"http://127.0.0.1:{ports[0]}"
        self._bad, ports = _started("bench.bad_endpoints")
        self.black_hole, self.dripping = (f"http://127.0.0.1:{port}" for port in ports)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for process in (self._good, self._bad):
            process.terminate()
            process.wait(10)
            if process.stdout is not None:
                process.stdout.close()


def _started(module: str) -> tuple[subprocess.Popen[str], list[int]]:
    process = subprocess.Popen([sys.executable, "-m", module], stdout=subprocess.PIPE, text=True)
    if process.stdout is None:
        raise RuntimeError("The endpoint has no output.")
    return process, [int(port) for port in process.stdout.readline().split()]
