"""The descriptions of the packages for Java and PHP, read by the tools that install them."""

from pathlib import Path

from kit.sdk_examples import SDK, run
from kit.toolchains import need_toolchain


def test_maven_accepts_the_package_for_java(tmp_path: Path) -> None:
    """Offline, and with an empty repository, so that it needs nothing else."""
    need_toolchain("maven")

    repository = f"-Dmaven.repo.local={tmp_path}"
    done = run("mvn", "-o", "-q", "-B", repository, "validate", cwd=SDK / "java")

    assert done.returncode == 0, done.stdout + done.stderr


def test_composer_accepts_the_package_for_php(tmp_path: Path) -> None:
    need_toolchain("composer")
    environ = {"COMPOSER_HOME": str(tmp_path), "COMPOSER_ALLOW_SUPERUSER": "1"}

    done = run(
        "composer", "validate", "--strict", "--no-interaction", cwd=SDK / "php", environ=environ
    )

    assert done.returncode == 0, done.stdout + done.stderr
