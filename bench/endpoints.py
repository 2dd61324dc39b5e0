"""Endpoints for benchmarks: two that answer, one that never does, and one that drips."""

import json
import subprocess
import sys
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self
from urllib.request import urlopen


class Endpoints:
    """Two good endpoints, of which one notes arrivals, and two bad ones, in three processes."""

    def __enter__(self) -> Self:
        self._good, ports = started("bench.endpoint")
        self.good = f"http://127.0.0.1:{ports[0]}"
        self.good_process_id = self._good.pid
        self._metered, ports = started("bench.endpoint", "--meter")
        self.metered = f"http://127.0.0.1:{ports[0]}"
        self._bad, ports = started("bench.bad_endpoints")
        self.black_hole, self.dripping = (f"http://127.0.0.1:{port}" for port in ports)
        return self

    def arrivals(self) -> Mapping[str, float]:
        """When each event arrived at the metered endpoint, by its id; each is reported once."""
        return dict(reported_by(self.metered, "arrivals"))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for process in (self._good, self._metered, self._bad):
            process.terminate()
            process.wait(10)
            if process.stdout is not None:
                process.stdout.close()


def reported_by(endpoint: str, path: str) -> Any:
    """What the endpoint that notes arrivals reports: their `count`, or the `arrivals`."""
    with urlopen(f"{endpoint}/{path}", timeout=30) as response:  # noqa: S310 - loopback
        return json.load(response)


def started(module: str, *options: str) -> tuple[subprocess.Popen[str], list[int]]:
    """Start a program that says its ports first."""
    command = [sys.executable, "-m", module, *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    if process.stdout is None:
        raise RuntimeError("The endpoint has no output.")
    return process, [int(port) for port in process.stdout.readline().split()]
