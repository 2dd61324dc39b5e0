"""HTTP senders for tests that reach loopback only."""

import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from ipaddress import ip_address

from tradewind.egress.addresses import Address, is_loopback
from tradewind.egress.connect import open_socket
from tradewind.egress.guard import Lookup, Policy
from tradewind.egress.resolver import LookupFailed
from tradewind.egress.result import AttemptResult
from tradewind.egress.sender import Sender

DEVELOPMENT = Policy(development=True)


class Watch:
    """Opens sockets for loopback only, and remembers every address that passed the guard."""

    def __init__(self, *, open_loopback: bool = True) -> None:
        self.passed: list[Address] = []
        self._open_loopback = open_loopback

    def __call__(
        self, family: int, kind: int, protocol: int, address: Address
    ) -> socket.socket | None:
        self.passed.append(address)
        if not self._open_loopback or not is_loopback(address):
            return None
        return open_socket(family, kind, protocol, address)


class Names:
    """A resolver that reads from a table: for each name the answers of its lookups, in turn.

    The last answer is repeated; an empty one, and a name that is not there, do not exist.
    """

    def __init__(self, answers: Mapping[str, Sequence[Sequence[str]]] | None = None) -> None:
        self._answers = answers or {}
        self.asked: list[str] = []

    def remembered(self, name: str) -> None:
        """Nothing: each lookup gets an answer of its own."""

    async def addresses(self, name: str) -> tuple[Address, ...]:
        answers = self._answers.get(name, [[]])
        answer = answers[min(self.asked.count(name), len(answers) - 1)]
        self.asked.append(name)
        if not answer:
            raise LookupFailed("name_not_found", name)
        return tuple(ip_address(text) for text in answer)


@asynccontextmanager
async def sending(
    lookup: Lookup | None = None,
    policy: Policy = DEVELOPMENT,
    *,
    watch: Watch | None = None,
    authorities: str | None = None,
) -> AsyncIterator[Sender]:
    sender = Sender(policy, lookup or Names(), authorities=authorities, opener=watch or Watch())
    try:
        yield sender
    finally:
        await sender.close()


def code(result: AttemptResult) -> str | None:
    return None if result.problem is None else result.problem.code
