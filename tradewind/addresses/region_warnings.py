"""Says where the region of an address is none of China's: a warning, not an error. Pure."""

from collections.abc import Sequence

from tradewind.addresses import divisions
from tradewind.errors import FieldError, ValidationFailed
from tradewind.platforms.model import Address

_UNKNOWN_REGION = "unknown_region"


def region_warnings(address: Address) -> Sequence[FieldError]:
    """What is not known of the province, city and district, as the address book would say it.

    Orders may name any region: a marketplace knows zones and towns that no table has.
    """
    try:
        divisions.resolve(address.province, address.city, address.district)
    except ValidationFailed as unknown:
        return [
            FieldError(error.pointer, error.message, _UNKNOWN_REGION) for error in unknown.errors
        ]
    return ()
