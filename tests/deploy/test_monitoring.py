"""Alerts and the Grafana dashboard: they parse, they fire, and every name in them exists."""

import json
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import combinations
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from kit import promql
from kit.blocks import ROOT, running
from kit.server import ServerLauncher, free_port
from kit.system import System, simulated
from kit.tls import NO_TLS
from kit.toolchains import deployment_tool
from kit.webhook_endpoint import running_endpoint
from kit.webhook_system import WebhookSystem, until
from prometheus_client.parser import text_string_to_metric_families
from simulator.sandbox_kit import serving

from tools import grafana_dashboard
from tradewind.auth.model import Role

RULES = ROOT / "deploy/prometheus/alerts.yaml"
RULES_TEST = ROOT / "deploy/prometheus/alerts.test.yaml"
PAGE = "docs/reference/metrics.md"
# Names that metrics had before.
RENAMED = {"tradewind_delivery_flush_seconds", "tradewind_delivery_leases_lost_total"}
DASHBOARD = ROOT / "deploy/grafana/tradewind.json"
# Prometheus adds these to what it scrapes.
ADDED_LABELS = {"job", "instance"}
# Labels whose values follow from what happened, and not from what exists.
OPEN_LABELS = {"status", "result", *ADDED_LABELS}

Exposed = dict[str, list[dict[str, str]]]


def alerts() -> list[dict[str, Any]]:
    groups = yaml.safe_load(RULES.read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def panels() -> list[dict[str, Any]]:
    shown: list[dict[str, Any]] = json.loads(DASHBOARD.read_text())["panels"]
    return shown


def targets() -> list[tuple[str, dict[str, Any]]]:
    charts = [panel for panel in panels() if panel["type"] != "row"]
    return [(panel["title"], target) for panel in charts for target in panel["targets"]]


def promtool(*arguments: str, folder: Path = RULES.parent) -> str:
    done = subprocess.run(
        [deployment_tool("promtool"), *arguments],
        check=False,
        capture_output=True,
        text=True,
        cwd=folder,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_rules_are_valid_and_each_alert_fires_when_it_should() -> None:
    assert f"SUCCESS: {len(alerts())} rules found" in promtool("check", "rules", RULES.name)
    assert "SUCCESS" in promtool("test", "rules", RULES_TEST.name)


def test_the_configuration_of_the_page_is_valid(tmp_path: Path) -> None:
    shutil.copy(RULES, tmp_path)

    with running(PAGE, "yaml", containing="scrape_configs") as (block,):
        (tmp_path / "prometheus.yaml").write_text(block.text)
        said = promtool("check", "config", "prometheus.yaml", folder=tmp_path)

    assert "SUCCESS: 1 rule files found" in said


def test_every_metric_is_described_and_every_described_one_exists(exposed: Exposed) -> None:
    pages = (ROOT / PAGE).read_text() + (ROOT / "docs/reference/webhooks.md").read_text()
    described = set(re.findall(r"`(tradewind_\w+)", pages)) - RENAMED
    suffix = re.compile(r"_(bucket|sum|count)$")
    families = {
        suffix.sub("", name)
        for name in exposed
        if name.startswith("tradewind_") and not name.endswith("_created")
    }

    assert described == families


def test_each_alert_is_tested_while_it_fires_and_while_it_does_not() -> None:
    results: dict[str, set[bool]] = defaultdict(set)
    for test in yaml.safe_load(RULES_TEST.read_text())["tests"]:
        for case in test["alert_rule_test"]:
            results[case["alertname"]].add(bool(case["exp_alerts"]))

    assert results == {rule["alert"]: {False, True} for rule in alerts()}


def test_each_alert_says_what_is_wrong_and_where_to_read_on() -> None:
    for rule in alerts():
        assert rule["labels"]["severity"] in {"critical", "warning"}, rule["alert"]
        assert rule["annotations"]["summary"].endswith("."), rule["alert"]
        url = rule["annotations"]["runbook_url"]
        page = re.fullmatch(r"{{ \$externalLabels\.tradewind_url }}/guides/(.+)", url)
        assert page, rule["alert"]
        text = (ROOT / f"docs/{page[1]}.md").read_text()
        assert f"`{rule['alert']}`" in text, f"{page[1]} does not name {rule['alert']}"


def test_the_dashboard_is_what_its_generator_writes() -> None:
    assert DASHBOARD.read_text() == grafana_dashboard.text()


def test_every_panel_has_a_unit_legends_and_a_description() -> None:
    for panel in panels():
        assert panel["title"]
        if panel["type"] == "row":
            continue
        assert panel["fieldConfig"]["defaults"]["unit"], panel["title"]
        assert panel["description"].endswith("."), panel["title"]
        assert panel["datasource"]["uid"] == "${datasource}"
        assert panel["targets"]
        assert all(target["legendFormat"] for target in panel["targets"]), panel["title"]
    ids = [panel["id"] for panel in panels()]
    assert len(ids) == len(set(ids))


def test_no_two_panels_overlap() -> None:
    def is_apart(first: dict[str, int], second: dict[str, int]) -> bool:
        return (
            first["x"] + first["w"] <= second["x"]
            or second["x"] + second["w"] <= first["x"]
            or first["y"] + first["h"] <= second["y"]
            or second["y"] + second["h"] <= first["y"]
        )

    for first, second in combinations(panels(), 2):
        assert is_apart(first["gridPos"], second["gridPos"]), (first["title"], second["title"])
    assert all(panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24 for panel in panels())


def test_every_expression_of_the_dashboard_is_valid(tmp_path: Path) -> None:
    """Only rules can be checked, so each expression becomes a recording rule."""
    rules = [
        {
            "record": f"panel:{number}",
            "expr": target["expr"].replace("$__rate_interval", "5m"),
        }
        for number, (_, target) in enumerate(targets())
    ]
    file = tmp_path / "panels.yaml"
    file.write_text(json.dumps({"groups": [{"name": "panels", "rules": rules}]}))

    assert f"SUCCESS: {len(rules)} rules" in promtool("check", "rules", file.name, folder=tmp_path)


@pytest.fixture(scope="module")
def exposed(
    launcher: ServerLauncher, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Exposed]:
    """Every metric of a real system that has taken an order, been paid and sent a webhook."""
    api_port, worker_port = free_port(), free_port()
    with ExitStack() as stack:
        market = stack.enter_context(serving(tmp_path_factory.mktemp("monitored")))

        def settings(port: int) -> dict[str, str]:
            return {**simulated(market), "TRADEWIND_METRICS_LISTEN": f"127.0.0.1:{port}"}

        api = stack.enter_context(launcher.serving(workers=1, settings=settings(api_port)))
        stack.enter_context(launcher.working(api.database_url, settings=settings(worker_port)))
        endpoint = stack.enter_context(running_endpoint())
        system = WebhookSystem.of(
            System(api, market, api.person(), api.person(roles=(Role.APPROVER,)))
        )
        hook = system.hook(endpoint.url())
        system.paid()
        system.logged(hook, 1)

        def scraped() -> Exposed:
            found: Exposed = defaultdict(list)
            for port in (api_port, worker_port):
                url = f"http://127.0.0.1:{port}/metrics"
                text = httpx.get(url, timeout=5, verify=NO_TLS).text
                for family in text_string_to_metric_families(text):
                    for sample in family.samples:
                        found[sample.name].append(sample.labels)
            return found

        measured = until(
            scraped,
            lambda found: found["tradewind_platform_authorised"] and found["tradewind_workers"],
        )
        measured["up"] = [{}]
        yield measured


def assert_exists(text: str, exposed: Exposed, legend: str = "") -> None:
    """Every metric, label and fixed value of an expression exists, and every label of a legend."""
    expression = promql.read(text)
    assert expression.selectors, text
    names = set(ADDED_LABELS)
    for selector in expression.selectors:
        samples = exposed.get(selector.metric)
        assert samples, f"{selector.metric} is not exposed: {text}"
        labels = {label for sample in samples for label in sample} | ADDED_LABELS
        names |= labels
        matched = {label for label, _, _ in selector.matchers}
        assert matched <= labels, f"{matched - labels} of {selector.metric}: {text}"
        fixed = [matcher for matcher in selector.matchers if matcher[0] not in OPEN_LABELS]
        known = promql.Selector(selector.metric, fixed)
        assert any(known.accepts(sample) for sample in samples), f"nothing matches: {text}"
    assert expression.grouping <= names, f"{expression.grouping - names}: {text}"
    shown = set(re.findall(r"{{\s*\$?(?:labels\.)?(\w+)\s*}}", legend)) - {"value"}
    left = expression.grouping or names
    assert shown <= left, f"{shown - left} in the legend of {text}"


def test_every_metric_and_label_of_the_alerts_exists(exposed: Exposed) -> None:
    for rule in alerts():
        assert_exists(rule["expr"], exposed)
        labels = set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]))
        assert labels <= (promql.read(rule["expr"]).grouping or ADDED_LABELS), rule["alert"]


def test_every_metric_and_label_of_the_dashboard_exists(exposed: Exposed) -> None:
    for _, target in targets():
        assert_exists(target["expr"], exposed, target["legendFormat"])


def test_a_wrong_name_or_label_would_be_noticed(exposed: Exposed) -> None:
    wrong: Sequence[str] = (
        "max(tradewind_no_such_metric)",
        'tradewind_order_jobs{works="create"}',
        'tradewind_order_jobs{work="created"}',
        "max by (platforms) (tradewind_order_jobs)",
        "maximum(tradewind_order_jobs)",
    )
    for text in wrong:
        with pytest.raises(AssertionError):
            assert_exists(text, exposed)
    with pytest.raises(AssertionError):
        assert_exists("max by (work) (tradewind_order_jobs)", exposed, "{{platform}}")


def test_no_metric_has_a_label_that_prometheus_adds(exposed: Exposed) -> None:
    """Prometheus would rename ours, and no expression would match it."""
    assert [
        name for name, samples in exposed.items() if any(ADDED_LABELS & {*s} for s in samples)
    ] == []


def test_the_generator_runs_as_a_command() -> None:
    before = DASHBOARD.read_bytes()
    subprocess.run([sys.executable, str(ROOT / "tools/grafana_dashboard.py")], check=True)
    assert DASHBOARD.read_bytes() == before
