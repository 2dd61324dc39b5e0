"""The linters of deploy/: programs of others that judge our files."""

import os
import subprocess

from kit.blocks import ROOT
from kit.toolchains import deployment_tool, lack

FOLDER = ROOT / "build" / "linters"


def run(program: str, *words: str, **environ: str) -> str:
    """Run a linter, and return what it writes; what it objects to fails the test."""
    done = subprocess.run(
        [deployment_tool(program), *words],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, **environ},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def python_packages() -> str:
    """Return the folder of the linters that are modules of Python."""
    folder = FOLDER / "python"
    if not folder.is_dir():
        lack("The linters are missing; run: python3 tools/setup.py deploy")
    return str(folder)
