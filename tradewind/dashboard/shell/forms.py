"""Forms: the amounts in them, and which field an error is about, to say it beside that. Pure."""

import re
from collections.abc import Mapping
from decimal import Decimal
from urllib.parse import urlsplit

from tradewind.errors import ApiError, ValidationFailed

_LONGEST_PATH = 2000
_AMOUNT = re.compile(r"[0-9]{1,10}(\.[0-9]{1,2})?")


def errors_of(refusal: ApiError) -> Mapping[str, str]:
    """What is wrong, by the name of the field; under "" what belongs to none.

    A pointer into a list, `/events/0`, is about the field that holds the list.
    """
    found: dict[str, str] = {}
    for error in refusal.facts.get("errors", ()):
        name = str(error["pointer"]).strip("/?").partition("/")[0]
        found.setdefault(name, str(error["message"]))
    return found or {"": refusal.detail}


def amount_fen(name: str, text: str) -> int | None:
    """An amount in CNY as people type it, in fen; None where the field is empty."""
    text = text.strip()
    if not text:
        return None
    if not _AMOUNT.fullmatch(text):
        raise ValidationFailed(f"/{name}", "Write an amount in CNY, such as 12.50.")
    return int(Decimal(text) * 100)


def required_amount_fen(name: str, text: str) -> int:
    """The amount that the page showed. A form without it names no amount, and does nothing."""
    fen = amount_fen(name, text)
    if fen is None:
        raise ValidationFailed(
            f"/{name}", "The amount is missing: open the page again, and send it from there."
        )
    return fen


def local_path(text: str | None, *, otherwise: str = "/") -> str:
    """A path of this site, to go to afterwards; anything that could lead elsewhere is not taken."""
    if not text or len(text) > _LONGEST_PATH or not text.isascii() or not text.isprintable():
        return otherwise
    if not text.startswith("/") or text.startswith("//") or "\\" in text or " " in text:
        return otherwise
    return otherwise if urlsplit(text).path in {"/sign-in", "/sign-out", "/live"} else text
