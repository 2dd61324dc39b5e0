"""Parts of every page: the icon, and HTML from docstrings."""

from html import escape

# A sail in the wind.
ICON = b"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="7" fill="#0b5f6b"/>
<path d="M15 5c7 4 9 10 9 15l-9 1z" fill="#fff"/>
<path d="M13 8c-2 4-4 8-6 13l6-.5z" fill="#cfe4fa"/>
<path d="M5 24c4 2 7 2 11 0s7-2 11 0" fill="none" stroke="#fff" stroke-width="2.4"
 stroke-linecap="round"/></svg>"""
ICON_PATH = "/icon.svg"


def paragraphs(text: str) -> str:
    """A docstring as HTML: blank lines separate paragraphs, backticks mark code."""
    blocks = [" ".join(block.split()) for block in text.strip().split("\n\n")]
    return "".join(f"<p>{with_code(block)}</p>" for block in blocks)


def with_code(text: str) -> str:
    """A sentence as HTML: backticks mark code."""
    pieces = escape(text).split("`")
    return "".join(
        f"<code>{piece}</code>" if index % 2 else piece for index, piece in enumerate(pieces)
    )
