"""Freight by weight and distance, or free where the seller offers that."""

from tradewind_simulator.model import Seller

_FAR = ("新疆", "西藏", "内蒙古", "青海", "宁夏", "甘肃", "海南")
_ABROAD = ("香港", "澳门", "台湾")
_NEAR = ("浙江", "江苏", "上海", "广东", "福建", "安徽", "江西")
_OTHER = (
    "北京", "天津", "河北", "山西", "辽宁", "吉林", "黑龙江", "山东", "河南", "湖北", "湖南",
    "广西", "重庆", "四川", "贵州", "云南", "陕西",
)  # fmt: skip
_KILO = 1_000


def is_province(province: str) -> bool:
    return province.startswith((*_NEAR, *_OTHER, *_FAR, *_ABROAD))


def cost(seller: Seller, province: str, grams: int, goods_fen: int) -> int:
    """Return the freight in fen; remote provinces pay double, Hong Kong and beyond triple."""
    times = 3 if province.startswith(_ABROAD) else 2 if province.startswith(_FAR) else 1
    if times == 1 and seller.free_over_fen is not None and goods_fen >= seller.free_over_fen:
        return 0
    further = max(0, -(-grams // _KILO) - 1)
    return times * (seller.first_kilo_fen + further * seller.next_kilo_fen)
