"""The SDKs for PHP and Java decide as the SDK for Python does, case by case."""

import base64
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kit.toolchains import need_toolchain

from tradewind.webhooks.signing import sign

ROOT = Path(__file__).parents[2]
PHP = ["php", "-n", "-d", "error_reporting=-1", "-d", "display_errors=stderr"]
SECRET, NOW, BODY = "whsec_" + "a" * 43, 1_763_164_800, b'{"id":"evt_1"}'
OTHERS = ["whsec_" + "b" * 43, "whsec_\N{LATIN SMALL LETTER E WITH ACUTE}"]
SIGNED = sign(SECRET, NOW, BODY)
GENUINE = f"ok {NOW}  "

Cases = list[tuple[dict[str, Any], str]]
Run = Callable[[dict[str, Any]], list[str]]


def case(
    signature: Any = SIGNED,
    timestamp: Any = str(NOW),
    *,
    secrets: list[str] | None = None,
    body: bytes = BODY,
    now: float | None = NOW,
    more: dict[str, str] | None = None,
) -> dict[str, Any]:
    """A webhook; a header that is None is left out."""
    sent = {"X-Service-Signature": signature, "X-Service-Timestamp": timestamp, **(more or {})}
    headers = {name: value for name, value in sent.items() if value is not None}
    text = base64.b64encode(body).decode()
    return {
        "secrets": [SECRET] if secrets is None else secrets,
        "headers": headers,
        "body": text,
        "now": now,
    }


VERIFICATIONS: Cases = [
    (case(), GENUINE),
    (case(None), "signature_missing"),
    (case(""), "signature_malformed"),
    (case("sha256="), "signature_malformed"),
    (case("0" * 64), "signature_malformed"),
    (case("sha1=" + "0" * 40), "signature_malformed"),
    (case(SIGNED.upper()), "signature_malformed"),
    (case(SIGNED + "\n"), "signature_malformed"),
    (case(f" {SIGNED}"), "signature_malformed"),
    (case([SIGNED, SIGNED]), "signature_malformed"),
    (case([SIGNED], [str(NOW)]), GENUINE),
    (case(timestamp=None), "timestamp_missing"),
    (case(timestamp=""), "timestamp_malformed"),
    (case(timestamp="-1"), "timestamp_malformed"),
    (case(timestamp="1e9"), "timestamp_malformed"),
    (case(timestamp=f"{NOW}\n"), "timestamp_malformed"),
    (case(timestamp=f" {NOW}"), "timestamp_malformed"),
    (case(timestamp="\u0661\u0662"), "timestamp_malformed"),
    (case(timestamp="9" * 5000), "timestamp_malformed"),
    (case(timestamp="9" * 15), "signature_wrong"),
    (case(timestamp=str(NOW + 1)), "signature_wrong"),
    (case(timestamp=f"0{NOW}"), "signature_wrong"),
    (case("sha256=" + "0" * 64), "signature_wrong"),
    (case("sha256=" + "0" * 64, "1"), "signature_wrong"),
    (case(body=BODY + b"\n"), "signature_wrong"),
    (case(sign(SECRET, NOW, b""), body=b""), GENUINE),
    (case(sign(SECRET, NOW, bytes(range(256))), body=bytes(range(256))), GENUINE),
    (case(now=NOW + 300), GENUINE),
    (case(now=NOW - 300), GENUINE),
    (case(now=NOW + 300.5), "timestamp_too_old"),
    (case(now=NOW - 300.5), "timestamp_too_new"),
    (case(now=None), "timestamp_too_old"),
    (case(sign(SECRET, 10**15 - 1, BODY), "9" * 15), "timestamp_too_new"),
    (case(secrets=[*OTHERS, SECRET]), GENUINE),
    (case(secrets=[SECRET, *OTHERS]), GENUINE),
    (case(secrets=OTHERS), "signature_wrong"),
    (case(sign(OTHERS[1], NOW, BODY), secrets=OTHERS), GENUINE),
    (case(sign("", NOW, BODY), secrets=[""]), "empty_secret"),
    (case(secrets=[]), "empty_secret"),
    (case(secrets=[SECRET, " \n"]), "empty_secret"),
    (
        case(None, None, more={"x-service-signature": SIGNED, "X-SERVICE-TIMESTAMP": str(NOW)}),
        GENUINE,
    ),
    (
        case(more={"x-service-delivery": "dlv_1", "X-SERVICE-EVENT": "order.updated"}),
        f"ok {NOW} dlv_1 order.updated",
    ),
]

ORDER = {
    "id": "ORD1",
    "platform": "sandbox",
    "order_id": "1794720882015000001",
    "status": "paid",
    "payment_status": "paid",
    "platform_payment_status": "paid",
    "total_amount_cny": 128.5,
    "updated_at": "2026-11-15T08:00:00.500Z",
}
EVENT = {
    "id": "evt_1",
    "event": "order.updated",
    "created_at": "2026-11-15T08:00:00.501Z",
    "data": {"order": ORDER},
}
MS = 1_794_729_600_501
STALE = "true false false"


def event(**changes: Any) -> bytes:
    """An event with other fields; those of the order begin with `order__`."""
    order = {k.removeprefix("order__"): v for k, v in changes.items() if k.startswith("order__")}
    outside = {k: v for k, v in changes.items() if not k.startswith("order__")}
    return json.dumps({**EVENT, "data": {"order": {**ORDER, **order}}, **outside}).encode()


def line(
    kind: str = "order.updated", order_id: str = "1794720882015000001", total: str = "128.50"
) -> str:
    statuses = "paid paid paid"
    return f"evt_1 {kind} {MS} ORD1 sandbox {order_id} {statuses} {total} {MS - 1} false {STALE}"


NOT_JSON = "The body is not JSON in UTF-8"
PARSED: list[tuple[bytes, str]] = [
    (event(), line()),
    (event(event="shipment.updated", seen_by=["a", {"b": None}]), line("shipment.updated")),
    (
        event(order__order_id=None, order__total_amount_cny=None),
        line("order.updated", "null", "null"),
    ),
    (event(order__total_amount_cny=1_000_000_000), line(total="1000000000.00")),
    (event(created_at="2026-11-15T16:00:00.501+08:00"), line()),
    (
        event(id="evt_test_1"),
        line().replace("evt_1", "evt_test_1").replace(" false true", " true true"),
    ),
    (event().replace(b"sandbox", b"s\\u00e9\\ud83d\\ude00\\/"), line().replace("sandbox", "sé😀/")),
    (event().replace(b"sandbox", "sé😀".encode()), line().replace("sandbox", "sé😀")),
    (event(id=1), "id is not a text."),
    (event(id=""), "id is not a text."),
    (event(created_at="2026-11-15T08:00:00"), "created_at is not a time with a time zone."),
    (event(created_at="2026-02-31T08:00:00Z"), "created_at is not a time with a time zone."),
    (event(created_at=None), "created_at is not a time with a time zone."),
    (event(data=None), "data is not an object."),
    (event(data={"order": [1]}), "data.order is not an object."),
    (event(order__status=None), "data.order.status is not a text."),
    (event(order__order_id=5), "data.order.order_id is not a text."),
    (event(order__total_amount_cny="5"), "data.order.total_amount_cny is not a number."),
    (event(order__total_amount_cny=True), "data.order.total_amount_cny is not a number."),
    (event(order__updated_at="yesterday"), "data.order.updated_at is not a time with a time zone."),
    (b"[1]", "The body is not an object."),
    (b"null", "The body is not an object."),
    *(
        (body, NOT_JSON)
        for body in (
            b"",
            b"{",
            b"nul",
            b"'a'",
            b"{} {}",
            b'{"a":1,}',
            b"[1,]",
            b"{1:2}",
            b'{"a" 1}',
            b"[01]",
            b"[1.]",
            b"[.5]",
            b"[+1]",
            b"[NaN]",
            b'["\n"]',
            b'["\\x"]',
            b'["\\u12g4"]',
            b'["\\u\xd9\xa1234"]',
            b'["open',
            b'"\xff"',
            b"\xef\xbb\xbf{}",
            b"[" * 100 + b"]" * 100,
            b"[" * 100_000,
            event()[:-1],
        )
    ),
]


@pytest.fixture(scope="module", params=["php", "java"])
def run(request: pytest.FixtureRequest) -> Run:
    """Run cases on the SDK of a language, all in one process."""
    need_toolchain(request.param)
    if request.param == "php":
        command = [*PHP, str(ROOT / "tests/sdk/php/cases.php"), str(ROOT / "sdk/php")]
    else:
        classes = request.getfixturevalue("java_classes")
        command = ["java", "-cp", str(classes), "dev.tradewind.sdk.Cases"]

    def cases(given: dict[str, Any]) -> list[str]:
        ended = subprocess.run(
            command, input=json.dumps(given).encode(), capture_output=True, check=True
        )
        assert ended.stderr == b""
        return ended.stdout.decode().split("\n")

    return cases


def test_webhooks_and_bodies_get_the_same_verdict_in_every_language(run: Run) -> None:
    bodies = [base64.b64encode(body).decode() for body, _ in PARSED]

    outcomes = run({"verify": [each for each, _ in VERIFICATIONS], "parse": bodies})

    verdicts, events = outcomes[: len(VERIFICATIONS)], outcomes[len(VERIFICATIONS) :]
    assert verdicts == [expected for _, expected in VERIFICATIONS]
    for (body, expected), outcome in zip(PARSED, events, strict=False):
        if expected == NOT_JSON:
            assert outcome.startswith(NOT_JSON), body[:80]
        else:
            assert outcome == expected, body
    if len(events) > len(PARSED) + 1:  # Java's deduplicator, in the same process
        assert events[len(PARSED)].split(" ") == [
            "failed",
            "handled",
            "duplicate",
            "in_progress",
            "handled",
            "duplicate",
            "handled",
            "handled",
        ]


def test_php_processes_handle_an_event_once_between_them(tmp_path: Path) -> None:
    need_toolchain("php")
    folder = tmp_path / "a new" / "folder"
    script = [*PHP, str(ROOT / "tests/sdk/php/once.php"), str(ROOT / "sdk/php"), str(folder)]

    def start(event_id: str) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        return subprocess.Popen([*script, event_id], stdin=pipe, stdout=pipe, text=True)

    def outcome(*words: str) -> str:
        ended = subprocess.run(
            [*script, *words], input="", capture_output=True, text=True, check=True
        )
        return ended.stdout.replace("\n", " ").strip()

    with start("../evt_1") as first:
        assert first.stdin
        assert first.stdout
        assert first.stdout.readline() == "handling\n"
        assert outcome("../evt_1") == "in progress"
        assert outcome("evt_2") == "handling handled"
        first.kill()
    with start("../evt_1") as second:
        assert second.communicate("fail\n")[0] == "handling\nfailed\n"

    assert outcome("../evt_1") == "handling handled"
    assert outcome("../evt_1") == "duplicate"
    assert outcome("forget", "60") == "0"
    assert outcome("evt_2") == "duplicate"
    assert outcome("forget", "-1") == "2"
    assert outcome("evt_2") == "handling handled"
    assert [path.name for path in folder.parent.iterdir()] == ["folder"]
