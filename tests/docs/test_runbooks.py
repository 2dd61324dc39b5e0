"""Runbooks: each alert has one, and every command, call, log line and panel in them exists."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from kit.blocks import ROOT

from tradewind.cli.main import app
from tradewind.runtime.api import endpoints

PAGES = sorted((ROOT / "docs/runbooks").glob("*.md"))
SOURCE = "\n".join(path.read_text() for path in (ROOT / "tradewind").rglob("*.py"))
HEADINGS = ["What it means", "See more", "What to do", "When to wake somebody"]
# These pages are longer, and have headings of their own.
OTHER_HEADINGS = {"webhooks-fail", "restore"}
# What an operator decides to do, without an alert.
WITHOUT_ALERT = {"restore"}
# Fields of responses, which look like log lines.
FIELDS = {"error.message"}
DASHBOARD_PAGES = {"Performance", "Approvals"}


def codes(page: Path) -> list[str]:
    return [code.replace("\n", " ") for code in re.findall(r"`([^`]+)`", page.read_text())]


def by_name(page: Path) -> str:
    return page.stem


def test_each_page_belongs_to_an_alert_and_is_listed() -> None:
    rules = yaml.safe_load((ROOT / "deploy/prometheus/alerts.yaml").read_text())["groups"]
    urls = [
        rule["annotations"]["runbook_url"].rpartition("/")[2]
        for group in rules
        for rule in group["rules"]
    ]
    index = (ROOT / "docs/README.md").read_text()

    assert {page.stem for page in PAGES} == set(urls) | WITHOUT_ALERT
    assert [page.name for page in PAGES if f"(runbooks/{page.name})" not in index] == []


@pytest.mark.parametrize("page", PAGES, ids=by_name)
def test_a_page_says_what_it_means_what_to_do_and_when_to_wake_somebody(page: Path) -> None:
    if page.stem not in OTHER_HEADINGS:
        assert re.findall(r"^## (.+)$", page.read_text(), re.MULTILINE) == HEADINGS


@pytest.mark.parametrize("page", PAGES, ids=by_name)
def test_every_command_of_a_page_exists(page: Path) -> None:
    for code in codes(page):
        if code.startswith("tradewind "):
            assert_is_command(code.split()[1:], code)


def assert_is_command(words: list[str], code: str) -> None:
    command: Any = typer.main.get_command(app)
    options = {"--help"}
    for word in words:
        if word.startswith("-"):
            assert word in options, f"{word} of `{code}`"
        elif hasattr(command, "get_command") and word != "…":
            following = command.get_command(None, word)
            assert following is not None, f"{word} of `{code}`"
            command = following
            options = {option for parameter in command.params for option in parameter.opts}


@pytest.mark.parametrize("page", PAGES, ids=by_name)
def test_every_call_of_a_page_exists(page: Path) -> None:
    known = {(endpoint.method, _pattern(endpoint.path)) for endpoint in endpoints()}
    for code in codes(page):
        match = re.match(r"(GET|POST|PATCH|PUT|DELETE) (/[^ ?]*)", code)
        if match and not match[2].startswith("/v1/webhooks/:id") and "…" not in match[2]:
            assert (match[1], _pattern(match[2])) in known, code


def _pattern(path: str) -> str:
    return re.sub(r"\{[^}]*\}", "{}", path)


@pytest.mark.parametrize("page", PAGES, ids=by_name)
def test_every_log_line_and_metric_of_a_page_exists(page: Path) -> None:
    for code in codes(page):
        if re.fullmatch(r"[a-z_]+\.[a-z_]+", code) and code not in FIELDS:
            parent = code.partition(".")[0]
            assert f'"{code}"' in SOURCE or f'f"{parent}.{{phase}}_' in SOURCE, code
        for metric in re.findall(r"\btradewind_[a-z_]+", code):
            assert f'"{metric.removesuffix("_total")}' in SOURCE, metric


@pytest.mark.parametrize("page", PAGES, ids=by_name)
def test_every_panel_that_a_page_names_is_on_the_dashboard(page: Path) -> None:
    panels = json.loads((ROOT / "deploy/grafana/tradewind.json").read_text())["panels"]
    titles = {panel["title"] for panel in panels} | DASHBOARD_PAGES
    text = re.sub(r"`[^`]*`|\*\*[^*]*\*\*", "", page.read_text())

    assert set(re.findall(r"\*([^*\n]+)\*", text)) <= titles
