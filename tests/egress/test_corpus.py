"""The SSRF corpus: every URL at registration and at the attempt."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from kit.egress import Names, Watch, sending

from tradewind.egress import guard
from tradewind.egress.grammar import UrlRejected
from tradewind.egress.guard import AddressBlocked, Policy
from tradewind.egress.resolver import LookupFailed
from tradewind.egress.result import Outcome

DATA = Path(__file__).parents[1] / "data"
PRODUCTION = Policy()
ATTEMPTS = 3


@pytest.fixture
def anyio_backend() -> str:
    """One event loop: which one it is makes no difference to a verdict."""
    return "asyncio"


@dataclass(frozen=True)
class Row:
    url: str
    allowed: bool
    why: str

    @property
    def rebinds(self) -> bool:
        return "[dns:rebind]" in self.why


def rows() -> list[Row]:
    with (DATA / "ssrf_corpus.tsv").open(encoding="utf-8") as lines:
        fields = [line.rstrip("\n").split("\t") for line in lines]
    return [Row(json.loads(f'"{url}"'), verdict == "allow", why) for url, verdict, why in fields]


def names() -> Names:
    fixture = json.loads((DATA / "ssrf_dns_fixture.json").read_text())["names"]
    return Names({name: entry["answers"] for name, entry in fixture.items()})


async def admitted(url: str, lookup: Names) -> bool:
    try:
        await guard.admit(url, PRODUCTION, lookup)
    except (UrlRejected, AddressBlocked, LookupFailed):
        return False
    return True


def test_the_corpus_is_all_there() -> None:
    assert len(rows()) > 200
    assert {row.allowed for row in rows()} == {True, False}
    assert any(row.rebinds for row in rows())


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.why[:60])
async def test_registration_admits_what_may_be_called_and_nothing_else(row: Row) -> None:
    lookup = names()

    verdicts = [await admitted(row.url, lookup) for _ in range(1 + ATTEMPTS)]

    assert all(verdicts) == row.allowed
    if not row.rebinds:
        assert len(set(verdicts)) == 1


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.why[:60])
async def test_at_the_send_no_socket_opens_to_what_may_not_be_called(row: Row) -> None:
    lookup, watch = names(), Watch(open_loopback=False)

    await admitted(row.url, lookup)
    async with sending(lookup, PRODUCTION, watch=watch) as sender:
        results = [await sender.post(row.url, b"{}", []) for _ in range(ATTEMPTS)]

    outcomes = {result.outcome for result in results}
    if row.allowed:
        # The guard let it through; it is the watch that opened nothing.
        assert outcomes == {Outcome.CONNECT_FAILED}
        assert watch.passed
        assert all(PRODUCTION.allows(address) for address in watch.passed)
    elif row.rebinds:
        assert outcomes & {Outcome.BLOCKED_ADDRESS, Outcome.DNS_ERROR}
        assert all(PRODUCTION.allows(address) for address in watch.passed)
    else:
        assert outcomes <= {Outcome.BLOCKED_ADDRESS, Outcome.DNS_ERROR}
        assert watch.passed == []
    assert not any(result.delivered for result in results)


@pytest.mark.parametrize("name", ["rebind.example.com", "rebind2.example.com"])
async def test_a_name_that_turns_bad_after_its_registration_is_refused_at_the_send(
    name: str,
) -> None:
    lookup, watch = names(), Watch(open_loopback=False)

    assert await admitted(f"https://{name}/hook", lookup)
    async with sending(lookup, PRODUCTION, watch=watch) as sender:
        results = [await sender.post(f"https://{name}/hook", b"{}", []) for _ in range(ATTEMPTS)]

    assert results[-1].outcome is Outcome.BLOCKED_ADDRESS
    assert {str(address) for address in watch.passed} <= {"93.184.216.34"}
    assert lookup.asked == [name] * (1 + ATTEMPTS)


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.why[:60])
async def test_development_opens_loopback_and_nothing_else(row: Row) -> None:
    lookup, watch = names(), Watch(open_loopback=False)
    policy = Policy(development=True)

    async with sending(lookup, policy, watch=watch) as sender:
        await sender.post(row.url, b"{}", [], seconds=1)

    for address in watch.passed:
        assert PRODUCTION.allows(address) or address.is_loopback
