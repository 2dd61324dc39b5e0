"""Sanitises text in marketplace JSON that PostgreSQL cannot store."""

import re

# Each escape is matched whole, so that an escaped backslash does not begin another escape.
_ESCAPE = re.compile(
    rb"\\(?:(?P<null>u0000)"
    rb"|u[dD][89aAbB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<surrogate>u[dD][89a-fA-F][0-9a-fA-F]{2})"
    rb"|.)",
    re.DOTALL,
)
_SUSPICIOUS = (rb"\u0000", rb"\ud", rb"\uD")


def sanitize(body: bytes) -> bytes:
    """Replace U+0000 and lone surrogates by U+FFFD.

    Sellers and buyers write these texts: a single such character in a title or a tracking number
    would keep a whole order, or a whole page of products, from being read or stored.
    """
    if not any(escape in body for escape in _SUSPICIOUS):
        return body
    return _ESCAPE.sub(_replacement, body)


def _replacement(escape: re.Match[bytes]) -> bytes:
    return rb"\ufffd" if escape["null"] or escape["surrogate"] else escape[0]
