"""Shows a run of `make growth` in the terminal, as JSON, and as tables on its page. Pure."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from bench.growth import capacity, cells
from bench.growth.capacity import MODEL, Limit, LoadModel, OrderCost, Part
from bench.growth.cells import AccountTooLarge
from bench.growth.control import CONTROL
from bench.growth.model import DATABASE, Figure, Growth
from bench.growth.series import CONNECTIONS, SIZES
from tools.machine import Machine
from tools.page_parts import table, with_part

COMMAND = "make growth"
PLOT = "performance-growth.svg"
DIMENSIONS = tuple(dimension for dimension in SIZES if dimension != CONNECTIONS)
_NONE = "-"
_OURS = "CPU of our processes"
_HUNDRED = 100
_KIBIBYTE = 1024


def to_json(growth: Growth) -> str:
    return json.dumps(asdict(growth), indent=2, ensure_ascii=False) + "\n"


def read_growth(text: str) -> Growth:
    stored = json.loads(text)
    figures = tuple(Figure(**item) for item in stored["figures"])
    return Growth(**{**stored, "machine": Machine(**stored["machine"]), "figures": figures})


def terminal_line(figure: Figure) -> str:
    """One figure, in the columns of `terminal_head`."""
    return (
        f"{figure.dimension:<14} {figure.size:>10,}  {figure.work:<62} {figure.statements:>6.1f} "
        f"{_ms(figure.database_ms):>9} {_ms(figure.process_ms):>9} {_ms(figure.p50_ms):>9} "
        f"{_ms(figure.p99_ms):>9}"
    )


def terminal_head() -> str:
    return (
        f"{'by':<14} {'size':>10}  {'work':<62} {'stmts':>6} {'db ms':>9} {'ours ms':>9} "
        f"{'p50 ms':>9} {'p99 ms':>9}"
    )


def with_growth(page: str, growth: Growth, model: LoadModel = MODEL) -> str:
    """The page with the tables of a run in the place of the last ones."""
    page = with_part(page, "growth", COMMAND, *_growth_blocks(growth))
    return with_part(page, "capacity", COMMAND, *_capacity_blocks(growth, model))


def _growth_blocks(growth: Growth) -> Iterator[str]:
    settings = ", ".join(f"`{key} = {value}`" for key, value in growth.postgresql_settings.items())
    yield (
        f"{growth.machine.sentence(growth.command)} It took {growth.seconds / 60:.0f} minutes. "
        f"PostgreSQL had {settings}; `fsync` was on."
    )
    yield f"![CPU of each work by size, on logarithmic axes](../images/{PLOT})"
    if controls := [_cpu(item) for item in growth.figures if item.work == CONTROL]:
        low, high = min(controls), max(controls)
        yield (
            f"The control took {_ms(low)} to {_ms(high)} ms of CPU: {high / low:.1f} times as much "
            "at one size as at another, for the same statement. Smaller differences between other "
            "figures mean nothing."
        )
    yield "From the smallest to the largest size:"
    yield table(
        ["work", "sizes", "statements", "CPU of PostgreSQL", _OURS, "p50"],
        [_summary(figures) for figures in _works(growth.figures) if len(figures) > 1],
    )
    head = ["work", "size", "times", "statements", "commits", "logged", "CPU of PostgreSQL", _OURS]
    for dimension in SIZES:
        figures = [item for item in growth.figures if item.dimension == dimension]
        if figures:
            yield f"### By {dimension}"
            rows = [_row(item) for works in _works(figures) for item in works]
            yield table([*head, "WAL", "p50", "p99"], rows)


def _cpu(figure: Figure) -> float:
    """The CPU of PostgreSQL and of our processes together, in milliseconds."""
    return figure.database_ms + figure.process_ms


def _works(figures: Sequence[Figure]) -> Iterator[Sequence[Figure]]:
    """The figures of each work of each dimension, by size."""
    keys = dict.fromkeys((item.dimension, item.work) for item in figures)
    for key in keys:
        matching = [item for item in figures if (item.dimension, item.work) == key]
        yield sorted(matching, key=lambda item: item.size)


def _summary(figures: Sequence[Figure]) -> Sequence[str]:
    first, last = figures[0], figures[-1]
    return [
        first.work,
        f"{first.size:,} to {last.size:,} {first.dimension}",
        f"{first.statements:.1f} → {last.statements:.1f}",
        f"{_ms(first.database_ms)} → {_ms(last.database_ms)} ms",
        f"{_ms(first.process_ms)} → {_ms(last.process_ms)} ms",
        _NONE if first.p50_ms is None else f"{_ms(first.p50_ms)} → {_ms(last.p50_ms)} ms",
    ]


def _row(figure: Figure) -> Sequence[str]:
    ours = ", ".join(
        f"{name} {_ms(ms)} ms" for name, ms in figure.cpu_ms.items() if name != DATABASE
    )
    return [
        figure.work if figure.rate is None else f"{figure.work} ({figure.rate:,.0f} a second)",
        f"{figure.size:,}",
        f"{figure.times:,}",
        f"{figure.statements:.1f}",
        f"{figure.commits:.1f}",
        _NONE if figure.logged_commits is None else f"{figure.logged_commits:.1f}",
        f"{_ms(figure.database_ms)} ms",
        ours or _NONE,
        _bytes(figure.wal_bytes),
        _NONE if figure.p50_ms is None else f"{_ms(figure.p50_ms)} ms",
        _NONE if figure.p99_ms is None else f"{_ms(figure.p99_ms)} ms",
    ]


def _capacity_blocks(growth: Growth, model: LoadModel) -> Iterator[str]:
    parts = capacity.parts_of_order(growth, model)
    cost = capacity.order_cost(parts)
    yield _model_sentence(model)
    yield table(
        [
            "part of an order",
            "times",
            "measured with",
            "API",
            "worker",
            "PostgreSQL",
            "commits",
            "logged",
            "WAL",
        ],
        [*(_part_row(part) for part in parts), _cost_row("**an order**", "", "", cost)],
    )
    limits = capacity.limits(growth, cost, model)
    yield (
        "What a number of orders a day needs: cores at the busiest second, and servers for "
        f"PostgreSQL, each in a cell of its own, by their scarcest resource, {limits[0].resource}:"
    )
    yield table(
        [
            "orders a day",
            "at the peak",
            "API",
            "workers",
            "PostgreSQL",
            "PostgreSQL servers",
            "logged commits",
            "WAL",
        ],
        [
            [
                f"{need.orders_a_day:,}",
                f"{need.orders_a_second:,.1f} a second",
                _cores(need.api_cores),
                _cores(need.worker_cores),
                _cores(need.database_cores),
                f"{capacity.servers_needed(need.orders_a_day, limits):,}",
                f"{need.logged_commits_a_second:,.0f} a second",
                f"{need.wal_mib_a_second:,.1f} MiB a second, {need.wal_gib_a_day:,.0f} GiB a day",
            ]
            for need in (capacity.capacity(cost, orders, model) for orders in capacity.ORDERS_A_DAY)
        ],
    )
    yield f"Where one PostgreSQL ends, the scarcest resource first: {limits[0].resource}."
    yield table(
        ["resource", "an order needs", "one server has", "basis", "orders a day"],
        [_limit_row(limit) for limit in limits],
    )
    yield (
        f"Cells of {limits[0].orders_a_day:,.0f} orders a day each, accounts with "
        f"{cells.ORDERS_AN_ACCOUNT:,} orders a day in the mean, and a skew of {cells.SKEW}:"
    )
    yield table(
        [
            "orders a day",
            "accounts",
            "the largest has",
            "cells",
            "fullest / emptiest",
            "the fullest is lost",
            "its accounts moved to the others",
        ],
        [_cells_row(orders, limits[0].orders_a_day) for orders in cells.CELLS_ORDERS_A_DAY],
    )


def _model_sentence(model: LoadModel) -> str:
    return (
        f"Assumed: {model.deliveries_per_order:g} webhook deliveries, {model.reads_per_order:g} "
        f"reads and {model.syncs_per_order:g} syncs without a change for each order; a busiest "
        f"second of {model.peak_factor:g} times the mean; cores that are {model.utilisation:.0%} "
        f"busy then; for PostgreSQL a server of {model.server_cores} cores and a disk that takes "
        f"{model.server_wal_mib:.0f} MiB of WAL a second."
    )


def _part_row(part: Part) -> Sequence[str]:
    source = f"{part.source.work}, {part.source.size:,} {part.source.dimension}"
    return _cost_row(part.name, f"{part.number:g}", source, part.once)


def _cost_row(name: str, times: str, source: str, cost: OrderCost) -> Sequence[str]:
    return [
        name,
        times,
        source,
        f"{_ms(cost.api_ms)} ms",
        f"{_ms(cost.worker_ms)} ms",
        f"{_ms(cost.database_ms)} ms",
        f"{cost.commits:.1f}",
        f"{cost.logged_commits:.1f}",
        _bytes(cost.wal_bytes),
    ]


def _limit_row(limit: Limit) -> Sequence[str]:
    return [
        limit.resource,
        limit.per_order,
        limit.server,
        limit.basis,
        f"{limit.orders_a_day:,.0f}",
    ]


def _cells_row(orders: int, cell_orders: float) -> Sequence[str]:
    try:
        plan = cells.plan(orders, cell_orders)
    except AccountTooLarge as error:
        misfit = (
            f"the largest account does not fit: it is {error.share_of_cell:.0%} of a cell, and "
            f"needs one of {error.orders:,.0f} orders a day"
        )
        share = f"{error.share_of_orders:.1%} of all orders"
        return [f"{orders:,}", f"{error.accounts:,}", share, misfit, *[_NONE] * 3]
    moved = _NONE if plan.after_move is None else f"the fullest has {plan.after_move:.0%}"
    return [
        f"{plan.orders_a_day:,}",
        f"{plan.accounts:,}",
        f"{plan.largest_account:.1%} of all orders",
        f"{plan.cells:,}",
        f"{plan.fullest:.0%} / {plan.emptiest:.0%}",
        f"{plan.lost_accounts:.1%} of accounts, {plan.lost_orders:.1%} of orders stop",
        moved,
    ]


def _cores(number: float) -> str:
    return f"{number:,.1f}" if number >= 0.1 else "< 0.1"  # noqa: PLR2004


def _ms(milliseconds: float | None) -> str:
    if milliseconds is None:
        return _NONE
    return f"{milliseconds:,.0f}" if milliseconds >= _HUNDRED else f"{milliseconds:.3g}"


def _bytes(number: float) -> str:
    return f"{number:.0f} B" if number < _KIBIBYTE else f"{number / _KIBIBYTE:,.1f} KiB"
