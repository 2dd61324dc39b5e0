"""Ends a cluster and removes its namespaces, mounts and folder when its owner is gone."""

# It is a process of its own that waits for the end of a pipe, so that nothing remains of a cluster
# whose owner was killed.
import os
import shutil
import signal
import sys
from pathlib import Path

from tools.cluster import host_processes, machine_parts

_STOP_SECONDS = 6.0


def remove_all(root: Path) -> None:
    """Remove everything of the cluster in this folder, whoever has started it."""
    host_processes.stop(root, _STOP_SECONDS)
    machine_parts.remove(root)
    shutil.rmtree(root, ignore_errors=True)


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while os.read(0, 1):
        pass
    remove_all(Path(sys.argv[1]))


if __name__ == "__main__":
    main()
