"""Saved addresses as JSON."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from tradewind import clock, ids
from tradewind.addresses.model import AddressChanges, SavedAddress
from tradewind.addresses.parse import ParsedAddress
from tradewind.orders.inputs import Phone
from tradewind.platforms.model import Address
from tradewind.web.inputs import Input, Output, Patch, id_text
from tradewind.web.paging import CursorList
from tradewind.web.validation import NOT_BLANK

# The longest text that is taken apart.
MOST_PASTED = 1000


_WIDE_SPACES = "\u3000\u00a0"


def is_line(text: str) -> bool:
    """Whether a text is one line that people can read: not blank, without control characters."""
    return not text.isspace() and all(
        letter.isprintable() or letter in _WIDE_SPACES for letter in text
    )


_LINE = {"accepts": is_line}


def _expected(limit: int, least: int = 1) -> dict[str, object]:
    size = f"1 to {limit}" if least else f"at most {limit}"
    return {**_LINE, "expected": f"one line of {size} characters, not only spaces"}


_Label = Annotated[
    str,
    Meta(
        max_length=50,
        description="A name by which people find it in the address book.",
        examples=["Warehouse Hangzhou"],
        extra=_expected(50, 0),
    ),
]
_Words = Annotated[str, Meta(min_length=1, max_length=50, extra=_expected(50))]
_Name = Annotated[_Words, Meta(examples=["张三"], description="The recipient.")]
_Province = Annotated[_Words, Meta(examples=["浙江省"])]
_City = Annotated[_Words, Meta(examples=["杭州市"])]
_District = Annotated[_Words, Meta(examples=["滨江区"])]
_Detail = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=200,
        description="Street, number, building and room.",
        examples=["网商路699号"],
        extra=_expected(200),
    ),
]
_PostalCode = Annotated[str, Meta(max_length=20, examples=["310000"], extra=_expected(20, 0))]
_IsDefault = Annotated[
    bool,
    Meta(
        description="Whether it is the default. If there are addresses, exactly one is: the first "
        "one, until another is made the default.",
        examples=[True],
    ),
]
AddressIdText = Annotated[str, id_text(ids.ADDRESS)]


class SavedAddressIn(Input):
    """An address to save."""

    name: _Name
    phone: Phone
    province: _Province
    city: _City
    district: _District
    detail: _Detail
    postal_code: _PostalCode | None = None
    label: _Label = ""
    is_default: _IsDefault = False

    def address(self) -> Address:
        return Address(
            self.name.strip(),
            self.phone,
            self.province.strip(),
            self.city.strip(),
            self.district.strip(),
            self.detail.strip(),
            (self.postal_code or "").strip() or None,
        )


class SavedAddressPatch(Patch):
    """What to change; what is left out stays. An empty `label` or `postal_code` clears it."""

    name: _Name | None = None
    phone: Phone | None = None
    province: _Province | None = None
    city: _City | None = None
    district: _District | None = None
    detail: _Detail | None = None
    postal_code: _PostalCode | None = None
    label: _Label | None = None
    is_default: _IsDefault | None = None

    def changes(self) -> AddressChanges:
        return AddressChanges(
            label=_stripped(self.label),
            name=_stripped(self.name),
            phone=self.phone,
            province=_stripped(self.province),
            city=_stripped(self.city),
            district=_stripped(self.district),
            detail=_stripped(self.detail),
            postal_code=_stripped(self.postal_code),
            is_default=self.is_default,
        )


def _stripped(text: str | None) -> str | None:
    return None if text is None else text.strip()


class PastedAddressIn(Input):
    """A text with an address."""

    text: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=MOST_PASTED,
            pattern=NOT_BLANK,
            examples=["张三 15251667788 浙江省杭州市滨江区网商路699号"],
        ),
    ]


class PastedAddressOut(Output):
    """The fields of an address; null where nothing was recognised."""

    name: Annotated[str | None, Meta(examples=["张三"])]
    phone: Annotated[str | None, Meta(examples=["15251667788"])]
    province: Annotated[str | None, Meta(examples=["浙江省"])]
    city: Annotated[str | None, Meta(examples=["杭州市"])]
    district: Annotated[str | None, Meta(examples=["滨江区"])]
    detail: Annotated[
        str | None,
        Meta(
            description="The street address, and everything that was not recognised.",
            examples=["网商路699号"],
        ),
    ]
    postal_code: Annotated[str | None, Meta(examples=["310000"])]

    @staticmethod
    def of(parsed: ParsedAddress) -> "PastedAddressOut":
        return PastedAddressOut(
            name=parsed.name or None,
            phone=parsed.phone or None,
            province=parsed.province or None,
            city=parsed.city or None,
            district=parsed.district or None,
            detail=parsed.detail or None,
            postal_code=parsed.postal_code or None,
        )


class SavedAddressOut(Output):
    """A saved address."""

    id: AddressIdText
    label: Annotated[str, Meta(examples=["Warehouse Hangzhou"])]
    name: Annotated[str, Meta(examples=["张三"])]
    phone: Annotated[str, Meta(examples=["15251667788"])]
    province: Annotated[str, Meta(examples=["浙江省"])]
    city: Annotated[str, Meta(examples=["杭州市"])]
    district: Annotated[str, Meta(examples=["滨江区"])]
    detail: Annotated[str, Meta(examples=["网商路699号"])]
    postal_code: Annotated[str | None, Meta(examples=["310000"])]
    is_default: _IsDefault
    created_at: clock.Timestamp
    updated_at: clock.Timestamp

    @staticmethod
    def of(saved: SavedAddress) -> "SavedAddressOut":
        address = saved.address
        return SavedAddressOut(
            id=ids.ADDRESS.show(saved.id),
            label=saved.label,
            name=address.name,
            phone=address.phone,
            province=address.province,
            city=address.city,
            district=address.district,
            detail=address.detail,
            postal_code=address.postal_code,
            is_default=saved.is_default,
            created_at=clock.show(saved.created_at),
            updated_at=clock.show(saved.updated_at),
        )


ADDRESSES: CursorList[SavedAddress] = CursorList("addresses", UUID, key=lambda saved: saved.id)
