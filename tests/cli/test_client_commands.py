"""Client commands: log in, search, order, trigger, verify; each over HTTP, as an account."""

import fcntl
import hashlib
import hmac
import json
import os
import pty
import shlex
import stat
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from kit.forks import ForkServer
from kit.server import Person
from kit.system import System
from kit.webhook_endpoint import running_endpoint
from kit.webhook_system import emit

from tradewind.cli.credentials import WrongUrl, server_url
from tradewind.cli.listen import WrongForward, forward_url
from tradewind.cli.sse import LineTooLong, ServerSentEvent, SseParser

pytestmark = pytest.mark.xdist_group("system")


@dataclass
class Shell:
    """Runs client commands with a home directory and settings of their own."""

    commands: ForkServer
    home: Path
    settings: Mapping[str, str] = field(default_factory=dict)

    def run(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("TRADEWIND_")}
        where = {"XDG_CONFIG_HOME": str(self.home), "TRADEWIND_DATA_DIR": str(self.home / "none")}
        return self.commands.run(words, {**inherited, **where, **self.settings}, stdin)

    def having(self, **settings: str) -> "Shell":
        return Shell(self.commands, self.home, {**self.settings, **settings})

    def tell(self, *words: str, stdin: str = "") -> Any:
        """What a command that succeeds says: JSON, since nobody sees it."""
        ended = self.run(*words, stdin=stdin)
        assert (ended.returncode, ended.stderr) == (0, ""), ended.stderr
        assert ended.stdout.count("\n") == 1
        return json.loads(ended.stdout)

    def complaint(self, *words: str, stdin: str = "") -> str:
        """The one sentence with which a command fails."""
        ended = self.run(*words, stdin=stdin)
        assert (ended.returncode, ended.stdout) == (1, ""), ended.stdout
        assert ended.stderr.count("\n") == 1, ended.stderr
        return ended.stderr.removeprefix("tradewind: ").rstrip("\n")

    @property
    def saved(self) -> Path:
        return self.home / "tradewind" / "login.json"


@pytest.fixture
def shell(commands: ForkServer, tmp_path: Path) -> Shell:
    return Shell(commands, tmp_path)


def as_person(shell: Shell, system: System, person: Person | None = None) -> Shell:
    key = (person or system.buyer).key
    return shell.having(TRADEWIND_URL=system.api.url, TRADEWIND_API_KEY=key)


def test_a_login_is_saved_for_its_owner_alone_and_ends_with_a_logout(
    shell: Shell, system: System
) -> None:
    url, buyer = system.api.url, system.buyer
    assert "run `tradewind login`" in shell.complaint("orders", "list")

    words = ("login", url, "--email", buyer.email, "--password-stdin")
    wrong = shell.complaint(*words, stdin="wrong password\n")
    assert wrong == "The e-mail or the password is wrong."
    assert not shell.saved.exists()
    made = shell.tell(*words, stdin=buyer.password + "\n")
    assert (made["url"], made["account"]["email"]) == (url, buyer.email)
    tokens = json.loads(shell.saved.read_text())
    system.api.launcher.secrets |= {tokens["access_token"], tokens["refresh_token"]}
    assert stat.S_IMODE(shell.saved.stat().st_mode) == 0o600
    assert stat.S_IMODE(shell.saved.parent.stat().st_mode) == 0o700
    assert shell.tell("orders", "list") == []

    stale = {**tokens, "access_token": tokens["access_token"][:-3] + "abc"}
    shell.saved.write_text(json.dumps(stale))
    assert shell.tell("orders", "list") == [], "the tokens are renewed"
    renewed = json.loads(shell.saved.read_text())
    system.api.launcher.secrets |= {renewed["access_token"], renewed["refresh_token"]}
    assert renewed["access_token"] != stale["access_token"]
    assert renewed["refresh_token"] != tokens["refresh_token"]

    elsewhere = shell.having(TRADEWIND_URL="http://127.0.0.1:9")
    assert "Nobody is logged in at http://127.0.0.1:9" in elsewhere.complaint("orders", "list")
    assert shell.tell("logout") == {"logged_out": True, "session_ended": True}
    assert not shell.saved.exists()
    assert system.api.call("GET", "/v1/me", token=renewed["access_token"]).status_code == 401

    shell.tell("login", f"{url}/v1/", "--api-key", "-", stdin=buyer.key + "\n")
    assert shell.tell("orders", "list") == []
    stranger = as_person(shell, system, system.api.person())
    assert stranger.having(TRADEWIND_API_KEY="x").complaint("orders", "list"), "it outranks"
    assert shell.tell("logout") == {"logged_out": True, "session_ended": False}
    assert "Nobody can be asked" in shell.complaint("login", url)
    away = shell.having(TRADEWIND_URL="http://127.0.0.1:9", TRADEWIND_API_KEY=buyer.key)
    assert away.complaint("search", "x").startswith("http://127.0.0.1:9 cannot be reached: ")


def test_search_order_and_follow_what_happened(shell: Shell, system: System) -> None:
    mine = as_person(shell, system)

    hits = mine.tell("search", "summer", "dress", "--size", "2")
    assert len(hits["items"]) == 2
    first = mine.tell("trigger", "order.updated")
    order = first["data"]["order"]["id"]
    assert (first["event"], first["data"]["order"]["status"]) == (
        "order.updated",
        "pending_payment",
    )
    paid = mine.tell("trigger", "payment.updated", "--order", order)
    assert paid["data"]["order"]["payment_status"] == "pending_approval"
    moved = mine.tell("trigger", "order.updated", "--order", order, "--to", "closed")
    assert moved["data"]["order"]["id"] == order

    assert [row["id"] for row in mine.tell("orders", "list", "--platform", "sandbox")] == [order]
    assert mine.tell("orders", "list", "--status", "shipped") == []
    assert mine.tell("orders", "show", order)["items"][0]["quantity"] >= 1
    assert mine.tell("orders", "timeline", order)[-1]["cause"] == "accepted"
    assert mine.complaint("orders", "show", "ORD/../x") == "'ORD/../x' is not an id."
    assert mine.complaint("orders", "show", "ORDx") == "There is no such order."
    assert mine.complaint("orders", "cancel", order).startswith("The state cancelled ")
    assert "?status/0" in mine.complaint("orders", "list", "--status", "sent")
    assert "Say with --to" in mine.complaint("trigger", "order.updated", "--order", order)
    assert "no event 'order.paid'" in mine.complaint("trigger", "order.paid")
    assert "not a simulated" in mine.complaint("trigger", "order.updated", "--platform", "ebay")


def test_a_file_of_orders_is_checked_confirmed_and_placed(shell: Shell, system: System) -> None:
    mine = as_person(shell, system)
    body = system.order_body()
    fields = {**body["items"][0], **body["address"]}
    file = shell.home / "orders.csv"
    file.write_text(",".join(fields) + "\n" + ",".join(map(str, fields.values())) + "\n")

    refused = mine.run("orders", "import", str(file), "--platform", "sandbox")
    done = mine.tell("orders", "import", str(file), "--platform", "sandbox", "--yes")

    assert refused.returncode == 1, "nobody confirmed it"
    assert (done["orders_placed"], done["orders_failed"]) == (1, 0)
    assert "cannot be read" in mine.complaint("orders", "import", str(file) + "x")
    file.write_text(",".join(fields) + "\n" + "x," * len(fields))
    words = ("orders", "import", str(file), "--platform", "sandbox", "--yes")
    assert mine.complaint(*words).startswith("None of 1 orders can be placed")


def test_a_webhook_is_tested_and_its_attempts_are_shown(shell: Shell, system: System) -> None:
    mine = as_person(shell, system)
    with running_endpoint() as endpoint:
        hook = system.ok("POST", "/v1/webhooks", json={"url": endpoint.url()})
        system.api.launcher.secrets.add(hook["secret"])
        test = mine.tell("trigger", "payment.updated", "--webhook", hook["id"])
        event_ids = emit(system.api.database_url, system.buyer.uuid, 2)
        endpoint.until(lambda received: len(received) == 3)
        endpoint.answer = lambda _: 500
        failed = mine.run("trigger", "payment.updated", "--webhook", hook["id"])
    words = ("deliveries", "tail", "--no-follow", "--json")
    deadline = time.monotonic() + 20
    while len(lines := mine.run(*words).stdout.splitlines()) < 4:
        assert time.monotonic() < deadline
    attempts = [json.loads(line) for line in lines]

    assert test["delivered"]
    assert failed.returncode == 1
    assert attempts[0]["trigger"] == "test"
    assert {attempt["event_id"] for attempt in attempts[1:3]} == set(event_ids)
    assert [attempt["outcome"] for attempt in attempts].count("http_error") == 1
    assert mine.run(*words, hook["id"], "-n", "1").stdout.splitlines() == lines[-1:]
    assert mine.complaint("deliveries", "tail", "whk_x") == "There is no such subscription."


def test_verify_says_which_check_failed(shell: Shell, tmp_path: Path) -> None:
    secret, now, body = "whsec_" + "x" * 43, int(time.time()), b'{"id": "evt_1"}'
    signature = hmac.new(secret.encode(), b"%d.%b" % (now, body), hashlib.sha256).hexdigest()
    file, lines, broken = tmp_path / "body", tmp_path / "headers", tmp_path / "broken"
    file.write_bytes(body)
    broken.write_bytes(body + b"\n")
    lines.write_text(
        f"HTTP/1.1 200 OK\r\nx-service-signature: sha256={signature}\r\n"
        f"X-SERVICE-TIMESTAMP: {now}\r\n\r\n"
    )
    with_secret = shell.having(TRADEWIND_WEBHOOK_SECRET=secret)
    signed = ("--signature", f"sha256={signature}", "--timestamp")

    def check(*words: str, **options: Any) -> str:
        ended = with_secret.run("verify", *words, **options)
        assert (ended.returncode, ended.stderr) == (1, "")
        answer = json.loads(ended.stdout)
        assert answer["valid"] is False
        return f"{answer['check']}: {answer['message']}"

    valid = {"valid": True, "timestamp": now}
    assert with_secret.tell("verify", str(file), "--headers", str(lines)) == valid
    assert with_secret.tell("verify", "-", *signed, str(now), stdin=body.decode()) == valid
    assert (
        shell.tell(
            *("verify", str(file), "--secret", secret, "-H", f"X-Service-Timestamp: {now}"),
            *("-H", f"X-Service-Signature:sha256={signature}"),
        )
        == valid
    )
    assert "without the line break" in check(str(broken), "--headers", str(lines))
    assert check(str(file), *signed, str(now + 1)).startswith("signature_wrong: ")
    assert check(str(file)).startswith("signature_missing: ")
    assert check(str(file), "--signature", "sha1=x").startswith("signature_malformed: ")
    assert check(str(file), *signed[:2]).startswith("timestamp_missing: ")
    old = hmac.new(secret.encode(), b"%d.%b" % (now - 900, body), hashlib.sha256).hexdigest()
    words = ("--signature", f"sha256={old}", "--timestamp", str(now - 900))
    assert check(str(file), *words).startswith("timestamp_too_old: ")
    assert with_secret.tell("verify", str(file), *words, "--tolerance", "1000")["valid"]
    assert "cannot be read" in with_secret.complaint("verify", str(file) + "x", *words)
    assert "not a header" in with_secret.complaint("verify", str(file), "-H", "nonsense")


def test_people_on_a_terminal_see_tables(system: System, tmp_path: Path) -> None:
    order = system.order()
    environ = {
        **{k: v for k, v in os.environ.items() if not k.startswith("TRADEWIND_")},
        "XDG_CONFIG_HOME": str(tmp_path),
        "TRADEWIND_URL": system.api.url,
        "TRADEWIND_API_KEY": system.buyer.key,
        "COLUMNS": "200",  # pytest-xdist sets another width
    }
    tradewind = f"{shlex.quote(sys.executable)} -m tradewind"
    script = (
        f"{tradewind} orders list; {tradewind} orders show {order['id']}; "
        f"{tradewind} orders timeline {order['id']}; {tradewind} search dress --size 1"
    )
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 200, 0, 0))
    with subprocess.Popen(["bash", "-c", script], env=environ, stdout=slave) as process:  # noqa: S607 - any bash
        os.close(slave)
        chunks = []
        with suppress(OSError):  # the end of a terminal is an error
            while chunk := os.read(master, 65_536):
                chunks.append(chunk)
    os.close(master)
    shown = b"".join(chunks).decode()

    assert process.returncode == 0
    assert f"{order['id']}  sandbox" in shown
    assert "waiting for" in shown
    assert "status creating → pending_payment" in shown
    assert "Page 1; " in shown


def test_a_mistyped_command_and_the_version(shell: Shell) -> None:
    mistyped = shell.run("lisen")
    completed = shell.having(
        _TRADEWIND_COMPLETE="complete_bash", COMP_WORDS="tradewind lis", COMP_CWORD="1"
    ).run()

    assert mistyped.returncode == 2
    assert "Did you mean 'listen'" in mistyped.stderr
    assert shell.run("--version").stdout.startswith("tradewind 0.")
    assert completed.stdout.split() == ["listen"]


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("localhost:8000", "http://localhost:8000"),
        ("127.0.0.1:8000/", "http://127.0.0.1:8000"),
        ("[::1]:8000", "http://[::1]:8000"),
        ("tradewind.example.com", "https://tradewind.example.com"),
        (" https://t.example.com/v1/ ", "https://t.example.com"),
    ],
)
def test_urls_of_servers(text: str, url: str) -> None:
    assert server_url(text) == url


def test_what_is_no_url() -> None:
    for text in ("", "ftp://x", "https://", "https://a:b@x", "https://x/path", "http://x:99999"):
        with pytest.raises(WrongUrl):
            server_url(text)
    for text in ("ftp://x", "http://", "http://x:99999"):
        with pytest.raises(WrongForward):
            forward_url(text)
    assert forward_url("3000/hook") == forward_url("localhost:3000/hook")
    assert forward_url("https://x.example/a?b") == "https://x.example/a?b"


def test_server_sent_events_are_read_however_they_are_cut() -> None:
    stream = (
        b"retry: 1\nid: 7\n\n: heartbeat\n\nid: 8\r\nevent: a\r\ndata: x\r\n\r\n"
        b"data:y\ndata: z\nodd\n\nid: 9\ndata: cut off\n"
    )
    expected = [
        ServerSentEvent("7", "", None),
        ServerSentEvent("7", "", None),
        ServerSentEvent("8", "a", "x"),
        ServerSentEvent("8", "", "y\nz"),
    ]
    for size in range(1, len(stream)):
        parser = SseParser(longest=100)
        chunks = [stream[i : i + size] for i in range(0, len(stream), size)]
        assert [event for chunk in chunks for event in parser.feed(chunk)] == expected
    with pytest.raises(LineTooLong):
        list(SseParser(longest=10).feed(b"data: 12345678"))
