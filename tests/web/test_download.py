"""Downloads: the caller is checked again while pieces are sent."""

from collections.abc import AsyncGenerator

import pytest

from tradewind.auth.errors import InvalidCredentials
from tradewind.storage.errors import DatabaseAway
from tradewind.web import download
from tradewind.web.download import rechecked


async def test_a_download_goes_on_while_the_caller_cannot_be_checked_and_ends_with_the_credential(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(download, "_CHECK_SECONDS", 0.0)
    results = iter([None, DatabaseAway(), None, InvalidCredentials.token()])
    closed = False

    async def pieces() -> AsyncGenerator[bytes, None]:
        nonlocal closed
        try:
            for number in range(10):
                yield b"%d" % number
        finally:
            closed = True

    async def recheck() -> None:
        if error := next(results):
            raise error

    sent = rechecked(pieces(), recheck)

    assert [await anext(sent) for _ in range(3)] == [b"0", b"1", b"2"]
    with pytest.raises(InvalidCredentials):
        await anext(sent)
    assert closed
