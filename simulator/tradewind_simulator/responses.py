"""The responses of operations, and the error that an operation raises."""

from typing import Any

import msgspec

_JSON = msgspec.json.Encoder()


class Response(msgspec.Struct, frozen=True):
    """A response. `silence`: send nothing for this many real seconds, then disconnect."""

    body: bytes
    status: int = 200
    content_type: bytes = b"application/json;charset=utf-8"
    headers: tuple[tuple[bytes, bytes], ...] = ()
    silence: float | None = None


class BusinessError(Exception):
    """An operation failed; `extra` is what its error body shows besides."""

    def __init__(self, code: str, message: str, **extra: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.extra = extra


def json(value: Any, status: int = 200) -> Response:
    return Response(_JSON.encode(value), status)


def html(text: str, status: int = 200) -> Response:
    return Response(text.encode(), status, b"text/html;charset=utf-8")


def redirect(url: str) -> Response:
    return Response(b"", 302, b"text/plain", ((b"location", url.encode()),))
