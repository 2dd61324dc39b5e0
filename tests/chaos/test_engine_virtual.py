"""The delivery engine in virtual time, with random endpoints, crashes and database faults by seed.

Time, network and deaths are simulated; the engine, its recorder, its SQL and PostgreSQL are real.
`TRADEWIND_SEED` tells one story again, in all detail.
"""

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import structlog
from kit import scorecard
from kit.postgres import Postgres
from kit.virtual import VirtualLoop
from kit.virtual_database import Server
from kit.virtual_story import Story, tell
from kit.virtual_truth import Truth
from kit.virtual_world import World

_CHUNK = 50
_AGAIN = os.environ.get("TRADEWIND_SEED")
# A run tells 200 stories; a soak tells a thousand and more, and others each time.
_SOAK = int(os.environ.get("SOAK_STORIES", "0"))
_CHUNKS = 20 * (1 + _SOAK // 50) if _SOAK else 4
_FIRST = random.SystemRandom().randrange(1 << 40) if _SOAK else 0
_SEEDS = (
    [range(int(_AGAIN), int(_AGAIN) + 1)]
    if _AGAIN
    else [
        range(first, first + _CHUNK) for first in range(_FIRST, _FIRST + _CHUNKS * _CHUNK, _CHUNK)
    ]
)
# What an engine may call an error: many workers died of a delivery, so it is put aside or given up.
_EXPECTED = {"delivery.parked", "delivery.given_up"}


@contextmanager
def serving(postgres: Postgres) -> Iterator[Server]:
    with postgres.fresh_database() as url:
        made = Server(url)
        yield made
        made.close()


@pytest.fixture
def server(postgres: Postgres) -> Iterator[Server]:
    with serving(postgres) as made:
        yield made


def told(server: Server, seed: int) -> tuple[Story, list[str]]:
    """The story of a seed, and everything in it that must not be."""
    random.seed(seed)  # pauses have a jitter
    loop = VirtualLoop()
    server.begin(loop)
    world = World(loop, server, seed)
    try:
        with structlog.testing.capture_logs() as lines:
            story = loop.run_until_complete(tell(world))
    finally:
        loop.close()
    lies = list(Truth(story).lies())
    lies += [
        str(line)
        for line in lines
        if line["log_level"] == "error" and line["event"] not in _EXPECTED
    ]
    return story, lies


@pytest.mark.parametrize("seeds", _SEEDS, ids=lambda seeds: f"from {seeds[0] - _FIRST}")
def test_whatever_happens_deliveries_are_as_they_must_be(server: Server, seeds: range) -> None:
    for seed in seeds:
        story, lies = told(server, seed)
        scorecard.record(14, 1, violations=len(lies))
        if lies:
            raise AssertionError(
                "\n".join([f"TRADEWIND_SEED={seed}", *story.world.story, "", *lies[:20]])
            )


def test_a_seed_tells_the_same_story_again(postgres: Postgres) -> None:
    with serving(postgres) as server:
        first, _ = told(server, 2)
    with serving(postgres) as server:
        again, _ = told(server, 2)

    assert len(first.world.sent) > 10
    assert [
        (request.at, request.url, request.ended, request.process.name)
        for request in first.world.sent
    ] == [
        (request.at, request.url, request.ended, request.process.name)
        for request in again.world.sent
    ]
