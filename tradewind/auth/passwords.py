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

HASHER = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
_THREADS = 2
# At about 35 ms each, the last one waits well under two seconds.
_WAITING = 64

# What a password is compared with when there is no account: the same work, and never a match. It
# is the hash of random bytes that nobody knows, made with the parameters above; a test compares
# them. To hash something here would take 35 ms of every start of a process.
DUMMY_HASH = (
    "$argon2id$v=19$m=19456,t=2,p=1$HNfRggNCetKKvsmaTAufAQ$"
    "qxS7pzHXiJCct4hOLSfyYpHNtb6qmBOPzGWbz3SKmgU"
)


class Passwords:
    """Hashes and compares passwords, a bounded number at a time."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="passwords")
        self._waiting = 0

    async def hash(self, password: str) -> str:
        return await self._run(HASHER.hash, password)

    async def matches(self, stored: str | None, password: str) -> bool:
        """Whether `password` has this hash; without one, the same work is done, and it is False."""
        PASSWORD_CHECKS.inc()
        matched = await self._run(_verify, stored or DUMMY_HASH, password)
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
        return HASHER.verify(stored, password)
    except (VerificationError, InvalidHashError):
        return False
