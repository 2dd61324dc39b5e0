"""Forms: which of its fields a refusal is about, so that it is said beside that field. Pure."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from tradewind.errors import Refusal

_LONGEST_PATH = 2000


def errors_of(refusal: Refusal) -> Mapping[str, str]:
    """What is wrong, by the name of the field; under "" what belongs to none.

    A pointer into a list, `/events/0`, is about the field that holds the list.
    """
    found: dict[str, str] = {}
    for error in refusal.facts.get("errors", ()):
        name = str(error["pointer"]).strip("/?").partition("/")[0]
        found.setdefault(name, str(error["message"]))
    return found or {"": refusal.detail}


def local_path(text: str | None, *, otherwise: str = "/") -> str:
    """A path of this site, to go to afterwards; anything that could lead elsewhere is not taken."""
    if not text or len(text) > _LONGEST_PATH or not text.isascii() or not text.isprintable():
        return otherwise
    if not text.startswith("/") or text.startswith("//") or "\\" in text or " " in text:
        return otherwise
    return otherwise if urlsplit(text).path in {"/sign-in", "/sign-out", "/live"} else text
