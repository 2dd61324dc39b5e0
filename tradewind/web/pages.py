"""Plain pages: the few that people see without the dashboard, readable in any browser."""

from html import escape

from tradewind.web.answer import HTML, Answer

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2430; --soft: #55606e; --paper: #fbfbf9;
        --accent: #0b5cad; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ee; --soft: #a3adba; --paper: #14181e; --accent: #7db8f5; } }
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper);
       margin: 0 auto; padding: 3rem 1.25rem; max-width: 40rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .75rem; }
p { margin: 0 0 1rem; } a { color: var(--accent); }
.soft, .code { color: var(--soft); font-size: .9rem; }
code { font-family: ui-monospace, monospace; font-size: .92em; }
label { display: block; margin: 0 0 1rem; } label span { display: block; font-weight: 600; }
input { font: inherit; width: 100%; box-sizing: border-box; padding: .5rem .6rem; color: inherit;
        background: transparent; border: 1px solid var(--soft); border-radius: 6px; }
button { font: inherit; font-weight: 600; padding: .55rem 1.1rem; border: 0; border-radius: 6px;
         color: var(--paper); background: var(--accent); cursor: pointer; }
.wrong { border-left: 4px solid #c0392b; padding: .4rem .8rem; margin-bottom: 1rem; }
li { margin: 0 0 .3rem; }
"""

# A sail in the wind.
ICON = b"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="7" fill="#0b5cad"/>
<path d="M15 5c7 4 9 10 9 15l-9 1z" fill="#fff"/>
<path d="M13 8c-2 4-4 8-6 13l6-.5z" fill="#cfe4fa"/>
<path d="M5 24c4 2 7 2 11 0s7-2 11 0" fill="none" stroke="#fff" stroke-width="2.4"
 stroke-linecap="round"/></svg>"""
ICON_PATH = "/icon.svg"
ICON_LINK = f'<link rel="icon" href="{ICON_PATH}" type="image/svg+xml">'

STYLE_PATH = "/pages.css"
STYLE = _STYLE.strip().encode()

_CSP = (
    b"default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; "
    b"frame-ancestors 'none'; base-uri 'none'"
)


def page(title: str, body: str, *, status: int = 200) -> Answer:
    """A page with a heading; `body` is HTML that was escaped where it needed to be."""
    html = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)} · Tradewind</title>"
        f'{ICON_LINK}<link rel="stylesheet" href="{STYLE_PATH}"></head>'
        f"<body><main><h1>{escape(title)}</h1>{body}</main></body></html>"
    )
    headers = [(b"content-security-policy", _CSP), (b"cache-control", b"no-store")]
    return Answer(html.encode(), status, headers, HTML)


def paragraphs(text: str) -> str:
    """A docstring as HTML: blank lines part paragraphs, backticks mark code."""
    blocks = [" ".join(block.split()) for block in text.strip().split("\n\n")]
    return "".join(f"<p>{_with_code(block)}</p>" for block in blocks)


def _with_code(text: str) -> str:
    pieces = escape(text).split("`")
    return "".join(
        f"<code>{piece}</code>" if index % 2 else piece for index, piece in enumerate(pieces)
    )
