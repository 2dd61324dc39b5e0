"""The verifier for integrators: genuine webhooks pass, and the failed check is named."""

import base64
import hmac
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tradewind_sdk.webhooks import Delivery, VerificationError, VerificationFailure, verify

from tradewind.webhooks.signing import sign

DATA = json.loads((Path(__file__).parents[2] / "data/signature_vectors.json").read_text())
SECRET, NOW, BODY = "whsec_" + "a" * 43, 1_763_164_800, b'{"id":"evt_1"}'


def headers(signature: str | None = None, timestamp: str | None = str(NOW)) -> dict[str, str]:
    made = {"X-Service-Signature": signature or sign(SECRET, NOW, BODY)}
    return made if timestamp is None else {**made, "X-Service-Timestamp": timestamp}


def failed(
    given_headers: dict[str, str], body: bytes = BODY, secret: str | list[str] = SECRET
) -> VerificationFailure:
    with pytest.raises(VerificationError) as failure:
        verify(secret, given_headers, body, now=NOW)
    return failure.value.reason


@pytest.mark.parametrize("vector", DATA["vectors"], ids=lambda vector: vector["id"])
def test_a_vector_is_genuine(vector: dict[str, Any]) -> None:
    given_headers = headers(vector["expected_header"], vector["timestamp"])
    body = base64.b64decode(vector["body_base64"])

    delivery = verify(vector["secret"], given_headers, body, now=int(vector["timestamp"]))

    assert delivery == Delivery(int(vector["timestamp"]), "", "")


@pytest.mark.parametrize("wrong", DATA["negative"], ids=lambda wrong: wrong["id"])
def test_a_signature_by_a_wrong_rule_is_not(wrong: dict[str, Any]) -> None:
    vector = next(vector for vector in DATA["vectors"] if vector["id"] == wrong["not_equal_to"])
    body = base64.b64decode(vector["body_base64"])

    reason = failed(headers(f"sha256={wrong['hex']}", vector["timestamp"]), body, vector["secret"])

    assert reason is VerificationFailure.SIGNATURE_WRONG


@pytest.mark.parametrize("one", DATA["vectors"], ids=lambda vector: vector["id"])
def test_the_signature_of_another_body_is_not(one: dict[str, Any]) -> None:
    """Pretty-printed, escaped or normalised text is another body, even where it means the same."""
    for other in DATA["vectors"]:
        if other["id"] != one["id"]:
            given_headers = headers(one["expected_header"], one["timestamp"])
            body = base64.b64decode(other["body_base64"])
            assert failed(given_headers, body, one["secret"]) is VerificationFailure.SIGNATURE_WRONG


@settings(deadline=None)
@given(st.binary(max_size=200), st.integers(0, 2**40), st.text(min_size=1, max_size=50))
def test_what_we_sign_is_genuine(body: bytes, timestamp: int, secret: str) -> None:
    secret = secret.encode(errors="ignore").decode()
    assume(secret.strip())
    given_headers = headers(sign(secret, timestamp, body), str(timestamp))

    assert verify(secret, given_headers, body, now=timestamp).timestamp == timestamp


@settings(deadline=None)
@given(st.binary(min_size=1, max_size=50), st.data())
def test_one_changed_bit_is_noticed(body: bytes, data: st.DataObject) -> None:
    signature = sign(SECRET, NOW, body)
    at = data.draw(st.integers(0, len(body) - 1))
    changed = bytearray(body)
    changed[at] ^= 1 << data.draw(st.integers(0, 7))

    assert failed(headers(signature), bytes(changed)) is VerificationFailure.SIGNATURE_WRONG


@pytest.mark.parametrize(
    ("given_headers", "reason"),
    [
        ({}, VerificationFailure.SIGNATURE_MISSING),
        (headers("sha256="), VerificationFailure.SIGNATURE_MALFORMED),
        (headers("0" * 64), VerificationFailure.SIGNATURE_MALFORMED),
        (headers("sha1=" + "0" * 40), VerificationFailure.SIGNATURE_MALFORMED),
        (headers(sign(SECRET, NOW, BODY).upper()), VerificationFailure.SIGNATURE_MALFORMED),
        (headers(sign(SECRET, NOW, BODY) + "\n"), VerificationFailure.SIGNATURE_MALFORMED),
        (headers(timestamp=None), VerificationFailure.TIMESTAMP_MISSING),
        (headers(timestamp=""), VerificationFailure.TIMESTAMP_MALFORMED),
        (headers(timestamp="-1"), VerificationFailure.TIMESTAMP_MALFORMED),
        (headers(timestamp="1e9"), VerificationFailure.TIMESTAMP_MALFORMED),
        (headers(timestamp=f" {NOW}"), VerificationFailure.TIMESTAMP_MALFORMED),
        (headers(timestamp="\u0661\u0662"), VerificationFailure.TIMESTAMP_MALFORMED),
        (headers(timestamp="9" * 5000), VerificationFailure.TIMESTAMP_MALFORMED),
        (headers(timestamp=str(NOW + 1)), VerificationFailure.SIGNATURE_WRONG),
        (headers(timestamp=f"0{NOW}"), VerificationFailure.SIGNATURE_WRONG),
        (headers("sha256=" + "0" * 64), VerificationFailure.SIGNATURE_WRONG),
    ],
)
def test_the_failed_check_is_named(
    given_headers: dict[str, str], reason: VerificationFailure
) -> None:
    assert failed(given_headers) is reason


@pytest.mark.parametrize(
    ("apart", "reason"),
    [
        (0, None),
        (300, None),
        (-300, None),
        (300.5, VerificationFailure.TIMESTAMP_TOO_OLD),
        (-301, VerificationFailure.TIMESTAMP_TOO_NEW),
    ],
)
def test_the_clocks_may_be_five_minutes_apart_either_way(
    apart: float, reason: VerificationFailure | None
) -> None:
    try:
        verify(SECRET, headers(), BODY, now=NOW + apart)
        result = None
    except VerificationError as failure:
        result = failure.reason

    assert result is reason


def test_an_old_forgery_is_a_forgery_not_an_old_webhook() -> None:
    assert failed(headers("sha256=" + "0" * 64, "1")) is VerificationFailure.SIGNATURE_WRONG


def test_any_of_several_secrets_may_have_signed() -> None:
    others = ["whsec_" + "b" * 43, "whsec_" + "c" * 43]

    assert verify([*others, SECRET], headers(), BODY, now=NOW).timestamp == NOW
    assert failed(headers(), secret=others) is VerificationFailure.SIGNATURE_WRONG


@pytest.mark.parametrize("secret", ["", " \n", [], [""], [SECRET, ""], ["", SECRET]])
def test_an_empty_secret_is_an_error_whatever_was_signed(secret: str | list[str]) -> None:
    """As where an environment variable is not set: anybody can sign with an empty key."""
    for signature in (sign("", NOW, BODY), sign(SECRET, NOW, BODY)):
        with pytest.raises(ValueError, match="whsec_"):
            verify(secret, headers(signature), BODY, now=NOW)


def test_headers_are_found_in_any_case() -> None:
    spelled = {name.lower(): value for name, value in headers().items()}
    spelled |= {"x-service-delivery": "dlv_1", "X-SERVICE-EVENT": "order.updated"}

    assert verify(SECRET, spelled, BODY, now=NOW) == Delivery(NOW, "dlv_1", "order.updated")


def test_signatures_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[bytes, bytes]] = []

    def compare(one: bytes, other: bytes) -> bool:
        compared.append((one, other))
        return one == other

    monkeypatch.setattr(hmac, "compare_digest", compare)
    verify([SECRET, "whsec_other"], headers(), BODY, now=NOW)

    assert len(compared) == 2


def test_the_clock_of_the_machine_counts_where_none_is_given() -> None:
    with pytest.raises(VerificationError, match="too long ago"):
        verify(SECRET, headers(sign(SECRET, 1, BODY), "1"), BODY)
