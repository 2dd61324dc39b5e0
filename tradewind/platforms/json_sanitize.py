"""Letters that are none: what marketplaces' JSON can spell, and no database and no answer holds."""

import re

# Every escape is looked at whole, so that a backslash which is itself escaped begins none.
_ESCAPE = re.compile(
    rb"\\(?:(?P<none>u0000)"
    rb"|u[dD][89aAbB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})"
    rb"|.)",
    re.DOTALL,
)
_SUSPICIOUS = (rb"\u0000", rb"\ud", rb"\uD")


def sanitize(body: bytes) -> bytes:
    """The same JSON, with U+FFFD for U+0000 and for halves of letters.

    Sellers and buyers write what is in it: one such letter in a title or a tracking number would
    keep a whole order, or a whole page of products, from being read or stored.
    """
    if not any(mark in body for mark in _SUSPICIOUS):
        return body
    return _ESCAPE.sub(_letter, body)


def _letter(found: re.Match[bytes]) -> bytes:
    return rb"\ufffd" if found["none"] or found["half"] else found[0]
