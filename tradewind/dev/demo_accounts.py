"""Demo data for `tradewind dev`: a buyer and an operator, with an API key each."""

from tradewind.accounts import sql
from tradewind.accounts.register import register
from tradewind.audit.model import Actor
from tradewind.auth.api_keys import sql as keys
from tradewind.auth.api_keys.issue import issue
from tradewind.auth.api_keys.key_format import hashes
from tradewind.auth.model import Role
from tradewind.auth.passwords import Passwords
from tradewind.dev.data_dir import Secrets
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database

_DEMO = Actor("tradewind dev")


async def prepare(db: Database, keyring: Keyring, secrets: Secrets) -> None:
    """Create the demo accounts that are missing; existing ones stay as they are."""
    passwords = Passwords()
    try:
        for person, name, roles in (
            (secrets.buyer, "Demo buyer", [Role.BUYER]),
            (secrets.operator, "Demo operator", [Role.APPROVER, Role.OPERATOR]),
        ):
            account = await sql.find_account(db, email=person.email)
            if account is None:
                account = await register(
                    db,
                    passwords,
                    _DEMO,
                    email=person.email,
                    name=name,
                    roles=roles,
                    password=person.password,
                )
            # With another master secret the stored hash does not match: issue the key again.
            if not await keys.is_live_key(db, hashes(keyring, person.api_key)):
                await issue(db, keyring, _DEMO, account.id, "demo", key=person.api_key)
    finally:
        passwords.close()
