"""Stopping under load: requests in progress are answered, and the process ends soon."""

import asyncio
import os
import signal
import time

import httpx
from kit import scorecard
from kit.server import Server, ServerLauncher

from tradewind.auth.model import Plan, Role

_ROUNDS = 20 if "SOAK_KILLS" in os.environ else 2
_CLIENTS = 16
_LONGEST_STOP = 15
_NO_LIMIT = {"TRADEWIND_PLANS": "free=120,pro=1200,enterprise=6000000"}


async def _ask_until_gone(api: Server, headers: dict[str, str], broken: list[str]) -> int:
    """Ask on fresh connections until none is taken; note what broke after it was taken."""
    answered = 0
    while True:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", httpx.URL(api.url).port)
        except OSError:
            return answered
        lines = ["GET /v1/me HTTP/1.1", "host: x", "connection: close"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        try:
            writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
            answer = await reader.read()
        except OSError as error:
            # Never accepted by a process: the listening socket was closed with us in its queue.
            answer = b"" if isinstance(error, ConnectionResetError) else str(error).encode()
        finally:
            writer.close()
        if answer.startswith(b"HTTP/1.1 200"):
            answered += 1
        elif answer:
            broken.append(answer[:200].decode())


async def test_sigterm_answers_what_was_begun_and_ends_soon(
    launcher: ServerLauncher, database_url: str
) -> None:
    person = await launcher.make_person(database_url, (Role.BUYER,), Plan.ENTERPRISE)
    for _ in range(_ROUNDS):
        with launcher.serving_on(database_url, settings=_NO_LIMIT) as api:
            broken: list[str] = []
            clients = [
                asyncio.create_task(_ask_until_gone(api, person.headers, broken))
                for _ in range(_CLIENTS)
            ]
            await asyncio.sleep(0.3)
            api.process.send_signal(signal.SIGTERM)
            started = time.monotonic()
            answered = await asyncio.wait_for(asyncio.gather(*clients), _LONGEST_STOP)
            await asyncio.to_thread(api.process.wait, _LONGEST_STOP)
            took = time.monotonic() - started
            begun = api.log.read_text().count('"event":"request"')

        scorecard.record(
            18,
            sum(answered),
            kills=1,
            lost=max(len(broken), begun - sum(answered)),
            longest_stop_seconds=took,
        )
        assert broken == []
        assert sum(answered) > 0
        assert took < _LONGEST_STOP
        assert begun == sum(answered), "every request that was worked on got its answer"
        assert api.process.returncode == 0
