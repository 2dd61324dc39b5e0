"""The rows of the cluster's scorecard: which host is lost and how, and the test that shows it."""

from tools.chaos.model import Row

_TEST = (
    "tests/cluster/test_faults.py::"
    "test_acknowledged_is_journaled_delivered_and_read_whatever_host_is_lost"
)
_BAR = "acknowledged = journaled = delivered = read by cursor; no second debit"


_OLD_LEADER = "tests/cluster/test_old_leader.py"


def _row(number: int, fault: str, name: str, *more: str) -> Row:
    tests = (f"{_TEST}[{fault}]", *more)
    return Row(number, name, _BAR, "orders", tests, {"SOAK_CLUSTER": "1"})


ROWS: tuple[Row, ...] = (
    _row(1, "leader-killed", "The host of the database's leader is killed (SIGKILL)"),
    _row(
        2,
        "leader-frozen",
        "The leader's host freezes (SIGSTOP), and goes on after the failover",
        _OLD_LEADER,
    ),
    _row(3, "standby-killed", "The host of the synchronous standby is killed"),
    _row(4, "standby-frozen", "The host of the synchronous standby freezes"),
    _row(5, "worker-killed", "A worker host is killed"),
    _row(6, "worker-frozen", "A worker host freezes"),
    _row(7, "api-killed", "An API host is killed"),
    _row(8, "api-frozen", "An API host freezes"),
    _row(9, "leader-cut-off", "The network of the leader's host is cut"),
    _row(10, "worker-cut-off", "The network of a worker host is cut"),
    _row(
        11,
        "disk-full",
        "The disk of the leader's PostgreSQL is full, and is freed after 500 rejected orders",
    ),
)
