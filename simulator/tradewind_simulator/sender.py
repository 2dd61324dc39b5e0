"""Sends notices by HTTP, a few at a time, with a timeout."""

import asyncio
import contextlib
import ssl
import time
from collections.abc import Mapping
from urllib.parse import urlsplit

from tradewind_simulator.notices import Notice, Notices, Target

_SECONDS = 5.0
_AT_ONCE = 8
_PAUSE = 0.02
_LINE = 4_096


async def post(url: str, headers: Mapping[str, str], body: bytes) -> int:
    """Return the status of the response; 0 if there was none."""
    try:
        async with asyncio.timeout(_SECONDS):
            return await _exchange(url, headers, body)
    except (OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        return 0


async def _exchange(url: str, headers: Mapping[str, str], body: bytes) -> int:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(url)
    secure = ssl.create_default_context() if parts.scheme == "https" else None
    port = parts.port or (443 if secure else 80)
    reader, writer = await asyncio.open_connection(parts.hostname, port, ssl=secure, limit=_LINE)
    try:
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        head = [f"POST {target} HTTP/1.1", f"Host: {parts.netloc}", "Connection: close"]
        head += [f"{name}: {value}" for name, value in headers.items()]
        head.append(f"Content-Length: {len(body)}")
        writer.write("\r\n".join([*head, "", ""]).encode() + body)
        await writer.drain()
        words = (await reader.readline()).split()
        return int(words[1]) if len(words) > 1 else 0
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


async def run(notices: Notices) -> None:
    """Send until cancelled. Each app's notices leave in order, unless shuffling was asked for.

    An app whose receiver is slow holds up only itself.
    """
    places = asyncio.Semaphore(_AT_ONCE)
    lanes: dict[str, asyncio.Task[None]] = {}
    running: set[asyncio.Task[None]] = set()
    while True:
        job = notices.due(time.time())
        if job is None:
            await asyncio.sleep(_PAUSE)
            continue
        notice, target, tries = job
        before = None if target.shuffle else lanes.get(notice.app)
        task = asyncio.create_task(_send(notices, notice, target, tries, places, before))
        lanes[notice.app] = task
        running.add(task)
        task.add_done_callback(running.discard)


async def _send(
    notices: Notices,
    notice: Notice,
    target: Target,
    tries: int,
    places: asyncio.Semaphore,
    before: asyncio.Task[None] | None,
) -> None:
    if before is not None:
        await asyncio.wait([before])
    async with places:
        status = await post(target.url, notice.headers, notice.body.encode())
    notices.done(notice, tries, status, time.time())
