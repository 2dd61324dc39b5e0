"""The image: built by the steps of its Dockerfile in an empty folder, and started read-only."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from kit.blocks import ROOT
from kit.server import SECRET_KEY, MigratedDatabase, free_port
from kit.toolchains import lack
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

# The image is built once.
pytestmark = pytest.mark.xdist_group("image")

DOCKERFILE = ROOT / "deploy/docker/Dockerfile"
IMAGE = "/image"
_START_SECONDS = 60
_STOP_SECONDS = 20
# What a container engine does: mounts that only this process sees, a read-only root, no rights.
_CONTAINER = """
    set -e
    mount --bind "$ROOT" "$ROOT"
    mount -t proc proc "$ROOT/proc"
    mount -t tmpfs -o mode=0755 tmpfs "$ROOT/dev"
    mkdir "$ROOT/dev/shm"
    mount -t tmpfs -o mode=1777 tmpfs "$ROOT/dev/shm"
    for device in null urandom; do
        touch "$ROOT/dev/$device"
        mount --bind "/dev/$device" "$ROOT/dev/$device"
    done
    mount -t tmpfs -o mode=0755 tmpfs "$ROOT/run"
    touch "$ROOT/run/.s.PGSQL.5432"
    mount --bind "$SOCKET" "$ROOT/run/.s.PGSQL.5432"
    mount -t tmpfs -o mode=1777 tmpfs "$ROOT/tmp"
    mount -o remount,bind,ro "$ROOT"
    exec env -i "$@"
"""
# Words for `sh`, package managers and interpreters that an intruder would look for.
_UNWANTED = ("sh", "bash", "dash", "busybox", "perl", "apt-get", "dpkg", "pip", "pip3", "curl")


@cache
def instructions() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile, in their order."""
    text = re.sub(r"^#.*\n", "", DOCKERFILE.read_text(), flags=re.MULTILINE)
    lines = text.replace("\\\n", " ").splitlines()
    return [
        (word, rest.strip()) for word, _, rest in (line.partition(" ") for line in lines) if word
    ]


def instruction(name: str) -> str:
    return next(rest for word, rest in reversed(instructions()) if word == name)


def environment() -> dict[str, str]:
    return dict(item.split("=", 1) for item in shlex.split(instruction("ENV")))


def build_steps() -> list[list[str]]:
    """The calls of build-root in the Dockerfile."""
    return [
        shlex.split(call)
        for word, rest in instructions()
        if word == "RUN"
        for call in rest.split("&&")
        if "build-root" in call
    ]


@dataclass(frozen=True)
class Container:
    """Runs commands in the image, without a container engine; the database is at /run."""

    root: Path
    database_url: str

    def command(self, *words: str, **settings: str) -> list[str]:
        database = self.database_url.partition("?")[0]
        variables = {
            **environment(),
            "TRADEWIND_DATABASE_URL": f"{database}?host=/run&port=5432",
            "TRADEWIND_SECRET_KEY": SECRET_KEY,
            "TRADEWIND_PUBLIC_URL": "https://api.your-company.example",
            "TRADEWIND_HOST": "127.0.0.1",
            **settings,
        }
        pairs = [f"{name}={value}" for name, value in variables.items()]
        account = f"--userspec={instruction('USER')}"
        limited = ["/usr/bin/setpriv", "--no-new-privs", "/usr/sbin/chroot", account, "--groups="]
        inside = [*pairs, *limited, str(self.root), *words]
        return [
            "unshare",
            "--mount",
            "--propagation",
            "private",
            "sh",
            "-c",
            _CONTAINER,
            "sh",
            *inside,
        ]

    @property
    def _environ(self) -> dict[str, str]:
        folder = parse_qs(urlsplit(self.database_url).query)["host"][0]
        socket = Path(folder, ".s.PGSQL.5432")
        return {**os.environ, "ROOT": str(self.root), "SOCKET": str(socket)}

    def run(self, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*words, **settings),
            check=False,
            capture_output=True,
            text=True,
            env=self._environ,
            timeout=_START_SECONDS,
        )

    @contextmanager
    def running(self, log: Path, *words: str, **settings: str) -> Iterator[None]:
        """Run a process until the block ends; it stops in time, and without an error."""
        with log.open("wb") as output:
            process = subprocess.Popen(
                self.command(*words, **settings), env=self._environ, stdout=output, stderr=output
            )
        try:
            yield
            assert process.poll() is None, log.read_text()
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=_STOP_SECONDS) == 0, log.read_text()
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file system of the image, by the steps of the Dockerfile."""
    if os.geteuid() != 0:
        pytest.skip("Only root can start a process with another root directory.")
    for tool in ("apt-get", "dpkg-deb", "unshare", "setpriv"):
        if shutil.which(tool) is None:
            lack(f"{tool} is missing: the image is built from packages of Debian.")
    folder = tmp_path_factory.mktemp("image") / "root"
    for step in build_steps():
        command = [word.replace(IMAGE, str(folder)) for word in step]
        subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, "PYTHON": sys.executable})
    return folder


def installed(root: Path) -> set[str]:
    names = [path.name.split("-")[0] for path in root.glob("opt/tradewind/lib/*/*/*.dist-info")]
    return {canonicalize_name(name) for name in names}


def required(name: str) -> Iterator[str]:
    """A package, and what of its requirements without extras is installed here."""
    try:
        texts = requires(name) or []
    except PackageNotFoundError:
        return
    yield canonicalize_name(name)
    for requirement in map(Requirement, texts):
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield from required(requirement.name)


def test_the_dockerfile_only_copies_what_its_steps_need() -> None:
    steps = build_steps()

    assert [step[1:] for step in steps] == [
        [name, IMAGE] for name in ("packages", "requirements", "program")
    ]
    assert instruction("FROM") == "scratch"
    assert re.fullmatch(r"[1-9]\d{4}:[1-9]\d{4}", instruction("USER"))


def test_the_image_has_the_locked_packages_and_no_tools(root: Path) -> None:
    lock = (ROOT / "requirements.lock").read_text()
    locked = re.findall(r"^([a-z0-9-]+)==", lock, re.MULTILINE)
    programs = {path.name for path in root.rglob("*bin/*")}
    unsafe = [
        path for path in root.rglob("*") if not path.is_symlink() and path.stat().st_mode & 0o6002
    ]

    assert installed(root) == {*required("tradewind")} & {*locked, "tradewind"}
    assert not programs & {*_UNWANTED}
    assert unsafe == [root / "tmp"]


def test_api_and_worker_run_in_the_image(
    root: Path, database: MigratedDatabase, tmp_path: Path
) -> None:
    container = Container(root, database.database_url)
    port, metrics = free_port(), free_port()
    entrypoint, command, check = (
        json.loads(re.search(r"\[.*\]", instruction(name))[0])  # type: ignore[index]
        for name in ("ENTRYPOINT", "CMD", "HEALTHCHECK")
    )
    api = {"TRADEWIND_PORT": str(port), "TRADEWIND_METRICS_LISTEN": f"127.0.0.1:{metrics}"}
    worker = {"TRADEWIND_METRICS_LISTEN": f"127.0.0.1:{metrics + 1}"}
    assert container.run(*check, **api).returncode == 1, "nothing runs yet"
    migrated = container.run(*entrypoint, "migrate")
    assert migrated.stdout == "The schema is up to date.\n", migrated.stderr

    with ExitStack() as stack:
        stack.enter_context(container.running(tmp_path / "api", *entrypoint, *command, **api))
        stack.enter_context(container.running(tmp_path / "worker", *entrypoint, "worker", **worker))
        deadline = time.monotonic() + _START_SECONDS
        while (health := container.run(*check, **api)).returncode:
            assert time.monotonic() < deadline, (tmp_path / "api").read_text()
        assert health.stdout == f"The api at 127.0.0.1:{port} is healthy.\n"
        ready = httpx.get(f"http://127.0.0.1:{port}/readyz")
        guide = httpx.get(f"http://127.0.0.1:{port}/guides/how-to/deploy.md")
        working = container.run(*entrypoint, "health", "worker", **worker)

    assert ready.json() == {"status": "ready", "problems": []}
    assert guide.text == (ROOT / "docs/how-to/deploy.md").read_text()
    assert (working.returncode, working.stderr) == (0, "")


def test_nothing_but_tmp_can_be_written(root: Path, database_url: str) -> None:
    python = ("/opt/tradewind/bin/python", "-I", "-c")
    program = """
import os, pathlib
for path in ("/etc/x", "/opt/tradewind/x", "/tmp/x"):
    try:
        pathlib.Path(path).touch()
        print("wrote", path)
    except OSError as error:
        print(error.strerror)
print(os.getuid(), os.getgid(), os.getgroups())
"""

    printed = Container(root, database_url).run(*python, program)

    uid, gid = instruction("USER").split(":")
    expected = ["Read-only file system", "Read-only file system", "wrote /tmp/x"]
    assert printed.stdout.splitlines() == [*expected, f"{uid} {gid} []"], printed.stderr
