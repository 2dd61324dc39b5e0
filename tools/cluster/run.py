"""A running cluster: starts it, says who leads, takes hosts away and gives them back."""

import asyncio
import contextlib
import fcntl
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg
import httpx

from tools.cluster import cleanup, host_processes, machine_parts
from tools.cluster.database import Passwords
from tools.cluster.layout import PATRONI_PORT, POSTGRES_PORT, Host, Kind, Layout, layout
from tools.cluster.programs import Programs, installed
from tools.machine import ROOT

ROOT_FOLDER = Path(tempfile.gettempdir()) / f"tradewind-cluster-{os.geteuid()}"
_START_SECONDS = 120.0
_ASK_SECONDS = 1.0
_POLL_SECONDS = 0.1
_REMOVE_SECONDS = 15.0


class CannotRun(Exception):
    """The cluster cannot run here; the message says why."""


@dataclass
class Cluster:
    """The hosts of a cluster that runs."""

    layout: Layout
    programs: Programs
    database_url: str
    superuser_url: str

    @property
    def has_namespaces(self) -> bool:
        return self.programs.has_namespaces

    # Who does what

    def leader(self) -> Host | None:
        """The database host that holds the leader's lock; None while there is no leader."""
        for host in self.layout.databases:
            answer = _ask(host, "primary")
            if answer is not None and answer.status_code == httpx.codes.OK:
                return host
        return None

    def synchronous_standby(self) -> Host | None:
        """The standby that commits wait for, as the leader sees it."""
        for standby in self._standbys():
            if standby["sync_state"] == "sync":
                return self.layout.host(standby["application_name"])
        return None

    def is_whole(self) -> bool:
        """Whether one leads, and all others follow it, one of them synchronously."""
        following = [item for item in self._standbys() if item["state"] == "streaming"]
        synchronous = [item for item in following if item["sync_state"] == "sync"]
        return len(following) == len(self.layout.databases) - 1 and len(synchronous) == 1

    def _standbys(self) -> list[Any]:
        leader = self.leader()
        answer = _ask(leader, "patroni") if leader else None
        if answer is None:
            return []
        standbys: list[Any] = answer.json().get("replication", [])
        return standbys

    def pids(self, host: Host) -> list[int]:
        return host_processes.of_folder(host.folder(self.programs.root))

    def url_of(self, host: Host) -> str:
        """The address of one database host, for the superuser."""
        password = self.programs.passwords.superuser
        return f"postgresql://postgres:{password}@{host.address}:{POSTGRES_PORT}/postgres"

    def reach_endpoint(self, port: int) -> str:
        """Let workers reach a port of this machine; the URL that a webhook names for it."""
        if not self.has_namespaces:
            return f"http://{self.layout.gateway}:{port}"
        for worker in self.layout.of_kind(Kind.WORKER):
            machine_parts.forward_loopback(worker, port, self.layout.gateway)
        return f"http://127.0.0.1:{port}"

    # Faults

    def kill(self, host: Host) -> None:
        """Let the host die: SIGKILL for all of its processes."""
        host_processes.kill(host.folder(self.programs.root))

    def freeze(self, host: Host) -> None:
        host_processes.signal_all(host.folder(self.programs.root), signal.SIGSTOP)

    def resume(self, host: Host) -> None:
        host_processes.signal_all(host.folder(self.programs.root), signal.SIGCONT)

    def start(self, host: Host) -> None:
        self.programs.start(host)

    def cut(self, host: Host) -> None:
        """Unplug the host's network cable."""
        machine_parts.set_link(host, "down")

    def join(self, host: Host) -> None:
        machine_parts.set_link(host, "up")

    def fill_disk(self, host: Host) -> None:
        machine_parts.fill_disk(host, self.programs.root)

    def free_disk(self, host: Host) -> None:
        machine_parts.free_disk(host, self.programs.root)


@contextmanager
def running(
    *,
    logs: Path,
    secret_key: str,
    settings: Mapping[str, str] | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Iterator[Cluster]:
    """Run a cluster whose database is migrated and whose hosts are ready.

    Whatever ends this process, a process of its own removes the cluster afterwards.
    """
    programs = installed()
    reason = machine_parts.why_no_namespaces()
    if reason:
        say(f"The hosts are processes on loopback addresses: {reason}.")
    has_namespaces = not reason
    network = machine_parts.NETWORK if has_namespaces else machine_parts.LOOPBACK_NETWORK
    hosts = layout(network)
    passwords = Passwords(*(secrets.token_hex(16) for _ in range(3)))
    url = hosts.database_url("tradewind", passwords.tradewind)
    chosen = {
        "TRADEWIND_DATABASE_URL": url,
        "TRADEWIND_SECRET_KEY": secret_key,
        "TRADEWIND_DEV_BIND_ANY": "yes",
        "TRADEWIND_LOG_STYLE": "json",
        "TRADEWIND_SANDBOX_URL": hosts.marketplace_url,
        "TRADEWIND_PLATFORM_ALIBABA_URL": hosts.marketplace_url,
        "TRADEWIND_PLATFORM_TAOBAO_URL": f"{hosts.marketplace_url}/rest",
        "TRADEWIND_PUBLIC_URL": hosts.api_urls[0],
        **(settings or {}),
    }
    logs.mkdir(parents=True, exist_ok=True)
    starter = Programs(hosts, ROOT_FOLDER, logs, programs, passwords, chosen, has_namespaces)
    with contextlib.ExitStack() as stack:
        stack.callback(starter.wait)
        stack.enter_context(_cleaned_up(ROOT_FOLDER))
        ROOT_FOLDER.mkdir(mode=0o755)
        superuser_url = hosts.database_url("postgres", passwords.superuser, "postgres")
        cluster = Cluster(hosts, starter, url, superuser_url)
        if has_namespaces:
            machine_parts.make(hosts, ROOT_FOLDER)
        _start_databases(cluster, chosen, say)
        _start_services(cluster, say)
        yield cluster


def wait_until(condition: Callable[[], bool], seconds: float, expected: str) -> float:
    """Wait until it is so, for so long at the most; how long it took."""
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > seconds:
            raise TimeoutError(f"After {seconds:.0f} seconds, still not: {expected}.")
        time.sleep(_POLL_SECONDS)
    return time.monotonic() - began


def _start_databases(
    cluster: Cluster, settings: Mapping[str, str], say: Callable[[str], None]
) -> None:
    say("Starting etcd, Patroni and PostgreSQL on three hosts.")
    first, *others = cluster.layout.databases
    for host in (first, *others):
        cluster.programs.start_etcd(host)
    cluster.programs.start_patroni(first)
    # The first leads, so that a leader that is lost is the one that clients try first.
    wait_until(lambda: cluster.leader() == first, _START_SECONDS, f"{first.name} leads")
    for host in others:
        cluster.programs.start_patroni(host)
    wait_until(cluster.is_whole, _START_SECONDS, "one leads and two standbys follow")
    asyncio.run(_create_database(cluster))
    say("Migrating the database.")
    done = subprocess.run(
        [sys.executable, "-m", "tradewind", "migrate"],
        cwd=ROOT,
        env={**_without_settings(), **settings},
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise CannotRun(f"The migration failed: {done.stderr.strip()}")


def _start_services(cluster: Cluster, say: Callable[[str], None]) -> None:
    say("Starting the marketplace, two API hosts and three workers.")
    for host in cluster.layout.hosts:
        if host.kind is not Kind.DATABASE:
            cluster.start(host)
    wait_until(
        lambda: all(is_ready(url) for url in cluster.layout.api_urls), 60, "the API is ready"
    )
    marketplace = f"{cluster.layout.marketplace_url}/healthz"
    wait_until(lambda: _status(marketplace) == httpx.codes.OK, 60, "the marketplace is ready")


def is_ready(url: str) -> bool:
    return _status(f"{url}/readyz") == httpx.codes.OK


async def _create_database(cluster: Cluster) -> None:
    connection = await asyncpg.connect(cluster.superuser_url, timeout=10)
    try:
        password = cluster.programs.passwords.tradewind
        await connection.execute(f"CREATE ROLE tradewind LOGIN PASSWORD '{password}'")
        await connection.execute("CREATE DATABASE tradewind OWNER tradewind")
    finally:
        await connection.close()


def _without_settings() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if not k.startswith("TRADEWIND_")}


@contextmanager
def _cleaned_up(root: Path) -> Iterator[None]:
    """Remove what a killed run has left, and everything of this one at its end.

    A process of its own does the latter, and holds the lock until it is done.
    """
    with root.with_suffix(".lock").open("w") as lock:
        try:
            wait_until(lambda: _is_locked(lock.fileno()), _REMOVE_SECONDS, "the cluster is removed")
        except TimeoutError:
            raise CannotRun("Another cluster runs on this machine.") from None
        cleanup.remove_all(root)
        remover = subprocess.Popen(
            [sys.executable, "-m", cleanup.__name__, str(root)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            pass_fds=[lock.fileno()],
            start_new_session=True,
        )
        try:
            yield
        finally:
            # As a context manager it would not wait after Ctrl-C.
            remover.communicate()


def _is_locked(file: int) -> bool:
    """Whether the lock is ours now; the process that removes a cluster holds it for a while."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _ask(host: Host, path: str) -> httpx.Response | None:
    """What a host's Patroni says; None if it does not answer soon."""
    with contextlib.suppress(httpx.HTTPError):
        return httpx.get(
            f"http://{host.address}:{PATRONI_PORT}/{path}", timeout=_ASK_SECONDS, trust_env=False
        )
    return None


def _status(url: str) -> int:
    try:
        return httpx.get(url, timeout=4, trust_env=False).status_code
    except httpx.HTTPError:
        return 0
