"""`tradewind dev`: one command starts everything, and everything ends with it."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from kit.processes import family_of, members, read, wait_for_child, wait_until_gone
from kit.server import free_port

pytestmark = pytest.mark.xdist_group("dev")

READY_SECONDS = 60
STOP_SECONDS = 20


@dataclass
class Dev:
    """A `tradewind dev` that runs, in a session of its own."""

    process: subprocess.Popen[str]
    said: dict[str, Any]
    log: Path
    errors: Path

    def me(self, person: str) -> httpx.Response:
        headers = {"x-api-key": self.said[person]["api_key"]}
        return httpx.get(f"{self.said['url']}/v1/me", headers=headers, timeout=10)

    def family(self) -> list[int]:
        return family_of(self.process.pid)

    def end(self, signum: signal.Signals) -> str:
        """Send a signal, wait for the end; the rest of what it said."""
        self.process.send_signal(signum)
        rest, _ = self.process.communicate(timeout=STOP_SECONDS)
        return rest


def environment(data_dir: Path, **settings: str) -> dict[str, str]:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("TRADEWIND_")}
    return {**inherited, "TRADEWIND_DATA_DIR": str(data_dir), **settings}


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "tradewind", *words]


@contextmanager
def running(data_dir: Path, *words: str, **settings: str) -> Iterator[Dev]:
    """Start it, and wait for the line that says that everything answers."""
    errors = data_dir.with_name("stderr")
    with errors.open("w") as stderr:
        process = subprocess.Popen(
            command("dev", "--json", "--port", str(free_port()), *words),
            env=environment(data_dir, **settings),
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            start_new_session=True,
        )
    assert process.stdout
    try:
        line = process.stdout.readline()
        assert line, errors.read_text()
        yield Dev(process, json.loads(line), data_dir / "tradewind.log", errors)
    finally:
        process.terminate()
        process.communicate(timeout=STOP_SECONDS)


def complaint(data_dir: Path, *words: str, **settings: str) -> str:
    """The one sentence with which it refuses to start."""
    ended = subprocess.run(
        command("dev", "--json", *(words or ("--port", str(free_port())))),
        env=environment(data_dir, **settings),
        capture_output=True,
        text=True,
        timeout=READY_SECONDS,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (1, ""), ended.stderr
    assert ended.stderr.count("\n") == 1, ended.stderr
    assert ended.stderr.startswith("tradewind: ")
    return ended.stderr.removeprefix("tradewind: ").rstrip("\n")


@contextmanager
def quiet(words: list[str], environ: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A command whose output nobody reads."""
    nowhere = subprocess.DEVNULL
    with subprocess.Popen(words, env=environ, stdout=nowhere, stderr=nowhere) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any], str]:
    """A data directory after its first run, what that run said, and what it logged."""
    data_dir = tmp_path_factory.mktemp("first") / "data"
    with running(data_dir) as dev:
        said = dev.said
        family = dev.family()
        assert [dev.me(person).status_code for person in ("buyer", "operator")] == [200, 200]
        made = httpx.post(
            f"{said['url']}/v1/admin/accounts",
            headers={"x-api-key": said["operator"]["api_key"]},
            json={"email": "kept@test.example"},
            timeout=10,
        )
        assert made.status_code == 201

        rest = dev.end(signal.SIGTERM)

        assert (dev.process.returncode, rest, dev.errors.read_text()) == (0, "", "")
        wait_until_gone(family)
        return data_dir, said, dev.log.read_text()


@pytest.fixture
def data_dir(used: tuple[Path, dict[str, Any], str], tmp_path: Path) -> Path:
    """A copy of that directory, of the test's own."""
    return Path(shutil.copytree(used[0], tmp_path / "data"))


def test_the_first_run_says_how_to_use_it_on_one_line_of_json(
    used: tuple[Path, dict[str, Any], str],
) -> None:
    data_dir, said, _ = used

    assert list(said) == ["url", "database_url", "sandbox_url", "buyer", "operator"]
    assert said["url"].startswith("http://127.0.0.1:")
    assert said["database_url"].startswith("postgresql://tradewind@/tradewind?host=")
    for person, email in (("buyer", "buyer@demo.example"), ("operator", "operator@demo.example")):
        assert list(said[person]) == ["email", "password", "api_key"]
        assert said[person]["email"] == email
        assert len(said[person]["password"]) >= 12
        assert len(said[person]["api_key"]) == 42
    assert said["buyer"]["api_key"] != said["operator"]["api_key"]
    assert (data_dir / "secrets.json").stat().st_mode & 0o777 == 0o600
    assert not (data_dir / "running.json").exists()


def test_logs_go_to_a_file_and_hold_no_credentials(
    used: tuple[Path, dict[str, Any], str],
) -> None:
    data_dir, said, log = used
    secret = json.loads((data_dir / "secrets.json").read_text())["secret_key"]

    for line in ("api.listening", "worker.stopped", "dev.stopping"):
        assert line in log
    assert (data_dir / "tradewind.log").stat().st_mode & 0o777 == 0o600
    for person in ("buyer", "operator"):
        assert said[person]["api_key"] not in log
        assert said[person]["password"] not in log
    assert secret not in log


def test_the_next_run_keeps_its_data_commands_find_it_and_ctrl_c_ends_it_gently(
    used: tuple[Path, dict[str, Any], str], data_dir: Path
) -> None:
    _, said, _ = used
    environ = environment(data_dir)

    with running(data_dir) as dev:
        assert dev.said["buyer"] == said["buyer"]
        assert dev.said["operator"] == said["operator"]
        login = httpx.post(
            f"{dev.said['url']}/v1/auth/login",
            json={"email": said["buyer"]["email"], "password": said["buyer"]["password"]},
            timeout=10,
        )
        listed = subprocess.run(
            command("account", "list", "--json"),
            env=environ,
            capture_output=True,
            check=True,
        )
        key = subprocess.run(
            command("keys", "create", "kept@test.example", "made beside it", "--json"),
            env=environ,
            capture_output=True,
            check=True,
        )
        headers = {"x-api-key": json.loads(key.stdout)["key"]}
        by_new_key = httpx.get(f"{dev.said['url']}/v1/me", headers=headers, timeout=10)

        # A second one finds the directory taken, and leaves the first one alone.
        second = complaint(data_dir)
        assert dev.me("buyer").status_code == 200

        _end_by_ctrl_c(dev)

    assert login.status_code == 200
    emails = {account["email"] for account in json.loads(listed.stdout)}
    assert emails == {"kept@test.example", "buyer@demo.example", "operator@demo.example"}
    assert by_new_key.json()["email"] == "kept@test.example"
    assert second == (
        f"Another Tradewind (process {dev.process.pid}) is already running on {data_dir}; "
        "stop it first, or set TRADEWIND_DATA_DIR to another directory."
    )
    assert dev.errors.read_text() == ""
    assert (data_dir / "tradewind.log.1").read_text() == used[2]
    log = dev.log.read_text()
    assert "Traceback" not in log
    assert "worker.stopped" in log
    assert "database system is shut down" in (data_dir / "postgres.log").read_text()


def _end_by_ctrl_c(dev: Dev) -> None:
    """Send SIGINT to the group, as a terminal does: to `dev`, and not to its children."""
    family = dev.family()
    assert dev.process.pid not in map(os.getsid, family)

    os.killpg(dev.process.pid, signal.SIGINT)
    rest, _ = dev.process.communicate(timeout=STOP_SECONDS)

    assert (dev.process.returncode, rest) == (0, "")
    wait_until_gone(family)


def test_killed_it_takes_everything_along_and_the_next_run_ends_with_its_database(
    data_dir: Path,
) -> None:
    with running(data_dir, "--logs") as dev:
        family = dev.family()
        assert len(family) >= 4, "PostgreSQL, the API and its process, the worker"
        deadline = time.monotonic() + READY_SECONDS
        while "api.listening" not in dev.errors.read_text():  # said beside the first response
            assert time.monotonic() < deadline, dev.errors.read_text()
            time.sleep(0.02)
        assert not (data_dir / "tradewind.log.1").exists(), "no new log file was begun"

        dev.end(signal.SIGKILL)

        assert dev.process.returncode == -signal.SIGKILL
        wait_until_gone(family)

    with running(data_dir) as dev:
        assert dev.me("buyer").status_code == 200
        postmaster = int((data_dir / "postgres" / "postmaster.pid").read_text().split()[0])
        os.kill(postmaster, signal.SIGKILL)
        assert dev.process.wait(timeout=30) == 1


@pytest.mark.parametrize("moment", ["bin/postgres", "tradewind\0worker", "spawn_main"])
def test_killed_while_it_starts_it_leaves_nobody_behind(data_dir: Path, moment: str) -> None:
    """At its server's start, at its children's, and at that of the API's own process."""
    words = command("dev", "--json", "--port", str(free_port()))
    with quiet(words, environment(data_dir)) as process:
        family = wait_for_child(process, moment)

        process.kill()
        process.wait()

        wait_until_gone(family)
        wait_until_gone(members(data_dir))


def test_an_api_that_is_killed_while_it_starts_leaves_nobody_behind(tmp_path: Path) -> None:
    settings = {
        "TRADEWIND_DATABASE_URL": f"postgresql:///none?host={tmp_path}",
        "TMPDIR": str(tmp_path),
    }
    words = command("serve", "--port", str(free_port()))
    with quiet(words, environment(tmp_path, **settings)) as process:
        # Its one process has heard from it what to do, and is about to load the application.
        family = wait_for_child(process, "spawn_main", loaded="/_granian.")

        process.kill()
        process.wait()

        wait_until_gone(family)
        wait_until_gone(members(tmp_path))


def test_settings_of_ones_own_are_used_and_a_part_that_dies_ends_the_rest(
    data_dir: Path,
) -> None:
    """A list of master secrets, of which the first is new, and one port for metrics."""
    kept = json.loads((data_dir / "secrets.json").read_text())["secret_key"]
    metrics = free_port()

    with running(
        data_dir,
        TRADEWIND_SECRET_KEY=f"{'0123456789abcdef' * 4},{kept}",
        TRADEWIND_METRICS_LISTEN=f"127.0.0.1:{metrics}",
    ) as dev:
        assert dev.me("buyer").status_code == 200
        text = httpx.get(f"http://127.0.0.1:{metrics}/metrics", timeout=10).text
        report = subprocess.run(
            command("secrets", "rotate", "--json"),
            env=environment(data_dir),
            capture_output=True,
            check=True,
        )
        family = dev.family()
        worker = next(pid for pid in family if b"\0worker\0" in read(pid, "cmdline"))

        os.kill(worker, signal.SIGKILL)
        dev.process.communicate(timeout=STOP_SECONDS)

        assert dev.process.returncode == 1
        wait_until_gone(family)
    assert dev.errors.read_text() == (
        f"tradewind: The worker process ended with status -9; see {data_dir}/tradewind.log.\n"
    )
    assert 'tradewind_http_requests_total{route="GET /v1/me"' in text
    [left] = json.loads(report.stdout)["still_old"]  # the operator's key, not used yet
    assert left["count"] == 1


def test_a_taken_port_is_told_in_one_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        sentence = complaint(tmp_path / "data", "--port", str(port))

    assert sentence == (
        f"Port {port} on 127.0.0.1 cannot be used (Address already in use); stop the "
        "process that listens there, or choose another port with TRADEWIND_PORT or --port."
    )
    assert not (tmp_path / "data").exists()


def test_a_broken_data_directory_is_told_in_one_sentence(data_dir: Path) -> None:
    whole = (data_dir / "secrets.json").read_text()
    (data_dir / "secrets.json").write_text("{")
    assert complaint(data_dir) == (
        f"{data_dir}/secrets.json cannot be read (Input data was truncated); restore it, or delete "
        "the whole data directory to start anew."
    )
    (data_dir / "secrets.json").write_text(whole)

    (data_dir / "postgres" / "PG_VERSION").unlink()
    assert complaint(data_dir).startswith(
        f"{data_dir}/postgres is not a complete PostgreSQL cluster"
    )

    shutil.rmtree(data_dir)
    data_dir.write_text("a file")
    assert complaint(data_dir).startswith(f"The data directory {data_dir} cannot be used")


def test_credentials_that_do_not_exist_are_reported_with_what_to_do(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"

    assert complaint(tmp_path, "--credentials", "--data-dir", str(data_dir)) == (
        f"There are no credentials in {data_dir}; the first start of `tradewind dev` makes them. "
        "If it was started in another folder, go there, or name its data with `--data-dir`."
    )
    assert complaint(data_dir, "--shell").startswith("--shell needs --credentials")
    assert not data_dir.exists()


def test_it_is_not_for_production(tmp_path: Path) -> None:
    sentence = complaint(
        tmp_path / "data",
        TRADEWIND_ENV="production",
        TRADEWIND_DATABASE_URL="postgresql:///t",
        TRADEWIND_SECRET_KEY=os.urandom(32).hex(),
        TRADEWIND_PUBLIC_URL="https://api.example",
    )

    assert sentence == (
        "`tradewind dev` is for development; in production run `tradewind serve` and "
        "`tradewind worker`."
    )
    assert not (tmp_path / "data").exists()
