"""The how-to page about testing an integration works as it is printed."""

import re
from pathlib import Path
from textwrap import dedent

import pytest
from kit import docs
from kit.blocks import Block, blocks, ran
from kit.server import free_port

PAGE = "docs/how-to/test-your-integration.md"
SECONDS = 120

pytestmark = pytest.mark.xdist_group("dev")


def test_the_page_runs_as_printed(tmp_path: Path) -> None:
    """The steps of the CI job run too: its service is started as in the first block."""
    page = blocks(PAGE)
    (job,) = [block for block in page if block.language == "yaml"]
    start, *steps = (
        dedent(lines) or line for line, lines in re.findall(r"run: (.*)\n((?: {6}.*\n)*)", job.text)
    )
    ports = {"8000": str(free_port()), "8688": str(free_port())}

    data_dir, _, command = start.partition(" tradewind dev ")
    assert f"export {data_dir}\ntradewind dev {command}\n" in page[0].text
    docs.check(
        PAGE,
        tmp_path,
        seconds=SECONDS,
        environ={},
        replace=ports,
        extra={0: [Block(PAGE, "sh", step, job.line, job.end) for step in steps]},
    )
    ran([job])
