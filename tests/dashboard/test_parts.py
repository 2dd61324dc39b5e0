"""The macros of the pages: what each renders, and that it escapes its input."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from tradewind import ids
from tradewind.dashboard.shell import charts, labels, render
from tradewind.dashboard.shell.charts import Series
from tradewind.dashboard.shell.render import Static
from tradewind.dashboard.shell.session import FlashSecret

MOMENT = datetime(2026, 11, 15, 1, 2, 3, 4000, UTC)
EVIL = "<script>alert(1)</script>"
TIME = '<time datetime="2026-11-15T01:02:03.004Z" title="2026-11-15 01:02:03 UTC">'


def rendered(source: str, **context: Any) -> str:
    environment = render.environment(Static().url)
    template = environment.from_string(
        '{% import "shell/parts.html" as p with context %}' + source,
        globals={"csrf_token": "token"},
    )
    return template.render(
        csrf_token="token",
        is_first_page=True,
        page_url=lambda cursor, **_: f"/x?cursor={cursor}",
        **context,
    )


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('{{ p.badge("http_error") }}', '<span class="badge badge-bad">HTTP error</span>'),
        ('{{ p.badge("paid", "done") }}', '<span class="badge badge-good">done</span>'),
        ("{{ p.when(moment) }}", TIME),
        ("{{ p.ago(moment) }}", '<time class="ago" datetime="2026-11-15T01:02:03.004Z"'),
        ("{{ p.when(none) }}", "—"),
        ("{{ p.money(123456789) }}", "CNY 1,234,567.89"),
        ("{{ p.csrf() }}", '<input type="hidden" name="csrf" value="token">'),
        ('{{ p.ident("ORD1", "/orders/ORD1") }}', 'data-copy="ORD1"'),
        ('{{ p.notice("No", "bad") }}', 'role="alert"'),
        ('{{ p.form_error({"": "No."}) }}', "No."),
        ('{{ p.empty("None", "Make one", "/new", "New") }}', 'href="/new"'),
        ('{{ p.pager("abc") }}', 'href="/x?cursor=abc" rel="next"'),
        ('{{ p.time_field("since", "Since", "2026-11-15 01:02") }}', 'value="2026-11-15T01:02:00"'),
        ('{{ p.kv([("Name", none), ("Id", p.ident("x"))]) }}', '<dd><span class="ident">'),
        ('{{ p.tabs([("All", "/", true)]) }}', 'aria-current="page"'),
        ('{{ p.button("Go", "/go", {"a": "1"}, "primary") }}', 'name="a" value="1"'),
        ('{{ p.confirm("End", "Sure?", "/end", "End it") }}', "<summary"),
        ('{% call p.confirm("E", "S?", "/e", "E") %}<i>more</i>{% endcall %}', "<i>more</i>"),
        ('{% call p.table("T", ["A", ("B", "num")], id="t") %}<tr></tr>{% endcall %}', "data-live"),
        ('{% call p.filters("/x", reset="/x") %}<i></i>{% endcall %}', 'method="get"'),
        ('{{ p.steps([{"done": true, "title": "T", "text": "t", "href": "/"}]) }}', "Done:"),
        ("{{ p.due(moment) }}", '<time class="ago due" datetime="2026-11-15T01:02:03.004Z"'),
        ("{{ p.clock(moment) }}", '<time class="clock" datetime="2026-11-15T01:02:03.004Z"'),
        ('{{ p.select_all("resend") }}', 'data-select-all="resend"'),
        ('{% call p.stats() %}{{ p.stat("A", 1, "b", "bad") }}{% endcall %}', "stat-bad"),
        ("{{ p.shown_once(secret) }}", 'data-copy="tw_1"'),
        ("{% call p.shown_once(secret) %}curl{% endcall %}", "curl"),
        ('{{ p.code("a\nb", "Body") }}', "<code>a\nb</code>"),
    ],
)
def test_a_part_says_what_it_should(source: str, expected: str) -> None:
    secret = FlashSecret("tw_1", "New key")

    assert expected in rendered(source, moment=MOMENT, secret=secret)


@pytest.mark.parametrize(
    "source",
    [
        "{{ p.badge(evil) }}",
        "{{ p.ident(evil, evil) }}",
        "{{ p.code(evil, evil) }}",
        "{{ p.notice(evil) }}",
        '{{ p.field("a", evil, evil, hint=evil, errors={"a": evil}) }}',
        '{{ p.field("a", "b", evil, type="textarea") }}',
        '{{ p.field("a", "b", evil, type="select", options=[(evil, evil)]) }}',
        '{{ p.field("a", "b", [evil], type="checks", options=[(evil, evil)]) }}',
        "{{ p.confirm(evil, evil, evil, evil, {evil: evil}) }}",
        "{{ p.kv([(evil, evil)]) }}",
        "{{ p.empty(evil, evil, evil, evil) }}",
    ],
)
def test_nothing_that_is_given_becomes_markup(source: str) -> None:
    html = rendered(source, evil=EVIL)

    assert "&lt;script&gt;" in html
    assert "<script" not in html


def test_an_error_stands_beside_its_field() -> None:
    html = rendered('{{ p.field("url", "URL", "x", hint="h", errors={"url": "Not a URL."}) }}')

    assert 'aria-describedby="hint-url error-url"' in html
    assert 'aria-invalid="true"' in html
    assert '<p class="error" id="error-url">Not a URL.</p>' in html


def test_a_choice_that_was_made_is_kept() -> None:
    options = [("a", "A"), ("b", "B")]

    select = '{{ p.field("x", "X", "b", type="select", options=options) }}'
    checks = '{{ p.field("x", "X", ["a"], type="checks", options=options) }}'
    radios = '{{ p.field("x", "X", "b", type="radios", options=options) }}'
    box = '{{ p.field("x", "X", true, type="checkbox") }}'

    assert '<option value="b" selected>' in rendered(select, options=options)
    assert 'value="a" checked' in rendered(checks, options=options)
    assert 'value="b" checked' in rendered(radios, options=options)
    assert 'value="true" checked' in rendered(box)


def test_a_chart_has_a_table_twin() -> None:
    series = [Series("delivered", "good", [1, 2]), Series("failed", "bad", [0, 3])]
    svg = charts.stacked_bars(["Mon", "Tue"], series, title="By day", desc="Two days")

    html = rendered(
        '{{ p.chart(svg, ["Day", "n"], [["Mon", 1]], series) }}', svg=svg, series=series
    )

    assert "<svg" in html
    assert '<td class="num">1</td>' in html
    assert "legend-bad" in html


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (labels.percent(1), "100 %"),
        (labels.percent(0.99999), "99.9 %"),
        (labels.percent(0.5), "50 %"),
        (labels.percent(None), "—"),
        (labels.duration(0.04), "40 ms"),
        (labels.duration(3.25), "3.2 s"),
        (labels.duration(60), "1 min"),
        (labels.duration(7500), "2 h 5 min"),
        (labels.duration(90000), "1 d 1 h"),
        (labels.number(12345), "12,345"),
        (labels.fen(None), "—"),
        (labels.utc("2026-11-15T01:02:03.004Z"), "2026-11-15 01:02:03 UTC"),
        (labels.show_id(UUID(int=1), "order"), ids.ORDER.show(UUID(int=1))),
        (labels.show_id("ORD1", "order"), "ORD1"),
    ],
)
def test_values_are_shown_for_people(value: str, shown: str) -> None:
    assert value == shown


def test_a_cell_says_which_column_it_stands_in() -> None:
    html = rendered(
        '{% call p.table("All", ["A & B", ("C", "num"), "D", ("", "tight")]) %}'
        "<tr><td>{{ evil }}</td><td class=num>2</td></tr><tr class=x><td>3</td></tr>"
        "{% endcall %}",
        evil="<td>",
    )
    assert '<tr><td data-label="A &amp; B">&lt;td&gt;</td><td data-label="C" class=num>2' in html
    assert '<tr class=x><td data-label="A &amp; B">3' in html
    assert 'class="scroll cards"' in html


def test_a_moment_in_a_sentence_is_said_in_the_zone_of_the_reader() -> None:
    html = rendered("{{ said | mark_times }}", said="<b> due at 2026-11-15T01:02:03.004Z.")
    assert html.startswith("&lt;b&gt; due at <time ")
    assert 'datetime="2026-11-15T01:02:03.004Z"' in html
