"""Conditional requests: whether a client has the current representation (RFC 9110)."""

import re

from tradewind.web.request import Request

_ENTITY_TAG = re.compile(r'(?:W/)?("[\x21\x23-\x7e\x80-\xff]*")')


def matches(request: Request, entity_tag: str) -> bool:
    """Whether `If-None-Match` names this entity tag, so that a GET is answered with 304.

    Tags are compared weakly, `W/"1"` like `"1"`, as section 13.1.2 asks. `*` is any
    representation, and there is one. Several lines of the header are one list.
    """
    lines = request.headers.getlist("if-none-match")
    if not lines:
        return False
    listed = ",".join(lines)
    return listed.strip() == "*" or _opaque(entity_tag) in _ENTITY_TAG.findall(listed)


def _opaque(entity_tag: str) -> str:
    return entity_tag.removeprefix("W/")
