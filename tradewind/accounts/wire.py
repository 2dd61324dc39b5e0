"""Accounts as JSON, in and out."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, structs

from tradewind import clock, ids
from tradewind.accounts.model import Account
from tradewind.auth.api_keys.wire import KeyLimitsOut, show_networks
from tradewind.auth.model import Plan, Role
from tradewind.auth.passwords import MAXIMUM, Password
from tradewind.auth.wire import AccountOut, Email, Name, PlanName
from tradewind.web.caller import Caller
from tradewind.web.inputs import Input, Output, id_text
from tradewind.web.paging import PageQuery
from tradewind.web.scopes import Scope
from tradewind.web.validation import NOT_BLANK


class PasswordIn(Input):
    """The current password, and the one that replaces it."""

    current_password: Annotated[str, Meta(max_length=MAXIMUM, examples=["correct horse battery"])]
    new_password: Annotated[Password, Meta(examples=["a longer, better one"])]


class UsageOut(Output):
    """What is left of the account's rate budget after this request."""

    requests_per_minute: Annotated[int, Meta(examples=[1200])]
    remaining: Annotated[int, Meta(description="Requests that fit now.", examples=[119])]
    resets_in_seconds: Annotated[int, Meta(description="Until all is back.", examples=[1])]


class MyKeyOut(KeyLimitsOut):
    """The API key that the request was sent with."""

    id: Annotated[str, id_text(ids.API_KEY)]

    @staticmethod
    def of_caller(caller: Caller) -> "MyKeyOut | None":
        if caller.key_id is None:
            return None
        scopes = caller.scopes
        return MyKeyOut(
            id=ids.API_KEY.show(caller.key_id),
            scopes=None if scopes is None else [scope for scope in Scope if scope in scopes],
            expires_at=clock.show_or_none(caller.expires_at),
            allowed_cidrs=show_networks(caller.allowed_cidrs),
        )


class MeOut(AccountOut):
    """The caller's own account."""

    usage: UsageOut
    api_key: Annotated[MyKeyOut | None, Meta(description="Null for a session.")]

    @staticmethod
    def of_caller(caller: Caller) -> "MeOut":
        budget = caller.budget
        return MeOut(
            id=ids.ACCOUNT.show(caller.account_id),
            email=caller.email,
            name=caller.name,
            roles=[Role(role) for role in sorted(caller.roles)],
            plan=Plan(caller.plan),
            created_at=clock.show(caller.created_at),
            usage=UsageOut(
                requests_per_minute=budget.rate.per_minute,
                remaining=budget.remaining,
                resets_in_seconds=budget.reset_seconds,
            ),
            api_key=MyKeyOut.of_caller(caller),
        )


class NewAccountIn(Input):
    """An account to create. Without a password, create a password link for its owner next."""

    email: Email
    name: Name = ""
    roles: Annotated[tuple[Role, ...], Meta(min_length=1, max_length=3, examples=[["buyer"]])] = (
        Role.BUYER,
    )
    plan: PlanName = Plan.PRO
    password: Password | None = None


class LockIn(Input):
    """Why the account is locked; operators see it."""

    reason: Annotated[
        str, Meta(min_length=1, max_length=500, pattern=NOT_BLANK, examples=["Unpaid invoices"])
    ]


class PlanIn(Input):
    """The plan to put the account on."""

    plan: PlanName


class RolesIn(Input):
    """All roles that the account shall have."""

    roles: Annotated[list[Role], Meta(min_length=1, max_length=3, examples=[["buyer", "approver"]])]


class AdminAccountOut(AccountOut):
    """An account as operators see it."""

    locked_at: clock.Timestamp | None
    lock_reason: Annotated[str | None, Meta(examples=[None])]
    updated_at: clock.Timestamp

    @staticmethod
    def of_account(account: Account) -> "AdminAccountOut":
        return AdminAccountOut(
            **structs.asdict(AccountOut.of(account)),
            locked_at=clock.show_or_none(account.locked_at),
            lock_reason=account.lock_reason,
            updated_at=clock.show(account.updated_at),
        )


class PasswordLinkOut(Output):
    """A link by which its holder chooses a password, once. It is shown only here."""

    url: Annotated[str, Meta(examples=["https://tradewind.example/password?token=twp_…"])]
    expires_at: clock.Timestamp

    @staticmethod
    def of(url: str, expires_at: datetime) -> "PasswordLinkOut":
        return PasswordLinkOut(url=url, expires_at=clock.show(expires_at))


class AccountListQuery(PageQuery):
    """Which accounts to list."""

    email: Annotated[str | None, Meta(description="Exactly this e-mail.")] = None
    role: Annotated[list[Role] | None, Meta(description="Any of these, by comma or repeated.")] = (
        None
    )
    plan: Annotated[list[Plan] | None, Meta(description="Any of these, by comma or repeated.")] = (
        None
    )
    locked: Annotated[bool | None, Meta(description="Only locked ones, or only others.")] = None
