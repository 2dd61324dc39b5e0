"""A call of an operation, in either dialect."""

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from tradewind_simulator.model import App
from tradewind_simulator.notices import Notices
from tradewind_simulator.responses import BusinessError, Response
from tradewind_simulator.tokens import Tokens
from tradewind_simulator.world import World

T = TypeVar("T")


class GatewayError(Exception):
    """The gateway rejected a call before it reached an operation."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Call(Struct):
    """What an operation may use. `at` is simulated time, `base` the origin of our own URL."""

    world: World
    tokens: Tokens
    notices: Notices
    app: App
    params: dict[str, str]
    base: str
    missing: Callable[[str], GatewayError]
    at: float = 0.0
    real: float = 0.0

    def text(self, name: str) -> str:
        """Return a required parameter."""
        value = self.params.get(name, "")
        if not value:
            raise self.missing(name)
        return value

    def number(self, name: str, default: int | None = None) -> int:
        value = self.params.get(name, "")
        if not value and default is not None:
            return default
        try:
            return int(self.text(name).strip('"'))
        except ValueError:
            raise self.missing(name) from None

    def read(self, name: str, shape: type[T]) -> T:
        """Decode a parameter that holds JSON; numbers and texts are accepted for each other."""
        try:
            return msgspec.json.decode(self.text(name), type=shape, strict=False)
        except msgspec.MsgspecError:
            raise self.missing(name) from None


class Operation(Struct, frozen=True):
    """An operation. `alias` is its name in faults and counters, the same in both dialects."""

    name: str
    alias: str
    run: Callable[[Call], Any]
    error_body: Callable[[BusinessError], Any]
    needs_token: bool = True


class DialectFormat(Struct, frozen=True):
    """How a dialect writes responses and errors, and which codes are its gateway's."""

    error: Callable[[str, str, int], Response]
    is_gateway_code: Callable[[str], bool]
    bad_signature: tuple[str, str]
    encode: Callable[[Any], Response]
