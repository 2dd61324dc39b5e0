"""Thousands of password guesses: exactly ten are checked for each e-mail address."""

import asyncio
import json
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import httpx
from kit import scorecard
from kit.metrics import counter
from kit.server import ServerLauncher, free_port

# A soak makes ten thousand.
_GUESSES = 10_000 if "SOAK_STORIES" in os.environ else 2_000
_KNOWN = 4
_UNKNOWN = 4
_CONNECTIONS = 24
# Each address sends less than the 30 a minute that one may.
_PER_ADDRESS = 25
_CHECKED = 10

Answer = tuple[int, dict[str, str], dict[str, Any]]


class Guesser:
    """One kept connection that sends guesses, each in the name of an address."""

    def __init__(self, port: int, guesses: Iterator[tuple[int, str]]) -> None:
        self._port = port
        self._guesses = guesses
        self.answers: dict[str, list[Answer]] = defaultdict(list)

    async def run(self) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        for number, email in self._guesses:
            body = json.dumps({"email": email, "password": f"wrong guess {number}"}).encode()
            address = number // _PER_ADDRESS
            head = (
                "POST /v1/auth/login HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
                f"x-forwarded-for: 198.51.{address // 250}.{address % 250}\r\n"
                f"content-length: {len(body)}\r\n\r\n"
            )
            writer.write(head.encode() + body)
            self.answers[email].append(await _read(reader))
        writer.close()


async def _read(reader: asyncio.StreamReader) -> Answer:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
    body = json.loads(await reader.readexactly(int(headers["content-length"])))
    return int(head[0].split()[1]), headers, body


def _shown(answer: Answer) -> tuple[int, frozenset[str], str]:
    """All of an answer that could tell one e-mail from another: no times, and no request's id."""
    status, headers, body = answer
    varying = {"request_id": "", "retry_after": ""}
    text = re.sub(r"\d+", "0", json.dumps({**body, **varying}))
    return status, frozenset(headers), text


async def _guess(port: int, emails: Sequence[str]) -> dict[str, list[Answer]]:
    """Send all guesses over several connections, by turns for each e-mail."""
    guesses = ((number, emails[number % len(emails)]) for number in range(_GUESSES))
    guessers = [Guesser(port, guesses) for _ in range(_CONNECTIONS)]
    async with asyncio.timeout(300):
        await asyncio.gather(*(guesser.run() for guesser in guessers))
    return {email: [a for g in guessers for a in g.answers[email]] for email in emails}


async def test_ten_of_thousands_of_guesses_are_checked_for_each_email(
    launcher: ServerLauncher,
) -> None:
    metrics = free_port()
    settings = {
        "TRADEWIND_LOGIN_RATE": "30",
        "TRADEWIND_TRUSTED_PROXIES": "127.0.0.1",
        "TRADEWIND_METRICS_LISTEN": f"127.0.0.1:{metrics}",
    }
    with launcher.serving(workers=2, settings=settings) as api:
        known = [(await asyncio.to_thread(api.person)).email for _ in range(_KNOWN)]
        unknown = [f"nobody-{number}@test.example" for number in range(_UNKNOWN)]
        answers = await _guess(httpx.URL(api.url).port or 0, [*known, *unknown])
        checks = counter(metrics, "tradewind_password_checks_total")
        stored = api.fetch("SELECT cardinality(failed_at), locked_until FROM login_failure")

    scorecard.record(
        15,
        _GUESSES,
        violations=int(abs(checks - _CHECKED * (_KNOWN + _UNKNOWN))),
        passwords_checked=checks,
    )
    assert sum(map(len, answers.values())) == _GUESSES
    assert checks == _CHECKED * (_KNOWN + _UNKNOWN)
    assert [row["cardinality"] for row in stored] == [_CHECKED] * (_KNOWN + _UNKNOWN)
    assert all(row["locked_until"] is not None for row in stored)
    looks = {}
    for email, got in answers.items():
        codes = [(status, body["code"]) for status, _, body in got]
        assert codes.count((401, "wrong_credentials")) == _CHECKED
        assert set(codes) <= {
            (401, "wrong_credentials"),
            (403, "account_locked"),
            (503, "login_busy"),
        }
        assert codes.count((403, "account_locked")) > len(codes) / 2
        looks[email] = {_shown(answer) for answer in got if answer[0] != 503}
    assert all(look == looks[known[0]] for look in looks.values()), "they all look the same"
    assert len(looks[known[0]]) == 2
