"""The address book over HTTP: list, save, read, change and delete."""

from functools import partial

from tradewind import ids
from tradewind.addresses import save, sql
from tradewind.addresses.errors import AddressLimitReached, DefaultAddressRequired
from tradewind.addresses.get_address import get_address
from tradewind.addresses.parse import parse
from tradewind.addresses.wire import (
    ADDRESSES,
    PastedAddressIn,
    PastedAddressOut,
    SavedAddressIn,
    SavedAddressOut,
    SavedAddressPatch,
)
from tradewind.audit.model import Actor
from tradewind.auth.model import Buyer
from tradewind.storage.pool import Database
from tradewind.web.endpoint import Routes
from tradewind.web.paging import Page, PageQuery
from tradewind.web.response import Response, location
from tradewind.web.scopes import Scope

routes = Routes("/v1/addresses", tag="Addresses")


@routes.get(scope=Scope.READ)
async def list_addresses(caller: Buyer, query: PageQuery, db: Database) -> Page[SavedAddressOut]:
    """List your addresses, newest first."""
    read = partial(sql.list_addresses, db, caller.account_id)
    return await ADDRESSES.page(query.cursor, query.limit, read, SavedAddressOut.of)


@routes.post(
    scope=Scope.ORDER,
    status=201,
    returns=SavedAddressOut,
    errors=(AddressLimitReached,),
    headers={"Location": "The address's path."},
)
async def create_address(caller: Buyer, body: SavedAddressIn, db: Database) -> Response:
    """Save an address.

    Province, city and district are checked against the current divisions of China and saved by
    their full names: 浙江 becomes 浙江省, and the city of 北京 is 北京市. The first address of an
    account becomes its default. `is_default` makes this one the default instead of the present one.
    """
    saved = await save.save_address(
        db,
        Actor.of(caller),
        caller.account_id,
        body.label.strip(),
        body.address(),
        is_default=body.is_default,
    )
    shown = SavedAddressOut.of(saved)
    return Response(shown, headers=[location("addresses", shown.id)])


@routes.post("/parse", scope=Scope.READ)
async def parse_address(caller: Buyer, body: PastedAddressIn) -> PastedAddressOut:
    """Take a pasted address apart. Nothing is stored.

    It reads labelled lines, or one line with spaces or commas, in any order, as people copy them
    from a marketplace or an order note. Province, city and district get their full names.
    """
    return PastedAddressOut.of(parse(body.text))


@routes.get("/{id}", scope=Scope.READ)
async def get_saved_address(
    address_id: ids.AddressId, caller: Buyer, db: Database
) -> SavedAddressOut:
    """Look at an address."""
    return SavedAddressOut.of(await get_address(db, caller.account_id, address_id))


@routes.patch("/{id}", scope=Scope.ORDER, errors=(DefaultAddressRequired,))
async def update_address(
    address_id: ids.AddressId, caller: Buyer, body: SavedAddressPatch, db: Database
) -> SavedAddressOut:
    """Change an address. Orders that were placed keep the address they were placed with."""
    return SavedAddressOut.of(
        await save.change_address(
            db, Actor.of(caller), caller.account_id, address_id, body.changes()
        )
    )


@routes.delete("/{id}", scope=Scope.ORDER, status=204)
async def delete_address(address_id: ids.AddressId, caller: Buyer, db: Database) -> None:
    """Delete an address. If it was the default, the newest of the others becomes the default."""
    await save.delete_address(db, Actor.of(caller), caller.account_id, address_id)
