"""Subscriptions as JSON: the secret only when it is created."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from tradewind import clock, ids
from tradewind.web.inputs import Input, Output, Patch, id_text
from tradewind.web.paging import CursorList
from tradewind.web.validation import EMPTY_OR_NOT_BLANK
from tradewind.webhooks.headers import MASK, NAME_PATTERN, VALUE_PATTERN, is_reserved
from tradewind.webhooks.model import EventFilter, Health, Subscription, SubscriptionChanges
from tradewind.webhooks.secret import standard_form

_Time = clock.Timestamp
_Url = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=2048,
        description="HTTPS in production; `http` and localhost in development too.",
        examples=["http://localhost:3000/hooks/tradewind"],
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
_MOST_HEADERS = 10
_MOST_HEADER_CHARACTERS = 4096


def _fit(headers: Mapping[str, str]) -> bool:
    """Whether headers are not too long together, and no two differ only in case."""
    characters = sum(len(name) + len(value) for name, value in headers.items())
    return characters <= _MOST_HEADER_CHARACTERS and len({name.lower() for name in headers}) == len(
        headers
    )


_HeaderName = Annotated[
    str,
    Meta(
        pattern=NAME_PATTERN,
        extra={
            "accepts": lambda name: not (name.endswith("\n") or is_reserved(name)),
            "expected": "the name of a header of at most 64 characters, other than those of the"
            " delivery (X-Service-*, webhook-*, Content-*, Host, User-Agent), of the connection,"
            " of cookies and of proxies",
        },
    ),
]
_HeaderValue = Annotated[
    str,
    Meta(
        pattern=VALUE_PATTERN,
        extra={
            "expected": "text of 1 to 2,048 visible ASCII characters, with spaces only in between"
        },
    ),
]
_Headers = Annotated[
    dict[_HeaderName, _HeaderValue],
    Meta(
        max_length=_MOST_HEADERS,
        description="Headers that every request to the URL carries besides ours. Values are "
        "stored encrypted, and shown as asterisks.",
        examples=[{"X-Environment": "staging"}],
        extra={
            "accepts": _fit,
            "expected": f"at most {_MOST_HEADERS} headers of {_MOST_HEADER_CHARACTERS:,} "
            "characters together, each name once in whatever case",
        },
    ),
]
_StandardWebhooks = Annotated[
    bool,
    Meta(
        description="Whether the headers of Standard Webhooks (`webhook-id`, `webhook-timestamp`, "
        "`webhook-signature`) are sent as well.",
        examples=[False],
    ),
]
# The statuses of orders, which know of subscriptions and not the other way round; a test compares.
OrderStatusName = Literal[
    "creating", "create_failed", "pending_payment", "paid", "partially_shipped", "shipped",
    "received", "completed", "cancelled", "closed", "unknown",
]  # fmt: skip
_Platforms = Annotated[
    list[Annotated[str, Meta(min_length=1, max_length=64)]],
    Meta(
        min_length=1,
        max_length=20,
        description="Only events about orders on these platforms.",
        examples=[["sandbox"]],
    ),
]
_Statuses = Annotated[
    list[OrderStatusName],
    Meta(
        min_length=1,
        max_length=20,
        description="Only events whose order has one of these `status` values.",
        examples=[["pending_payment", "paid", "shipped"]],
    ),
]


class FilterIn(Input):
    """Which events to deliver, by their order; an empty filter leaves nothing out."""

    platforms: _Platforms | None = None
    statuses: _Statuses | None = None

    def model(self) -> EventFilter:
        return EventFilter(
            self.platforms, None if self.statuses is None else distinct(self.statuses)
        )


class FilterOut(Output):
    """Which events are delivered, by their order; null: any."""

    platforms: _Platforms | None
    statuses: _Statuses | None


class SubscriptionIn(Input):
    """A subscription to create."""

    url: _Url
    events: _Kinds = msgspec.field(default_factory=lambda: list(BOTH))
    is_active: Annotated[bool, Meta(examples=[True])] = True
    description: _Description = ""
    catch_up: _CatchUp = False
    headers: _Headers = msgspec.field(default_factory=dict)
    standard_webhooks: _StandardWebhooks = False
    filter: FilterIn | None = None

    def changes(self) -> SubscriptionChanges:
        return _changes(self)


class SubscriptionPatch(Patch):
    """What to change; what is left out stays."""

    url: _Url | None = None
    events: _Kinds | None = None
    is_active: Annotated[bool | None, Meta(examples=[True])] = None
    description: _Description | None = None
    catch_up: _CatchUp | None = None
    headers: _Headers | None = None
    standard_webhooks: _StandardWebhooks | None = None
    filter: FilterIn | None = None

    def changes(self) -> SubscriptionChanges:
        return _changes(self)


def _changes(sent: SubscriptionIn | SubscriptionPatch) -> SubscriptionChanges:
    return SubscriptionChanges(
        sent.url,
        None if sent.events is None else distinct(sent.events),
        sent.is_active,
        sent.description,
        sent.catch_up,
        sent.headers,
        sent.standard_webhooks,
        None if sent.filter is None else sent.filter.model(),
    )


def distinct(events: Sequence[str]) -> list[str]:
    """Each kind once, in the order in which they were given."""
    return list(dict.fromkeys(events))


class SubscriptionOut(Output):
    """A subscription."""

    id: Annotated[str, id_text(ids.SUBSCRIPTION)]
    url: _Url
    events: _Kinds
    is_active: Annotated[bool, Meta(examples=[True])]
    description: _Description
    catch_up: _CatchUp
    headers: Annotated[
        dict[str, str],
        Meta(
            description="The names of its own headers; values are not shown.",
            examples=[{"X-Environment": MASK}],
        ),
    ]
    standard_webhooks: _StandardWebhooks
    filter: FilterOut | None
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
            headers=dict.fromkeys(subscription.header_names, MASK),
            standard_webhooks=subscription.standard_webhooks,
            filter=_filter_out(subscription.filter),
            disabled_reason=subscription.disabled_reason,
            health=subscription.health,
            failing_since=clock.show_or_none(subscription.failing_since),
            created_at=clock.show(subscription.created_at),
            updated_at=clock.show(subscription.updated_at),
            secret_rotated_at=clock.show_or_none(subscription.secret_rotated_at),
        )


def _filter_out(event_filter: EventFilter | None) -> FilterOut | None:
    if event_filter is None:
        return None
    return FilterOut(
        platforms=event_filter.platforms,  # type: ignore[arg-type]
        statuses=event_filter.statuses,  # type: ignore[arg-type]
    )


_StandardSecret = Annotated[
    str | UnsetType,
    Meta(
        description="The same secret as libraries of Standard Webhooks read it; only if "
        "`standard_webhooks` is on.",
        examples=["whsec_bV7YlYQ0pYw0mD3vYkCq1o8z3d5f7h9j1l2n4p6r8t0="],
    ),
]


def standard_secret(subscription: Subscription, secret: str) -> str | UnsetType:
    """The secret for Standard Webhooks, if the subscription sends their headers."""
    return standard_form(secret) if subscription.standard_webhooks else UNSET


class NewSubscriptionOut(SubscriptionOut):
    """A subscription that was just created, with its secret, which is never shown again."""

    secret: Annotated[
        str,
        Meta(
            description="The key of the signatures, as the whole string.",
            examples=["whsec_bV7YlYQ0pYw0mD3vYkCq1o8z3d5f7h9j1l2n4p6r8t0"],
        ),
    ]
    standard_webhooks_secret: _StandardSecret = UNSET

    @staticmethod
    def with_secret(subscription: Subscription, secret: str) -> "NewSubscriptionOut":
        return NewSubscriptionOut(
            **msgspec.structs.asdict(SubscriptionOut.of(subscription)),
            secret=secret,
            standard_webhooks_secret=standard_secret(subscription, secret),
        )


class RotatedOut(Output):
    """A new secret, which is never shown again."""

    id: Annotated[str, Meta(examples=["whk_06EJ4KQZC5T9XN4R5ZJ2V7M8QW"])]
    secret: Annotated[str, Meta(examples=["whsec_bV7YlYQ0pYw0mD3vYkCq1o8z3d5f7h9j1l2n4p6r8t0"])]
    rotated_at: _Time
    standard_webhooks_secret: _StandardSecret = UNSET


WEBHOOKS: CursorList[Subscription] = CursorList("webhooks", UUID, key=lambda webhook: webhook.id)
ALL_WEBHOOKS = replace(WEBHOOKS, name="all webhooks")
