"""Checks this SDK with a file of signature vectors: `python3 -m tradewind_sdk.check FILE`.

It exits 0 if every vector verifies and every vector with one changed byte is refused, 1 if not,
and 2 if the file cannot be used.
"""

import base64
import binascii
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tradewind_sdk.webhooks.verify import (
    SIGNATURE_HEADER,
    TIMESTAMP_HEADER,
    VerificationError,
    verify,
)

# Every byte of a body is changed in turn, as long as no more bytes than this are hashed for it.
_HASHED_BYTES = 32 * 1024 * 1024
_FEWEST_POSITIONS = 16
_LONGEST_TIMESTAMP = 15


class UnusableFile(Exception):
    """The file holds no vectors that can be checked."""


class CheckFailed(Exception):
    """A vector was refused, or a changed one was accepted."""


@dataclass(frozen=True)
class Vector:
    """One signed webhook."""

    id: str
    secret: str
    timestamp: str
    body: bytes
    signature: str


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        sys.stderr.write("Usage: python3 -m tradewind_sdk.check FILE\n")
        return 2
    try:
        vectors, wrong_signatures = read(Path(arguments[0]))
        count = sum(check(vector) for vector in vectors) + check_refused(wrong_signatures)
    except UnusableFile as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except CheckFailed as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"python: {len(vectors)} vectors verified, {count} changed ones refused.\n")
    return 0


def check(vector: Vector) -> int:
    """Check a vector and its changes, or raise CheckFailed; returns how many changes there were."""
    if not is_accepted(vector):
        raise CheckFailed(f"Vector {vector.id} does not verify.")
    count = 0
    for what, changed in changes(vector):
        if is_accepted(changed):
            raise CheckFailed(f"Vector {vector.id} was accepted with a changed {what}.")
        count += 1
    return count


def check_refused(vectors: list[Vector]) -> int:
    """Check that none is accepted, or raise CheckFailed; returns how many there were."""
    for vector in vectors:
        if is_accepted(vector):
            raise CheckFailed(f"The wrong signature {vector.id} was accepted.")
    return len(vectors)


def is_accepted(vector: Vector) -> bool:
    """Verify at the vector's time, so that only the signature decides."""
    headers = {SIGNATURE_HEADER: vector.signature, TIMESTAMP_HEADER: vector.timestamp}
    # A timestamp that was changed into something else than digits has no time.
    now = int(vector.timestamp) if _is_number(vector.timestamp) else 0
    try:
        verify(vector.secret, headers, vector.body, now=now)
    except (VerificationError, ValueError):
        return False
    return True


def changes(vector: Vector) -> Iterator[tuple[str, Vector]]:
    """The vector with one byte changed: in the body, the timestamp, the secret or the signature."""
    for body in changed_bodies(vector.body):
        yield "body", replace(vector, body=body)
    for text in changed_texts(vector.timestamp, "0123456789x"):
        yield "timestamp", replace(vector, timestamp=text)
    for text in changed_texts(vector.secret, "AB"):
        yield "secret", replace(vector, secret=text)
    for text in changed_texts(vector.signature, "0f"):
        yield "signature", replace(vector, signature=text)
    for position, character in enumerate(vector.signature):
        if character.upper() != character:
            text = (
                vector.signature[:position] + character.upper() + vector.signature[position + 1 :]
            )
            yield "signature", replace(vector, signature=text)


def changed_bodies(body: bytes) -> Iterator[bytes]:
    if not body:  # there is no byte to change
        yield b"\0"
        return
    most = max(_FEWEST_POSITIONS, _HASHED_BYTES // len(body))
    step = max(1, len(body) // most)
    for position in sorted({*range(0, len(body), step), len(body) - 1}):
        yield body[:position] + bytes([body[position] ^ 1]) + body[position + 1 :]


def changed_texts(text: str, alphabet: str) -> Iterator[str]:
    """The text with one character replaced by another of the alphabet, at every position."""
    for position, character in enumerate(text):
        for other in alphabet:
            if other != character:
                yield text[:position] + other + text[position + 1 :]


def read(path: Path) -> tuple[list[Vector], list[Vector]]:
    """The vectors of a file, and the signatures by wrong rules that must be refused."""
    try:
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise UnusableFile(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise UnusableFile(f"{path} is not JSON.") from None
    rows = content.get("vectors") if isinstance(content, dict) else None
    if not isinstance(rows, list) or not rows:
        raise UnusableFile(f"{path} has no vectors.")
    vectors = [vector for number, row in enumerate(rows) for vector in _vectors_of(row, number)]
    by_id = {vector.id: vector for vector in vectors}
    wrong_signatures = []
    for row in content.get("negative") or []:
        if not isinstance(row, dict) or row.get("not_equal_to") not in by_id:
            raise UnusableFile(f"{path}: an item of `negative` names no vector.")
        vector = by_id[row["not_equal_to"]]
        signature = f"sha256={_text(row, 'hex', 'negative')}"
        wrong_signatures.append(replace(vector, id=str(row.get("id")), signature=signature))
    return vectors, wrong_signatures


def _vectors_of(row: Any, number: int) -> Iterator[Vector]:
    if not isinstance(row, dict):
        raise UnusableFile(f"Vector {number} is not an object.")
    name = row.get("id")
    name = name if isinstance(name, str) else str(number)
    secret, timestamp = (_text(row, key, name) for key in ("secret", "timestamp"))
    if not _is_number(timestamp):
        raise UnusableFile(f"Vector {name}: timestamp is not a number of seconds.")
    try:
        body = (
            base64.b64decode(_text(row, "body_base64", name), validate=True)
            if "body_base64" in row
            else _text(row, "body_text", name).encode()
        )
    except binascii.Error:
        raise UnusableFile(f"Vector {name}: body_base64 is not base64.") from None
    # The signature may stand in the file twice; both have to be right.
    signatures = set()
    if "expected_hex" in row:
        signatures.add(f"sha256={_text(row, 'expected_hex', name)}")
    if "expected_header" in row or not signatures:
        signatures.add(_text(row, "expected_header", name))
    for signature in sorted(signatures):
        yield Vector(name, secret, timestamp, body, signature)


def _text(row: dict[str, Any], key: str, name: str) -> str:
    value = row.get(key)
    if not isinstance(value, str):
        raise UnusableFile(f"Vector {name}: {key} is missing or not a text.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise UnusableFile(f"Vector {name}: {key} is not Unicode text.") from None
    return value


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _LONGEST_TIMESTAMP


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
