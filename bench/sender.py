"""The sender against pycurl on the event loop: CPU of a signed POST, by HTTP and by HTTPS."""

import asyncio
import time
from collections.abc import Awaitable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import pycurl

from bench import certificate
from bench.endpoints import Endpoints, started
from bench.results import Results
from tradewind.egress.guard import Policy
from tradewind.egress.resolver import Resolver
from tradewind.egress.result import AttemptResult
from tradewind.egress.sender import Sender
from tradewind.webhooks import headers as names
from tradewind.webhooks.signing import sign

PAIRS = 7
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


async def run(endpoints: Endpoints, results: Results) -> None:
    """Tell what a POST takes either way."""
    with TemporaryDirectory(prefix="tradewind-bench-") as folder:
        authorities = certificate.write(Path(folder))
        secure, [port] = started("bench.endpoint", "--tls", str(authorities))
        try:
            for name, url in (("HTTP", endpoints.good), ("HTTPS", f"https://127.0.0.1:{port}")):
                pairs = [
                    (
                        await _cpu(bare(url, authorities=authorities)),
                        await _cpu(_sent(url, authorities)),
                    )
                    for _ in range(PAIRS)
                ]
                ratio = median(plain / ours for plain, ours in pairs)
                results.tell(ratio, f"CPU of a POST by pycurl, against our sender, {name}", 1.0)
                results.note(
                    f"{median(ours for _, ours in pairs) * 1e6:.1f} µs against "
                    f"{median(plain for plain, _ in pairs) * 1e6:.1f} µs"
                )
        finally:
            secure.terminate()
            secure.wait(10)
            if secure.stdout is not None:
                secure.stdout.close()


async def _cpu(posts: Awaitable[None]) -> float:
    """CPU seconds of this process for each of POSTS."""
    before = time.process_time()
    await posts
    return (time.process_time() - before) / POSTS


async def bare(url: str, posts: int = POSTS, *, authorities: Path | None = None) -> None:
    """Send so many POSTs with pycurl, over LANES connections at once."""
    multi = pycurl.AsyncCurlMulti()
    left = posts

    async def work() -> None:
        nonlocal left
        curl = pycurl.Curl()
        curl.setopt(pycurl.URL, url)
        curl.setopt(pycurl.WRITEFUNCTION, lambda _: None)
        if authorities is not None:
            curl.setopt(pycurl.CAINFO, str(authorities))
        while left > 0:
            left -= 1
            curl.setopt(pycurl.POSTFIELDS, BODY)
            curl.setopt(pycurl.HTTPHEADER, headers())
            await multi.perform(curl)
            _check(curl.getinfo(pycurl.RESPONSE_CODE) == 200)  # noqa: PLR2004 - OK

    await asyncio.gather(*[work() for _ in range(LANES)])
    await multi.aclose()


async def _sent(url: str, authorities: Path) -> None:
    """Send POSTS with our sender, over LANES connections at once, as the delivery engine does."""
    resolver = Resolver()
    sender = Sender(Policy(development=True), resolver, authorities=str(authorities))
    over = asyncio.get_running_loop().create_future()
    begun = ended = 0

    def begin() -> None:
        nonlocal begun
        begun += 1
        sender.begin(url, BODY, headers(), done)

    def done(result: AttemptResult) -> None:
        nonlocal ended
        ended += 1
        if not result.delivered:
            over.set_exception(RuntimeError("The endpoint did not get it."))
        elif begun < POSTS:
            begin()
        elif ended == POSTS:
            over.set_result(None)

    for _ in range(LANES):
        begin()
    await over
    await sender.close()
    await resolver.close()


def _check(delivered: bool) -> None:
    if not delivered:
        raise RuntimeError("The endpoint did not get it.")
