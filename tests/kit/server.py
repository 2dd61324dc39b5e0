"""Servers for tests: the real command with two processes, and accounts on it."""

import itertools
import os
import random
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import httpx
from argon2 import PasswordHasher

from kit import forks
from kit.postgres import Postgres
from kit.tls import NO_TLS
from kit.webhook_endpoint import ALL_RECEIVED
from tradewind import ids
from tradewind.accounts.register import register
from tradewind.audit.model import COMMAND_LINE
from tradewind.auth.api_keys.issue import issue
from tradewind.auth.model import Plan, Role
from tradewind.auth.passwords import Passwords
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database

SECRET_KEY = secrets.token_hex(32)
_PASSWORD = secrets.token_urlsafe(12)
_READY_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Person:
    """An account with its credentials."""

    id: str
    uuid: UUID
    email: str
    password: str
    key: str

    @property
    def headers(self) -> dict[str, str]:
        return {"x-api-key": self.key}


@dataclass
class MigratedDatabase:
    """A database without a server: people are made in it, its clock is moved, and it is queried."""

    database_url: str
    launcher: "ServerLauncher"

    def person(
        self, *, roles: Sequence[Role] = (Role.BUYER,), plan: Plan = Plan.ENTERPRISE
    ) -> Person:
        """A new account with a password and an API key."""
        return self.launcher.postgres.on_database(
            self.database_url, partial(self.launcher.register_person, roles=roles, plan=plan)
        )

    def operator(self) -> Person:
        return self.person(roles=(Role.OPERATOR,))

    def move_clock(self, by: timedelta) -> None:
        self.launcher.postgres.move_clock(self.database_url, by)

    def fetch(self, query: str, *args: Any) -> list[asyncpg.Record]:
        return self.launcher.postgres.fetch(self.database_url, query, *args)


@dataclass
class Server(MigratedDatabase):
    """A running API."""

    url: str
    log: Path
    process: forks.Process
    client: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        self.client = httpx.Client(base_url=self.url, timeout=10, verify=NO_TLS)

    def call(
        self,
        method: str,
        path: str,
        *,
        by: Person | None = None,
        token: str | None = None,
        **options: Any,
    ) -> httpx.Response:
        """One request on a connection of its own, so that any of the processes may get it."""
        headers = dict(options.pop("headers", {}))
        if by is not None:
            headers |= by.headers
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        return httpx.request(
            method, self.url + path, headers=headers, timeout=10, verify=NO_TLS, **options
        )

    def login(self, person: Person) -> dict[str, Any]:
        answer = self.call(
            "POST", "/v1/auth/login", json={"email": person.email, "password": person.password}
        )
        assert answer.status_code == 200, answer.text
        tokens: dict[str, Any] = answer.json()
        self.launcher.secrets |= {tokens["access_token"], tokens["refresh_token"]}
        return tokens


class _CheapPasswords(Passwords):
    """Hashes the password of all accounts of a test run once, with parameters that take no time.

    A hash names its parameters, so that comparing a password with it takes no time either.
    """

    _HASH = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(_PASSWORD)

    def __init__(self) -> None:
        """Start no threads."""

    async def hash(self, password: str) -> str:
        assert password == _PASSWORD
        return self._HASH


class ServerLauncher:
    """Starts servers, and remembers every secret that a test used."""

    def __init__(self, postgres: Postgres, folder: Path) -> None:
        self.postgres = postgres
        self.folder = folder
        self.secrets = {SECRET_KEY}
        self._numbers = itertools.count(1)

    @staticmethod
    def keyring() -> Keyring:
        return Keyring([bytes.fromhex(SECRET_KEY)])

    @contextmanager
    def serving(
        self, *, workers: int = 2, settings: Mapping[str, str] | None = None
    ) -> Iterator[Server]:
        with (
            self.postgres.fresh_database() as url,
            self.serving_on(url, workers=workers, settings=settings) as server,
        ):
            yield server

    @contextmanager
    def serving_on(
        self,
        database_url: str,
        *,
        workers: int = 2,
        settings: Mapping[str, str] | None = None,
        port: int | None = None,
        cwd: Path | None = None,
    ) -> Iterator[Server]:
        """Serve on a database, as a fork.

        With `cwd` the program starts anew, and one that is in `cwd` comes before the installed one.
        """
        port = port or free_port()
        log = self.folder / f"server-{next(self._numbers)}.log"
        environ = _environ(database_url, {"TRADEWIND_PORT": str(port), **(settings or {})})
        process = _start(forks.apis, ["serve", "--workers", str(workers)], environ, log, cwd)
        server = Server(database_url, self, f"http://127.0.0.1:{port}", log, process)
        try:
            _wait_until_ready(server)
            yield server
        finally:
            server.client.close()
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=20)

    def worker(
        self,
        database_url: str,
        *,
        settings: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> forks.Process:
        """Start a worker. Whoever starts it ends it; see `working` for one that ends by itself."""
        log = self.folder / f"worker-{next(self._numbers)}.log"
        environ = _environ(database_url, settings or {})
        return _start(forks.commands, ["worker"], environ, log, cwd)

    @contextmanager
    def working(
        self,
        database_url: str,
        *,
        settings: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> Iterator[forks.Process]:
        process = self.worker(database_url, settings=settings, cwd=cwd)
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=20)

    async def make_person(self, database_url: str, roles: Sequence[Role], plan: Plan) -> Person:
        """A new account, from a test that has an event loop of its own."""
        db = Database(database_url, size=1, name="test")
        await db.open()
        try:
            return await self.register_person(db, roles, plan)
        finally:
            await db.close()

    async def register_person(self, db: Database, roles: Sequence[Role], plan: Plan) -> Person:
        email = f"{secrets.token_hex(6)}@test.example"
        account = await register(
            db,
            _CheapPasswords(),
            COMMAND_LINE,
            email=email,
            roles=roles,
            plan=plan,
            password=_PASSWORD,
        )
        _, key = await issue(db, self.keyring(), COMMAND_LINE, account.id, "test")
        self.secrets |= {_PASSWORD, key}
        return Person(ids.ACCOUNT.show(account.id), account.id, email, _PASSWORD, key)

    def assert_no_secret_was_logged(self) -> None:
        for log in self.folder.glob("*.log"):
            text = log.read_text(errors="replace")
            leaked = [secret for secret in self.secrets if secret in text]
            assert not leaked, f"{log} holds a secret"

    def assert_no_secret_was_sent(self) -> None:
        """Look at every delivery that an endpoint of the tests got: body, headers and path."""
        sent = b"\n".join(
            b"\n".join(
                [request.body, request.path.encode(), *map(str.encode, request.headers.values())]
            )
            for request in ALL_RECEIVED
        )
        leaked = [secret for secret in self.secrets if secret.encode() in sent]
        assert not leaked, "a delivery holds a secret"


def _start(
    forking: Callable[[], forks.ForkServer],
    words: list[str],
    environ: Mapping[str, str],
    log: Path,
    cwd: Path | None,
) -> forks.Process:
    """Start a command as a fork, or the program that is in `cwd`."""
    if cwd is None:
        return forking().start(words, environ, stdout=log, stderr=log)
    command = [sys.executable, "-m", "tradewind", *words]
    with log.open("wb") as output:
        return subprocess.Popen(command, env=environ, stdout=output, stderr=output, cwd=cwd)


def _environ(database_url: str, settings: Mapping[str, str]) -> dict[str, str]:
    return {
        **{k: v for k, v in os.environ.items() if not k.startswith("TRADEWIND_")},
        "TRADEWIND_DATABASE_URL": database_url,
        "TRADEWIND_SECRET_KEY": SECRET_KEY,
        "TRADEWIND_LOG_STYLE": "json",
        "TRADEWIND_LOGIN_RATE": "10000",
        # Whatever a test does, no real marketplace is called: nobody listens here.
        "TRADEWIND_PLATFORM_ALIBABA_URL": "http://127.0.0.1:9",
        "TRADEWIND_PLATFORM_TAOBAO_URL": "http://127.0.0.1:9/rest",
        **settings,
    }


def free_port() -> int:
    """A port that nobody has, nor the next one, and that the system gives to no connection."""
    while True:
        port = random.SystemRandom().randrange(20_000, 32_000)
        with suppress(OSError), socket.socket() as probe, socket.socket() as beside:
            probe.bind(("127.0.0.1", port))
            beside.bind(("127.0.0.1", port + 1))
            return port


def _wait_until_ready(server: Server) -> None:
    """Wait until every process of the server listens, and one of them reaches the database."""
    deadline = time.monotonic() + _READY_SECONDS
    while time.monotonic() < deadline:
        text = server.log.read_text()
        # The parent starts processes that cannot start again and again.
        if server.process.poll() is not None or "CannotStart: " in text:
            break
        listening = "api.listening" in text
        if listening and server.call("GET", "/readyz").status_code == 200:
            return
        time.sleep(0.02)
    raise AssertionError(f"The server did not start:\n{server.log.read_text()[-3000:]}")
