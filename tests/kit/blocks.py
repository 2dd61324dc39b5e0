"""Code blocks of the documentation, and the record of those that a test has run.

A test runs a block in `running`, or says afterwards that it `ran`, or leaves a whole page to
`kit.docs.check`. To find a block, or to compare its text, is not to run it; only output may be
`compared`. When the test has passed, conftest records the fingerprint of the block, which is made
of its page and its text. A block that is new or was changed has another fingerprint, so `make
blocks` lists it until a test has run it.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
RECORD = ROOT / "build" / "blocks-run.txt"
FOLDERS = ("docs", "sdk", "simulator")
OUTPUT = ("console", "text", "json")
NOT_OURS = {"node_modules", "target", ".venv"}

_FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>[\w-]*)\n(?P<text>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
# Whatever Markdown may read as the start or the end of a block.
_LOOKS_LIKE_A_FENCE = re.compile(r"^[ \t>*+-]*(`{3,}|~{3,})", re.MULTILINE)
_done: set["Block"] = set()


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its page, the word after its fence, its text, and where it is."""

    page: str
    language: str
    text: str
    line: int
    end: int

    @property
    def fingerprint(self) -> str:
        content = f"{self.page}\n{self.language}\n{self.text}"
        return hashlib.sha256(content.encode()).hexdigest()

    def follows(self, other: "Block") -> bool:
        """Tell whether only blank lines are between the two."""
        return self.line - other.end <= 2


def pages(root: Path = ROOT) -> list[str]:
    """Return every page whose blocks tests have to run, by its path in the repository."""
    paths = [path for folder in FOLDERS for path in (root / folder).rglob("*.md")]
    ours = [path.relative_to(root) for path in paths]
    return ["README.md", *sorted(str(path) for path in ours if not NOT_OURS & {*path.parts})]


def blocks(page: str, root: Path = ROOT) -> list[Block]:
    """Return the fenced blocks of a page."""
    text = (root / page).read_text(encoding="utf-8")
    parsed = [
        Block(
            page,
            match["language"],
            re.sub(f"^{match['indent']}", "", match["text"], flags=re.MULTILINE),
            text.count("\n", 0, match.start()) + 1,
            text.count("\n", 0, match.end()) + 1,
        )
        for match in _FENCE.finditer(text)
    ]
    assert len(_LOOKS_LIKE_A_FENCE.findall(text)) == 2 * len(parsed), (
        f"{page} has a block that is not written as ```language, on a line of its own"
    )
    return parsed


def find(page: str, *languages: str, containing: str = "", root: Path = ROOT) -> list[Block]:
    """Return blocks of a page, of which nothing is noted."""
    every = blocks(page, root)
    chosen = [block for block in every if block.language in languages and containing in block.text]
    assert chosen, f"{page} has no such block"
    return chosen


@contextmanager
def running(
    page: str, *languages: str, containing: str = "", root: Path = ROOT
) -> Iterator[list[Block]]:
    """Give blocks to the code below, which runs them; they are noted if it comes to its end."""
    chosen = find(page, *languages, containing=containing, root=root)
    yield chosen
    ran(chosen)


def ran(chosen: Iterable[Block]) -> None:
    """Note that the running test has run these blocks to their end, and that they worked."""
    _done.update(chosen)


def compared(chosen: Iterable[Block]) -> None:
    """Note that the running test has compared these blocks of output with what is real."""
    outputs = list(chosen)
    wrong = [block for block in outputs if block.language not in OUTPUT]
    assert not wrong, f"a test must run these blocks, and not only compare them: {wrong}"
    _done.update(outputs)


def record(test: str) -> None:
    """Record the blocks that were run since `forget`. Processes may do so at the same time."""
    if _done:
        lines = "".join(f"{block.fingerprint} {test}\n" for block in _done)
        RECORD.parent.mkdir(exist_ok=True)
        with RECORD.open("ab", buffering=0) as file:
            file.write(lines.encode())


def forget() -> None:
    _done.clear()


def not_run(recorded: Path = RECORD, root: Path = ROOT) -> list[Block]:
    """Return the blocks that no test has run since the record was begun."""
    lines = recorded.read_text(encoding="utf-8").splitlines() if recorded.exists() else []
    ran = {line.partition(" ")[0] for line in lines}
    every = (block for page in pages(root) for block in blocks(page, root))
    return [block for block in every if block.fingerprint not in ran]
