"""Starts a cluster on this machine, says what runs where, and removes it after Ctrl-C."""

import os
import secrets
import signal
import subprocess
import sys

from tools.cluster.layout import Host, Kind
from tools.cluster.programs import NotInstalled
from tools.cluster.run import CannotRun, Cluster, running
from tools.machine import ROOT

_LOGS = ROOT / "build/cluster"
_EMAIL = "operator@cluster.example"
_ROLES = ("operator", "buyer", "approver")
_PROGRAMS = {
    Kind.DATABASE: "etcd, Patroni, PostgreSQL",
    Kind.API: "tradewind serve",
    Kind.WORKER: "tradewind worker",
    Kind.MARKETPLACE: "simulated marketplace",
}


def main() -> int:
    # SIGTERM ends it like Ctrl-C, which a shell's background jobs would ignore.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    password = secrets.token_urlsafe(12)
    try:
        with running(logs=_LOGS, secret_key=secrets.token_hex(32), say=_say) as cluster:
            _create_account(cluster, password)
            _say(_description(cluster, password))
            signal.pause()
    except (NotInstalled, CannotRun) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        _say("The cluster was stopped and removed.")
    return 0


def _say(sentence: str) -> None:
    print(sentence, flush=True)


def _create_account(cluster: Cluster, password: str) -> None:
    """Create the account of an operator who may also buy and approve."""
    options = [word for role in _ROLES for word in ("--role", role)] + ["--password-stdin"]
    done = subprocess.run(
        [sys.executable, "-m", "tradewind", "account", "create", _EMAIL, *options],
        cwd=ROOT,
        env={**os.environ, **cluster.programs.settings},
        input=f"{password}\n",
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise CannotRun(f"The account could not be created: {done.stderr.strip()}")


def _description(cluster: Cluster, password: str) -> str:
    """What runs where, and how to use it."""
    leader, standby = cluster.leader(), cluster.synchronous_standby()

    def role(host: Host) -> str:
        return {leader: " (leader)", standby: " (synchronous standby)"}.get(host, "")

    hosts = [
        f"  {host.name:<12} {host.address:<14} {_PROGRAMS[host.kind]}{role(host)}"
        for host in cluster.layout.hosts
    ]
    shell = "  ip netns exec twcluster-db1 bash   # a shell on db1"
    return "\n".join(
        [
            "",
            *hosts,
            "",
            f"Dashboard and API: {' and '.join(cluster.layout.api_urls)}",
            f"Login:             {_EMAIL}, password {password}",
            f"Database:          {cluster.database_url}",
            f"Logs:              {_LOGS.relative_to(ROOT)}",
            *([shell] if cluster.has_namespaces else []),
            "",
            "Ctrl-C stops the cluster and removes it.",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
