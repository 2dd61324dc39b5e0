"""Places orders all the time, through whatever outage, and remembers what was acknowledged."""

import asyncio
import time

import httpx

from kit.system import System


class OrderWriters:
    """Places orders all the time; what is not acknowledged is sent again with the same key."""

    def __init__(
        self,
        system: System,
        name: str = "writer",
        *,
        client: httpx.AsyncClient | None = None,
        pause: float = 0,
    ) -> None:
        """A writer rests for `pause` seconds after each order."""
        self._name = name
        self._body = system.order_body()
        self._pause = pause
        self._client = client or httpx.AsyncClient(
            base_url=system.api.url, headers=system.buyer.headers, timeout=20
        )
        self._going = True
        self.answers: list[tuple[float, httpx.Response]] = []
        self.sent: set[str] = set()
        self.acknowledged: dict[str, str] = {}
        # When the request of each acknowledged order was sent, and when it was answered.
        self.times: list[tuple[float, float]] = []
        self.unanswered = 0

    async def place(self, writer: int, *, new_key_after: float | None = None) -> None:
        """Place one order after the other.

        With `new_key_after`, what is not acknowledged is left to `repeat_all`: after so many
        seconds comes another order. A request that an outage interrupted counts as in flight for
        some time, but another one does not.
        """
        number = 0
        pause = 0.05 if new_key_after is None else new_key_after
        while self._going:
            key = f"{self._name} {writer} order {number}"
            sent = time.monotonic()
            try:
                answer = await self._send(key)
            except httpx.TransportError:
                self.unanswered += 1
                number += new_key_after is not None
                await asyncio.sleep(pause)
                continue
            if answer.status_code == 201:
                self.times.append((sent, time.monotonic()))
                self.acknowledged[key] = answer.json()["id"]
                number += 1
                await asyncio.sleep(self._pause)
            else:
                number += new_key_after is not None
                await asyncio.sleep(pause)

    async def _send(self, key: str) -> httpx.Response:
        self.sent.add(key)
        sent = time.monotonic()
        answer = await self._client.post(
            "/v1/orders",
            json={**self._body, "external_id": key},
            headers={"idempotency-key": key},
        )
        self.answers.append((time.monotonic() - sent, answer))
        return answer

    async def until_more(self, count: int, patience: float) -> None:
        """Wait until so many more are acknowledged than now."""
        wanted = len(self.acknowledged) + count
        async with asyncio.timeout(patience):
            while len(self.acknowledged) < wanted:  # noqa: ASYNC110 - there is no event for it
                await asyncio.sleep(0.02)

    async def stop(self, tasks: list[asyncio.Task[None]]) -> None:
        self._going = False
        await asyncio.gather(*tasks)

    async def repeat_all(self) -> dict[str, str]:
        """Send every key once more, acknowledged or not: the orders that the answers name."""
        answers = {key: await self._send(key) for key in self.sent}
        return {key: answer.json()["id"] for key, answer in answers.items()}

    async def close(self) -> None:
        await self._client.aclose()
