"""The address book of an account as its imports use it: addresses by ID or label. Pure."""

from collections.abc import Sequence

from tradewind import ids
from tradewind.addresses.model import SavedAddress
from tradewind.errors import ValidationFailed


class AddressBook:
    """The saved addresses of an account; `default` is None if there are none."""

    def __init__(self, saved: Sequence[SavedAddress] = ()) -> None:
        self._by_id = {address.id: address for address in saved}
        self._by_label: dict[str, list[SavedAddress]] = {}
        for address in saved:
            self._by_label.setdefault(_normalised(address.label), []).append(address)
        self.default = next((address for address in saved if address.is_default), None)

    def find(self, text: str) -> SavedAddress:
        """The address with this ID or label, or ValidationFailed."""
        address_id = ids.ADDRESS.read(text)
        if address_id is not None and address_id in self._by_id:
            return self._by_id[address_id]
        labelled = self._by_label.get(_normalised(text), []) if text else []
        if len(labelled) > 1:
            message = f"{len(labelled)} addresses of the address book have this label: use the ID."
            raise ValidationFailed("/address", message)
        if not labelled:
            message = "Must be the ID or the label of an address in the address book."
            raise ValidationFailed("/address", message)
        return labelled[0]


def _normalised(label: str) -> str:
    return " ".join(label.casefold().split())
