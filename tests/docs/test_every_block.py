"""`make blocks` finds each code block of the documentation that no test has run."""

from pathlib import Path

import pytest
from kit import blocks

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
    monkeypatch.setattr(blocks, "_taken", set())
    for page in ("README.md", PAGE):
        blocks.note(blocks.blocks(page, tmp_path))
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
