"""The receiver on the page for integrators works as it stands there."""

import json
import re
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from kit.egress import sending

from tradewind.webhooks.signing import sign

PAGE = Path(__file__).parents[2] / "docs/how-to/receive-webhooks.md"
SECRET = "whsec_" + "p" * 43


class Quiet:
    """It says nothing of the requests it gets."""

    def log_message(self, *_: Any) -> None: ...


@pytest.fixture
def page() -> Iterator[dict[str, Any]]:
    """What the page's code defines, and the port at which its receiver listens."""
    found = re.search(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found is not None
    names: dict[str, Any] = {"__name__": "page"}
    exec(found[1].replace("whsec_…", SECRET), names)  # noqa: S102 - our own page
    receiver: type[BaseHTTPRequestHandler] = names["Receiver"]
    with ThreadingHTTPServer(("127.0.0.1", 0), type("R", (Quiet, receiver), {})) as server:
        server.daemon_threads = True
        server.block_on_close = False
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield names | {"port": server.server_address[1]}
        server.shutdown()
        thread.join()


def event(number: int, at: str, status: str) -> bytes:
    order = {"id": "ORD1", "status": status, "updated_at": f"2026-11-15T08:00:{at}.000Z"}
    return json.dumps({"id": f"evt_{number}", "data": {"order": order}}).encode()


async def test_it_believes_handles_once_and_in_order(page: dict[str, Any]) -> None:
    now = int(time.time())

    async def send(body: bytes, secret: str = SECRET) -> tuple[int | None, str]:
        async with sending() as sender:
            signature = sign(secret, now, body)
            result = await sender.post(
                f"http://localhost:{page['port']}/",
                body,
                [f"X-Service-Timestamp: {now}", f"X-Service-Signature: {signature}"],
            )
        return result.status, page["orders"].get("ORD1", {}).get("status", "")

    assert await send(event(1, "01", "forged"), "whsec_other") == (401, "")
    assert await send(event(2, "02", "paid")) == (200, "paid")
    assert await send(event(3, "03", "shipped")) == (200, "shipped")
    assert await send(event(2, "02", "paid")) == (200, "shipped")
    assert await send(event(4, "01", "placed")) == (200, "shipped")
    assert await send(event(5, "03", "shipped again")) == (200, "shipped again")
