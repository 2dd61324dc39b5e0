"""Says what is unusual about a row of an import that can be ordered all the same. Pure."""

from collections.abc import Mapping, Sequence

from tradewind.addresses.region_warnings import region_warnings
from tradewind.imports.model import RowError
from tradewind.platforms.model import Address

_REGION = ("province", "city", "district")


def row_warnings(cells: Mapping[str, str], columns: Mapping[str, str]) -> Sequence[RowError]:
    """A province, city or district that is not known; `columns` are their names in the file."""
    if not all(field in cells for field in _REGION):
        return ()
    province, city, district = (cells[field] for field in _REGION)
    return [
        RowError(
            columns.get(warning.pointer[1:], warning.pointer[1:]), warning.code, warning.message
        )
        for warning in region_warnings(Address("", "", province, city, district, ""))
    ]
