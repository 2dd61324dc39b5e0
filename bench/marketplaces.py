"""Product search with a warm cache, and orders read in batches, against bare requests."""

import asyncio
import json
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from time import perf_counter, time
from urllib.parse import urlencode

from bench import servers
from bench.results import Results
from tradewind.egress.client import Client
from tradewind.observability import logs
from tradewind.platforms.access import PlatformAccess
from tradewind.platforms.alibaba import gateway
from tradewind.platforms.model import Address, Line, OrderRequest
from tradewind.platforms.paced_client import PacedClient
from tradewind.platforms.sandbox.marketplace import SANDBOX

_ORDERS = 20
_WORKERS = 8
_SECONDS = 2.0
_PRODUCT = "900000000001"
_ADDRESS = Address("张三", "15251667788", "浙江省", "杭州市", "滨江区", "网商路699号", "310000")
_SEARCH = {"q": "dress", "platform": "sandbox"}


def run(database_url: str, key: str, results: Results) -> None:
    logs.configure("json", "warning")  # a line per call to a terminal would be what is measured
    with ExitStack() as stack:
        simulator = stack.enter_context(servers.simulator())
        settings = {"TRADEWIND_SANDBOX_URL": simulator}
        api = stack.enter_context(servers.tradewind(database_url, settings))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        search = servers.posted(
            folder / "search.lua",
            json.dumps(_SEARCH),
            {"content-type": "application/json", "x-api-key": key},
        )
        rate, found = servers.ratios(
            (f"{simulator}/healthz", {}),
            {"warm": (f"{api}/v1/products/search", search)},
        )
        results.section(
            "Marketplaces, against a bare request to the simulator", f" ({rate:,.0f}/s)"
        )
        results.tell(found["warm"], "product searches through the API with a warm cache")
        bare, batched = asyncio.run(_reads(simulator))
        results.tell(
            batched / bare, f"orders read {_ORDERS} at a time, against single signed reads"
        )
        results.note(f"({batched:,.0f} orders/s against {bare:,.0f} bare signed reads/s)")


async def _reads(simulator: str) -> tuple[float, float]:
    """Bare signed reads a second, and orders a second through `read_many`; medians of pairs."""
    demo = SANDBOX.demo
    if demo is None or demo.access_token is None:
        raise RuntimeError("the sandbox has no demo credentials")
    access = PlatformAccess(demo.app_key, demo.app_secret, demo.access_token)

    async def get_access(_rejected: str | None) -> PlatformAccess:
        return access

    async def unpaced(_seconds: float) -> None:
        return

    client = Client()
    try:
        connector = SANDBOX.connect(PacedClient("sandbox", simulator, client, unpaced), get_access)
        product = await connector.detail(_PRODUCT, "en")
        line = Line(_PRODUCT, product.skus[0].id, product.offer.min_order_quantity or 1)
        ids = [
            (await connector.create(OrderRequest(f"BENCH{number}", [line], _ADDRESS))).order_ids[0]
            for number in range(_ORDERS)
        ]
        api = f"param2/1/com.alibaba.trade/alibaba.trade.get.buyerView/{access.app_key}"

        async def bare() -> int:
            form = {
                "webSite": "1688",
                "orderId": ids[0],
                "access_token": access.access_token,
                "_aop_timestamp": str(int(time() * 1000)),
            }
            form["_aop_signature"] = gateway.sign_request(access.app_secret, api, form)
            reply = await client.post(
                f"{simulator}/openapi/{api}",
                urlencode(form).encode(),
                ["Content-Type: application/x-www-form-urlencoded"],
                seconds=10,
                repeatable=True,
            )
            if b"idOfStr" not in reply.body:
                raise RuntimeError(reply.body[:300].decode())
            return 1

        async def batch() -> int:
            return len(await connector.read_many(ids))

        pairs = [(await _rate(bare), await _rate(batch)) for _ in range(servers.PAIRS)]
    finally:
        await client.close()
    return median(single for single, _ in pairs), median(batched for _, batched in pairs)


async def _rate(work: Callable[[], Awaitable[int]]) -> float:
    """How much of `work` gets done in a second, by a few at a time."""
    started = perf_counter()
    done = 0

    async def keep_on() -> None:
        nonlocal done
        while perf_counter() - started < _SECONDS:
            more = await work()
            done += more

    await asyncio.gather(*(keep_on() for _ in range(_WORKERS)))
    return done / (perf_counter() - started)
