"""Advice, curl commands and times of deliveries, as tables of input and output."""

import hashlib
import hmac
import os
import stat
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tradewind.dashboard.shell.forms import read_time, time_input
from tradewind.dashboard.webhooks import views
from tradewind.dashboard.webhooks.views import HeaderLine, advice
from tradewind.delivery.model import Cancelled
from tradewind.egress.result import Outcome
from tradewind.errors import ValidationFailed

NASTY = """{"a":"it's $(touch owned) `touch owned` \\\\ \\" ! 订单 %s \\n"}"""
URL = "https://shop.example.com/hook?a=1&b='; touch owned; '"
HEADERS = [
    HeaderLine(name="Content-Type", value="application/json"),
    HeaderLine(name="X-Service-Event", value="order.updated"),
    HeaderLine(name="X-Service-Timestamp", value="1700000000"),
    HeaderLine(name="X-Service-Signature", value="sha256=old"),
]
# Stands in for curl, and says what it was given.
CURL = '#!/bin/sh\nfor one in "$@"; do printf \'%s\\000\' "$one"; done\n'


@pytest.mark.parametrize(
    "answer",
    [r'{"a":"\ud800"}', "[" * 990 + ",".join(["[]"] * 690) + "]" * 990, "[" * 4096, "no"],
)
def test_what_would_be_no_text_or_fill_megabytes_is_not_made_pretty(answer: str) -> None:
    assert views.pretty(answer) is None


@pytest.mark.parametrize(
    "outcome", [outcome for outcome in Outcome if outcome is not Outcome.DELIVERED]
)
def test_something_can_be_done_about_every_outcome(outcome: Outcome) -> None:
    if outcome is Outcome.CANCELLED:
        assert all(advice(outcome, why, None) for why in Cancelled)
    elif outcome is Outcome.HTTP_ERROR:
        assert all(advice(outcome, "http_status", status) for status in range(400, 600))
        assert "redirect" in advice(outcome, "redirect", 301)
    else:
        assert advice(outcome, None, None)


def test_nothing_needs_to_be_done_about_what_was_delivered() -> None:
    assert advice("delivered", None, 200) == ""


@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("certificate_expired", "Renew"),
        ("certificate_unknown_issuer", "chain"),
        ("certificate_wrong_name", "name"),
        ("response_timeout", "ten seconds"),
        ("connection_refused", "firewall"),
    ],
)
def test_advice_is_about_the_very_mistake(code: str, word: str) -> None:
    assert word in advice("tls_error", code, None)


def curl_arguments(script: str, folder: Path, **changes: str) -> list[str]:
    """What curl is called with when the script is run."""
    curl = folder / "curl"
    curl.write_text(CURL)
    curl.chmod(curl.stat().st_mode | stat.S_IEXEC)
    for old, new in changes.items():
        script = script.replace(old, new)
    run = subprocess.run(
        ["/bin/bash", "-euc", script],
        cwd=folder,
        env={"PATH": f"{folder}:{os.environ['PATH']}", "LANG": "C.UTF-8"},
        capture_output=True,
        check=True,
    )
    assert not (folder / "owned").exists()
    return run.stdout.decode().split("\0")[:-1]


def test_the_request_as_it_was_sent_is_the_same_to_the_letter(tmp_path: Path) -> None:
    arguments = curl_arguments(views.curl_as_sent(URL, HEADERS, NASTY), tmp_path)

    sent = [part for header in HEADERS for part in ("-H", f"{header.name}: {header.value}")]
    assert arguments == ["-X", "POST", URL, *sent, "--data-raw", NASTY]


def test_the_request_signed_anew_is_signed_right(tmp_path: Path) -> None:
    script = views.curl_signed_now(URL, HEADERS, NASTY)
    assert "sha256=old" not in script
    assert "whsec_…" in script

    arguments = curl_arguments(script, tmp_path, **{"whsec_…": "whsec_test"})

    lines = dict(line.split(": ", 1) for line in arguments if line.startswith("X-Service-"))
    signed = f"{lines['X-Service-Timestamp']}.{NASTY}".encode()
    expected = hmac.new(b"whsec_test", signed, hashlib.sha256).hexdigest()
    assert lines["X-Service-Signature"] == f"sha256={expected}"
    assert arguments[-1] == NASTY


def test_openssl_gives_what_the_page_says(tmp_path: Path) -> None:
    (tmp_path / "body.json").write_text(NASTY)
    run = subprocess.run(
        ["/bin/bash", "-euc", views.VERIFY_OPENSSL],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "SECRET": "whsec_test", "TIMESTAMP": "1700000000"},
        capture_output=True,
        text=True,
        check=True,
    )

    signed = f"1700000000.{NASTY}".encode()
    assert run.stdout.split()[-1] == hmac.new(b"whsec_test", signed, hashlib.sha256).hexdigest()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"b":1,"a":"订单"}', '{\n  "b": 1,\n  "a": "订单"\n}'),
        ("<h1>no</h1>", None),
        ("", None),
        (None, None),
        ("[" * 4000, None),
    ],
)
def test_json_is_set_apart_and_the_rest_is_left_alone(
    text: str | None, expected: str | None
) -> None:
    assert views.pretty(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", None),
        ("2026-11-15T01:02", datetime(2026, 11, 15, 1, 2, tzinfo=UTC)),
        ("2026-11-15 01:02:03", datetime(2026, 11, 15, 1, 2, 3, tzinfo=UTC)),
        (" 2026-11-15T09:02:03+08:00 ", datetime(2026, 11, 15, 1, 2, 3, tzinfo=UTC)),
    ],
)
def test_a_time_without_a_zone_is_utc(text: str, expected: datetime | None) -> None:
    assert read_time("since", text) == expected


@pytest.mark.parametrize("text", ["yesterday", "0001-01-01T00:00", "9999-12-31T23:59:59-01:00"])
def test_what_is_no_time_is_refused_and_kept_as_it_was_typed(text: str) -> None:
    with pytest.raises(ValidationFailed):
        read_time("since", text)
    assert time_input(text) == (text, "text")


def test_a_field_shows_a_time_in_utc() -> None:
    shown = time_input("2026-11-15T09:02:03+08:00")

    assert shown == ("2026-11-15T01:02:03", "datetime-local")
