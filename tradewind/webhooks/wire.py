"""Subscriptions as JSON: the secret only when it is created."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from tradewind import clock, ids
from tradewind.errors import FieldError
from tradewind.web.inputs import Input, Output
from tradewind.web.validation import EMPTY_OR_NOT_BLANK
from tradewind.webhooks.model import Health, Subscription, SubscriptionChanges

_Time = clock.Timestamp
_Url = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=2048,
        description="HTTPS in production; `http` and localhost in development too.",
        examples=["https://shop.example.com/hooks/tradewind"],
    ),
]
_Event = Literal["order.updated", "payment.updated"]
_Kind = Annotated[_Event, Meta(examples=["order.updated"])]
_Kinds = Annotated[
    list[_Kind],
    Meta(min_length=1, max_length=20, examples=[["order.updated", "payment.updated"]]),
]
_Description = Annotated[
    str, Meta(max_length=500, pattern=EMPTY_OR_NOT_BLANK, examples=["The shop's order page."])
]
_CatchUp = Annotated[
    bool,
    Meta(
        description="Whether missed events are replayed automatically when the endpoint works "
        "again.",
        examples=[False],
    ),
]
BOTH: Sequence[_Event] = ("order.updated", "payment.updated")


class SubscriptionIn(Input):
    """A subscription to create."""

    url: _Url
    events: _Kinds = msgspec.field(default_factory=lambda: list(BOTH))
    is_active: Annotated[bool, Meta(examples=[True])] = True
    description: _Description = ""
    catch_up: _CatchUp = False

    def changes(self) -> SubscriptionChanges:
        return SubscriptionChanges(
            self.url, distinct(self.events), self.is_active, self.description, self.catch_up
        )


class SubscriptionPatch(Input):
    """What to change; what is left out stays."""

    url: _Url | None = None
    events: _Kinds | None = None
    is_active: Annotated[bool | None, Meta(examples=[True])] = None
    description: _Description | None = None
    catch_up: _CatchUp | None = None

    def check_fields(self) -> Iterator[FieldError]:
        names = self.__struct_fields__
        if all(getattr(self, name) is None for name in names):
            message = f"Must change something: at least one of {', '.join(names)}."
            yield FieldError("", message, "missing")

    def changes(self) -> SubscriptionChanges:
        events = None if self.events is None else distinct(self.events)
        return SubscriptionChanges(
            self.url, events, self.is_active, self.description, self.catch_up
        )


def distinct(events: Sequence[str]) -> list[str]:
    """Each kind once, in the order in which they were given."""
    return list(dict.fromkeys(events))


class SubscriptionOut(Output):
    """A subscription."""

    id: Annotated[
        str, Meta(pattern=ids.SUBSCRIPTION.pattern, examples=["whk_06EJ4KQZC5T9XN4R5ZJ2V7M8QW"])
    ]
    url: _Url
    events: _Kinds
    is_active: Annotated[bool, Meta(examples=[True])]
    description: _Description
    catch_up: _CatchUp
    disabled_reason: Annotated[
        str | None,
        Meta(
            description="`failing`: switched off, since all deliveries failed for five days.",
            examples=[None],
        ),
    ]
    health: Health
    failing_since: _Time | None
    created_at: _Time
    updated_at: _Time
    secret_rotated_at: _Time | None

    @staticmethod
    def of(subscription: Subscription) -> "SubscriptionOut":
        return SubscriptionOut(
            id=ids.SUBSCRIPTION.show(subscription.id),
            url=subscription.url,
            events=list(subscription.events),  # type: ignore[arg-type]
            is_active=subscription.is_active,
            description=subscription.description,
            catch_up=subscription.catch_up,
            disabled_reason=subscription.disabled_reason,
            health=subscription.health,
            failing_since=clock.show_or_none(subscription.failing_since),
            created_at=clock.show(subscription.created_at),
            updated_at=clock.show(subscription.updated_at),
            secret_rotated_at=clock.show_or_none(subscription.secret_rotated_at),
        )


class NewSubscriptionOut(SubscriptionOut):
    """A subscription that was just created, with its secret, which is never shown again."""

    secret: Annotated[
        str,
        Meta(
            description="The key of the signatures, as the whole string.",
            examples=["whsec_bV7YlYQ0pYw0mD3vYkCq1o8z3d5f7h9j1l2n4p6r8t0"],
        ),
    ]

    @staticmethod
    def with_secret(subscription: Subscription, secret: str) -> "NewSubscriptionOut":
        return NewSubscriptionOut(
            **msgspec.structs.asdict(SubscriptionOut.of(subscription)), secret=secret
        )


class RotatedOut(Output):
    """A new secret, which is never shown again."""

    id: Annotated[str, Meta(examples=["whk_06EJ4KQZC5T9XN4R5ZJ2V7M8QW"])]
    secret: Annotated[str, Meta(examples=["whsec_bV7YlYQ0pYw0mD3vYkCq1o8z3d5f7h9j1l2n4p6r8t0"])]
    rotated_at: _Time
