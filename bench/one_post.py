"""The cost of preventing libcurl from sending a POST twice."""

import asyncio
import time
from functools import partial
from statistics import median

import pycurl

from bench.results import Results
from bench.sender import BODY, LANES, headers
from tradewind.egress.multi import Multi

ROUNDS = 15
POSTS = 4000


class Poster:
    """Posts the same body again and again, and gives it to libcurl in one of two ways."""

    def __init__(self, url: str, *, callback: bool) -> None:
        self._callback = callback
        self._given = 0
        self.curl = curl = pycurl.Curl()
        curl.setopt(pycurl.URL, url)
        curl.setopt(pycurl.POST, 1)
        curl.setopt(pycurl.WRITEFUNCTION, lambda _: None)
        if callback:
            curl.setopt(pycurl.READFUNCTION, self._give)
            curl.setopt(pycurl.POSTFIELDSIZE, len(BODY))

    def prepare(self) -> None:
        if self._callback:
            self._given = 0
        else:
            self.curl.setopt(pycurl.POSTFIELDS, BODY)
        self.curl.setopt(pycurl.HTTPHEADER, [*headers(), "Expect:"])

    def _give(self, size: int) -> bytes:
        part = BODY[self._given : self._given + size]
        self._given += len(part)
        return part


async def run(url: str, results: Results) -> float:
    """Tell the CPU time of a POST each way; the ratio of the two."""
    await _seconds(url, callback=True)
    fields: list[float] = []
    callback: list[float] = []
    ratios: list[float] = []
    for number in range(ROUNDS):
        # Turn about: a machine that grows slower must not tell against either.
        for with_callback in (False, True) if number % 2 else (True, False):
            seconds = await _seconds(url, callback=with_callback)
            (callback if with_callback else fields).append(seconds)
        ratios.append(callback[-1] / fields[-1])
    results.say(
        f"a POST takes {median(fields) * 1e6:.1f} µs of CPU with POSTFIELDS, "
        f"{median(callback) * 1e6:.1f} µs with a read callback"
    )
    return median(ratios)


async def _seconds(url: str, *, callback: bool) -> float:
    """Seconds of CPU for one POST, with as many under way as there are lanes."""
    multi = Multi(idle_connections=LANES)
    over = asyncio.Event()
    begun = ended = 0

    def begin(poster: Poster) -> None:
        nonlocal begun
        begun += 1
        poster.prepare()
        multi.perform(poster.curl, partial(end, poster))

    def end(poster: Poster, code: int) -> None:
        nonlocal ended
        ended += 1
        if code != pycurl.E_OK or ended == POSTS:
            over.set()
        elif begun < POSTS:
            begin(poster)

    posters = [Poster(url, callback=callback) for _ in range(LANES)]
    start = time.process_time()
    for poster in posters:
        begin(poster)
    await over.wait()
    seconds = time.process_time() - start
    multi.close()
    if ended != POSTS:
        raise RuntimeError("The endpoint did not get it.")
    return seconds / POSTS
