"""Demo addresses for `tradewind dev`: where the demo buyer has goods shipped to."""

from uuid import UUID

from tradewind.addresses import save
from tradewind.addresses.sql import find_default
from tradewind.audit.model import Actor
from tradewind.platforms.model import Address
from tradewind.storage.pool import Database

_DEMO = Actor("tradewind dev")
WAREHOUSE = Address(
    "王芳", "13800138000", "浙江省", "金华市", "义乌市", "福田街道稠州北路888号", "322000"
)
_OFFICE = Address("李伟", "021-58881234", "上海市", "上海市", "浦东新区", "世纪大道100号", "200120")


async def prepare(db: Database, account_id: UUID) -> None:
    """Save the demo addresses, unless the buyer has any."""
    if await find_default(db, account_id) is None:
        for label, address in (("Warehouse Yiwu", WAREHOUSE), ("Office Shanghai", _OFFICE)):
            await save.save_address(db, _DEMO, account_id, label, address, is_default=False)
