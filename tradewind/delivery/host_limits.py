"""How many calls to one host may be under way at once: as many as it has shown to bear. Pure."""

from collections import OrderedDict
from dataclasses import dataclass

FIRST = 32
# By then its connections may be closed, and all of them would be opened at once.
_FORGOTTEN_SECONDS = 30.0
_MOST_HOSTS = 20_000


@dataclass(slots=True)
class _Host:
    width: int
    heard_at: float


class Hosts:
    """Each begins with a few, and gets one more with each answer: twice as many in a round.

    A thousand subscriptions may lead to one host. If it were sent a call for each at once, it would
    have to accept as many connections at once, and many servers have no room for that.
    """

    def __init__(self) -> None:
        self._hosts: OrderedDict[str, _Host] = OrderedDict()

    def width(self, host: str, now: float) -> int:
        known = self._hosts.get(host)
        if known is None or now - known.heard_at > _FORGOTTEN_SECONDS:
            return FIRST
        return known.width

    def heard(self, host: str, now: float) -> None:
        """It has answered, whatever it said."""
        known = self._hosts.get(host)
        if known is None or now - known.heard_at > _FORGOTTEN_SECONDS:
            self._hosts[host] = _Host(FIRST + 1, now)
            if len(self._hosts) > _MOST_HOSTS:
                self._hosts.popitem(last=False)
        else:
            known.width += 1
            known.heard_at = now
