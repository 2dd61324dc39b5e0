"""Prints the map: every folder and file with its first line."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TREES = ("tradewind", "simulator", "sdk", "tests", "bench", "tools")
KINDS = {".py", ".sql", ".js", ".css", ".html", ".php", ".java", ".go"}
COMMENT = re.compile(r"^\s*(?:--|//|/\*+|<!--|\{#-?)\s*(.*?)\s*(?:\*/|-->|-?#\})?\s*$")


def main() -> None:
    lines = [line for tree in TREES if (ROOT / tree).is_dir() for line in drawn(ROOT / tree, "")]
    width = max(len(name) for name, _ in lines)
    for name, promise in lines:
        print(f"{name:<{width}}  {promise}".rstrip())


def drawn(folder: Path, indent: str) -> Iterator[tuple[str, str]]:
    """A folder, then its files, then the folders in it; those with nothing to say are left out."""
    promise = charter(folder / "__init__.py")
    files = sorted(
        path
        for path in folder.iterdir()
        if path.suffix in KINDS and path.is_file() and path.name != "__init__.py"
    )
    folders = sorted(
        path for path in folder.iterdir() if path.is_dir() and path.name != "__pycache__"
    )
    inside = [line for path in folders for line in drawn(path, indent + "  ")]
    if promise or files or inside:
        yield f"{indent}{folder.name}/", promise
        for path in files:
            name = path.stem if path.suffix == ".py" else path.name
            yield f"{indent}  {name}", charter(path)
        yield from inside


def charter(path: Path) -> str:
    """The first line of the docstring or, in files that are not Python, the comment at the top."""
    if not path.is_file():
        return ""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
    lines = text.removeprefix("<?php\n").lstrip("\n").partition("\n")
    comment = COMMENT.match(lines[0])
    return comment[1] if comment else ""


if __name__ == "__main__":
    main()
