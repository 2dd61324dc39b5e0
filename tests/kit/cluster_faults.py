"""The faults of the cluster: which host is struck, by what, and how it comes back."""

from collections.abc import Callable
from dataclasses import dataclass

from tools.cluster.layout import Host, Kind
from tools.cluster.run import Cluster


def _leader(cluster: Cluster) -> Host:
    leader = cluster.leader()
    assert leader is not None
    return leader


def _standby(cluster: Cluster) -> Host:
    standby = cluster.synchronous_standby()
    assert standby is not None
    return standby


def _worker(cluster: Cluster) -> Host:
    return cluster.layout.of_kind(Kind.WORKER)[0]


def _api(cluster: Cluster) -> Host:
    return cluster.layout.of_kind(Kind.API)[0]


@dataclass(frozen=True)
class Fault:
    """Which host is struck, by what, and how it comes back.

    The cluster goes on by itself, except where it `waits_for_repair`.
    """

    row: int
    name: str
    choose: Callable[[Cluster], Host]
    strike: Callable[[Cluster, Host], None]
    repair: Callable[[Cluster, Host], None]
    needs_namespaces: bool = False
    waits_for_repair: bool = False


FAULTS = (
    Fault(1, "leader-killed", _leader, Cluster.kill, Cluster.start),
    Fault(2, "leader-frozen", _leader, Cluster.freeze, Cluster.resume),
    Fault(3, "standby-killed", _standby, Cluster.kill, Cluster.start),
    Fault(4, "standby-frozen", _standby, Cluster.freeze, Cluster.resume),
    Fault(5, "worker-killed", _worker, Cluster.kill, Cluster.start),
    Fault(6, "worker-frozen", _worker, Cluster.freeze, Cluster.resume),
    Fault(7, "api-killed", _api, Cluster.kill, Cluster.start),
    Fault(8, "api-frozen", _api, Cluster.freeze, Cluster.resume),
    Fault(9, "leader-cut-off", _leader, Cluster.cut, Cluster.join, needs_namespaces=True),
    Fault(10, "worker-cut-off", _worker, Cluster.cut, Cluster.join, needs_namespaces=True),
    Fault(
        11,
        "disk-full",
        _leader,
        Cluster.fill_disk,
        Cluster.free_disk,
        needs_namespaces=True,
        waits_for_repair=True,
    ),
)
