"""Splits a form with files (multipart/form-data, RFC 7578) into its fields. Pure."""

import re
from collections.abc import Mapping, Sequence

_BOUNDARY = re.compile(r';\s*boundary=(?:"([^"\r\n]{1,70})"|([^\s;"]{1,70}))', re.IGNORECASE)
_NAME = re.compile(
    rb'content-disposition:\s*form-data;[^\r\n]*?\bname="([^"\r\n]{1,100})"', re.IGNORECASE
)
_FILE_NAME = re.compile(rb'^[^\r\n]*;[ \t]*filename="([^"\r\n]{1,500})"', re.IGNORECASE)
_DISPOSITION = b"content-disposition:"
_MOST_PARTS = 50
_LONGEST_HEAD = 4096


def split_multipart(content_type: str, body: bytes) -> Sequence[tuple[str, bytes]] | None:
    """Return the names and contents of the fields, in order; None if the body is malformed.

    File names and content types are ignored: whoever sends a file can claim anything. The body is
    searched for its boundary only, so that its size hardly matters.
    """
    parts = _split(content_type, body)
    return None if parts is None else [(name, content) for name, _, content in parts]


def file_names(content_type: str, body: bytes) -> Mapping[str, str]:
    """Return what the sender calls the files, by the names of their fields: to be shown only."""
    names = {}
    for field, head, _ in _split(content_type, body) or ():
        disposition = next(
            (line for line in head.split(b"\r\n") if line.lower().startswith(_DISPOSITION)), b""
        )
        if match := _FILE_NAME.search(disposition):
            names[field] = match[1].decode("utf-8", "replace")
    return names


def _split(content_type: str, body: bytes) -> Sequence[tuple[str, bytes, bytes]] | None:
    """The name, the head and the content of each field."""
    boundary = _BOUNDARY.search(content_type)
    if boundary is None:
        return None
    delimiter = b"--" + (boundary[1] or boundary[2]).encode("latin-1", "replace")
    parts = (b"\r\n" + body).split(b"\r\n" + delimiter, _MOST_PARTS + 1)
    if len(parts) < 2 or len(parts) > _MOST_PARTS + 1 or not parts[-1].startswith(b"--"):  # noqa: PLR2004
        return None
    fields = []
    for part in parts[1:-1]:
        head_end = part.find(b"\r\n\r\n", 0, _LONGEST_HEAD)
        name = _NAME.search(part[:head_end]) if head_end >= 0 else None
        if name is None:
            return None
        fields.append((name[1].decode("utf-8", "replace"), part[:head_end], part[head_end + 4 :]))
    return fields
