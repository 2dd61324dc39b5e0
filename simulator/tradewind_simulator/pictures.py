"""Search by picture: a picture always stands for the same kind of product."""

import base64
import hashlib
from collections.abc import Sequence

from tradewind_simulator.model import Product
from tradewind_simulator.responses import BusinessError
from tradewind_simulator.search import Sort
from tradewind_simulator.world import World

_MOST_BYTES = 3 * 1024 * 1024
_STARTS = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"RIFF")
_SEEDS = 10**15
_CHECKS = 1000
_FIRST = 10**18


def upload(encoded: str, code: str) -> int:
    """Return the id of a picture in base64; `code` is that of the error if it is not a picture.

    The id follows from the bytes of the picture, so nothing is remembered.
    """
    try:
        picture = base64.b64decode(encoded, validate=True)
    except ValueError:
        picture = b""
    if len(picture) > _MOST_BYTES or not picture.startswith(_STARTS):
        raise BusinessError(code, "图片格式不支持: 请上传小于3MB的jpg、png或webp图片")
    seed = int.from_bytes(hashlib.sha256(picture).digest()[:8]) % _SEEDS
    return _FIRST + seed * _CHECKS + _check(seed)


def similar(
    world: World,
    image_id: str,
    code: str,
    sort: Sort = Sort.RELEVANCE,
    low_fen: int | None = None,
    high_fen: int | None = None,
) -> Sequence[Product]:
    """Return the products that look like a picture; an id that was never given out is an error."""
    is_number = len(image_id) == len(str(_FIRST)) and image_id.isdecimal()
    number = int(image_id) - _FIRST if is_number else -1
    seed, check = divmod(number, _CHECKS)
    if not 0 <= seed < _SEEDS or check != _check(seed):
        raise BusinessError(code, f"图片不存在: {image_id}")
    kinds = sorted({product.kind for product in world.products.values() if product.listed})
    return world.index.find(kinds[seed % len(kinds)], sort, low_fen, high_fen)


def _check(seed: int) -> int:
    return seed * 7919 % _CHECKS
