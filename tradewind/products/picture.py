"""Recognises a picture by its first bytes, and reads its size in pixels without decoding it. Pure.

A picture is passed on to a marketplace and never shown or stored here, so nothing decodes it: what
a decoder would do with a file of a few bytes and millions of pixels does not matter. Such a file is
rejected all the same, since the marketplace would have to decode it.
"""

from dataclasses import dataclass
from struct import error as MalformedStruct  # noqa: N812 - a class
from struct import unpack_from

LARGEST_IMAGE = 3 * 1024 * 1024
SHORTEST_SIDE = 16
LONGEST_SIDE = 10_000
_MOST_PIXELS = 50_000_000
_MOST_SEGMENTS = 1000
_MARKER = 0xFF
_VP8L = 0x2F
_VP8X_LENGTH = 30
_WITHOUT_LENGTH = frozenset({0x01, *range(0xD0, 0xDA)})
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


class UnusablePicture(ValueError):
    """Why a file cannot be searched by, as a sentence that follows "Must be"."""


@dataclass(frozen=True, slots=True)
class PictureSize:
    """Width and height in pixels."""

    width: int
    height: int


def check_picture(data: bytes) -> PictureSize:
    """Return the size of a JPEG, PNG or WebP picture; UnusablePicture for anything else."""
    if len(data) > LARGEST_IMAGE:
        raise UnusablePicture("a picture of at most 3 MiB")
    try:
        size = _read_size(data)
    except (MalformedStruct, IndexError):
        size = None
    if size is None:
        raise UnusablePicture("a JPEG, PNG or WebP picture")
    sides = sorted((size.width, size.height))
    if sides[0] < SHORTEST_SIDE or sides[1] > LONGEST_SIDE or sides[0] * sides[1] > _MOST_PIXELS:
        raise UnusablePicture(
            f"a picture of {SHORTEST_SIDE} to {LONGEST_SIDE:,} pixels a side, and of at most "
            f"{_MOST_PIXELS // 1_000_000} megapixels; it has {size.width:,} x {size.height:,}"
        )
    return size


def _read_size(data: bytes) -> PictureSize | None:
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return _png(data)
    if data.startswith(b"\xff\xd8\xff"):
        return _jpeg(data)
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return _webp(data)
    return None


def _png(data: bytes) -> PictureSize | None:
    """The first chunk of a PNG must be its header."""
    return PictureSize(*unpack_from(">II", data, 16)) if data[12:16] == b"IHDR" else None


def _jpeg(data: bytes) -> PictureSize | None:
    """A JPEG is a list of segments; the one that begins a frame has the size."""
    at = 2
    for _ in range(_MOST_SEGMENTS):
        while data[at] == _MARKER and data[at + 1] == _MARKER:  # padding
            at += 1
        if data[at] != _MARKER:
            return None
        marker = data[at + 1]
        at += 2
        if marker in _FRAMES:
            height, width = unpack_from(">HH", data, at + 3)
            return PictureSize(width, height)
        if marker not in _WITHOUT_LENGTH:
            at += max(unpack_from(">H", data, at)[0], 2)
    return None


def _webp(data: bytes) -> PictureSize | None:
    kind = data[12:16]
    if kind == b"VP8X":
        if len(data) < _VP8X_LENGTH:
            return None
        width, height = data[24:27], data[27:30]
        return PictureSize(
            int.from_bytes(width, "little") + 1, int.from_bytes(height, "little") + 1
        )
    if kind == b"VP8L" and data[20] == _VP8L:
        bits = unpack_from("<I", data, 21)[0]
        return PictureSize((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    if kind == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        width, height = unpack_from("<HH", data, 26)
        return PictureSize(width & 0x3FFF, height & 0x3FFF)
    return None
