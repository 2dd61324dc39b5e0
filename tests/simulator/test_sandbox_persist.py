"""The state file: acknowledged changes survive a kill, and ids never repeat."""

import signal
from pathlib import Path

import pytest
from simulator.sandbox_kit import Market, cargo, line, serving
from tradewind_simulator import apps, persist
from tradewind_simulator.ids import Ids
from tradewind_simulator.persist import Keeper, StateInUse, UnreadableState
from tradewind_simulator.sandbox import Options, Sandbox


@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGTERM])
def test_what_was_told_survives_the_process(tmp_path: Path, signum: signal.Signals) -> None:
    state = tmp_path / "state" / "sandbox.jsonl"
    with serving(tmp_path, state) as first:
        paid, unpaid = first.order(outOrderId="P-1"), first.order(cargo(quantity=3))
        first.pay(paid, "op-1")
        first.clock(advance_seconds=100)
        first.control("tokens/expire", app="alibaba")
        purchase = first.purchased(line())
        before = first.state()
        first.stop(signum)

    with serving(tmp_path, state) as second:
        after = second.state()
        again = second.order()

        assert after["orders"] == before["orders"]
        assert after["ledger"] == before["ledger"]
        assert 0 <= after["now"] - before["now"] < 60
        assert second.status(paid) == "waitsellersend"
        assert second.purchases(purchase)[0]["status"] == "WAIT_BUYER_P"
        assert second.pay(paid, "op-1")["result"]["paySuccess"] is True
        assert second.debits(paid) == [1_500]
        assert second.pay(paid, "op-2")["code"] == "ORDER_ALREADY_PAID"
        result = second.call("alibaba.trade.getBuyerOrderList", outOrderId="P-1")
        assert result["totalRecord"] == 1
        assert int(again) > max(int(paid), int(unpaid), purchase)
        second.clock(advance_seconds=50_000)
        assert second.status(unpaid) == "cancel"


def test_ids_never_repeat_over_resets_and_restarts(tmp_path: Path) -> None:
    seen: list[int] = []

    def some(market: Market) -> None:
        for _ in range(3):
            seen.append(int(market.order()))
            seen.append(int(market.view(str(seen[-1]))["productItems"][0]["subItemIDString"]))

    state = tmp_path / "state.jsonl"
    with serving(tmp_path, state) as market:
        some(market)
        market.control("reset")
        some(market)
    with serving(tmp_path, state) as market:
        assert market.state()["orders_total"] == 3
        some(market)
        market.control("reset")
    with serving(tmp_path) as market:  # no file at all
        some(market)

    assert len(set(seen)) == len(seen) == 24


def test_ids_go_on_though_the_clock_stands_still_or_turns_back() -> None:
    now = [1_800_000_000_000]
    ids = Ids(clock=lambda: now[0])
    first = [ids.next() for _ in range(5_000)]
    now[0] -= 3_600_000
    second = [ids.next() for _ in range(5_000)]

    assert first + second == sorted(set(first + second))
    assert all(2**53 < item < 2**63 for item in first)
    assert all(int(float(item)) != item for item in first[1:10])


def test_a_line_cut_off_by_a_crash_is_left_out(tmp_path: Path) -> None:
    state = tmp_path / "state.jsonl"
    with serving(tmp_path, state) as market:
        number = market.order()
        market.stop(signal.SIGKILL)
    with state.open("ab") as file:
        file.write(b'{"type":"order","id":12')

    with serving(tmp_path, state) as market:
        assert market.status(number) == "waitbuyerpay"
        assert market.state()["orders_total"] == 1


def test_a_file_that_is_something_else_is_refused_and_kept(tmp_path: Path) -> None:
    state = tmp_path / "notes.txt"
    state.write_text("my shopping list\nmilk\n")

    with pytest.raises(UnreadableState, match=r"notes\.txt"):
        Sandbox(Options(apps=apps.DEFAULT, products=12, state=state))

    assert state.read_text() == "my shopping list\nmilk\n"


def test_two_sandboxes_do_not_share_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(persist, "_PATIENCE_SECONDS", 0.1)
    chosen = Options(apps=apps.DEFAULT, products=12, state=tmp_path / "state.jsonl")
    first = Sandbox(chosen)

    with pytest.raises(StateInUse, match=r"state\.jsonl"):
        Sandbox(chosen)
    first.close()

    Sandbox(chosen).close()


def test_the_file_is_for_its_owner_only_and_compact_after_a_start(tmp_path: Path) -> None:
    state = tmp_path / "state.jsonl"
    chosen = Options(apps=apps.DEFAULT, products=12, state=state)
    sandbox = Sandbox(chosen)
    for _ in range(50):
        sandbox.advance(1)
    long = state.stat().st_size
    sandbox.close()

    Sandbox(chosen).close()

    assert state.stat().st_mode & 0o777 == 0o600
    assert state.stat().st_size < long
    assert len(Keeper(state).load()) == 1 + len(apps.DEFAULT)
