"""The Helm chart: its resources are valid, restricted, and reach nothing internal."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from kit.blocks import ROOT
from kit.linters import FOLDER, python_packages, run
from kit.toolchains import deployment_tool
from prometheus_client import REGISTRY

from tradewind.delivery import metrics
from tradewind.egress import addresses

CHART = ROOT / "deploy/helm/tradewind"
EXAMPLES = sorted(path.stem for path in (CHART / "examples").glob("*.yaml"))
# The oldest version that the chart allows, and one of the newest.
VERSIONS = ("1.27", "1.37")
CUSTOM = {"Cluster", "ScaledObject", "PodMonitor"}

Resource = Mapping[str, Any]


def render(example: str, version: str = VERSIONS[1], **more: str) -> str:
    values = ("--values", str(CHART / "examples" / f"{example}.yaml"))
    changes = [word for item in more.items() for word in ("--set", "=".join(item))]
    kube = ("--kube-version", f"{version}.0")
    return run("helm", "template", "shop", str(CHART), *kube, *values, *changes)


@cache
def resources(example: str) -> list[Resource]:
    return [document for document in yaml.safe_load_all(render(example)) if document]


def pods(example: str) -> Iterator[tuple[str, Resource]]:
    """The pods that the chart starts itself, by their component."""
    for resource in resources(example):
        if resource["kind"] in {"Deployment", "Job"}:
            template = resource["spec"]["template"]
            yield template["metadata"]["labels"]["app.kubernetes.io/component"], template["spec"]


@pytest.mark.parametrize("example", EXAMPLES)
def test_helm_accepts_the_chart(example: str) -> None:
    values = str(CHART / "examples" / f"{example}.yaml")

    run("helm", "lint", "--strict", "--kube-version", "1.37.0", str(CHART), "--values", values)


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize("version", VERSIONS)
def test_kubernetes_knows_every_field(example: str, version: str, tmp_path: Path) -> None:
    file = tmp_path / "resources.yaml"
    file.write_text(render(example, version))
    command = [sys.executable, "-m", "kubernetes_validate", "--strict", "-k", version, str(file)]
    environ = {**os.environ, "PYTHONPATH": python_packages()}

    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environ)

    assert done.returncode == 0, done.stdout + done.stderr
    lines = (done.stdout + done.stderr).splitlines()
    unknown = [line for line in lines if not line.startswith("INFO ")]
    assert all("Couldn't find schema for kind" in line for line in unknown), unknown
    assert {line.split(" kind ")[1].split()[0] for line in unknown} <= CUSTOM
    assert len(lines) == len(resources(example))


@pytest.mark.parametrize("kind", sorted(CUSTOM))
def test_operators_know_every_field_of_their_resources(kind: str) -> None:
    python_packages()
    definitions = [yaml.safe_load(path.read_text()) for path in FOLDER.glob("*.yaml")]
    (definition,) = (item for item in definitions if item["spec"]["names"]["kind"] == kind)
    (resource,) = (item for item in resources("cloudnativepg") if item["kind"] == kind)
    group, _, wanted = resource["apiVersion"].partition("/")
    (version,) = (item for item in definition["spec"]["versions"] if item["name"] == wanted)

    assert definition["spec"]["group"] == group
    jsonschema.validate(resource, strict(version["schema"]["openAPIV3Schema"]))


def strict(schema: Any) -> Any:
    """Let a schema reject what Kubernetes would drop without a word: unknown fields."""
    if isinstance(schema, list):
        return [strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result = {name: strict(value) for name, value in schema.items()}
    is_open = schema.get("x-kubernetes-preserve-unknown-fields")
    if isinstance(schema.get("properties"), dict) and "type" in schema and not is_open:
        result.setdefault("additionalProperties", False)
    return result


@pytest.mark.parametrize("example", EXAMPLES)
def test_pods_are_restricted(example: str) -> None:
    found = dict(pods(example))

    assert set(found) == {"api", "worker", "migrate"}
    for pod in found.values():
        (container,) = pod["containers"]
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert container["resources"]["limits"]["memory"]
        assert all("value" in item or "valueFrom" in item for item in container["env"])


def test_policies_block_the_addresses_that_we_block() -> None:
    policies = {
        item["metadata"]["name"]: item["spec"]
        for item in resources("existing-database")
        if item["kind"] == "NetworkPolicy"
    }

    assert set(policies) == {f"shop-tradewind-{name}" for name in ("api", "worker", "migrate")}
    for name, spec in policies.items():
        assert spec["policyTypes"] == ["Ingress", "Egress"]
        blocks = [to["ipBlock"] for rule in spec["egress"] for to in rule["to"] if "ipBlock" in to]
        wide = {block["cidr"]: block["except"] for block in blocks if "except" in block}
        others = [block["cidr"] for block in blocks if "except" not in block]
        assert others == ["10.0.2.5/32"], name
        if name.endswith("migrate"):
            assert wide == {}
            continue
        assert wide == {
            "0.0.0.0/0": [*map(str, addresses._BLOCKED_4), "198.51.100.0/24"],  # noqa: SLF001
            str(addresses._GIVEN_OUT_6): [*map(str, addresses._BLOCKED_6), "2001:db8::/32"],  # noqa: SLF001
        }


def test_workers_are_scaled_by_a_metric_that_they_have() -> None:
    name = metrics.OLDEST_DUE._name  # noqa: SLF001 - no public way
    (scaled,) = (item for item in resources("cloudnativepg") if item["kind"] == "ScaledObject")
    scalers = [
        item for item in resources("existing-database") if item["kind"].endswith("Autoscaler")
    ]

    assert REGISTRY.get_sample_value(name) is not None
    assert f"max({name}{{" in scaled["spec"]["triggers"][0]["metadata"]["query"]
    (external,) = scalers[0]["spec"]["metrics"]
    assert external["external"]["metric"]["name"] == name


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ({"publicUrl": ""}, "publicUrl is the URL by which callers reach the API"),
        ({"publicUrl": "http://api.example"}, "publicUrl"),
        ({"api.replica": "3"}, "replica"),
        ({"settings.LOG_LEVEL": "debug"}, "LOG_LEVEL"),
        ({"database.cidrs": "null"}, "database.cidrs lists where the database is"),
        ({"worker.autoscaling.keda.enabled": "true"}, "both would scale the same Deployment"),
    ],
)
def test_wrong_values_are_named(value: dict[str, str], sentence: str) -> None:
    values = str(CHART / "examples/existing-database.yaml")
    changes = [word for item in value.items() for word in ("--set", "=".join(item))]
    command = [deployment_tool("helm"), "template", "shop", str(CHART), "--values", values]

    done = subprocess.run(
        [*command, "--kube-version", "1.37.0", *changes],
        check=False,
        capture_output=True,
        text=True,
    )

    assert done.returncode == 1
    assert sentence in done.stderr
