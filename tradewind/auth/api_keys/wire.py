"""API keys as JSON, in and out."""

from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

from msgspec import Meta, structs

from tradewind import clock, ids
from tradewind.auth.api_keys.model import ApiKey, KeyLimits, Network, is_network
from tradewind.web.inputs import Input, Moment, Output, id_text
from tradewind.web.paging import CursorList
from tradewind.web.scopes import Scope
from tradewind.web.validation import NOT_BLANK

KeyName = Annotated[
    str, Meta(min_length=1, max_length=100, pattern=NOT_BLANK, examples=["warehouse sync"])
]
_Time = clock.Timestamp
_EXPECTED_NETWORK = "a network such as 203.0.113.0/24 or 2001:db8::/32, or an address"
_Scopes = Annotated[list[Scope], Meta(min_length=1, max_length=len(Scope))]
_Networks = Annotated[
    list[
        Annotated[
            str, Meta(max_length=49, extra={"accepts": is_network, "expected": _EXPECTED_NETWORK})
        ]
    ],
    Meta(min_length=1, max_length=20),
]


class NewKeyIn(Input):
    """A name that says what the key is for, and what it is restricted to."""

    name: KeyName
    scopes: Annotated[
        _Scopes | None,
        Meta(
            description="All that the key may do; null or left out: what its account can.",
            examples=[["read", "order"]],
        ),
    ] = None
    expires_at: Annotated[
        Moment | None,
        Meta(
            description="From then on it is rejected; null or left out: never.",
            examples=["2046-11-16T00:00:00Z"],
        ),
    ] = None
    allowed_cidrs: Annotated[
        _Networks | None,
        Meta(
            description="The networks that it can be used from; null or left out: any.",
            examples=[["0.0.0.0/0", "::/0"]],
        ),
    ] = None

    @property
    def limits(self) -> KeyLimits:
        return KeyLimits.of(self.scopes, self.expires_at, self.allowed_cidrs)


class KeyLimitsOut(Output):
    """What an API key is restricted to."""

    scopes: Annotated[
        list[Scope] | None,
        Meta(description="Null: it can do what its account can.", examples=[["read", "order"]]),
    ]
    expires_at: Annotated[_Time | None, Meta(description="Null: never.", examples=[None])]
    allowed_cidrs: Annotated[
        list[str] | None,
        Meta(description="Null: it can be used from anywhere.", examples=[["203.0.113.0/24"]]),
    ]


class KeyOut(KeyLimitsOut):
    """An API key, without the key itself."""

    id: Annotated[str, id_text(ids.API_KEY)]
    name: KeyName
    prefix: Annotated[str, Meta(description="How the key begins.", examples=["twk_3fJq8Xz1"])]
    created_at: _Time
    last_used_at: Annotated[_Time | None, Meta(description="Exact to a minute; null: never.")]
    revoked_at: Annotated[_Time | None, Meta(description="Null while it works.", examples=[None])]

    @staticmethod
    def of(key: ApiKey) -> "KeyOut":
        return KeyOut(
            id=ids.API_KEY.show(key.id),
            name=key.name,
            prefix=key.prefix,
            created_at=clock.show(key.created_at),
            last_used_at=clock.show_or_none(key.last_used_at),
            revoked_at=clock.show_or_none(key.revoked_at),
            scopes=None if key.limits.scopes is None else list(key.limits.scopes),
            expires_at=clock.show_or_none(key.limits.expires_at),
            allowed_cidrs=show_networks(key.limits.allowed_cidrs),
        )


class NewKeyOut(KeyOut):
    """A new API key, with the key itself, which is shown only once."""

    key: Annotated[
        str,
        Meta(
            pattern="^twk_[0-9A-Za-z]{38}$",
            description="Send it as `x-api-key`.",
            examples=["twk_3fJq8Xz1mB7kQp0RvT5wYc2NdL9sGhUe1aZx4K"],
        ),
    ]

    @staticmethod
    def of_new(api_key: ApiKey, key: str) -> "NewKeyOut":
        return NewKeyOut(**structs.asdict(KeyOut.of(api_key)), key=key)


def show_networks(networks: Sequence[Network] | None) -> list[str] | None:
    return None if networks is None else [str(network) for network in networks]


API_KEYS: CursorList[ApiKey] = CursorList("api-keys", UUID, key=lambda key: key.id)
