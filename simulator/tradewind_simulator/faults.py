"""Faults on request: what goes wrong in which operation, how often and how many times."""

import random
from enum import StrEnum

from msgspec import Struct


class Mode(StrEnum):
    """How an operation misbehaves."""

    ERROR = "error"  # answer with the error `code`
    HTTP500 = "http500"  # HTML and status 500
    SLOW = "slow"  # do it at once, respond after `seconds`
    HANG = "hang"  # do nothing, and never respond
    DROP = "drop"  # do it, then close the connection without a response
    LATE = "late"  # do it after `seconds`, respond then
    TWICE = "twice"  # do it twice, as a gateway that retries by itself
    DOUBLED = "doubled"  # the body of the response comes twice
    GARBAGE = "garbage"  # do it, and respond 200 with something that is not JSON
    WRONG_SIGNATURE = "wrong_signature"  # reject a valid signature; sign notices wrongly
    DRIFT = "drift"  # numbers come as texts, and texts of digits as numbers


class Fault(Struct):
    """A fault. `after` performs the operation before the error; `count` None never ends."""

    operation: str
    mode: Mode
    code: str = ""
    message: str = ""
    status: int = 0
    rate: float = 1.0
    count: int | None = None
    seconds: float = 0.0
    after: bool = False
    hits: int = 0


class Faults:
    """The faults that were requested; the earliest applies first."""

    def __init__(self, chance: random.Random) -> None:
        self.wanted: list[Fault] = []
        self._chance = chance

    def add(self, fault: Fault) -> None:
        self.wanted.append(fault)

    def clear(self, operation: str | None = None) -> int:
        kept = [f for f in self.wanted if operation is not None and f.operation != operation]
        gone = len(self.wanted) - len(kept)
        self.wanted = kept
        return gone

    def strike(self, *names: str) -> Fault | None:
        """Return the fault for this call, if any; `*` is every operation except notices."""
        for fault in self.wanted:
            mine = fault.operation in names or (fault.operation == "*" and "push" not in names)
            if not mine or fault.count == 0 or self._chance.random() >= fault.rate:
                continue
            if fault.count is not None:
                fault.count -= 1
            fault.hits += 1
            return fault
        return None
