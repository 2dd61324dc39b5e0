"""The configuration of Patroni and etcd on a database host. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.cluster import layout
from tools.cluster.layout import Host, Layout

# Patroni's shortest: the leader's lock expires this long after the leader renewed it last.
TTL_SECONDS = 20
LOOP_SECONDS = 2
# The leader demotes itself when etcd has not answered for this long.
RETRY_SECONDS = 5


@dataclass(frozen=True)
class Passwords:
    """The passwords of the roles in PostgreSQL."""

    superuser: str
    replication: str
    tradewind: str


def etcd_api(patroni_version: str) -> str:
    """Which API of etcd this version of Patroni can be trusted with: `etcd` (v2) or `etcd3`.

    With the newer API, versions before 3.0.3 overwrite the leader's lock without a comparison: a
    leader that was cut off reads old data from the etcd of its own host when it is back, takes the
    lock from the new leader, and what was acknowledged meanwhile is lost.
    """
    return "etcd" if tuple(map(int, patroni_version.split("."))) < (3, 0, 3) else "etcd3"


def patroni(
    host: Host, cluster: Layout, root: Path, bin_dir: Path, passwords: Passwords, api: str
) -> Any:
    """The configuration of Patroni; JSON is also YAML."""
    folder = host.folder(root)
    superuser = {"username": "postgres", "password": passwords.superuser}
    replication = {"username": "replicator", "password": passwords.replication}
    return {
        "scope": "tradewind",
        "name": host.name,
        "restapi": _address(host, layout.PATRONI_PORT),
        api: {"hosts": [f"{item.address}:{layout.ETCD_CLIENT_PORT}" for item in cluster.databases]},
        "bootstrap": {
            "dcs": _dynamic(),
            "initdb": [{"encoding": "UTF8"}, {"locale": "C.UTF-8"}, "data-checksums"],
            "pg_hba": [
                "host replication replicator all scram-sha-256",
                "host all all all scram-sha-256",
            ],
        },
        "postgresql": {
            **_address(host, layout.POSTGRES_PORT),
            "data_dir": str(host.data_dir(root) / "postgres"),
            "bin_dir": str(bin_dir),
            "pgpass": str(folder / "pgpass"),
            "authentication": {
                "superuser": superuser,
                "replication": replication,
                "rewind": superuser,
            },
            "parameters": {
                "unix_socket_directories": str(folder),
                "password_encryption": "scram-sha-256",
            },
        },
        "watchdog": {"mode": "off"},
    }


def _address(host: Host, port: int) -> Mapping[str, str]:
    address = f"{host.address}:{port}"
    return {"listen": address, "connect_address": address}


def _dynamic() -> Mapping[str, Any]:
    """What Patroni keeps in etcd, the same for all database hosts."""
    return {
        "ttl": TTL_SECONDS,
        "loop_wait": LOOP_SECONDS,
        "retry_timeout": RETRY_SECONDS,
        # A commit is acknowledged when it is on two hosts, also while only one is left.
        "synchronous_mode": True,
        "synchronous_mode_strict": True,
        # A leader that crashed gives its place away instead of starting again.
        "master_start_timeout": 0,
        "postgresql": {
            "use_pg_rewind": True,
            "use_slots": True,
            "parameters": {
                "max_connections": 150,
                "shared_buffers": "64MB",
                "min_wal_size": "32MB",
                "max_wal_size": "64MB",
                "wal_keep_size": "32MB",
                # A standby that does not answer is soon no longer waited for.
                "wal_sender_timeout": "5s",
                "wal_receiver_timeout": "5s",
                "tcp_user_timeout": "5s",
                "dynamic_shared_memory_type": "mmap",
            },
        },
    }


def etcd_command(program: str, host: Host, cluster: Layout, root: Path, api: str) -> Sequence[str]:
    """The command of a member of etcd; a member that starts again finds its files."""
    peers = ",".join(
        f"{item.name}=http://{item.address}:{layout.ETCD_PEER_PORT}" for item in cluster.databases
    )
    client = f"http://{host.address}:{layout.ETCD_CLIENT_PORT}"
    peer = f"http://{host.address}:{layout.ETCD_PEER_PORT}"
    options = {
        "name": host.name,
        "data-dir": str(host.folder(root) / "etcd"),
        "listen-client-urls": client,
        "advertise-client-urls": client,
        "listen-peer-urls": peer,
        "initial-advertise-peer-urls": peer,
        "initial-cluster": peers,
        "initial-cluster-token": "tradewind",
        "heartbeat-interval": "200",
        "election-timeout": "2000",
        "logger": "zap",
    }
    if api == "etcd":
        options["enable-v2"] = "true"
    return [program, *(f"--{name}={value}" for name, value in options.items())]
