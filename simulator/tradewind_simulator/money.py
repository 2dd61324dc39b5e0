"""Conversion between fen, which we compute with, and yuan as dialects write it."""

from collections.abc import Sequence
from decimal import Decimal


def yuan(fen: int) -> float | int:
    """A JSON number of yuan: 6.15, and 6 rather than 6.0."""
    return fen // 100 if fen % 100 == 0 else fen / 100


def yuan_text(fen: int) -> str:
    return f"{Decimal(fen) / 100:.2f}"


def fen_of(text: str) -> int:
    """Fen of a decimal number of yuan; ValueError if it is none, or finer than a fen."""
    try:
        fen = Decimal(text) * 100
        whole = int(fen)
    except (ArithmeticError, ValueError):
        raise ValueError(text) from None
    if fen != whole:
        raise ValueError(text)
    return whole


def shares(total: int, weights: Sequence[int]) -> list[int]:
    """Split `total` in proportion to `weights`, so that the parts sum up to it exactly."""
    whole = sum(weights)
    if whole == 0:
        return [total, *[0] * (len(weights) - 1)] if weights else []
    sign = -1 if total < 0 else 1
    parts = [abs(total) * weight // whole for weight in weights]
    rests = sorted(range(len(weights)), key=lambda i: (-(abs(total) * weights[i] % whole), i))
    for i in rests[: abs(total) - sum(parts)]:
        parts[i] += 1
    return [sign * part for part in parts]
