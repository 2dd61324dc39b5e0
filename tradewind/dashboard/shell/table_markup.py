"""Marks in what is shown: the column of a table's cell, and the moments in a sentence. Pure."""

import re
from collections.abc import Sequence

from markupsafe import Markup, escape

_OPENS = re.compile(r"<(tr|td)(?=[\s>])")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")


def labelled(rows: Markup, columns: Sequence[str | tuple[str, str]]) -> Markup:
    """The rows of a table, each cell with the name of its column in `data-label`.

    What comes from outside was escaped before, so that a tag is one of ours.
    """
    names = [column if isinstance(column, str) else column[0] for column in columns]
    at = -1

    def label(opens: re.Match[str]) -> str:
        nonlocal at
        at = -1 if opens[1] == "tr" else at + 1
        name = names[at] if 0 <= at < len(names) else ""
        return f'{opens[0]} data-label="{escape(name)}"' if name else opens[0]

    return Markup(_OPENS.sub(label, rows))  # noqa: S704


def timed(sentence: str) -> Markup:
    """A sentence whose moments, spelled as in the API, a browser says in its own zone."""
    marked = _MOMENT.sub(
        r'<time datetime="\g<0>" title="\g<0>">\g<0></time>', str(escape(sentence))
    )
    return Markup(marked)  # noqa: S704 - escaped above
