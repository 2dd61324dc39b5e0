"""Logs an account in: throttle first, then the password, then a session."""

from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address

from tradewind.auth import login_throttle, sessions, sql
from tradewind.auth.errors import AccountLocked, WrongCredentials
from tradewind.auth.model import Identity, TokenPair
from tradewind.auth.passwords import Passwords
from tradewind.observability.metrics import LOGINS
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction
from tradewind.web import limits
from tradewind.web.limits import Rate, RateLimited

# Every result is shown from the start, with 0.
for _result in ("rate_limited", "stopped", "wrong", "locked", "ok"):
    LOGINS.labels(_result)


@dataclass(frozen=True, slots=True)
class LoginRate:
    """How many logins a minute an address may try."""

    per_minute: int


async def log_in(
    db: Database,
    keyring: Keyring,
    passwords: Passwords,
    rate: LoginRate,
    *,
    email: str,
    password: str,
    address: str,
    user_agent: str,
) -> tuple[Identity, TokenPair]:
    """Open a session for whoever knows the password.

    An unknown e-mail takes the same path to the same response as a wrong password: the same
    counters, the same statements, one hash. Only the right password shows that an operator locked
    the account. A login that could not be tried (too busy, no database) is not counted.
    """
    granted, budget = await limits.take(
        db, f"login:{_network(address)}", Rate(rate.per_minute, rate.per_minute)
    )
    if not granted:
        LOGINS.labels("rate_limited").inc()
        raise RateLimited(
            budget,
            f"Only {rate.per_minute} logins a minute are tried from one address: slow down.",
        )
    email = email.strip().lower()
    try:
        async with login_throttle.throttled(db, keyring, email) as check:
            account_id, stored = await sql.find_password_hash(db, email)
            check.failed = not await passwords.matches(stored, password)
    except AccountLocked:
        LOGINS.labels("stopped").inc()
        raise
    if check.failed or account_id is None or stored is None:
        LOGINS.labels("wrong").inc()
        raise WrongCredentials
    tokens: TokenPair | None = None
    async with transaction(db) as tx:
        account = await sql.lock_identity(tx, account_id, password_hash=stored)
        if account is None:  # the password was changed while we compared it
            raise WrongCredentials
        await login_throttle.reset(tx, keyring, email)
        if account.locked_at is None:
            tokens = await sessions.begin(
                tx, keyring, account.id, address=address, user_agent=user_agent
            )
    if tokens is None:
        LOGINS.labels("locked").inc()
        raise AccountLocked.by_operator()
    LOGINS.labels("ok").inc()
    return account, tokens


def _network(address: str) -> str:
    """The network that counts as one address: an IPv6 /64 belongs to one customer."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, IPv6Address):
        return parsed.ipv4_mapped.compressed if parsed.ipv4_mapped else parsed.exploded[:19]
    return parsed.compressed
