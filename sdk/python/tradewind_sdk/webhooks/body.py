"""Reads the body of a request up to a limit, and never more."""

from collections.abc import Callable

from tradewind_sdk.webhooks.receiver import INCOMPLETE, LENGTH_REQUIRED, TOO_LARGE, Answer

_LONGEST_NUMBER = 15


def read_body(read: Callable[[int], bytes], length: str | None, limit: int) -> bytes | Answer:
    """The body, or the answer to a request whose body cannot be read.

    `length` is the Content-Length: None if there is none, empty if the input ends by itself.
    """
    if length is None:
        return LENGTH_REQUIRED
    if length and not (length.isascii() and length.isdigit() and len(length) <= _LONGEST_NUMBER):
        return Answer(400, "Content-Length is not a number.", {"Connection": "close"})
    if length and int(length) > limit:
        return TOO_LARGE
    wanted = int(length) if length else limit + 1
    body = bytearray()
    while len(body) < wanted:
        chunk = read(wanted - len(body))
        if not chunk:
            break
        body += chunk
    if len(body) > limit:
        return TOO_LARGE
    if length and len(body) < wanted:
        return INCOMPLETE
    return bytes(body)
