"""What every test of this connector can ask for: it, in front of a scripted marketplace."""

from collections.abc import AsyncIterator

import pytest
from platforms.taobao.scripted import Stand, standing


@pytest.fixture
async def stand() -> AsyncIterator[Stand]:
    async with standing() as made:
        yield made
