"""Signed POSTs a second of the guarded sender, against bare pycurl to the same endpoint."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from statistics import median

import pycurl
import uvloop

from tradewind.egress.guard import Policy
from tradewind.egress.resolver import Resolver
from tradewind.egress.sender import Sender
from tradewind.webhooks import headers as names
from tradewind.webhooks.signing import sign

PAIRS = 5
POSTS = 10_000
LANES = 100
BODY = b'{"id":"evt_bench","data":"' + b"x" * 600 + b'"}'
SECRET = "whsec_" + "b" * 43


def headers() -> list[str]:
    now = int(time.time())
    return [
        "Content-Type: application/json",
        f"{names.EVENT}: order.updated",
        f"{names.DELIVERY}: dlv_bench",
        f"{names.TIMESTAMP}: {now}",
        f"{names.SIGNATURE}: {sign(SECRET, now, BODY)}",
    ]


async def rate(post: Callable[[int], Awaitable[bool]], posts: int) -> float:
    """POSTs a second, over LANES connections at once."""
    left = posts

    async def work(lane: int) -> None:
        nonlocal left
        while left > 0:
            left -= 1
            if not await post(lane):
                raise RuntimeError("The endpoint did not get it.")

    start = time.perf_counter()
    await asyncio.gather(*[work(lane) for lane in range(LANES)])
    return posts / (time.perf_counter() - start)


async def bare(url: str, posts: int = POSTS) -> float:
    multi = pycurl.AsyncCurlMulti()
    curls = [pycurl.Curl() for _ in range(LANES)]
    for curl in curls:
        curl.setopt(pycurl.URL, url)
        curl.setopt(pycurl.WRITEFUNCTION, lambda _: None)

    async def post(lane: int) -> bool:
        curl = curls[lane]
        curl.setopt(pycurl.POSTFIELDS, BODY)
        curl.setopt(pycurl.HTTPHEADER, headers())
        await multi.perform(curl)
        return bool(curl.getinfo(pycurl.RESPONSE_CODE) == 200)  # noqa: PLR2004 - OK

    result = await rate(post, posts)
    await multi.aclose()
    return result


async def guarded(url: str) -> float:
    resolver = Resolver()
    sender = Sender(Policy(development=True), resolver)

    async def post(_lane: int) -> bool:
        return (await sender.post(url, BODY, headers())).delivered

    result = await rate(post, POSTS)
    await sender.close()
    await resolver.close()
    return result


async def main() -> None:
    command = [sys.executable, "-m", "bench.endpoint"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as endpoint:  # noqa: ASYNC220
        try:
            assert endpoint.stdout is not None  # noqa: S101 - for the types
            url = f"http://127.0.0.1:{int(endpoint.stdout.readline())}/hook"
            pairs = [(await bare(url), await guarded(url)) for _ in range(PAIRS)]
        finally:
            endpoint.terminate()
    print(f"bare pycurl      {median(plain for plain, _ in pairs):8,.0f} signed POSTs/s")
    print(f"guarded sender   {median(ours for _, ours in pairs):8,.0f} signed POSTs/s")
    print(f"ratio            {median(ours / plain for plain, ours in pairs):8.2f}")


if __name__ == "__main__":
    uvloop.run(main())
