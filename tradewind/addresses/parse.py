"""Takes a pasted address apart: recipient, phone, region, street, postal code. Pure.

Every character of the text ends up in a field, or is a label or a separator; what is not recognised
is part of the detail, where a person sees it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby
from typing import NamedTuple

from tradewind.addresses.region_match import GAP, find_region


class AddressPart(StrEnum):
    """What a piece of a pasted address is."""

    NAME = "name"
    PHONE = "phone"
    PROVINCE = "province"
    CITY = "city"
    DISTRICT = "district"
    DETAIL = "detail"
    POSTAL_CODE = "postal_code"
    LABEL = "label"
    SEPARATOR = "separator"


class AddressPiece(NamedTuple):
    """A piece of the text. All pieces together are the text."""

    part: AddressPart
    text: str


@dataclass(frozen=True, slots=True)
class ParsedAddress:
    """The fields of a pasted address; what was not recognised is empty."""

    name: str = ""
    phone: str = ""
    province: str = ""
    city: str = ""
    district: str = ""
    detail: str = ""
    postal_code: str = ""
    pieces: Sequence[AddressPiece] = field(default=(), compare=False)


_SEPARATORS = frozenset(" \t\r\n\v\f\u00a0\u3000\u200b\ufeff,;|。【】")
# What may also stand between the parts of a region, or around a postal code.
_LOOSE_SEPARATORS = frozenset("/->·()[]")
# Wide forms of ASCII, by which the text is compared; each is one character.
_NARROW = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)}

_LABELS = {
    AddressPart.NAME: "收货人姓名 收件人姓名 收货人 收件人 联系人 姓名 名字 收 recipient name",
    AddressPart.PHONE: "手机号码 联系电话 联系方式 电话号码 手机号 手机 电话 mobile phone tel",
    AddressPart.PROVINCE: "所在地区 所在区域 所在地 省市区 地区 region",
    AddressPart.DETAIL: "详细地址 收货地址 收件地址 送货地址 街道地址 地址 street address",
    AddressPart.POSTAL_CODE: "邮政编码 邮编 postcode zip",
}
_PART_OF_LABEL = {word: part for part, words in _LABELS.items() for word in words.split()}
_WORDS = "|".join(sorted(_PART_OF_LABEL, key=len, reverse=True))
# Without a colon, a single character or an English word may be part of the address.
_CLEAR_WORDS = "|".join(
    sorted((word for word in _PART_OF_LABEL if word > "z" and len(word) > 1), key=len, reverse=True)
)
_START = r"(?:(?<![^\s,;|。])|^)"
_LABEL = re.compile(
    rf"{_START}(?P<spaced>{_CLEAR_WORDS})(?=\s)|(?<![a-z])(?P<colon>{_WORDS})\s*:"
    # "(收)", or 收 between a name and a phone number.
    r"|\(收\)|(?<=[\u3400-\u9fff])收(?=[\s,;|。]*(?:\+?\d|$))",
    re.IGNORECASE,
)

_COUNTRY = r"(?P<country>(?:\+|00)86[ -]?|86[ -]?(?=1))?"
_EXTENSION = r"(?:[ ]?(?:-|转|ext\.?)[ ]?(?P<extension>\d{1,6}))?"
_MOBILE = re.compile(
    rf"(?<!\d){_COUNTRY}(?P<number>1[3-9]\d[ -]?\d{{4}}[ -]?\d{{4}}){_EXTENSION}(?!\d)",
    re.IGNORECASE,
)
_LANDLINE = re.compile(
    rf"(?<!\d){_COUNTRY}(?P<number>\(?0\d{{2,3}}\)?[ -]?\d{{7,8}}|[48]00[ -]?\d{{3}}[ -]?\d{{4}})"
    rf"{_EXTENSION}(?!\d)",
    re.IGNORECASE,
)
_ANY_NUMBER = re.compile(r"(?P<country>(?!))?(?P<number>\+?\d[\d -]{4,20}\d)(?P<extension>(?!))?")
_POSTAL_CODE = re.compile(r"(?<![^\s,;|。(])\d{6}(?![^\s,;|。)])")
_POSTAL_CODE_LABELLED = re.compile(r"\d{3,6}")

_CHINESE_NAME = re.compile(
    r"[\u3400-\u9fff]{2,6}|[\u3400-\u9fff]{1,8}(?:·[\u3400-\u9fff]{1,8}){1,3}"
)
_LATIN_NAME = re.compile(r"[A-Za-z][A-Za-z.'-]*(?: [A-Za-z][A-Za-z.'-]*){0,4}")
_NOT_A_NAME = re.compile(
    r".*(?:公司|大厦|广场|花园|小区|街道|仓库|驿站|学校|大学|医院|市场|超市|宿舍|[路街巷弄号楼栋幢室层"
    r"村组镇乡县区市省院园厦座店仓库城])"
)
_NUMBER_IN_NAME = re.compile(r"\[\d{1,6}\]")
_LATIN = re.compile(r"[A-Za-z.'-]+")


@dataclass(frozen=True, slots=True)
class _Section:
    """A stretch of the text after a label; the first has no label."""

    start: int
    end: int
    part: AddressPart | None


def parse(text: str) -> ParsedAddress:
    """The address in a text: labelled lines, or one line with spaces or commas, in any order."""
    return _Parser(text).parse()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.view = text.translate(_NARROW)
        self.marks: list[AddressPart | None] = [None] * len(text)
        self.values: dict[AddressPart, str] = {}

    def parse(self) -> ParsedAddress:
        sections = list(self._sections())
        self._find_phone(sections)
        self._find_labelled_name(sections)
        self._find_postal_code(sections)
        self._find_region(sections)
        self._guess_name(sections)
        detail = " ".join(self.text[start:end] for start, end in self._tokens(0, len(self.text)))
        for position, mark in enumerate(self.marks):
            if mark is None:
                is_separator = self.view[position] in _SEPARATORS
                part = AddressPart.SEPARATOR if is_separator else AddressPart.DETAIL
                self.marks[position] = part
        return ParsedAddress(
            name=self.values.get(AddressPart.NAME, ""),
            phone=self.values.get(AddressPart.PHONE, ""),
            province=self.values.get(AddressPart.PROVINCE, ""),
            city=self.values.get(AddressPart.CITY, ""),
            district=self.values.get(AddressPart.DISTRICT, ""),
            detail=detail,
            postal_code=self.values.get(AddressPart.POSTAL_CODE, ""),
            pieces=list(self._pieces()),
        )

    def _pieces(self) -> Iterator[AddressPiece]:
        marked = zip(self.marks, self.text, strict=True)
        for part, letters in groupby(marked, key=lambda pair: pair[0]):
            yield AddressPiece(part or AddressPart.DETAIL, "".join(letter for _, letter in letters))

    def _mark(self, start: int, end: int, part: AddressPart) -> None:
        self.marks[start:end] = [part] * (end - start)

    def _is_free(self, start: int, end: int) -> bool:
        return all(mark is None for mark in self.marks[start:end])

    def _sections(self) -> Iterator[_Section]:
        start, part = 0, None
        for match in _LABEL.finditer(self.view):
            yield _Section(start, match.start(), part)
            self._mark(match.start(), match.end(), AddressPart.LABEL)
            word = match["colon"] or match["spaced"]
            # "(收)" follows a name, and what comes after it has no label.
            start, part = match.end(), _PART_OF_LABEL[word.lower()] if word else None
        yield _Section(start, len(self.text), part)

    def _find_phone(self, sections: Sequence[_Section]) -> None:
        labelled = [section for section in sections if section.part is AddressPart.PHONE]
        for pattern, among in (
            (_MOBILE, labelled),
            (_LANDLINE, labelled),
            (_ANY_NUMBER, labelled),
            (_MOBILE, sections),
            (_LANDLINE, sections),
        ):
            for section in among:
                match = pattern.search(self.view, section.start, section.end)
                if match:
                    self._mark_phone(match)
                    return

    def _mark_phone(self, match: re.Match[str]) -> None:
        self._mark(*match.span(), AddressPart.LABEL)  # +86, and the word before an extension
        for group in ("number", "extension"):
            if match[group]:
                self._mark(*match.span(group), AddressPart.PHONE)
        for position in range(*match.span()):
            if self.view[position] in " -()":
                self._mark(position, position + 1, AddressPart.SEPARATOR)
        number = re.sub(r"[ -]", "", match["number"])
        if number.startswith(("0", "(")):
            # An area code stays apart from the number.
            digits = match["number"].translate({ord(letter): "-" for letter in " ()"})
            number = re.sub(r"-+", "-", digits).strip("-")
        extension = f"-{match['extension']}" if match["extension"] else ""
        self.values[AddressPart.PHONE] = number + extension

    def _find_postal_code(self, sections: Sequence[_Section]) -> None:
        labelled = [section for section in sections if section.part is AddressPart.POSTAL_CODE]
        for pattern, among in ((_POSTAL_CODE_LABELLED, labelled), (_POSTAL_CODE, sections)):
            for section in among:
                for match in pattern.finditer(self.view, section.start, section.end):
                    if self._is_free(*match.span()):
                        self._mark(*match.span(), AddressPart.POSTAL_CODE)
                        self.values[AddressPart.POSTAL_CODE] = match[0]
                        self._mark_brackets(*match.span())
                        return

    def _mark_brackets(self, start: int, end: int) -> None:
        if self.view[max(start - 1, 0) : start] == "(" and self.view[end : end + 1] == ")":
            self._mark(start - 1, start, AddressPart.SEPARATOR)
            self._mark(end, end + 1, AddressPart.SEPARATOR)

    def _find_region(self, sections: Sequence[_Section]) -> None:
        labels = (AddressPart.PROVINCE, AddressPart.DETAIL)
        labelled = [section for part in labels for section in sections if section.part is part]
        others = [section for section in sections if section.part not in labels]
        for section in (*labelled, *others):
            for start, end in self._runs(section):
                match = find_region(self.view, start, end)
                if match is None:
                    continue
                self._mark(match.start, match.end, AddressPart.SEPARATOR)
                for name, first, last in match.spans:
                    self._mark(first, last, AddressPart(name))
                self.values |= {
                    AddressPart.PROVINCE: match.province,
                    AddressPart.CITY: match.city,
                    AddressPart.DISTRICT: match.district,
                }
                return

    def _runs(self, section: _Section) -> Iterator[tuple[int, int]]:
        """The stretches of a section that nothing was recognised in yet."""
        start = section.start
        for position in range(section.start, section.end + 1):
            if position == section.end or self.marks[position] is not None:
                if position > start:
                    yield start, position
                start = position + 1

    def _tokens(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The stretches between separators and what was recognised."""
        first: int | None = None
        for position in range(start, end + 1):
            is_text = (
                position < end
                and self.marks[position] is None
                and self.view[position] not in _SEPARATORS
            )
            if is_text and first is None:
                first = position
            elif not is_text and first is not None:
                yield first, position
                first = None

    def _find_labelled_name(self, sections: Sequence[_Section]) -> None:
        for section in sections:
            if section.part is AddressPart.NAME:
                for start, end in self._words(section.start, section.end):
                    self._mark_name(start, end)
                    return

    def _guess_name(self, sections: Sequence[_Section]) -> None:
        if AddressPart.NAME in self.values:
            return
        for start, end in self._name_candidates(sections):
            if self._may_be_name(start, end):
                self._mark_name(start, end)
                return

    def _mark_name(self, start: int, end: int) -> None:
        self._mark(start, end, AddressPart.NAME)
        self.values[AddressPart.NAME] = self.text[start:end]

    def _words(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Tokens; Latin words with a space between them are one."""
        held: tuple[int, int] | None = None
        for first, last in self._tokens(start, end):
            is_latin = _LATIN.fullmatch(self.view, first, last) is not None
            if held and is_latin and self.view[held[1] : first] == " ":
                held = held[0], last
                continue
            if held:
                yield held
            held = (first, last) if is_latin else None
            if not is_latin:
                yield first, last
        if held:
            yield held

    def _name_candidates(self, sections: Sequence[_Section]) -> Iterator[tuple[int, int]]:
        """Beside the phone first; then before the region; then the last of what follows it."""
        phone = self._extent(AddressPart.PHONE)
        if phone:
            everywhere = list(self._words(0, len(self.text)))
            yield from (word for word in everywhere if self._is_gap(word[1], phone[0]))
            yield from (word for word in everywhere if self._is_gap(phone[1], word[0]))
        words = [
            word
            for section in sections
            if section.part is None
            for word in self._words(section.start, section.end)
        ]
        region = self._extent(AddressPart.PROVINCE, AddressPart.CITY, AddressPart.DISTRICT)
        if region:
            yield from (word for word in words if word[1] <= region[0])
            behind = [word for word in words if word[0] >= region[1]]
            yield from behind[:0:-1][:1]

    def _extent(self, *parts: AddressPart) -> tuple[int, int] | None:
        positions = [position for position, mark in enumerate(self.marks) if mark in parts]
        return (positions[0], positions[-1] + 1) if positions else None

    def _is_gap(self, start: int, end: int) -> bool:
        """Whether there are only separators, 收 and +86 between two positions."""
        return start <= end and all(
            self.marks[position] is AddressPart.SEPARATOR
            or self.view[position] in _SEPARATORS
            or (self.marks[position] is AddressPart.LABEL and self.view[position] in "(收)+860")
            for position in range(start, end)
        )

    def _may_be_name(self, start: int, end: int) -> bool:
        word = _NUMBER_IN_NAME.sub("", self.view[start:end])
        is_attached = start > 0 and self.marks[start - 1] in {
            AddressPart.PROVINCE,
            AddressPart.CITY,
            AddressPart.DISTRICT,
        }
        if is_attached or _NOT_A_NAME.fullmatch(word):
            return False
        return bool(_CHINESE_NAME.fullmatch(word) or _LATIN_NAME.fullmatch(word))


def is_separator(letter: str) -> bool:
    """Whether a character may be between the fields of a pasted address."""
    narrow = letter.translate(_NARROW)
    return narrow in _SEPARATORS or narrow in _LOOSE_SEPARATORS or GAP.fullmatch(narrow) is not None
