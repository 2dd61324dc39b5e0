"""The address book, in a browser: list, save, change, delete, and take a pasted address apart."""

from functools import partial
from typing import Any

from tradewind import ids
from tradewind.addresses import save, sql
from tradewind.addresses.get_address import get_address
from tradewind.addresses.model import AddressChanges, SavedAddress
from tradewind.addresses.parse import ParsedAddress, parse
from tradewind.addresses.wire import ADDRESSES, PastedAddressIn, SavedAddressIn, SavedAddressPatch
from tradewind.audit.model import Actor
from tradewind.auth.model import Buyer
from tradewind.dashboard.addresses.views import (
    address_path,
    choices,
    division_file,
    region_line,
)
from tradewind.dashboard.shell.render import PageResult, PageRoutes, Redirect, TemplatePage
from tradewind.errors import Conflict, Invalid
from tradewind.platforms.model import Address
from tradewind.storage.pool import Database
from tradewind.web.inputs import read_values
from tradewind.web.paging import PageQuery
from tradewind.web.response import NO_STORE, Response
from tradewind.web.site import Form

routes = PageRoutes("/addresses")

_ADDRESS_FIELDS = ("name", "phone", "province", "city", "district", "detail", "postal_code")
_FOREVER = (b"cache-control", b"public, max-age=31536000, immutable")


class AddressForm(Form):
    """The fields of an address."""

    name: str = ""
    phone: str = ""
    province: str = ""
    city: str = ""
    district: str = ""
    detail: str = ""
    postal_code: str = ""
    label: str = ""
    is_default: bool = False
    # The id of a new address.
    submit_token: str = ""


class PasteForm(Form):
    """A text with an address."""

    text: str = ""


@routes.get()
async def show_addresses(caller: Buyer, query: PageQuery, db: Database) -> TemplatePage:
    """List the addresses."""
    read = partial(sql.list_addresses, db, caller.account_id)
    shown = await ADDRESSES.rows(query.cursor, query.limit, read)
    return TemplatePage(
        "addresses/addresses.html",
        addresses=shown.items,
        address_path=address_path,
        region_line=region_line,
        next_cursor=shown.next_cursor,
    )


@routes.get("/new")
async def show_new(caller: Buyer) -> TemplatePage:
    """Show the form for a new address."""
    return _form_page(None, AddressForm())


@routes.post("/parse")
async def paste_address(caller: Buyer, body: PasteForm) -> TemplatePage:
    """Show the form for a new address, filled from a pasted text. Nothing is stored."""
    try:
        text = read_values(PastedAddressIn, text=body.text).text
    except Invalid as error:
        return _form_page(None, AddressForm(), pasted=body.text).rejected(error)
    form = AddressForm(**_address_values(parse(text)))
    return _form_page(None, form, pasted=body.text, is_filled=True)


@routes.post("/new")
async def create_address(caller: Buyer, body: AddressForm, db: Database) -> PageResult:
    """Save an address; the same form sent twice saves one."""
    try:
        values = _values(body) | {"postal_code": body.postal_code.strip() or None}
        wanted = read_values(SavedAddressIn, **values, is_default=body.is_default)
        await save.save_address(
            db,
            Actor.of(caller),
            caller.account_id,
            wanted.label,
            wanted.address(),
            is_default=wanted.is_default,
            address_id=ids.ADDRESS.read(body.submit_token),
        )
    except (Invalid, Conflict) as error:
        return _form_page(None, body).rejected(error)
    return Redirect("/addresses", "Address saved.")


@routes.get("/{address_id}/edit")
async def show_edit(address_id: ids.AddressId, caller: Buyer, db: Database) -> TemplatePage:
    """Show the form to edit an address."""
    saved = await get_address(db, caller.account_id, address_id)
    values = _address_values(saved.address)
    return _form_page(saved, AddressForm(**values, label=saved.label, is_default=saved.is_default))


@routes.post("/{address_id}/edit")
async def edit_address(
    address_id: ids.AddressId, caller: Buyer, body: AddressForm, db: Database
) -> PageResult:
    """Change an address."""
    saved = await get_address(db, caller.account_id, address_id)
    try:
        # The form of the default address has no box to tick.
        is_default = body.is_default or None
        changes = read_values(SavedAddressPatch, **_values(body), is_default=is_default).changes()
        actor = Actor.of(caller)
        await save.change_address(db, actor, caller.account_id, address_id, changes)
    except Invalid as error:
        return _form_page(saved, body).rejected(error)
    return Redirect("/addresses", "Address saved. Orders that were placed keep their address.")


@routes.post("/{address_id}/default")
async def make_default(
    address_id: ids.AddressId, caller: Buyer, body: Form, db: Database
) -> Redirect:
    """Make an address the default."""
    actor, changes = Actor.of(caller), AddressChanges(is_default=True)
    saved = await save.change_address(db, actor, caller.account_id, address_id, changes)
    return Redirect("/addresses", f"Default address: {saved.label or saved.address.name}.")


@routes.post("/{address_id}/delete")
async def delete_address(
    address_id: ids.AddressId, caller: Buyer, body: Form, db: Database
) -> Redirect:
    """Delete an address."""
    await save.delete_address(db, Actor.of(caller), caller.account_id, address_id)
    return Redirect("/addresses", "Address deleted.")


@routes.get("/divisions/{version}")
async def list_divisions(caller: Buyer, version: str) -> Response:
    """Serve the names of provinces, cities and districts, for the lists of the form."""
    file = division_file()
    caching = _FOREVER if version == file.version else NO_STORE
    return Response(file.content, headers=[caching])


def _form_page(
    saved: SavedAddress | None, form: AddressForm, *, pasted: str = "", is_filled: bool = False
) -> TemplatePage:
    return TemplatePage(
        "addresses/form.html",
        saved=saved,
        action="/addresses/new" if saved is None else f"{address_path(saved.id)}/edit",
        form=form,
        submit_token=form.submit_token or ids.ADDRESS.show(ids.new()),
        pasted=pasted,
        is_filled=is_filled,
        choices=choices(form.province, form.city),
        division_path=division_file().path,
    )


def _values(body: AddressForm) -> dict[str, str]:
    return {name: getattr(body, name).strip() for name in (*_ADDRESS_FIELDS, "label")}


def _address_values(address: Address | ParsedAddress) -> dict[str, Any]:
    return {name: getattr(address, name) or "" for name in _ADDRESS_FIELDS}
