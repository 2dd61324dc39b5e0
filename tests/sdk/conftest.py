"""The SDKs for PHP and Java, ready to run."""

import subprocess
from pathlib import Path

import pytest
from kit.toolchains import need_toolchain

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def java_classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled SDK for Java, with the cases of the tests."""
    need_toolchain("java")
    folder = tmp_path_factory.mktemp("classes")
    sdk = ROOT / "sdk/java"
    sources = [
        *(sdk / "src/main/java").rglob("*.java"),
        ROOT / "tests/sdk/java/Cases.java",
    ]
    compiler = ["javac", "--release", "17", "-Xlint:all", "-Werror", "-encoding", "UTF-8"]
    subprocess.run([*compiler, "-d", str(folder), *map(str, sources)], check=True)
    return folder
