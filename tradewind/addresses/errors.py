"""The errors of the address book."""

from tradewind.errors import Conflict


class AddressLimitReached(Conflict):
    """The account has as many addresses as it may. Delete one first."""

    code = "address_limit_reached"
    title = "No more addresses"

    def __init__(self, most: int) -> None:
        super().__init__(f"An account has {most} addresses at the most.", limit=most)


class DefaultAddressRequired(Conflict):
    """One address is always the default. Make another address the default instead."""

    code = "default_address_required"
    title = "One address is the default"
    detail = (
        "One address is always the default. To change it, set `is_default` to true on another "
        "address."
    )
