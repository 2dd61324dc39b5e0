"""The how-to page about webhooks on a laptop works as it is printed."""

import time
from pathlib import Path

import pytest
from kit import docs
from kit.system import System
from kit.webhook_endpoint import running_endpoint

from tradewind.webhooks.signing import sign

PAGE = "docs/how-to/receive-webhooks-on-a-laptop.md"
SECONDS = 90

pytestmark = pytest.mark.xdist_group("system")


def test_the_page_runs_as_printed(system: System, tmp_path: Path) -> None:
    """`listen` runs in the background, where a reader has a terminal of its own."""
    now, body = int(time.time()), b'{"id": "evt_1"}'
    (tmp_path / "body.json").write_bytes(body)
    with running_endpoint() as endpoint:
        in_background = (
            f"localhost:{endpoint.port}/hook > listen.log &\n"
            "trap 'kill $(jobs -p)' EXIT\n"
            "until grep -q connected listen.log; do sleep 0.1; done\n"
        )
        docs.check(
            PAGE,
            tmp_path,
            seconds=SECONDS,
            environ={
                "API_KEY": system.buyer.key,
                "XDG_CONFIG_HOME": str(tmp_path),
                "SECRET": "whsec_of_this_run",
                "SIGNATURE": sign("whsec_of_this_run", now, body),
                "TIMESTAMP": str(now),
            },
            replace={
                "https://tradewind.example.com": system.api.url,
                "localhost:3000/hook\n": in_background,
            },
        )
        requests = endpoint.until(
            lambda received: any(
                request.headers["x-service-event"] == "payment.updated" for request in received
            )
        )

    assert [request.headers["x-service-event"] for request in requests] == [
        "order.updated",
        "order.updated",
        "payment.updated",
    ]
