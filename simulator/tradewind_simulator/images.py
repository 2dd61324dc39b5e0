"""Draws product pictures: the colour of the SKU and the product's name."""

# ruff: noqa: E501 - the outlines of the drawings

import hashlib
from html import escape

from tradewind_simulator.model import Product

_SHAPES = {
    "女装": "M150 90 L190 70 Q200 100 210 70 L250 90 L240 150 L275 320 L125 320 L160 150 Z",
    "男装": "M120 100 L170 75 Q200 105 230 75 L280 100 L300 170 L265 180 L262 320 L138 320 L135 180 L100 170 Z",
    "童装": "M140 110 L180 90 Q200 110 220 90 L260 110 L280 170 L250 175 L250 290 L150 290 L150 175 L120 170 Z",
    "鞋靴": "M90 230 L150 150 Q175 190 230 205 Q310 220 320 265 L320 285 L90 285 Z",
    "箱包": "M150 130 Q150 80 200 80 Q250 80 250 130 L230 130 Q230 100 200 100 Q170 100 170 130 Z"
    " M110 130 H290 L305 310 H95 Z",
    "饰品": "M200 110 L240 150 L200 300 L160 150 Z M150 150 H250",
    "家居日用": "M200 80 L310 170 H280 V310 H120 V170 H90 Z",
    "厨房用品": "M120 120 H260 V300 Q260 310 250 310 H130 Q120 310 120 300 Z M260 150 H300 V240 H260 Z",
    "数码配件": "M150 80 H250 Q265 80 265 95 V305 Q265 320 250 320 H150 Q135 320 135 305 V95 Q135 80 150 80 Z",
    "玩具": "M110 200 H195 V285 H110 Z M205 200 H290 V285 H205 Z M155 105 H245 V190 H155 Z",
    "宠物用品": "M200 190 Q270 200 260 270 Q200 320 140 270 Q130 200 200 190 Z M120 170 A25 32 0 1 1 121 170 Z"
    " M170 130 A25 32 0 1 1 171 130 Z M232 130 A25 32 0 1 1 233 130 Z M282 170 A25 32 0 1 1 283 170 Z",
    "运动户外": "M200 90 A110 110 0 1 1 199 90 Z",
}
_TROUSERS = "M140 90 H260 L275 320 H215 L200 170 L185 320 H125 Z"
_STAR = "M200 90 L228 165 L308 170 L245 220 L267 297 L200 252 L133 297 L155 220 L92 170 L172 165 Z"
_PAINT = {
    "black": "#2b2b2e", "white": "#f7f7f5", "red": "#d63b3b", "pink": "#f2a3bd", "grey": "#9a9ca3",
    "navy blue": "#233a6b", "blue": "#2f6fd0", "sky blue": "#7cc0ea", "dark green": "#23543f",
    "khaki": "#b9a26f", "beige": "#e8dcc4", "yellow": "#f2c63c", "purple": "#7d4fa8",
    "coffee": "#6b4a35", "orange": "#ee8432", "burgundy": "#7a1f36", "transparent": "#dfe9ee",
}  # fmt: skip


def draw(product: Product, picture: int) -> bytes:
    """An SVG of 400 by 400; picture 0 shows the product, n its n-th colour."""
    hue = (
        int(hashlib.md5(str(product.id).encode(), usedforsecurity=False).hexdigest()[:4], 16) % 360
    )
    paint = f"hsl({hue} 45% 55%)"
    for sku in product.skus:
        if sku.picture == picture and sku.options:
            paint = _PAINT.get(sku.options[0].value_en, paint)
    trousers = product.kind.endswith("裤") or product.kind == "裤子"
    shape = _TROUSERS if trousers else _SHAPES.get(product.category, _STAR)
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="400" viewBox="0 0 400 400">'
        f'<rect width="400" height="400" fill="hsl({hue} 35% 93%)"/>'
        f'<path d="{shape}" fill="{paint}" stroke="#00000033" stroke-width="3"/>'
        '<text x="200" y="372" font-family="sans-serif" font-size="26" text-anchor="middle" '
        f'fill="#333">{escape(product.kind)} {escape(product.kind_en)}</text></svg>'
    ).encode()
