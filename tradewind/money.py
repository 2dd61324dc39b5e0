"""Money: integer fen inside, a JSON number of yuan with at most two decimals in the API."""

from decimal import Decimal
from typing import Annotated

from msgspec import Meta

LARGEST_CNY = 1_000_000_000

Cny = Annotated[float, Meta(description="In CNY, at most two decimals.", examples=[25.0])]


def show(fen: int) -> float:
    """Fen as the number of yuan in a response or an event."""
    return fen / 100


def text(fen: int) -> str:
    """An amount in a sentence, such as `CNY 12.50`."""
    return f"CNY {Decimal(fen) / 100:.2f}"


def show_or_none(fen: int | None) -> float | None:
    return None if fen is None else show(fen)


def read(cny: float) -> int | None:
    """Yuan as fen; None when there are more than two decimals: an amount is never rounded."""
    fen = Decimal(repr(cny)) * 100
    return int(fen) if fen == fen.to_integral_value() else None


# An amount that callers send. It is parsed as a float, which is exact enough below this limit.
CnyIn = Annotated[
    float,
    Meta(
        ge=0,
        le=LARGEST_CNY,
        examples=[25.0],
        extra={
            "expected": f"an amount in CNY from 0 to {LARGEST_CNY:,} with at most two decimals, "
            "such as 128.5",
            "accepts": lambda cny: read(cny) is not None,
        },
    ),
]
