"""Pictures made from nothing: small files that are what they claim to be, or claim too much."""

import struct
import zlib


def png(width: int = 64, height: int = 64, colour: bytes = b"\xd8\x4a\x3c") -> bytes:
    """A whole PNG of one colour."""
    rows = (b"\0" + colour * width) * height
    return png_claiming(width, height, zlib.compress(rows))


def png_claiming(width: int, height: int, data: bytes = b"") -> bytes:
    """A PNG whose header claims a size, whatever its data hold."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = (_chunk(b"IHDR", header), _chunk(b"IDAT", data), _chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def jpeg(width: int = 64, height: int = 48, frame: int = 0xC0, comment: bytes = b"hi") -> bytes:
    """The segments of a JPEG up to its frame; nothing here decodes the rest."""
    app0 = b"\xff\xe0" + struct.pack(">H", 16) + b"JFIF\0" + bytes(9)
    said = b"\xff\xfe" + struct.pack(">H", len(comment) + 2) + comment
    size = b"\xff" + bytes([frame]) + struct.pack(">HBHHB", 11, 8, height, width, 1) + bytes(3)
    return b"\xff\xd8" + app0 + said + size + b"\xff\xd9"


def webp_lossy(width: int = 64, height: int = 48) -> bytes:
    frame = bytes(3) + b"\x9d\x01\x2a" + struct.pack("<HH", width, height)
    return _riff(b"VP8 ", frame)


def webp_lossless(width: int = 64, height: int = 48) -> bytes:
    return _riff(b"VP8L", b"\x2f" + struct.pack("<I", (width - 1) | (height - 1) << 14))


def webp_extended(width: int = 64, height: int = 48) -> bytes:
    sides = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return _riff(b"VP8X", bytes(4) + sides)


def _riff(name: bytes, data: bytes) -> bytes:
    body = b"WEBP" + name + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", len(body)) + body
