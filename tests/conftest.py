"""Fixtures for every test: a real PostgreSQL, a database per test, a running server."""

import gc
import os
import sys
from collections.abc import AsyncIterator, Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from kit import blocks, temporary_files
from kit.pgbouncer import Pooler, running_pooler
from kit.postgres import Postgres, serving_postgres
from kit.server import MigratedDatabase, Server, ServerLauncher, free_port
from kit.system import System, running_system

from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database

# Tests start hundreds of processes: without cached bytecode, each of them compiles the program.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

temporary_files.keep_in_memory()

# Thousands of tests and all that they import stay: with the default thresholds, a third of the time
# in which tests are collected goes into looking for garbage among them.
gc.set_threshold(50_000, 20, 100)

# How long an example takes says something about the machine, and nothing about the code.
settings.register_profile("tests", deadline=None)
settings.load_profile("tests")


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()


_PASSED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Record the blocks of the documentation that a test has run, if it passed to its end."""
    report = yield
    if report.when == "call":
        item.stash[_PASSED] = report.passed
    elif report.when == "teardown":
        if report.passed and item.stash.get(_PASSED, False):
            blocks.record(item.nodeid)
        blocks.forget()
    return report


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    """A PostgreSQL server for this process of the test run."""
    with serving_postgres(tmp_path_factory.mktemp("postgres")) as server:
        yield server


@pytest.fixture
def database_url(postgres: Postgres) -> Iterator[str]:
    """A migrated database of the test's own, whose clock can be moved."""
    with postgres.fresh_database() as url:
        yield url


@pytest.fixture(scope="session")
def pooler(postgres: Postgres, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pooler]:
    """A PgBouncer in transaction mode, with few connections, in front of this server."""
    folder = tmp_path_factory.mktemp("pgbouncer")
    with running_pooler(postgres.url(), folder, free_port()) as running:
        yield running


@pytest.fixture
async def db(request: pytest.FixtureRequest, database_url: str) -> AsyncIterator[Database]:
    """An open database; through the pooler for a test that is marked so, or in its turn."""
    url, direct_url = database_url, ""
    if getattr(request, "param", "direct") == "pooler":
        pooler: Pooler = request.getfixturevalue("pooler")
        url, direct_url = pooler.url(database_url), database_url
    database = Database(url, size=5, name="test", direct_url=direct_url)
    await database.open()
    yield database
    await database.close()


@pytest.fixture
def keyring() -> Keyring:
    return ServerLauncher.keyring()


@pytest.fixture(scope="session")
def launcher(
    postgres: Postgres, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerLauncher]:
    """Starts servers, and looks at the end whether any of them logged or sent a secret."""
    made = ServerLauncher(postgres, Path(tmp_path_factory.mktemp("servers")))
    yield made
    made.assert_no_secret_was_logged()
    made.assert_no_secret_was_sent()


@pytest.fixture
def database(launcher: ServerLauncher, database_url: str) -> MigratedDatabase:
    """A database of the test's own, for tests that need people but no API."""
    return MigratedDatabase(database_url, launcher)


@pytest.fixture(scope="session")
def api(launcher: ServerLauncher) -> Iterator[Server]:
    """A server with two API processes that tests share; each makes its own accounts."""
    with launcher.serving() as server:
        yield server


@pytest.fixture
def own_api(launcher: ServerLauncher) -> Iterator[Server]:
    """A server of the test's own, with a database whose clock it may move."""
    with launcher.serving() as server:
        yield server


@pytest.fixture(scope="session")
def shared_system(
    launcher: ServerLauncher, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[System]:
    with running_system(launcher, tmp_path_factory.mktemp("system")) as system:
        yield system


@pytest.fixture
def system(shared_system: System) -> Iterator[System]:
    """A system that tests share, with a buyer of the test's own, and no faults left behind."""
    api = shared_system.api
    yield System(
        api, shared_system.market, api.person(), shared_system.approver, shared_system.skus
    )
    shared_system.market.client.delete("/_control/faults")


@pytest.fixture
def quiet(system: System) -> Iterator[System]:
    """The same, while the marketplace sends no notices."""
    system.market.client.delete("/_control/push")
    yield system
    system.hear_notices()
