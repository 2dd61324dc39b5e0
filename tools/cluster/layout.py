"""The hosts of the cluster: their names, addresses and ports. Pure."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

POSTGRES_PORT = 5432
PATRONI_PORT = 8008
ETCD_CLIENT_PORT = 2379
ETCD_PEER_PORT = 2380
API_PORT = 8000
MARKETPLACE_PORT = 8688
DATABASE = "tradewind"
_DATABASE_HOSTS = 3
_API_HOSTS = 2
_WORKER_HOSTS = 3


class Kind(StrEnum):
    """What runs on a host."""

    DATABASE = "db"
    API = "api"
    WORKER = "worker"
    MARKETPLACE = "marketplace"


@dataclass(frozen=True)
class Host:
    """One machine of the cluster: a network namespace, or a loopback address of its own."""

    name: str
    kind: Kind
    address: str

    @property
    def namespace(self) -> str:
        return f"twcluster-{self.name}"

    @property
    def link(self) -> str:
        """The end of its cable that is outside its namespace; a name has at most 15 characters."""
        return f"twc-{self.name}"[:15]

    def folder(self, root: Path) -> Path:
        return root / self.name

    def data_dir(self, root: Path) -> Path:
        """The disk of PostgreSQL; etcd has its files on another."""
        return self.folder(root) / "disk"


@dataclass(frozen=True)
class Layout:
    """Every host, and the address of the machine that they run on as they reach it."""

    hosts: tuple[Host, ...]
    gateway: str

    def of_kind(self, kind: Kind) -> tuple[Host, ...]:
        return tuple(host for host in self.hosts if host.kind is kind)

    def host(self, name: str) -> Host:
        return next(host for host in self.hosts if host.name == name)

    @property
    def databases(self) -> tuple[Host, ...]:
        return self.of_kind(Kind.DATABASE)

    @property
    def marketplace_url(self) -> str:
        (host,) = self.of_kind(Kind.MARKETPLACE)
        return f"http://{host.address}:{MARKETPLACE_PORT}"

    @property
    def api_urls(self) -> tuple[str, ...]:
        return tuple(f"http://{host.address}:{API_PORT}" for host in self.of_kind(Kind.API))

    def database_url(self, user: str, password: str, database: str = DATABASE) -> str:
        """One address for all database hosts: the client takes the one that accepts writes."""
        hosts = ",".join(f"{host.address}:{POSTGRES_PORT}" for host in self.databases)
        return f"postgresql://{user}:{password}@{hosts}/{database}?target_session_attrs=read-write"


def layout(network: str) -> Layout:
    """Three database hosts, two for the API, three for workers and one for the marketplace.

    `network` is the first three numbers of their addresses.
    """
    numbers = {Kind.DATABASE: (10, _DATABASE_HOSTS), Kind.API: (20, _API_HOSTS)}
    numbers |= {Kind.WORKER: (30, _WORKER_HOSTS)}
    hosts = [
        Host(f"{kind}{number}", kind, f"{network}.{first + number}")
        for kind, (first, count) in numbers.items()
        for number in range(1, count + 1)
    ]
    hosts.append(Host("marketplace", Kind.MARKETPLACE, f"{network}.40"))
    return Layout(tuple(hosts), f"{network}.1")
