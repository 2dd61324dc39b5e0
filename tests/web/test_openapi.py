"""The reference: complete, exact, with examples that hold."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from kit.server import Person, Server, Workshop
from simulator import sandbox_kit

from tradewind.accounts.model import Role
from tradewind.app import GATE_ERRORS, WEBHOOKS, endpoints
from tradewind.web import openapi

PUBLIC = {"login", "refresh", "healthz", "readyz", "receive_notice"}


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return openapi.describe(endpoints(), GATE_ERRORS, WEBHOOKS)


def test_the_server_serves_the_document(api: Server, document: dict[str, Any]) -> None:
    assert api.call("GET", "/openapi.json").json() == document


def test_every_endpoint_asks_for_credentials_but_the_few_that_cannot() -> None:
    without = {e.handler.__name__ for e in endpoints() if e.caller is None and not e.hidden}

    assert without == PUBLIC


def test_every_operation_says_all_about_itself(document: dict[str, Any]) -> None:
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            where = f"{method} {path}"
            assert operation["summary"], where
            names = {parameter["name"] for parameter in operation["parameters"]}
            assert {part[1:-1] for part in path.split("/") if part.startswith("{")} <= names
            for status, answer in operation["responses"].items():
                assert "X-Request-Id" in answer["headers"], where
                if operation["security"]:
                    assert {"RateLimit", "RateLimit-Policy"} <= set(answer["headers"]), where
                if int(status) >= 400 and "content" in answer:
                    media = answer["content"].get("application/problem+json")
                    assert media is None or media["examples"], where
            if operation["security"]:
                assert operation["security"] == [{"accessToken": []}, {"apiKey": []}]
                assert {"401", "403", "422", "429", "500", "503"} <= set(operation["responses"])


def test_every_example_of_a_body_can_be_sent() -> None:
    described = openapi.describe(endpoints(), GATE_ERRORS, WEBHOOKS)
    for endpoint in endpoints():
        if endpoint.hidden:
            continue
        operation = described["paths"][endpoint.path][endpoint.method.lower()]
        if endpoint.body is not None:
            example = operation["requestBody"]["content"]["application/json"]["example"]
            msgspec.convert(example, endpoint.body)
        if endpoint.answers is not None:
            answer = operation["responses"][str(endpoint.status)]
            msgspec.convert(answer["content"]["application/json"]["example"], endpoint.answers)


def test_no_generated_request_finds_a_server_error_or_breaks_the_schema(
    workshop: Workshop, tmp_path: Path
) -> None:
    with (
        sandbox_kit.serving(tmp_path) as market,
        workshop.serving(
            settings={
                "TRADEWIND_PLANS": "enterprise=600000",
                "TRADEWIND_SANDBOX_URL": market.url,
                "TRADEWIND_PLATFORM_ALIBABA_URL": market.url,
                "TRADEWIND_PLATFORM_TAOBAO_URL": f"{market.url}/rest",
            }
        ) as api,
    ):
        operator = api.person(roles=(Role.BUYER, Role.APPROVER, Role.OPERATOR))
        # Whoever sets wrong credentials cuts the marketplaces off: that comes last.
        runs = [
            generated(api, operator, tmp_path, "--exclude-path-regex", _CREDENTIALS),
            generated(api, operator, tmp_path, "--include-path-regex", _CREDENTIALS),
        ]
        statuses = api.log.read_text()

    for run in runs:
        assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-2000:]
        assert "Tested: " in run.stdout
    assert '"status":500' not in statuses


_CREDENTIALS = "^/v1/admin/platforms/"


def generated(
    api: Server, caller: Person, folder: Path, *which: str
) -> subprocess.CompletedProcess[str]:
    """Every operation with requests that a machine made up from the document."""
    return subprocess.run(
        [
            *(Path(sys.executable).parent / "schemathesis", "run", f"{api.url}/openapi.json"),
            *("--header", f"x-api-key: {caller.key}", *which),
            # A well-formed value may still be refused for what it means: a cursor that we did
            # not give out, a password that is wrong.
            *("--checks", "all", "--exclude-checks", "positive_data_acceptance"),
            *("--max-examples", "25", "--no-color"),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
