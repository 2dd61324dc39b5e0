"""A person who acts on orders: an account, with the e-mail that it had then."""

from dataclasses import dataclass, field
from uuid import UUID

from tradewind.audit.model import Actor
from tradewind.web.caller import Caller


@dataclass(frozen=True, slots=True)
class Person:
    """Who requested, approved or changed something.

    `roles` are those of a caller who acts now. They are not stored, so a person that was read from
    the database has none.
    """

    id: UUID
    email: str
    roles: frozenset[str] = field(default=frozenset(), compare=False)
    # The program that acted for this person, as it called itself.
    agent: str | None = field(default=None, compare=False)
    # The same for the audit log, if such a program acts now. It is not stored either.
    agent_actor: Actor | None = field(default=None, compare=False)

    @staticmethod
    def of(caller: Caller) -> "Person":
        actor = None if caller.agent is None else Actor.of(caller)
        return Person(caller.account_id, caller.email, caller.roles, caller.agent, actor)
