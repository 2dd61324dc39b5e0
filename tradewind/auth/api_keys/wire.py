"""API keys as JSON, in and out."""

from typing import Annotated

from msgspec import Meta, structs

from tradewind import clock, ids
from tradewind.auth.api_keys.model import ApiKey
from tradewind.web.inputs import Input, Output
from tradewind.web.validation import NOT_BLANK

KeyName = Annotated[
    str, Meta(min_length=1, max_length=100, pattern=NOT_BLANK, examples=["warehouse sync"])
]
_Time = clock.Timestamp


class NewKeyIn(Input):
    """A name that says what the key is for."""

    name: KeyName


class KeyOut(Output):
    """An API key, without the key itself."""

    id: Annotated[
        str, Meta(pattern=ids.API_KEY.pattern, examples=["key_06EJ4KQZC5T9XN4R5ZJ2V7M8QW"])
    ]
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
