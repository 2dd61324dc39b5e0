"""Writes deploy/grafana/tradewind.json: the Grafana dashboard, from a table of its panels."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = Path(__file__).resolve().parent.parent / "deploy" / "grafana" / "tradewind.json"
_WIDTH, _HEIGHT = 8, 7
_COLUMNS = 24
_DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}


@dataclass(frozen=True)
class Panel:
    """A chart: expressions by their legends, in one unit."""

    title: str
    about: str
    unit: str
    queries: Mapping[str, str]


def quantile(share: float, histogram: str, by: str = "") -> str:
    labels = f"le, {by}" if by else "le"
    rate = f"rate({histogram}_bucket[$__rate_interval])"
    return f"histogram_quantile({share}, sum by ({labels}) ({rate}))"


def rate(counter: str, by: str = "") -> str:
    summed = f"sum by ({by})" if by else "sum"
    return f"{summed} (rate({counter}[$__rate_interval]))"


_HTTP = "tradewind_http_request_seconds"
_TRADEWIND = '{job=~"tradewind.*"}'

ROWS: Mapping[str, Sequence[Panel]] = {
    "Traffic": [
        Panel(
            "Requests by status",
            "Responses of all API processes.",
            "reqps",
            {"{{status}}": rate("tradewind_http_requests_total", "status")},
        ),
        Panel(
            "Share of errors",
            "Responses with a status of 500 or more.",
            "percentunit",
            {
                "errors": f"""{rate('tradewind_http_requests_total{status=~"5.."}')}"""
                f" / {rate('tradewind_http_requests_total')}"
            },
        ),
        Panel(
            "Request latency",
            "From the arrival of a request to its response.",
            "s",
            {"p50": quantile(0.5, _HTTP), "p99": quantile(0.99, _HTTP)},
        ),
        Panel(
            "Slowest routes (p99)",
            "The five routes with the highest p99 latency.",
            "s",
            {"{{route}}": f"topk(5, {quantile(0.99, _HTTP, 'route')})"},
        ),
        Panel(
            "Rate-limited requests",
            "Requests that were answered with 429, by plan.",
            "reqps",
            {"{{plan}}": rate("tradewind_rate_limited_total", "plan")},
        ),
        Panel(
            "Logins",
            "Logins by result; many wrong passwords may be an attack.",
            "ops",
            {"{{result}}": rate("tradewind_logins_total", "result")},
        ),
    ],
    "Orders & payments": [
        Panel(
            "Orders that wait for a job",
            "Orders to create, cancel, pay or sync at a marketplace.",
            "short",
            {"{{platform}} {{work}}": "max by (platform, work) (tradewind_order_jobs)"},
        ),
        Panel(
            "Longest wait for a job",
            "Since the last change of the order; more than 15 minutes raises an alert.",
            "s",
            {
                "{{platform}} {{work}}": "max by (platform, work) "
                '(tradewind_order_job_oldest_seconds{work!="sync"})'
            },
        ),
        Panel(
            "Overdue syncs",
            "How late orders are read from a marketplace.",
            "s",
            {
                "{{platform}}": "max by (platform) "
                '(tradewind_order_job_overdue_seconds{work="sync"})'
            },
        ),
        Panel(
            "Open payment requests",
            "By status; `auto` is debited by us, `link` is paid by a person.",
            "short",
            {"{{status}} ({{mode}})": "max by (status, mode) (tradewind_payment_requests)"},
        ),
        Panel(
            "Oldest payment request",
            "`processing` for long means that it is not known whether the debit happened.",
            "s",
            {
                "{{status}} ({{mode}})": "max by (status, mode) "
                "(tradewind_payment_request_oldest_seconds)"
            },
        ),
        Panel(
            "Payments about to expire",
            "They wait for a person, and their orders close within two hours.",
            "short",
            {"payments": "max(tradewind_payments_expiring)"},
        ),
    ],
    "Deliveries": [
        Panel(
            "Attempts by outcome",
            "Attempts of all workers.",
            "ops",
            {"{{outcome}}": rate("tradewind_delivery_attempts_total", "outcome")},
        ),
        Panel(
            "Pending deliveries",
            "Including retries that wait for their time.",
            "short",
            {"pending": "max(tradewind_delivery_queue_depth)"},
        ),
        Panel(
            "Oldest overdue delivery",
            "A few seconds are normal.",
            "s",
            {"overdue": "max(tradewind_delivery_oldest_due_seconds)"},
        ),
        Panel(
            "Delivery latency (p99)",
            "Wait: from the commit to the first attempt. Total: to the 2xx response. Attempt: the "
            "endpoint's part.",
            "s",
            {
                "wait": quantile(0.99, "tradewind_delivery_wait_seconds"),
                "total": quantile(0.99, "tradewind_delivery_latency_seconds"),
                "attempt": quantile(0.99, "tradewind_delivery_attempt_seconds"),
            },
        ),
        Panel(
            "Claims and records (p99)",
            "What the database takes for a batch; normally milliseconds.",
            "s",
            {
                "claim": quantile(0.99, "tradewind_delivery_claim_seconds"),
                "record": quantile(0.99, "tradewind_delivery_record_seconds"),
            },
        ),
        Panel(
            "Retries and lost leases",
            "Retries are normal; expired leases and parked deliveries are not.",
            "ops",
            {
                "retries": rate("tradewind_delivery_retries_total"),
                "leases expired": rate("tradewind_delivery_leases_expired_total"),
                "parked": rate("tradewind_delivery_parked_total"),
                "given up": rate("tradewind_delivery_given_up_total"),
            },
        ),
    ],
    "Marketplaces": [
        Panel(
            "Calls by result",
            "The HTTP status, or `failed` without a response.",
            "reqps",
            {"{{platform}} {{result}}": rate("tradewind_platform_calls_total", "platform, result")},
        ),
        Panel(
            "Latency of calls (p99)",
            "By operation.",
            "s",
            {
                "{{platform}} {{operation}}": quantile(
                    0.99, "tradewind_platform_call_seconds", "platform, operation"
                )
            },
        ),
        Panel(
            "Authorisation expires in",
            "0 or less: connect the marketplace again.",
            "s",
            {
                "{{platform}}": "min by (platform) "
                "(tradewind_platform_authorisation_expires_seconds < +Inf)"
            },
        ),
        Panel(
            "Authorisation",
            "1: valid. 0: connect the marketplace again.",
            "short",
            {
                "{{platform}}": "max by (platform) (tradewind_platform_authorised)",
                "{{platform}} refresh fails": "max by (platform) "
                "(tradewind_platform_refresh_failing)",
            },
        ),
    ],
    "Database": [
        Panel(
            "Connections",
            "Of all clients of the server.",
            "short",
            {
                "in use": "max(tradewind_database_connections)",
                "allowed": "max(tradewind_database_connections_max)",
            },
        ),
        Panel(
            "Oldest transaction",
            "It keeps vacuum from cleaning up.",
            "s",
            {"age": "max(tradewind_database_oldest_transaction_seconds)"},
        ),
        Panel(
            "WAL kept for replication",
            "For the slowest replication slot; it fills the disk.",
            "bytes",
            {"WAL": "max(tradewind_database_replication_slot_bytes)"},
        ),
        Panel(
            "Size of the database",
            "Tables, indexes and the journal.",
            "bytes",
            {"size": "max(tradewind_database_size_bytes)"},
        ),
        Panel(
            "Readiness",
            "The checks of /readyz; 1: passed.",
            "short",
            {"{{check}}": "min by (check) (tradewind_database_ready)"},
        ),
        Panel(
            "Requests admitted by one statement",
            "More under load: many requests share a round trip.",
            "short",
            {"p50": quantile(0.5, "tradewind_admission_batch_requests")},
        ),
    ],
    "Processes": [
        Panel(
            "Processes that answer",
            "1: Prometheus can read the metrics.",
            "short",
            {"{{job}} {{instance}}": f"up{_TRADEWIND}"},
        ),
        Panel(
            "Workers",
            "As they report themselves to the database.",
            "short",
            {
                "reporting": "max(tradewind_workers)",
                "silent": "max(tradewind_workers_silent)",
            },
        ),
        Panel(
            "CPU of workers",
            "A worker uses one core at most.",
            "percentunit",
            {"{{instance}}": f"rate(process_cpu_seconds_total{_TRADEWIND}[$__rate_interval])"},
        ),
        Panel(
            "Memory of workers",
            "Resident memory.",
            "bytes",
            {"{{instance}}": f"process_resident_memory_bytes{_TRADEWIND}"},
        ),
        Panel(
            "Failing loops",
            "Steps of background loops that failed.",
            "ops",
            {"{{loop}}": f"{rate('tradewind_loop_failures_total', 'loop')} > 0"},
        ),
        Panel(
            "Scheduled tasks",
            "Overdue tasks, and failures in the last hour.",
            "short",
            {
                "{{task}} overdue (s)": "max by (task) "
                "(tradewind_scheduled_task_overdue_seconds) > 60",
                "{{task}} failures": "sum by (task) "
                "(increase(tradewind_scheduled_task_failures_total[1h])) > 0",
            },
        ),
    ],
}


def dashboard() -> dict[str, Any]:
    """The dashboard as Grafana imports it."""
    panels: list[dict[str, Any]] = []
    top = 0
    for row, charts in ROWS.items():
        panels.append(
            {
                "id": len(panels) + 1,
                "type": "row",
                "title": row,
                "collapsed": False,
                "gridPos": {"x": 0, "y": top, "w": _COLUMNS, "h": 1},
                "panels": [],
            }
        )
        top += 1
        for number, chart in enumerate(charts):
            column, line = number * _WIDTH % _COLUMNS, number * _WIDTH // _COLUMNS
            panels.append(_chart(len(panels) + 1, chart, column, top + line * _HEIGHT))
        top += _HEIGHT * -(-len(charts) * _WIDTH // _COLUMNS)
    return {
        "uid": "tradewind",
        "title": "Tradewind",
        "description": "Traffic, orders, payments, deliveries, marketplaces and processes.",
        "tags": ["tradewind"],
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {
            "list": [
                {
                    "name": "datasource",
                    "label": "Data source",
                    "type": "datasource",
                    "query": "prometheus",
                }
            ]
        },
        "annotations": {"list": []},
        "panels": panels,
    }


def _chart(number: int, chart: Panel, x: int, y: int) -> dict[str, Any]:
    return {
        "id": number,
        "type": "timeseries",
        "title": chart.title,
        "description": chart.about,
        "datasource": _DATASOURCE,
        "gridPos": {"x": x, "y": y, "w": _WIDTH, "h": _HEIGHT},
        "fieldConfig": {"defaults": {"unit": chart.unit, "min": 0}, "overrides": []},
        "options": {
            "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
            "tooltip": {"mode": "multi", "sort": "desc"},
        },
        "targets": [
            {
                "refId": chr(ord("A") + index),
                "datasource": _DATASOURCE,
                "expr": expression,
                "legendFormat": legend,
            }
            for index, (legend, expression) in enumerate(chart.queries.items())
        ],
    }


def text() -> str:
    return json.dumps(dashboard(), indent=2) + "\n"


if __name__ == "__main__":
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(text(), encoding="utf-8")
