"""The toolchains of the kits: tests of a language whose tools are missing are skipped; CI fails."""

import os
import shutil

import pytest

PACKAGES = {
    "python": {"python3": "python3"},
    "node": {"node": "nodejs"},
    "go": {"go": "golang-go"},
    "php": {"php": "php-cli"},
    "java": {"java": "default-jdk-headless", "javac": "default-jdk-headless"},
}
LANGUAGES = tuple(PACKAGES)


def need_toolchain(language: str) -> None:
    """Skip the test, or fail it in CI, if a tool of the language is missing."""
    for tool, package in PACKAGES[language].items():
        if shutil.which(tool) is None:
            message = f"{tool} is missing; install the package {package}."
            if os.environ.get("CI") == "true":
                pytest.fail(message)
            pytest.skip(message)
