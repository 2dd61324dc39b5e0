"""Passwords: argon2id on threads of their own, never on the event loop."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from msgspec import Meta

from tradewind.auth.errors import TooManyPasswords
from tradewind.observability.metrics import PASSWORD_CHECKS

T = TypeVar("T")

MINIMUM = 12
MAXIMUM = 1000

Password = Annotated[
    str,
    Meta(
        min_length=MINIMUM,
        max_length=MAXIMUM,
        description="At least 12 characters.",
        examples=["correct horse battery"],
    ),
]

_HASHER = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
_THREADS = 2
# At about 35 ms each, the last one waits well under two seconds.
_WAITING = 64

# What a password is compared with when there is no account: the same work, and never a match.
_DUMMY_HASH = _HASHER.hash("nobody has this password, and nobody is let in by it")


class Passwords:
    """Hashes and compares passwords, a bounded number at a time."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="passwords")
        self._waiting = 0

    async def hash(self, password: str) -> str:
        return await self._run(_HASHER.hash, password)

    async def matches(self, stored: str | None, password: str) -> bool:
        """Whether `password` has this hash; without one, the same work is done, and it is False."""
        PASSWORD_CHECKS.inc()
        matched = await self._run(_verify, stored or _DUMMY_HASH, password)
        return matched and stored is not None

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _run(self, work: Callable[..., T], *args: str) -> T:
        if self._waiting >= _WAITING:
            raise TooManyPasswords
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work, *args)
        finally:
            self._waiting -= 1


def _verify(stored: str, password: str) -> bool:
    try:
        return _HASHER.verify(stored, password)
    except (VerificationError, InvalidHashError):
        return False
