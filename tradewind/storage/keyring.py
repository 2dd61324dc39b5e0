"""The keyring: derives a key for each purpose from the master secret, named by a key id."""

from collections.abc import Sequence
from typing import Literal

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

Purpose = Literal[
    "access tokens", "refresh tokens", "api keys", "links", "logins", "sealing", "page forms",
    "platform authorisations",
]  # fmt: skip


def _derive(master: bytes, label: str, length: int) -> bytes:
    info = b"tradewind/" + label.encode()
    return HKDF(algorithm=SHA256(), length=length, salt=None, info=info).derive(master)


class Keyring:
    """The master secrets in force: the first makes new values, all of them read old ones.

    Every value carries the id of its key, so that the master secret for it can be selected.
    """

    def __init__(self, masters: Sequence[bytes]) -> None:
        self._masters = {_derive(master, "key id", 4).hex(): master for master in masters}
        self._keys: dict[tuple[str, str], bytes] = {}
        self.current_id = next(iter(self._masters))

    @property
    def ids(self) -> list[str]:
        """The key ids in force, the one for new values first."""
        return list(self._masters)

    def current(self, purpose: Purpose) -> tuple[str, bytes]:
        """The key id and key that new values are made with."""
        return self.current_id, self._key(purpose, self.current_id)

    def find(self, purpose: Purpose, key_id: str) -> bytes | None:
        """The key with this id, or None when its master secret is no longer configured."""
        return self._key(purpose, key_id) if key_id in self._masters else None

    def every(self, purpose: Purpose) -> list[tuple[str, bytes]]:
        """All keys for a purpose, the current one first."""
        return [(key_id, self._key(purpose, key_id)) for key_id in self._masters]

    def _key(self, purpose: Purpose, key_id: str) -> bytes:
        key = self._keys.get((purpose, key_id))
        if key is None:
            key = _derive(self._masters[key_id], purpose, 32)
            self._keys[purpose, key_id] = key
        return key
