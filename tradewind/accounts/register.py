"""Registers an account, for operators: from the command line, the admin API or the dashboard."""

from collections.abc import Sequence

from tradewind import ids
from tradewind.accounts import grants, sql
from tradewind.accounts.errors import EmailTaken
from tradewind.accounts.grants import Grant
from tradewind.accounts.model import Account
from tradewind.audit.model import Actor
from tradewind.audit.record import record
from tradewind.auth.model import Plan, Role
from tradewind.auth.passwords import Passwords
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction


async def register(
    db: Database,
    passwords: Passwords,
    by: Actor,
    *,
    email: str,
    name: str = "",
    roles: Sequence[Role] = (Role.BUYER,),
    plan: Plan = Plan.PRO,
    password: str | None = None,
) -> Account:
    """Create an account; without a password, its owner chooses one with a password link."""
    email = email.strip().lower()
    stored = None if password is None else await passwords.hash(password)
    async with transaction(db) as tx:
        account = await sql.insert_account(
            tx,
            ids.new(),
            email=email,
            name=name,
            roles=sorted(set(roles)),
            plan=plan,
            password_hash=stored,
        )
        if account is None:
            raise EmailTaken(email)
        if grants.POWERS & account.roles:
            await grants.record_grant(tx, by, account.id, Grant.ROLE)
        if password is not None:
            await grants.record_grant(tx, by, account.id, Grant.PASSWORD)
        record(
            tx,
            by,
            "account.created",
            account_id=account.id,
            subject=ids.ACCOUNT.show(account.id),
            email=email,
            roles=sorted(account.roles),
            plan=plan,
            with_password=password is not None,
        )
    return account
