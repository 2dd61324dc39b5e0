"""Responses of 1688 as its documentation shows them."""

from pathlib import Path
from typing import Any

from tradewind.platforms.alibaba import values
from tradewind.platforms.model import Address, Line

_FOLDER = Path(__file__).parents[2] / "data" / "alibaba"

ORDER = "1997017368132345941"
SECOND_ORDER = "1997017368132345942"
ITEM_A = "1997017368132345901"
ITEM_B = "1997017368132345902"
RED = "b266e0726506185beaf205cbae88530d"
BLUE = "eb81c61de14f4adb405ffcc2c8a4a3fb"
SHIRT = Line("610947572360", RED, 2)
SOCKS = Line("610947572361", BLUE, 5)
ADDRESS = Address(
    "张三", "+86 152-5166-7788", "浙江省", "杭州市", "滨江区", "网商路699号", "310000"
)


def raw(name: str) -> bytes:
    return (_FOLDER / f"{name}.json").read_bytes()


def payload(name: str) -> dict[str, Any]:
    return values.decode(raw(name))


def shown_order(name: str) -> dict[str, Any]:
    """`result` of the buyer's view."""
    shown: dict[str, Any] = payload(name)["result"]
    return shown
