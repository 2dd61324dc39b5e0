"""The cluster loses a host under load: what was acknowledged is there, delivered and readable."""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from itertools import pairwise

import pytest
from kit import invariants, scorecard
from kit.cluster_faults import FAULTS, Fault
from kit.cluster_judge import judge, longest_pause, recovery_seconds
from kit.cluster_story import ClusterLoad, loaded
from kit.server import ServerLauncher

from tools.cluster import machine_parts, run
from tools.cluster.run import Cluster

pytestmark = pytest.mark.skipif(
    "SOAK_CLUSTER" not in os.environ, reason="only in `make cluster-chaos`"
)

_ORDERS = 10
_REJECTED = 500
_PATIENCE_SECONDS = 90.0


@pytest.fixture
async def load(cluster: Cluster, launcher: ServerLauncher) -> AsyncIterator[ClusterLoad]:
    async with loaded(cluster, launcher) as load:
        yield load


@pytest.fixture(params=FAULTS, ids=lambda fault: fault.name)
def fault(request: pytest.FixtureRequest) -> Fault:
    chosen: Fault = request.param
    reason = machine_parts.why_no_namespaces()
    if chosen.needs_namespaces and reason:
        pytest.skip(f"A host cannot be cut off or have a disk of its own here: {reason}.")
    return chosen


async def test_acknowledged_is_journaled_delivered_and_read_whatever_host_is_lost(
    fault: Fault, cluster: Cluster, load: ClusterLoad
) -> None:
    problems: list[str] = []
    whole_again = 0.0
    await load.until_more(_ORDERS, _PATIENCE_SECONDS)
    await load.read_on()
    host = await asyncio.to_thread(fault.choose, cluster)

    await asyncio.to_thread(fault.strike, cluster, host)
    fault_at, clock_at = time.monotonic(), time.time()
    with scorecard.kept_for_later(problems):
        if fault.waits_for_repair:
            await load.until_rejected(_REJECTED, _PATIENCE_SECONDS)
        else:
            await load.until_sent_after(fault_at, _PATIENCE_SECONDS)
            await load.until_more(_ORDERS, _PATIENCE_SECONDS)
    await asyncio.to_thread(fault.repair, cluster, host)
    recovers_from = time.monotonic() if fault.waits_for_repair else fault_at
    with scorecard.kept_for_later(problems):
        whole_again = await asyncio.to_thread(_wait_until_whole, cluster)
        await load.until_more(_ORDERS, _PATIENCE_SECONDS)
    stopped_at = time.time()
    with scorecard.kept_for_later(problems):
        await load.stop()
        await load.finish()
    evidence, facts = await load.collect()

    verdicts = [judge(item) for item in evidence]
    recovery = recovery_seconds(recovers_from, load.times)
    delivered = [clock_at, *(at for at in load.delivered_at if clock_at <= at <= stopped_at)]
    scorecard.record(
        fault.row,
        load.acknowledged,
        kills=1,
        lost=sum(verdict.lost for verdict in verdicts),
        duplicates=sum(verdict.sent_again for verdict in verdicts),
        foreign=sum(verdict.foreign for verdict in verdicts),
        double_debits=sum(verdict.double_debits for verdict in verdicts) // len(verdicts),
        violations=sum(verdict.violations for verdict in verdicts),
        recovery=[] if recovery is None else [recovery],
        events_delivered=sum(len(item.journaled) for item in evidence),
        payments=len(evidence[0].approved),
        longest_pause_of_orders_seconds=longest_pause(fault_at, load.times),
        longest_pause_of_deliveries_seconds=max(
            (after - before for before, after in pairwise(delivered)), default=0.0
        ),
        whole_after_repair_seconds=whole_again,
    )
    assert problems == []
    assert [verdict.problems for verdict in verdicts] == [(), ()]
    invariants.assert_holds(facts)


def _wait_until_whole(cluster: Cluster) -> float:
    """Wait until every host does its part again; how long it took."""
    urls = cluster.layout.api_urls
    return run.wait_until(
        lambda: cluster.is_whole() and all(map(run.is_ready, urls)),
        _PATIENCE_SECONDS,
        "all database hosts follow one leader, and every API host is ready",
    )
