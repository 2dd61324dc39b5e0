"""Matches the columns of a file to the fields of an order, by many spellings. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tradewind.imports.errors import ColumnsUnmatched

# The names of each field in the first row of a file; case, blanks and punctuation do not matter.
SPELLINGS: Mapping[str, Sequence[str]] = {
    "order_ref": ("order_ref", "order reference", "order group", "订单分组"),
    "external_id": ("external_id", "po", "po number", "your order number", "外部单号"),
    "platform": ("platform", "marketplace", "平台"),
    "product_id": (
        *("product_id", "product", "item id", "offer id", "商品id", "商品编号", "产品id", "货品id"),
    ),
    "sku_id": ("sku_id", "sku", "variant id", "variant", "规格id", "规格"),
    "quantity": ("quantity", "qty", "pieces", "pcs", "数量", "件数"),
    "remark": ("remark", "note", "comment", "备注"),
    "address": (*("address", "address_id", "saved address", "address label", "ship to", "地址簿"),),
    "name": ("name", "recipient", "consignee", "收货人", "收件人", "姓名"),
    "phone": ("phone", "telephone", "mobile", "tel", "电话", "手机", "手机号", "联系电话"),
    "province": ("province", "省", "省份"),
    "city": ("city", "市", "城市"),
    "district": ("district", "county", "区", "区县"),
    "detail": ("detail", "street", "address detail", "地址", "详细地址"),
    "postal_code": ("postal_code", "postcode", "zip", "zip code", "邮编", "邮政编码"),
}
ADDRESS = ("name", "phone", "province", "city", "district", "detail", "postal_code")
_REQUIRED = ("product_id", "quantity")
# In a file without the rest of an address, such a column may be the name of a product.
_AMBIGUOUS_NAMES = {"name", "姓名"}
_REGION = ("province", "city", "district")
_LONGEST_NAME = 100
_NO_ADDRESS = (
    "A file without these columns can name addresses of the address book in a column address, or "
    "none at all where there is a default address; there is none."
)


@dataclass(frozen=True, slots=True)
class MatchedColumns:
    """The index and the name of the column of each field, and the names of the other columns."""

    indexes: Mapping[str, int]
    names: Mapping[str, str]
    unused: Sequence[str]

    @property
    def have_addresses(self) -> bool:
        """Whether the file has the columns of an address; otherwise the address book has it."""
        return any(field in self.indexes for field in ADDRESS)

    def cells_of(self, cells: Sequence[str]) -> dict[str, str]:
        """The cells of a row by field; empty ones are left out."""
        return {
            field: cells[index]
            for field, index in self.indexes.items()
            if index < len(cells) and cells[index]
        }

    def name_of(self, field: str) -> str:
        """What the file calls the column of a field."""
        return self.names.get(field, field)


def match_columns(
    header: Sequence[str],
    chosen: Mapping[str, str],
    *,
    needs_platform: bool,
    has_default_address: bool = False,
) -> MatchedColumns:
    """Match each field to a column; `chosen` are columns that somebody named for fields.

    ColumnsUnmatched if a field that is needed has no column, or a field has several.

    A column `address` holds the street where the file has columns for the region and none for the
    street. Otherwise it names an address of the address book.
    """
    fields = {_normalised(name): field for field, names in SPELLINGS.items() for name in names}
    shown = [name[:_LONGEST_NAME] for name in header]
    indexes: dict[str, int] = {}
    problems: list[str] = []
    for field, name in chosen.items():
        index = next((i for i, text in enumerate(header) if _same(text, name)), None)
        if index is None:
            problems.append(f'There is no column "{name[:_LONGEST_NAME]}" for {field}.')
        else:
            indexes[field] = index
    for index, name in enumerate(header):
        matched = fields.get(_normalised(name))
        if matched is None or matched in chosen or index in indexes.values():
            continue
        if matched in indexes:
            other = shown[indexes[matched]]
            problems.append(f'"{other}" and "{shown[index]}" are both columns for {matched}.')
        else:
            indexes[matched] = index
    _settle_address(indexes, chosen, header)
    has_addresses = any(field in indexes or field in chosen for field in ADDRESS)
    is_somewhere = has_default_address or "address" in indexes or "address" in chosen
    needs_address = has_addresses or not is_somewhere
    needed = [
        *_REQUIRED,
        *(ADDRESS[:-1] if needs_address else ()),
        *(["platform"] if needs_platform else []),
    ]
    missing = [field for field in needed if field not in indexes and field not in chosen]
    if missing:
        lead = "There is no column" if len(missing) == 1 else "There are no columns"
        problems.append(f"{lead} for {', '.join(missing)}.")
        if needs_address and not has_addresses:
            problems.append(_NO_ADDRESS)
    if problems:
        raise ColumnsUnmatched(problems, [name for name in shown if name])
    names = {field: shown[index] for field, index in indexes.items()}
    used = set(indexes.values())
    unused = [name for index, name in enumerate(shown) if name and index not in used]
    return MatchedColumns(indexes, names, unused)


def _settle_address(
    indexes: dict[str, int], chosen: Mapping[str, str], header: Sequence[str]
) -> None:
    """Let `address` be the street, and `name` no field, where only that makes sense."""
    index = indexes.get("address")
    is_street = (
        index is not None
        and _normalised(header[index]) == "address"
        and "address" not in chosen
        and "detail" not in indexes
        and any(field in indexes for field in _REGION)
    )
    if is_street:
        indexes["detail"] = indexes.pop("address")
    is_alone = not any(field in indexes for field in ADDRESS if field != "name")
    name = indexes.get("name")
    is_ambiguous = name is not None and _normalised(header[name]) in _AMBIGUOUS_NAMES
    if is_alone and is_ambiguous and "name" not in chosen:
        del indexes["name"]


def _normalised(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _same(text: str, name: str) -> bool:
    return text.casefold() == name.strip().casefold()
