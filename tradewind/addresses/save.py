"""Saves, changes and deletes addresses; exactly one address of an account is the default."""

from dataclasses import asdict, replace
from uuid import UUID

from tradewind import ids
from tradewind.addresses import divisions, sql
from tradewind.addresses.errors import AddressLimitReached, DefaultAddressRequired
from tradewind.addresses.get_address import get_address
from tradewind.addresses.model import MOST_ADDRESSES, AddressChanges, SavedAddress
from tradewind.audit.model import Actor
from tradewind.audit.record import record
from tradewind.errors import ResourceNotFound
from tradewind.platforms.model import Address
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx, transaction


async def save_address(
    db: Database,
    by: Actor,
    account_id: UUID,
    label: str,
    address: Address,
    *,
    is_default: bool,
    address_id: UUID | None = None,
) -> SavedAddress:
    """Save a new address. The first address of an account is the default in any case.

    Province, city and district get their full names. A form brings the id of its address, so that
    the same form sent twice saves one; it gets another id if that one is taken.
    """
    address = _with_full_names(address)
    async with transaction(db) as tx:
        count = await sql.lock_book(tx, account_id)
        if address_id is not None:
            saved = await sql.find_address(tx, account_id, address_id)
            if saved is not None and (saved.label, saved.address) == (label, address):
                return saved
        if count >= MOST_ADDRESSES:
            raise AddressLimitReached(MOST_ADDRESSES)
        if is_default:
            await sql.clear_default(tx, account_id)
        is_default = is_default or count == 0
        new = (account_id, label, address, is_default)
        saved = await sql.insert_address(tx, address_id or ids.new(), *new)
        saved = saved or await sql.insert_address(tx, ids.new(), *new)
        if saved is None:
            raise RuntimeError("A new id is taken.")
        await _audit(tx, by, "address.created", saved)
        return saved


async def change_address(
    db: Database, by: Actor, account_id: UUID, address_id: UUID, changes: AddressChanges
) -> SavedAddress:
    """Change an address. Making it the default ends that of the former default, in one step."""
    async with transaction(db) as tx:
        await sql.lock_book(tx, account_id)
        saved = await get_address(tx, account_id, address_id)
        if saved.is_default and changes.is_default is False:
            raise DefaultAddressRequired
        if changes.is_default and not saved.is_default:
            await sql.clear_default(tx, account_id)
        changed = await sql.update_address(
            tx,
            account_id,
            address_id,
            saved.label if changes.label is None else changes.label,
            _changed(saved.address, changes),
            is_default=saved.is_default or bool(changes.is_default),
        )
        await _audit(tx, by, "address.changed", changed)
        return changed


async def delete_address(db: Database, by: Actor, account_id: UUID, address_id: UUID) -> None:
    """Delete an address; if it was the default, the newest of the others becomes the default."""
    async with transaction(db) as tx:
        await sql.lock_book(tx, account_id)
        if not await sql.delete_address(tx, account_id, address_id):
            raise ResourceNotFound(ids.ADDRESS)
        subject = ids.ADDRESS.show(address_id)
        record(tx, by, "address.deleted", account_id=account_id, subject=subject)


def _changed(address: Address, changes: AddressChanges) -> Address:
    values = {
        name: value
        for name, value in asdict(changes).items()
        if value is not None and name not in {"label", "is_default"}
    }
    changed = replace(address, **values)
    changed = replace(changed, postal_code=changed.postal_code or None)
    # The region of an old address may have been renamed since; it is checked when it is changed.
    regions = [(a.province, a.city, a.district) for a in (address, changed)]
    return changed if regions[0] == regions[1] else _with_full_names(changed)


def _with_full_names(address: Address) -> Address:
    region = divisions.resolve(address.province, address.city, address.district)
    return replace(address, province=region.province, city=region.city, district=region.district)


async def _audit(tx: Tx, by: Actor, action: str, saved: SavedAddress) -> None:
    """Record the act without the address itself: people's addresses stay in one table."""
    record(
        tx,
        by,
        action,
        account_id=saved.account_id,
        subject=ids.ADDRESS.show(saved.id),
        is_default=saved.is_default,
    )
