"""Signatures: the published vectors, and near misses that must not match."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from tradewind.webhooks.signing import sign

DATA = json.loads((Path(__file__).parents[1] / "data/signature_vectors.json").read_text())


@pytest.mark.parametrize("vector", DATA["vectors"], ids=lambda vector: vector["id"])
def test_a_vector_is_signed_as_published(vector: dict[str, Any]) -> None:
    body = base64.b64decode(vector["body_base64"])

    signed = sign(vector["secret"], int(vector["timestamp"]), body)

    assert len(body) == vector["body_len"]
    assert signed == vector["expected_header"] == f"sha256={vector['expected_hex']}"


@pytest.mark.parametrize("wrong", DATA["negative"], ids=lambda wrong: wrong["id"])
def test_a_wrong_rule_does_not_give_our_signature(wrong: dict[str, Any]) -> None:
    vector = next(vector for vector in DATA["vectors"] if vector["id"] == wrong["not_equal_to"])
    body = base64.b64decode(vector["body_base64"])

    assert sign(vector["secret"], int(vector["timestamp"]), body) != f"sha256={wrong['hex']}"
