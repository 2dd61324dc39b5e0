"""Finds a province, a city and a district in a text, with or without their endings. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tradewind.addresses.divisions import (
    NO_CITY,
    NO_CITY_OF_MUNICIPALITY,
    Divisions,
    divisions,
)

# What may stand between the names of a region.
GAP = re.compile(r"[\s,/>·\u3000-]*")
# What a word may follow.
_BREAK = re.compile(r"[\s,;|。/>·()-]")
_EMPTY_CITY = re.compile("|".join(sorted(NO_CITY_OF_MUNICIPALITY, key=len, reverse=True)))
# Zones that people write where a district belongs.
_ZONE = re.compile(
    r"其[它他]区|(?:国家)?高新(?:技术(?:产业)?)?(?:开发)?区|工业园区|经济(?:技术)?开发区|开发区"
)
# After the short form of a district these begin the name of a street or a building: 西湖|大道.
_STREET = re.compile(
    r"[路街道巷弄镇乡村里坊桥港湾山河湖站场园苑]|[大中东西南北新]+[路街道桥]|社区|广场"
)

Span = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class RegionMatch:
    """A region in a text: full names, empty where none was found, and where each was."""

    province: str
    city: str
    district: str
    spans: Sequence[Span]

    @property
    def start(self) -> int:
        return self.spans[0][1]

    @property
    def end(self) -> int:
        return self.spans[-1][2]


def find_region(text: str, start: int, end: int) -> RegionMatch | None:
    """The first region between two positions: at the start of a word, or anywhere in full."""
    known = divisions()
    words = [at for at in range(start, end) if at == start or _BREAK.match(text[at - 1])]
    for at in words:
        match = _match(known, text, at, end)
        if match:
            return match
    for at in range(start, end):
        form = known.provinces.longest_at(text, at, end)
        if form is not None and form in known.provinces.names:
            match = _match(known, text, at, end)
            if match and match.city:
                return match
    return None


def _match(known: Divisions, text: str, at: int, end: int) -> RegionMatch | None:
    return _from_province(known, text, at, end) or _from_city(known, text, at, end)


def _from_province(known: Divisions, text: str, at: int, end: int) -> RegionMatch | None:
    form = known.provinces.longest_at(text, at, end)
    province = known.provinces.find(form) if form else None
    if form is None or province is None:
        return None
    position = at + len(form)
    spans: list[Span] = [("province", at, position)]
    if known.is_municipality(province):
        city = province
        spans += _repeated_city(known, province, text, _skip(text, position, end), end)
    else:
        city = _add_city(known, province, text, spans, end)
    district = _add_district(known, province, city, text, spans, end) if city else ""
    if not city and (found_city := _add_lone_district(known, province, text, spans, end)):
        city, district = found_city
    if form != province and len(spans) == 1:
        return None
    return RegionMatch(province, city, district, spans)


def _repeated_city(known: Divisions, province: str, text: str, at: int, end: int) -> Sequence[Span]:
    """The city of a municipality, if it is written: its own name again, or 市辖区."""
    empty = _EMPTY_CITY.match(text, at, end)
    form = empty[0] if empty else known.cities[province].longest_at(text, at, end)
    if form is None:
        return []
    behind = at + len(form)
    is_clear = form == province or bool(empty) or _is_gap(text, behind, end)
    districts = known.districts[province, province]
    following = districts.longest_at(text, _skip(text, behind, end), end)
    return [("city", at, behind)] if is_clear or following else []


def _add_city(known: Divisions, province: str, text: str, spans: list[Span], end: int) -> str:
    cities = known.cities[province]
    at = _skip(text, spans[-1][2], end)
    no_city = NO_CITY.match(text, at, end)
    if no_city:
        behind = _skip(text, no_city.end(), end)
        form = cities.longest_at(text, behind, end)
        if form is not None:
            spans += [("label", at, no_city.end()), ("city", behind, behind + len(form))]
            return cities.find(form) or ""
        return ""
    form = cities.longest_at(text, at, end)
    if form is None:
        return ""
    spans.append(("city", at, at + len(form)))
    return cities.find(form) or ""


def _add_district(
    known: Divisions, province: str, city: str, text: str, spans: list[Span], end: int
) -> str:
    districts = known.districts[province, city]
    if not districts.names:
        return city
    at = _skip(text, spans[-1][2], end)
    form = districts.longest_at(text, at, end)
    if form is not None:
        full = districts.find(form) or ""
        behind = at + len(form)
        if form == full or _is_gap(text, behind, end) or not _STREET.match(text, behind, end):
            spans.append(("district", at, behind))
            return full
    zone = _ZONE.match(text, at, end)
    if zone:
        spans.append(("district", at, zone.end()))
        return zone[0]
    return ""


def _add_lone_district(
    known: Divisions, province: str, text: str, spans: list[Span], end: int
) -> tuple[str, str] | None:
    """A district whose city was left out: 浙江省义乌市."""
    at = _skip(text, spans[-1][2], end)
    form = known.districts_of_province[province].longest_at(text, at, end)
    full = known.districts_of_province[province].find(form) if form else None
    if form is None or full != form:
        return None
    spans.append(("district", at, at + len(form)))
    return known.city_of(province, full) or "", full


def _from_city(known: Divisions, text: str, at: int, end: int) -> RegionMatch | None:
    """A region without its province: 杭州市滨江区."""
    form = known.all_cities.longest_at(text, at, end)
    city = known.all_cities.find(form) if form else None
    province = known.province_of(city) if city else None
    if form is None or city is None or province is None:
        return None
    spans: list[Span] = [("city", at, at + len(form))]
    names = known.districts[province, city]
    behind = _skip(text, spans[-1][2], end)
    following = names.longest_at(text, behind, end)
    is_followed = following is not None and (
        names.find(following) == following or not _STREET.match(text, behind + len(following), end)
    )
    if not is_followed and not (form == city and _is_gap(text, spans[-1][2], end)):
        return None
    district = _add_district(known, province, city, text, spans, end)
    return RegionMatch(province, city, district, spans)


def _skip(text: str, at: int, end: int) -> int:
    match = GAP.match(text, at, end)
    return match.end() if match else at


def _is_gap(text: str, at: int, end: int) -> bool:
    return at >= end or GAP.fullmatch(text[at]) is not None
