"""Saved addresses for people: paths, the region in one line, the names to choose from. Pure."""

import hashlib
from functools import cache
from typing import NamedTuple
from uuid import UUID

from tradewind import ids
from tradewind.addresses.divisions import divisions
from tradewind.platforms.model import Address
from tradewind.web.response import encode


def address_path(address_id: UUID) -> str:
    return f"/addresses/{ids.ADDRESS.show(address_id)}"


def region_line(address: Address) -> str:
    """Province, city and district, each name once: a municipality is its own city."""
    return " ".join(dict.fromkeys((address.province, address.city, address.district)))


class DivisionFile(NamedTuple):
    """The names of all divisions as JSON, and its version."""

    content: bytes
    version: str

    @property
    def path(self) -> str:
        return f"/addresses/divisions/{self.version}"


@cache
def division_file() -> DivisionFile:
    content = encode(divisions().offered())
    return DivisionFile(content, hashlib.sha256(content).hexdigest()[:12])


class DivisionChoices(NamedTuple):
    """The names to choose from in a form in which a province and a city may be chosen."""

    provinces: tuple[str, ...]
    cities: tuple[str, ...]
    districts: tuple[str, ...]


def choices(province: str, city: str) -> DivisionChoices:
    known = divisions()
    full_province = known.provinces.find(province)
    if full_province is None:
        return DivisionChoices(tuple(known.provinces.names), (), ())
    cities = known.cities[full_province]
    full_city = cities.find(city)
    districts = known.districts[full_province, full_city].names if full_city else ()
    return DivisionChoices(tuple(known.provinces.names), tuple(cities.names), tuple(districts))
