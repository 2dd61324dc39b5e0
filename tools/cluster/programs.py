"""Starts the programs of a host: etcd and Patroni, the API, a worker or the marketplace."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tools.cluster import database, host_processes, machine_parts
from tools.cluster.database import Passwords
from tools.cluster.layout import API_PORT, MARKETPLACE_PORT, Host, Kind, Layout
from tools.machine import ROOT

_DATABASE_USER = "postgres"
_POSTGRES = "/usr/lib/postgresql"


class NotInstalled(Exception):
    """A program of the cluster is missing; the message says which."""


@dataclass(frozen=True)
class DatabasePrograms:
    """Where the programs of a database host are."""

    etcd: str
    patroni: str
    bin_dir: Path
    patroni_version: str

    @property
    def etcd_api(self) -> str:
        return database.etcd_api(self.patroni_version)

    def versions(self) -> str:
        """The versions, as a sentence about a run names them."""
        postgres = _says(str(self.bin_dir / "postgres"), "--version").split()[2]
        etcd = _says(self.etcd, "--version").splitlines()[0].split()[-1]
        return f"{postgres}, Patroni {self.patroni_version}, etcd {etcd}"


def installed() -> DatabasePrograms:
    """The programs of this machine, or NotInstalled."""
    etcd, patroni = machine_parts.find("etcd"), machine_parts.find("patroni")
    folders = sorted(
        (path for path in Path(_POSTGRES).glob("*/bin") if (path / "postgres").exists()),
        key=lambda path: int(path.parent.name),
    )
    needed = {"etcd": etcd, "Patroni": patroni, f"PostgreSQL in {_POSTGRES}": folders}
    missing = [name for name, found in needed.items() if not found]
    if not etcd or not patroni or not folders:
        raise NotInstalled(
            f"{' and '.join(missing)} cannot be found; run: python3 tools/setup.py cluster"
        )
    version = _says(patroni, "--version").split()[-1]
    return DatabasePrograms(etcd, patroni, folders[-1], version)


@dataclass
class Programs:
    """Starts what runs on a host, with the variable by which its processes are found again."""

    cluster: Layout
    root: Path
    logs: Path
    database: DatabasePrograms
    passwords: Passwords
    settings: Mapping[str, str]
    has_namespaces: bool
    processes: dict[str, list[subprocess.Popen[bytes]]] = field(default_factory=dict)

    def start(self, host: Host) -> None:
        """Start a host, for the first time or again."""
        self._folder(host)
        if host.kind is Kind.DATABASE:
            self.start_etcd(host)
            self.start_patroni(host)
        elif host.kind is Kind.API:
            listen = {"TRADEWIND_HOST": host.address, "TRADEWIND_PORT": str(API_PORT)}
            serve = ["-m", "tradewind", "serve", "--workers", "1"]
            self._start(host, "api", [sys.executable, *serve], {**self.settings, **listen})
        elif host.kind is Kind.WORKER:
            command = [sys.executable, "-m", "tradewind", "worker"]
            self._start(host, "worker", command, self.settings)
        else:
            notices = f"{self.cluster.api_urls[0]}/v1/notices/{{app}}"
            listen = {"TRADEWIND_SANDBOX_NOTIFY_URL": notices}
            options = ["--host", host.address, "--port", str(MARKETPLACE_PORT)]
            command = [sys.executable, "-m", "tradewind_simulator", *options]
            self._start(host, "marketplace", command, listen)

    def start_etcd(self, host: Host) -> None:
        folder = self._folder(host)
        if self.has_namespaces:
            shutil.chown(folder, _DATABASE_USER, _DATABASE_USER)
        programs = self.database
        command = database.etcd_command(
            programs.etcd, host, self.cluster, self.root, programs.etcd_api
        )
        self._start(host, "etcd", command, {}, user=_DATABASE_USER)

    def start_patroni(self, host: Host) -> None:
        disk = host.data_dir(self.root)
        disk.mkdir(exist_ok=True)
        path = self._folder(host) / "patroni.json"
        programs = self.database
        configuration = database.patroni(
            host, self.cluster, self.root, programs.bin_dir, self.passwords, programs.etcd_api
        )
        path.write_text(json.dumps(configuration, indent=2), encoding="utf-8")
        if self.has_namespaces:
            for item in (path, disk):
                shutil.chown(item, _DATABASE_USER, _DATABASE_USER)
        self._start(host, "patroni", [programs.patroni, str(path)], {}, user=_DATABASE_USER)

    def _folder(self, host: Host) -> Path:
        folder = host.folder(self.root)
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _start(
        self,
        host: Host,
        name: str,
        command: Sequence[str],
        settings: Mapping[str, str],
        *,
        user: str = "",
    ) -> None:
        before = machine_parts.inside(host, user) if self.has_namespaces else ()
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("TRADEWIND_", "PATRONI_", "ETCD_", "PG"))
        }
        marker = {host_processes.MARKER: str(host.folder(self.root))}
        log = self.logs / (f"{host.name}.log" if name == host.kind else f"{host.name}-{name}.log")
        with log.open("ab") as output:
            process = subprocess.Popen(
                [*before, *command],
                cwd=host.folder(self.root) if user else ROOT,
                env={**inherited, **settings, **marker},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self.processes.setdefault(host.name, []).append(process)

    def wait(self) -> None:
        """Wait for the end of all that was started; whoever calls has ended it."""
        for processes in self.processes.values():
            for process in processes:
                process.wait(10)


def _says(*command: str) -> str:
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return done.stdout.strip()
