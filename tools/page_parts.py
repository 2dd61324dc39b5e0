"""Replaces the part of a page that a command writes, between two markers. Pure."""

from collections.abc import Sequence

_BEGIN, _END = "<!-- begin {name}: written by `{command}` -->", "<!-- end {name} -->"


def with_part(page: str, name: str, command: str, *blocks: str) -> str:
    """The page with these blocks in the place of the last ones."""
    begin, end = _BEGIN.format(name=name, command=command), _END.format(name=name)
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"The page has no part between {begin} and {end}.")
    return before + "\n\n".join([begin, *blocks, end]) + after


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])
