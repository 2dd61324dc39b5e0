"""Generated requests from the OpenAPI document: no server error, and every response fits it."""

import os
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis.errors import Flaky
from kit import scorecard
from kit.generated_requests import both_credentials, document_of, operation_name
from kit.server import ServerLauncher
from kit.system import System, running_system
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tradewind.auth.model import Role

pytestmark = pytest.mark.xdist_group("generated requests")

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
# `make soak` makes up more requests, and others each time; a failure names its seed.
SOAKING = "SOAK_STORIES" in os.environ
STORIES = int(os.environ.get("SOAK_STORIES", "6"))
EXAMPLES = "20" if SOAKING else "4"
ANY_SEED = random.SystemRandom().randrange(2**31) if SOAKING else 0
FIRST_SEED = int(os.environ.get("TRADEWIND_SEED", str(ANY_SEED)))
STEPS = 40
# Whoever sets wrong credentials cuts the marketplaces off, and all orders after that fail alike.
CUTS_OFF = "^/v1/admin/platforms/"
# A response that does not end; tests/events/test_stream.py is about it.
ENDLESS = "^/v1/events/stream$"

Calls = Counter[tuple[str, str, int]]


@pytest.fixture(scope="module")
def generated_system(
    launcher: ServerLauncher, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[System]:
    settings = {"TRADEWIND_PLANS": "enterprise=600000"}
    with running_system(
        launcher, tmp_path_factory.mktemp("generated"), settings=settings
    ) as system:
        yield system
        assert '"status":500' not in system.api.log.read_text()


def machine(system: System, calls: Calls, failures: list[BaseException]) -> Any:
    """A state machine of requests: what an answer names is used by those after it.

    Each story is told by an account of its own, whose two credentials take turns.
    """
    schema = document_of(system).exclude(path_regex=f"{CUTS_OFF}|{ENDLESS}")

    class Story(schema.as_state_machine()):  # type: ignore[misc]
        def setup(self) -> None:
            self.credentials = both_credentials(system, system.api.person(roles=tuple(Role)))

        def get_call_kwargs(self, _case: Any) -> dict[str, Any]:
            self.kind, headers = next(self.credentials)
            return {"headers": headers}

        def validate_response(self, response: Any, case: Any, **options: Any) -> None:
            calls[operation_name(case.operation), self.kind, response.status_code] += 1
            try:
                case.validate_response(response, checks=CHECKS, transport_kwargs=options)
            except BaseException as failure:
                failures.append(failure)
                raise

    return Story


def test_requests_that_use_what_earlier_answers_named(generated_system: System) -> None:
    calls: Calls = Counter()
    failures: list[BaseException] = []
    settings = hypothesis.settings(
        max_examples=2,
        stateful_step_count=STEPS,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        report_multiple_bugs=False,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    story = machine(generated_system, calls, failures)

    for seed in range(FIRST_SEED, FIRST_SEED + STORIES):
        # Told again, a story may go another way: the server remembers the first time.
        with suppress(Flaky, FailureGroup):
            hypothesis.seed(seed)(story).run(settings=settings)
        if failures:
            scorecard.record(17, calls.total(), violations=1)
            again = f"TRADEWIND_SEED={seed} tells it again; it was request {calls.total()}."
            pytest.fail(f"{again}\n{failures[0]}")

    scorecard.record(17, calls.total(), violations=0)
    succeeded = {name for name, _, status in calls if status < 300}
    assert {kind for _, kind, _ in calls} == {"API key", "access token"}
    assert len({name for name, _, _ in calls}) > 40, calls
    assert len(succeeded) > 20, succeeded


def test_every_operation_alone(generated_system: System, tmp_path: Path) -> None:
    key = f"x-api-key: {generated_system.api.person(roles=tuple(Role)).key}"
    runs = [
        schemathesis(
            generated_system, tmp_path, key, "--exclude-path-regex", f"{CUTS_OFF}|{ENDLESS}"
        ),
        schemathesis(generated_system, tmp_path, key, "--include-path-regex", CUTS_OFF),
    ]

    tested = [int(number) for run in runs for number in re.findall(r"(\d+) generated", run.stdout)]
    scorecard.record(17, sum(tested), violations=sum(run.returncode != 0 for run in runs))
    for run in runs:
        assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-2000:]
        assert "Tested: " in run.stdout


def schemathesis(
    system: System, folder: Path, credential: str, *options: str
) -> subprocess.CompletedProcess[str]:
    """Run the command with the checks for requests that stand alone."""
    return subprocess.run(
        [
            *(
                Path(sys.executable).parent / "schemathesis",
                "run",
                f"{system.api.url}/openapi.json",
            ),
            *("--header", credential, *options),
            *("--phases", "examples,coverage,fuzzing", "--max-examples", EXAMPLES),
            # A well-formed value may still be refused for what it means: a cursor that we did
            # not give out, a password that is wrong.
            *("--checks", "all", "--exclude-checks", "positive_data_acceptance"),
            *("--seed", str(FIRST_SEED), "--generation-database", "none", "--no-color"),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
