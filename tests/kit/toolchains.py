"""Programs that tests need: without one the test is skipped, and in CI it fails."""

import os
import runpy
import shutil
from typing import NoReturn

import pytest

from kit.blocks import ROOT

PACKAGES = {
    "python": {"python3": "python3"},
    "node": {"node": "nodejs"},
    "go": {"go": "golang-go"},
    "php": {"php": "php-cli"},
    "java": {"java": "default-jdk-headless", "javac": "default-jdk-headless"},
}
LANGUAGES = tuple(PACKAGES)
# What only reads the description of a package.
PACKAGERS = {"maven": {"mvn": "maven"}, "composer": {"composer": "composer"}}


def need_toolchain(name: str) -> None:
    """Skip the test, or fail it in CI, if a tool of the language or the packager is missing."""
    for tool, package in {**PACKAGES, **PACKAGERS}[name].items():
        if shutil.which(tool) is None:
            lack(f"{tool} is missing; install the package {package}.")


def deployment_tool(name: str) -> str:
    """Return the path of a program that the page about deployment configures."""
    path: str | None = runpy.run_path(str(ROOT / "tools/setup.py"))["find_tool"](name)
    return path or lack(f"{name} is missing; run: python3 tools/setup.py deploy")


def lack(message: str) -> NoReturn:
    """Skip the test, or fail it in CI, because of something that this machine does not have."""
    if os.environ.get("CI") == "true":
        pytest.fail(message)
    pytest.skip(message)
