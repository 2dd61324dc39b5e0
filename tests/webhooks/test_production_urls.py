"""Webhook URLs in production: the whole SSRF corpus through the API."""

import asyncio
import json
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from egress.name_server import NO_SUCH_NAME, NameServer, Zone, naming
from egress.test_corpus import Row, rows
from kit.processes import family_of, read
from kit.server import Person, Server, ServerLauncher

from tradewind.egress.grammar import LONGEST_URL

pytestmark = pytest.mark.xdist_group("production urls")

_FIXTURE = Path(__file__).parents[1] / "data/ssrf_dns_fixture.json"
_ANSWERS: dict[str, list[list[str]]] = {
    name: entry["answers"] for name, entry in json.loads(_FIXTURE.read_text())["names"].items()
}
# How often the owner of a name can change it: at its registration, and at each attempt.
_LOOKUPS = 4
_BLOCKED = "The URL leads to an address that may not be called."


def zones(lookup: int) -> dict[str, Zone]:
    """What the names are at their n-th lookup."""
    result = {}
    for name, answers in _ANSWERS.items():
        answer = answers[min(lookup, len(answers) - 1)]
        result[name] = Zone(answer) if answer else Zone(code=NO_SUCH_NAME)
    return result


@pytest.fixture(scope="module")
def names() -> Iterator[NameServer]:
    """A name server in a thread of its own."""
    ready, stop = threading.Event(), threading.Event()
    result: list[NameServer] = []

    async def serve() -> None:
        async with naming(zones(0)) as server:
            result.append(server)
            ready.set()
            await asyncio.to_thread(stop.wait)

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    ready.wait()
    yield result[0]
    stop.set()
    thread.join()


@pytest.fixture(scope="module")
def production(launcher: ServerLauncher, names: NameServer) -> Iterator[Server]:
    settings = {
        "TRADEWIND_ENV": "production",
        "TRADEWIND_PUBLIC_URL": "https://api.tradewind.example.com",
        "TRADEWIND_HOST": "127.0.0.1",
        "TRADEWIND_DNS_SERVERS": names.address,
        "TRADEWIND_MAX_SUBSCRIPTIONS": "10000",
    }
    with launcher.serving(workers=1, settings=settings) as api:
        yield api


@pytest.fixture(scope="module")
def buyer(production: Server) -> Person:
    return production.person()


@asynccontextmanager
async def asking(api: Server, buyer: Person) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(
        base_url=api.url, headers=buyer.headers, timeout=20, limits=httpx.Limits(max_connections=8)
    ) as client:
        yield client


async def register(client: httpx.AsyncClient, url: str) -> httpx.Response:
    return await client.post("/v1/webhooks", json={"url": url})


def peers(api: Server) -> set[str]:
    """Whom the processes of the API are connected to, or try to be, beyond this machine."""
    mine = {
        f"/proc/{pid}/fd/{fd.name}": fd.readlink().name
        for pid in [api.process.pid, *family_of(api.process.pid)]
        for fd in Path(f"/proc/{pid}/fd").iterdir()
        if fd.is_symlink()
    }
    inodes = {name[len("socket:[") : -1] for name in mine.values() if name.startswith("socket:")}
    lines = [
        line.split()
        for table in ("net/tcp", "net/tcp6")
        for line in read(api.process.pid, table).decode().splitlines()[1:]
    ]
    loopback = ("0100007F", "00000000", "0" * 32, "0" * 24 + "01000000")
    remote = {fields[2] for fields in lines if fields[9] in inodes}
    return {item for item in remote if not item.startswith(loopback)}


async def test_the_api_answers_the_corpus_as_it_is_listed(
    production: Server, buyer: Person, names: NameServer
) -> None:
    corpus = rows()
    connected: set[str] = set()
    verdicts: dict[Row, list[int]] = {row: [] for row in corpus}
    messages: Counter[str] = Counter()
    async with asking(production, buyer) as client:
        for lookup in range(_LOOKUPS):
            names.zones = zones(lookup)
            asked = corpus if lookup == 0 else [row for row in corpus if row.rebinds]
            answers = await asyncio.gather(*(register(client, row.url) for row in asked))
            connected |= peers(production)
            for row, answer in zip(asked, answers, strict=True):
                verdicts[row].append(answer.status_code)
                _note(production, row.url, answer, messages)

    for row, codes in verdicts.items():
        if row.rebinds:
            assert 422 in codes, row
        else:
            assert codes == [201 if row.allowed else 422], row
    assert connected == set()
    assert messages[_BLOCKED] > 50, "one message for every blocked address"
    reported = [message for message in messages if message != _BLOCKED]
    known = {item for answers in _ANSWERS.values() for answer in answers for item in answer}
    assert not [message for message in reported if any(address in message for address in known)]
    made = production.fetch("SELECT count(*) AS n FROM webhook_subscription")[0]["n"]
    assert made == sum(codes.count(201) for codes in verdicts.values())


def _note(api: Server, url: str, answer: httpx.Response, messages: "Counter[str]") -> None:
    reported: dict[str, Any] = answer.json()
    if answer.status_code == 201:
        api.launcher.secrets.add(reported["secret"])
        return
    assert answer.headers["content-type"] == "application/problem+json"
    if not url or len(url) > LONGEST_URL or "\0" in url:
        # What no field of text may be is refused before anybody asks whether it is a URL.
        assert reported["code"] == "validation_failed", reported
        return
    assert reported["code"] == "webhook_url_rejected", reported
    assert [error["pointer"] for error in reported["errors"]] == ["/url"]
    messages[reported["errors"][0]["message"]] += 1


@pytest.mark.parametrize(
    "url",
    [
        "https://10.0.0.1/hook",
        "https://169.254.169.254/latest/meta-data/",
        "https://127.0.0.1/hook",
        "https://[::1]/hook",
        "https://10.0.0.1.nip.io/hook",
        "https://azure-a.example.com/hook",
        "https://cgnat-a.example.com/hook",
    ],
)
async def test_every_blocked_address_gets_the_same_answer(
    production: Server, buyer: Person, names: NameServer, url: str
) -> None:
    names.zones = zones(0)
    async with asking(production, buyer) as client:
        answer = await register(client, url)

    reported = answer.json()
    assert (answer.status_code, reported["code"]) == (422, "webhook_url_rejected")
    assert reported["errors"] == [
        {"pointer": "/url", "code": "webhook_url_rejected", "message": _BLOCKED}
    ]


async def test_a_change_of_the_url_is_held_to_the_same_rule(
    production: Server, buyer: Person, names: NameServer
) -> None:
    names.zones = zones(0)
    async with asking(production, buyer) as client:
        made = (await register(client, "https://v4only.example.com/hook")).json()
        production.launcher.secrets.add(made["secret"])
        for url in (
            "https://10.0.0.1/hook",
            "http://v4only.example.com/",
            "https://no.example.com/",
        ):
            answer = await client.patch(f"/v1/webhooks/{made['id']}", json={"url": url})
            assert (answer.status_code, answer.json()["code"]) == (422, "webhook_url_rejected")
        kept = (await client.get(f"/v1/webhooks/{made['id']}")).json()

    assert kept["url"] == "https://v4only.example.com/hook"


async def test_a_test_delivery_to_a_name_that_turned_bad_is_blocked(
    production: Server, buyer: Person, names: NameServer
) -> None:
    """Registered while it was public, it leads to this machine now: nothing is sent to it."""
    name = "turns.example.com"
    names.zones = {name: Zone(["93.184.216.34"])}
    async with asking(production, buyer) as client:
        made = (await register(client, f"https://{name}/hook")).json()
        production.launcher.secrets.add(made["secret"])
        names.zones = {name: Zone(["127.0.0.1"])}
        result = (await client.post(f"/v1/webhooks/{made['id']}/test")).json()

    assert (result["delivered"], result["outcome"]) == (False, "blocked_address")
    assert result["response"] is None
    assert "127.0.0.1" not in json.dumps(result)
    assert [step["ok"] for step in result["steps"]] == [False, None, None, None]
