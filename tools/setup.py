"""Installs what the Makefile needs: .venv, browser, Node's tools, SDK languages, linters, more."""

# It runs with the system's bare python3, so it has only the standard library, and no syntax that a
# Python too old for us could not read: it has to reach the message that says so.
from __future__ import annotations

import fcntl
import hashlib
import importlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
NEW = ROOT / ".venv.new"
OLD = ROOT / ".venv.old"
STAMP = "tradewind-setup.json"
LOCKS = {"run": ROOT / "requirements.lock", "dev": ROOT / "requirements-dev.lock"}
OLDEST_PYTHON = (3, 11)
PYTHON = ".".join(map(str, sys.version_info[:3]))
NODE_TOOLS = ROOT / "tests" / "openapi"
UNPACKED = ROOT / "build" / "debian"
LINT = ROOT / "deploy" / "lint"
LINTERS = ROOT / "build" / "linters"
# Definitions of the custom resources that the chart makes: their files in modules of Go.
CUSTOM_RESOURCES = {
    "github.com/cloudnative-pg/cloudnative-pg@v1.27.0": (
        "config/crd/bases/postgresql.cnpg.io_clusters.yaml",
    ),
    "github.com/kedacore/keda/v2@v2.21.0": ("config/crd/bases/keda.sh_scaledobjects.yaml",),
    "github.com/prometheus-operator/prometheus-operator@v0.85.0": (
        "example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml",
    ),
}
# Without windows, toolbars and extensions, a page takes a third of the time of the other browsers.
HEADLESS_BROWSER = "chromium-headless-shell"
BROWSERS = (HEADLESS_BROWSER, "chromium", "chromium-browser", "google-chrome")


class SetupError(Exception):
    """Setup failed; the message says why."""


def main(mode: str) -> int:
    if sys.version_info < OLDEST_PYTHON:
        oldest = ".".join(map(str, OLDEST_PYTHON))
        say(f"Tradewind needs Python {oldest} or newer, and {sys.executable} is {PYTHON};")
        say("set PYTHON to a newer one, for example: make run PYTHON=python3.12")
        return 1
    try:
        return ensure(mode)
    except SetupError as error:
        say(str(error))
        return 1
    except OSError as error:
        say(f"Setup failed: {error.filename}: {error.strerror}.")
        return 1
    except KeyboardInterrupt:
        return 130


def ensure(mode: str) -> int:
    if mode in LOCKS:
        return ensure_environment(mode)
    others = {
        "browser": ensure_browser,
        "node": ensure_node_tools,
        "sdk": ensure_sdk_languages,
        "deploy": ensure_deployment_tools,
        "cluster": ensure_cluster_programs,
        "wrk": ensure_wrk,
    }
    if mode not in others:
        raise SetupError(f"Usage: python3 tools/setup.py {' | '.join([*LOCKS, *others])}")
    return others[mode]()


def say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


# The virtual environment


def ensure_environment(mode: str) -> int:
    if not is_ready(mode):
        with exclusive_lock():
            if not is_ready(mode):  # the setup that we waited for may have built it
                ensure_venv_module()
                build(mode)
    return 0


def is_ready(mode: str) -> bool:
    """Whether .venv was built from the current files.

    Everything for `run` is in `dev` too, so a fresh environment for `dev` serves both.
    """
    try:
        built = json.loads((VENV / STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    made_for = built.get("mode")
    needed = {mode, made_for} if made_for == "dev" else {mode}
    now = stamp(made_for)
    return (
        made_for in (mode, "dev")
        and all(built.get(name) == now[name] for name in {*now} - {*LOCKS} | needed)
        and os.access(VENV / "bin" / "python", os.X_OK)
    )


def stamp(mode: str) -> dict[str, str]:
    """What an environment is built from, without the tools' settings in pyproject.toml."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8").partition("\n[tool.")[0]
    simulator = (ROOT / "simulator" / "pyproject.toml").read_bytes()
    sdk = (ROOT / "sdk" / "python" / "pyproject.toml").read_bytes()
    locks = {name: path.read_bytes() for name, path in LOCKS.items()}
    texts = {"pyproject": project.encode(), "simulator": simulator, "sdk": sdk, **locks}
    hashes = {name: hashlib.sha256(text).hexdigest() for name, text in texts.items()}
    return {"mode": mode, "python": PYTHON, "path": str(VENV), **hashes}


@contextmanager
def exclusive_lock() -> Iterator[None]:
    """Run one setup at a time. The lock is on this file, so no lock file remains."""
    with Path(__file__).open("rb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Another setup is running; waiting for it.")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build(mode: str) -> None:
    """Build beside .venv and rename at the end: an incomplete setup never looks complete."""
    lock = LOCKS[mode]
    built_from = stamp(mode)  # a lock that changes from here on makes .venv stale
    remove(NEW)
    remove(OLD)
    say(f"Creating .venv with Python {PYTHON}.")
    run(sys.executable, "-I", "-m", "venv", "--prompt", "tradewind", str(NEW))
    say(f"Installing the packages of {lock.name}. The first time it takes a minute or two.")
    # The lock is complete, and leaves out what a package requires but we do not use.
    pip_install("--require-hashes", "--no-deps", "-r", str(lock))
    say("Installing Tradewind itself.")
    projects = (".", "./simulator", "./sdk/python")
    editable = [option for project in projects for option in ("-e", project)]
    pip_install("--no-deps", "--no-build-isolation", *editable)
    rename_inside()
    (NEW / STAMP).write_text(json.dumps(built_from, indent=2) + "\n", encoding="utf-8")
    if VENV.exists() or VENV.is_symlink():
        VENV.rename(OLD)
    NEW.rename(VENV)
    remove(OLD)


def pip_install(*arguments: str) -> None:
    run(str(NEW / "bin" / "python"), "-I", "-m", "pip", "install", "--quiet", *arguments)


def run(*command: str) -> None:
    quiet = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1", "PIP_USER": "0"}
    done = subprocess.run(
        command, check=False, cwd=ROOT, env={**os.environ, **quiet}, stdout=subprocess.DEVNULL
    )
    if done.returncode != 0:
        raise SetupError(f"Setup failed. This command returned an error: {' '.join(command)}")


def rename_inside() -> None:
    """Replace the absolute paths that venv and pip wrote into the scripts."""
    before, after = (os.fsencode(f"/{path.name}") for path in (NEW, VENV))
    for path in (NEW / "pyvenv.cfg", *(NEW / "bin").iterdir()):
        if path.is_symlink() or not path.is_file():
            continue
        text = path.read_bytes()
        if before in text and b"\0" not in text:
            path.write_bytes(text.replace(before, after))


def remove(path: Path) -> None:
    if path.is_symlink():
        path.unlink()
    elif path.exists():
        shutil.rmtree(path)


def ensure_venv_module() -> None:
    """Install the part of Python's standard library that Debian packages separately."""

    def missing() -> list[str]:
        importlib.invalidate_caches()
        if all(importlib.util.find_spec(name) for name in ("venv", "ensurepip")):
            return []
        usual = Path("/usr/bin/python3").resolve() == Path(sys.executable).resolve()
        return ["python3-venv" if usual else f"python3.{sys.version_info.minor}-venv"]

    if packages := installed_or_missing(missing):
        raise SetupError(f"Python's venv module is missing; run: {apt_command(packages)}")


# Debian's packages


def ensure_browser() -> int:
    """Install what the browser tests need. Without it they are skipped; in CI it is an error.

    The headless browser is the fastest. Where it has no package, another one serves.
    """

    def has_browser() -> bool:
        return any(map(shutil.which, BROWSERS))

    installed_or_missing(lambda: [] if has_browser() else [HEADLESS_BROWSER])

    def missing() -> list[str]:
        return [
            *([] if has_browser() else ["chromium"]),
            *([] if has_cjk_font() else ["fonts-noto-cjk"]),
        ]

    packages = installed_or_missing(missing)
    if not packages:
        return 0
    say(f"The browser tests need {' and '.join(packages)}; run: {apt_command(packages)}")
    return 1 if os.environ.get("CI") == "true" else 0


def ensure_node_tools() -> int:
    """Install what the OpenAPI tests need. Without it they are skipped; in CI it is an error."""
    manifest, lock = (NODE_TOOLS / name for name in ("package.json", "package-lock.json"))
    expected = hashlib.sha256(manifest.read_bytes() + lock.read_bytes()).hexdigest()
    installed = NODE_TOOLS / "node_modules" / STAMP
    if installed.exists() and installed.read_text(encoding="utf-8") == expected:
        return 0
    oldest = json.loads(manifest.read_text(encoding="utf-8"))["engines"]["node"]

    def missing() -> list[str]:
        tools = {"node": "nodejs", "npm": "npm"}
        return [package for tool, package in tools.items() if not shutil.which(tool)]

    if packages := installed_or_missing(missing):
        problem = f"they are missing; run: {apt_command(packages)}"
    elif version(output("node", "--version")) < version(oldest):
        problem = f"node is {output('node', '--version')}"
    else:
        say("Installing the tools of tests/openapi/package-lock.json.")
        npm = [shutil.which("npm") or "npm", "ci", "--silent"]
        done = subprocess.run(npm, check=False, cwd=NODE_TOOLS, stdout=subprocess.DEVNULL)
        if done.returncode == 0:
            installed.write_text(expected, encoding="utf-8")
            return 0
        problem = "`npm ci` failed in tests/openapi"
    say(f"Some tests of the OpenAPI document need Node.js {oldest} and npm, and {problem}.")
    return 1 if os.environ.get("CI") == "true" else 0


def ensure_sdk_languages() -> int:
    """Install the languages of the SDKs. Without one its tests are skipped; in CI it is an error.

    Node.js is installed for the OpenAPI tests, and Go is not: Debian's may be too old.
    """

    def missing() -> list[str]:
        tools = {
            "php": "php-cli",
            "composer": "composer",
            "javac": "default-jdk-headless",
            "mvn": "maven",
        }
        return [package for tool, package in tools.items() if not shutil.which(tool)]

    packages = installed_or_missing(missing)
    if packages:
        say(f"Tests of the SDKs need {' and '.join(packages)}; run: {apt_command(packages)}")
    without_go = not shutil.which("go")
    if without_go:
        say("Tests of the SDK for Go need go, version 1.24 or newer, and it is missing.")
    return 1 if (packages or without_go) and os.environ.get("CI") == "true" else 0


def ensure_deployment_tools() -> int:
    """Get what runs and lints the files of deploy/. Without it their tests are skipped.

    In CI a missing tool is an error. nginx, Caddy and Prometheus are only unpacked, into
    build/debian: the packages would start them. Of Prometheus, only promtool is unpacked.
    """

    def missing() -> list[str]:
        tools = {
            "nft": "nftables",
            "ip": "iproute2",
            "systemd-analyze": "systemd",
            "pgbouncer": "pgbouncer",
        }
        return [package for tool, package in tools.items() if not find_tool(tool)]

    def not_unpacked() -> list[str]:
        tools = {"nginx": "nginx", "caddy": "caddy", "promtool": "prometheus"}
        return [package for tool, package in tools.items() if not find_tool(tool)]

    if wanted := not_unpacked():
        unpack(wanted, only={"prometheus": "./usr/bin/promtool"})
    packages = [*installed_or_missing(missing), *not_unpacked()]
    if packages:
        say(f"Tests of the deployment need {' and '.join(packages)}; run: {apt_command(packages)}")
    problem = ensure_linters()
    if problem:
        say(f"Some linters of the deployment are missing: {problem}")
    return 1 if (packages or problem) and os.environ.get("CI") == "true" else 0


def ensure_linters() -> str:
    """Get the locked linters of deploy/lint into build/linters; what is missing, or nothing."""
    locked = [LINT / name for name in ("requirements.lock", "go.mod", "go.sum", "main.go")]
    inputs = b"".join(path.read_bytes() for path in locked) + repr(CUSTOM_RESOURCES).encode()
    expected = hashlib.sha256(inputs).hexdigest()
    installed = LINTERS / STAMP
    if installed.exists() and installed.read_text(encoding="utf-8") == expected:
        return ""
    go = shutil.which("go")
    if not go:
        return "go is not installed."
    remove(LINTERS)
    (LINTERS / "bin").mkdir(parents=True)
    say("Installing the linters of deploy/lint. The first time it takes two minutes.")
    pip = [str(VENV / "bin" / "python"), "-I", "-m", "pip", "install", "--quiet"]
    lock = ("--only-binary", ":all:", "--require-hashes", "-r", str(LINT / "requirements.lock"))
    packages = [*pip, "--no-deps", "--no-compile", "--target", str(LINTERS / "python"), *lock]
    build = [go, "build", "-o", f"{LINTERS / 'bin'}{os.sep}", ".", "helm.sh/helm/v3/cmd/helm"]
    for command in (packages, build):
        if subprocess.run(command, check=False, cwd=LINT).returncode != 0:
            return f"this command failed: {' '.join(command)}"
    for module, files in CUSTOM_RESOURCES.items():
        folder = output(go, "mod", "download", "-json", module)
        if not folder:
            return f"{module} could not be downloaded."
        for file in files:
            shutil.copy(Path(json.loads(folder)["Dir"], file), LINTERS)
    installed.write_text(expected, encoding="utf-8")
    return ""


def find_tool(name: str) -> str | None:
    """Find a program, also where only root looks, and among unpacked packages and linters."""
    unpacked = [UNPACKED / "usr" / "sbin", UNPACKED / "usr" / "bin"]
    folders = [LINTERS / "bin", LINTERS / "python" / "bin", *unpacked, "/usr/sbin", "/sbin"]
    return shutil.which(
        name, path=os.pathsep.join([os.environ.get("PATH", ""), *map(str, folders)])
    )


def unpack(packages: Sequence[str], only: Mapping[str, str]) -> None:
    """Download packages, and unpack them without installing them; this needs no rights.

    Of a package in `only`, one file is unpacked.
    """
    apt_get_path, dpkg_deb = shutil.which("apt-get"), shutil.which("dpkg-deb")
    if not apt_get_path or not dpkg_deb:
        return
    say(f"Unpacking {' and '.join(packages)} into {UNPACKED.relative_to(ROOT)}.")
    UNPACKED.mkdir(parents=True, exist_ok=True)
    if apt := apt_get():
        subprocess.run([*apt, "update"], check=False, capture_output=True)
    download = [apt_get_path, "-qq", "download", *packages]
    done = subprocess.run(download, check=False, cwd=UNPACKED, capture_output=True, text=True)
    if done.returncode != 0:
        say(done.stderr.strip())
    for archive in UNPACKED.glob("*.deb"):
        unpack_archive(dpkg_deb, archive, only.get(archive.name.partition("_")[0]))
        archive.unlink()


def unpack_archive(dpkg_deb: str, archive: Path, only: str | None) -> None:
    if only is None:
        subprocess.run([dpkg_deb, "-x", str(archive), str(UNPACKED)], check=False)
        return
    with subprocess.Popen(
        [dpkg_deb, "--fsys-tarfile", str(archive)], stdout=subprocess.PIPE
    ) as reader:
        extract = [shutil.which("tar") or "tar", "-x", "-C", str(UNPACKED), only]
        subprocess.run(extract, check=False, stdin=reader.stdout)


def version(text: str) -> tuple[int, ...]:
    """`>=20.19` and `v20.20.2` as numbers that can be compared."""
    return tuple(int(number) for number in re.findall(r"\d+", text))


def has_cjk_font() -> bool:
    if output("fc-list", ":lang=zh", "family"):
        return True
    return output("dpkg-query", "-W", "-f", "${db:Status-Status}", "fonts-noto-cjk") == "installed"


def ensure_cluster_programs() -> int:
    """Install what the cluster runs on its hosts, and what makes its network."""

    def missing() -> list[str]:
        tools = {
            "etcd": "etcd-server",
            "patroni": "patroni",
            "ip": "iproute2",
            "nft": "nftables",
        }
        packages = [package for tool, package in tools.items() if not find_tool(tool)]
        has_postgres = any(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
        return packages if has_postgres else [*packages, "postgresql"]

    if packages := installed_or_missing(missing):
        raise SetupError(
            f"The cluster needs {' and '.join(packages)}; run: {apt_command(packages)}"
        )
    return 0


def ensure_wrk() -> int:
    packages = installed_or_missing(lambda: [] if shutil.which("wrk") else ["wrk"])
    if packages:
        raise SetupError(f"The benchmarks need the load tool wrk; run: {apt_command(packages)}")
    return 0


def installed_or_missing(missing: Callable[[], list[str]]) -> list[str]:
    """Install the missing packages if we may; return those that are still missing."""
    packages = missing()
    if not packages or not (apt := apt_get()):
        return packages
    say(f"Installing {' and '.join(packages)} with apt-get.")
    for command in (["update"], ["install", "-y", "--no-install-recommends", *packages]):
        done = subprocess.run([*apt, *command], check=False, capture_output=True, text=True)
        if done.returncode != 0:
            say(done.stderr.strip())
    return missing()


def apt_get() -> Sequence[str]:
    """The command for apt-get, as root or with a sudo that needs no password; empty: neither."""
    apt, sudo = shutil.which("apt-get"), shutil.which("sudo")
    if not apt:
        return ()
    quiet = ("env", "DEBIAN_FRONTEND=noninteractive", apt, "-qq", "-o", "DPkg::Lock::Timeout=300")
    if os.geteuid() == 0:
        return quiet
    if not sudo:
        return ()
    probe = subprocess.run([sudo, "-n", "true"], check=False, capture_output=True)
    return () if probe.returncode else (sudo, "-n", *quiet)


def apt_command(packages: Sequence[str]) -> str:
    return f"sudo apt-get install -y {' '.join(packages)}"


def output(program: str, *arguments: str) -> str:
    """The program's output; empty when it fails or is missing."""
    path = shutil.which(program)
    if not path:
        return ""
    done = subprocess.run([path, *arguments], check=False, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


if __name__ == "__main__":
    sys.exit(main(" ".join(sys.argv[1:])))
