"""What is told once: a notice, or a secret, from a form to the page that follows it."""

import base64
import binascii
from typing import Literal
from uuid import UUID

import msgspec

from tradewind.storage.keyring import Keyring
from tradewind.storage.sealing import CannotUnseal, seal, unseal

COOKIE = "tradewind_flash"
SECONDS = 60
_LONGEST_TEXT = 500

Tone = Literal["good", "bad", "waiting", "plain"]


class Shown(msgspec.Struct, frozen=True):
    """A secret that is shown once: `kind` says what it is (`api_key`, `webhook_secret`, `link`).

    `subject` is the id of what it belongs to, for a page that says more about that one.
    """

    kind: str
    value: str
    label: str = ""
    subject: str = ""


class Flash(msgspec.Struct, frozen=True):
    """One notice, and perhaps a secret. Nothing of it is in a URL or in the database."""

    text: str = ""
    tone: Tone = "good"
    secret: Shown | None = None


def write(keyring: Keyring, session_id: UUID, flash: Flash) -> str:
    """The cookie's value: sealed, and for this session only.

    Browsers drop a cookie of more than 4 KiB; a text may hold what a marketplace said.
    """
    if len(flash.text) > _LONGEST_TEXT:
        flash = msgspec.structs.replace(flash, text=f"{flash.text[:_LONGEST_TEXT]}…")
    sealed = seal(keyring, msgspec.json.encode(flash), _place(session_id))
    return base64.urlsafe_b64encode(sealed).decode().rstrip("=")


def read(keyring: Keyring, session_id: UUID, value: str) -> Flash | None:
    """What was written for this session; None for anything else."""
    try:
        text = value.encode("ascii")
        sealed = base64.b64decode(text + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
        opened = unseal(keyring, sealed, _place(session_id))
        return msgspec.json.decode(opened, type=Flash)
    except (UnicodeEncodeError, binascii.Error, CannotUnseal, msgspec.MsgspecError):
        return None


def _place(session_id: UUID) -> str:
    return f"flash/{session_id}"
