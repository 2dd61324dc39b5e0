"""The concurrency limit of a host: it grows with each response. Pure."""

from collections import OrderedDict
from dataclasses import dataclass

FIRST = 32
# By then its connections may be closed, and all of them would be opened at once.
_FORGOTTEN_SECONDS = 30.0
_MOST_HOSTS = 20_000


@dataclass(slots=True)
class _Host:
    limit: int
    answered_at: float


class HostLimits:
    """Each host begins with a few, and gets one more with each response: it doubles in a round.

    A thousand subscriptions may lead to one host. With an attempt for each at once, it would have
    to accept as many connections at once, and many servers cannot.
    """

    def __init__(self) -> None:
        self._hosts: OrderedDict[str, _Host] = OrderedDict()

    def limit(self, host: str, now: float) -> int:
        entry = self._hosts.get(host)
        if entry is None or now - entry.answered_at > _FORGOTTEN_SECONDS:
            return FIRST
        return entry.limit

    def answered(self, host: str, now: float) -> None:
        """Count a response of the host, whatever its status is."""
        entry = self._hosts.get(host)
        if entry is None or now - entry.answered_at > _FORGOTTEN_SECONDS:
            self._hosts[host] = _Host(FIRST + 1, now)
            if len(self._hosts) > _MOST_HOSTS:
                self._hosts.popitem(last=False)
        else:
            entry.limit += 1
            entry.answered_at = now
