"""`make blocks` finds each code block of the documentation that no test has run."""

import subprocess
from functools import partial
from pathlib import Path

import pytest
from kit import blocks, docs

PAGE = "docs/how-to/page.md"
TEXT = """\
1. Start it:

   ```sh
   make run
   ```

```json
{"status": "ready"}
```
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A documentation of two pages, all of whose blocks were run by a test."""
    (tmp_path / "docs/how-to").mkdir(parents=True)
    for page in ("README.md", PAGE):
        (tmp_path / page).write_text(TEXT)
    monkeypatch.setattr(blocks, "RECORD", tmp_path / "build/record")
    monkeypatch.setattr(blocks, "_done", set())
    for page in ("README.md", PAGE):
        blocks.ran(blocks.blocks(page, tmp_path))
        blocks.record("a test")
        blocks.forget()
    return tmp_path


def listed(root: Path) -> list[tuple[str, int]]:
    return [(block.page, block.line) for block in blocks.not_run(root / "build/record", root)]


def test_a_block_that_no_test_has_run_is_found(root: Path) -> None:
    assert listed(root) == []
    assert blocks.blocks(PAGE, root)[0].text == "make run\n"

    with (root / PAGE).open("a") as page:
        page.write("\n```python\nprint(1)\n```\n")
    assert listed(root) == [(PAGE, 11)]

    (root / "README.md").write_text(TEXT.replace("ready", "waiting"))
    assert listed(root) == [("README.md", 7), (PAGE, 11)]

    (root / "build/record").unlink()
    assert len(listed(root)) == 5


def test_a_block_that_is_read_and_never_executed_is_listed(root: Path) -> None:
    (root / "build/record").unlink()
    (command,) = blocks.find("README.md", "sh", root=root)
    assert "make run" in command.text
    with pytest.raises(pytest.fail.Exception), blocks.running("README.md", "sh", root=root):
        pytest.fail("the command failed")
    with pytest.raises(AssertionError, match="must run"):
        blocks.compared([command])
    blocks.record("a test")
    assert ("README.md", 3) in listed(root)

    with blocks.running("README.md", "sh", root=root) as (block,):
        assert subprocess.run(["true"], check=True, input=block.text, text=True).returncode == 0  # noqa: S607
    blocks.record("a test")
    assert ("README.md", 3) not in listed(root)


def test_a_file_that_no_command_reads_and_a_command_that_fails_are_not_recorded(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That a command names a file is not enough: it must have read it."""
    (root / "build/record").unlink()
    saved = "Save this as `{0}`:\n\n```python\nprint('{0}')\n```\n"
    commands = "\n```sh\npython3 run.py\necho unread.py\n```\n\n```sh\nfalse\n```\n"
    (root / PAGE).write_text(saved.format("run.py") + saved.format("unread.py") + commands)
    monkeypatch.setattr(docs, "ROOT", root)
    monkeypatch.setattr(docs, "blocks", partial(blocks.blocks, root=root))

    with pytest.raises(AssertionError, match="ended with 1"):
        docs.check(PAGE, root, seconds=20, environ={})
    blocks.record("a test")
    assert [line for page, line in listed(root) if page == PAGE] == [3, 8, 17]

    (root / PAGE).write_text((root / PAGE).read_text().replace("false", "true"))
    docs.check(PAGE, root, seconds=20, environ={})
    blocks.record("a test")
    assert [line for page, line in listed(root) if page == PAGE] == [8]


@pytest.mark.parametrize(
    "hidden",
    [
        "~~~sh\nmake run\n~~~\n",
        "````sh\nmake run\n````\n",
        '```sh title="run"\nmake run\n```\n',
        "```sh\nmake run\n",
        "> ```sh\n> make run\n> ```\n",
        "- ```sh\n  make run\n  ```\n",
        "\t```sh\n\tmake run\n\t```\n",
    ],
)
def test_a_block_cannot_hide(hidden: str, root: Path) -> None:
    (root / PAGE).write_text(TEXT + "\n" + hidden)

    with pytest.raises(AssertionError, match=PAGE):
        listed(root)


def test_no_block_of_the_documentation_hides() -> None:
    pages = {page: blocks.blocks(page) for page in blocks.pages()}

    assert pages["README.md"]
    assert pages["docs/how-to/deploy.md"]
    assert pages["sdk/go/README.md"]
    assert pages["simulator/README.md"]
