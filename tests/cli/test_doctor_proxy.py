"""The doctor behind a real nginx and a real Caddy: it names the line that is missing or wrong."""

import asyncio
import json
import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from cli.test_commands import Shell
from cli.test_doctor_deployments import RIGHT
from docs.test_deploy_page import CADDY, NAME, NGINX, PAGE, UPSTREAM, running
from egress.receivers import certificates
from kit import blocks
from kit.docs import replaced
from kit.forks import ForkServer
from kit.server import free_port
from kit.toolchains import deployment_tool

from tradewind.cli.doctor_checks.proxy import ProbeServer

pytestmark = pytest.mark.xdist_group("commands")

VERSION = "proxy_http_version 1.1;"
CONNECTION = 'proxy_set_header Connection "";'
HOST = "proxy_set_header Host $host;"
FORWARDED = "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;"
BODY = "client_max_body_size 12m;"
IDLE = "keepalive_timeout 10s;"


@contextmanager
def behind_nginx(
    commands: ForkServer, database_url: str, folder: Path, changes: Mapping[str, str]
) -> Iterator[Shell]:
    """A shell before a deployment behind nginx, whose configuration is the page's with changes."""
    (block,) = blocks.find(PAGE, "nginx")
    assert all(change in block.text for change in changes)
    program, port, upstream = deployment_tool("nginx"), free_port(), free_port()
    authority = certificates(folder)
    certificate, key = authority.files("localhost")
    text = replaced(
        block.text,
        {
            **changes,
            UPSTREAM: f"127.0.0.1:{upstream}",
            "listen 443 ": f"listen 127.0.0.1:{port} ",
            "/etc/ssl/tradewind/certificate.pem": str(certificate),
            "/etc/ssl/tradewind/key.pem": str(key),
        },
    )
    (folder / "tradewind.conf").write_text(text)
    user = "user root; " if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(NGINX.format(user=user, folder=folder))
    settings = {
        **RIGHT,
        "TRADEWIND_DATABASE_URL": database_url,
        "TRADEWIND_PUBLIC_URL": f"https://localhost:{port}",
        "TRADEWIND_PORT": str(upstream),
        "SSL_CERT_FILE": str(authority.bundle),
    }
    with running([program, "-e", "stderr", "-c", str(folder / "nginx.conf")], folder, port):
        yield Shell(commands, settings)


@contextmanager
def behind_caddy(
    commands: ForkServer, database_url: str, folder: Path, changes: Mapping[str, str]
) -> Iterator[Shell]:
    """The same behind Caddy."""
    (block,) = blocks.find(PAGE, "caddyfile")
    assert all(change in block.text for change in changes)
    program, port, upstream = deployment_tool("caddy"), free_port(), free_port()
    text = replaced(block.text, {**changes, UPSTREAM: f"127.0.0.1:{upstream}", NAME: "localhost"})
    (folder / "Caddyfile.page").write_text(text)
    (folder / "Caddyfile").write_text(CADDY.format(port=port, folder=folder))
    settings = {
        **RIGHT,
        "TRADEWIND_DATABASE_URL": database_url,
        "TRADEWIND_PUBLIC_URL": f"https://localhost:{port}",
        "TRADEWIND_PORT": str(upstream),
        "SSL_CERT_FILE": str(folder / "pki/authorities/local/root.crt"),
    }
    command = [program, "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]
    with running(command, folder, port, name="localhost"):
        yield Shell(commands, settings)


def proxy_problems(shell: Shell) -> Sequence[str]:
    ended = shell.run("doctor", "--json", "--proxy")
    assert ended.stderr == ""
    findings = [finding for finding in json.loads(ended.stdout) if finding["check"] == "proxy"]
    problems = [finding["detail"] for finding in findings if finding["result"] == "failed"]
    assert ended.returncode == int(bool(problems))
    assert problems or [finding["result"] for finding in findings] == ["ok"]
    return problems


def test_the_proxy_of_the_page_is_right(
    commands: ForkServer, database_url: str, tmp_path: Path
) -> None:
    with behind_nginx(commands, database_url, tmp_path, {}) as shell:
        assert proxy_problems(shell) == []


def test_each_missing_line_is_named(
    commands: ForkServer, database_url: str, tmp_path: Path
) -> None:
    lines = [VERSION, CONNECTION, HOST, FORWARDED, BODY]
    with behind_nginx(commands, database_url, tmp_path, dict.fromkeys(lines, "")) as shell:
        problems = proxy_problems(shell)

    assert all(
        f"(nginx: {line[:-1]}; Caddy: " in problem
        for problem, line in zip(problems, lines, strict=True)
    ), problems
    assert problems[0].startswith("The proxy uses HTTP/1.0 to Tradewind")
    assert problems[2].startswith("The proxy sends Host tradewind instead of localhost")
    assert problems[4].startswith("The proxy answered 413 to a body of 11 MiB")


def test_connections_that_stay_open_and_a_proxy_that_is_not_trusted(
    commands: ForkServer, database_url: str, tmp_path: Path
) -> None:
    with behind_nginx(commands, database_url, tmp_path, {IDLE: ""}) as shell:
        problems = proxy_problems(shell.having({"TRADEWIND_TRUSTED_PROXIES": "127.0.0.9"}))

    assert problems == [
        "TRADEWIND_TRUSTED_PROXIES does not have 127.0.0.1, from where the proxy connects; add it.",
        (
            "The proxy keeps idle connections for more than 15 seconds, when Tradewind closes "
            "them; let it close them earlier (nginx: keepalive_timeout 10s; Caddy: keepalive 10s)."
        ),
    ]


def test_a_proxy_that_leads_elsewhere_and_a_certificate_that_nobody_trusts(
    commands: ForkServer, database_url: str, tmp_path: Path
) -> None:
    with behind_nginx(
        commands, database_url, tmp_path, {f"server {UPSTREAM};": "server 127.0.0.1:1;"}
    ) as shell:
        (problem,) = proxy_problems(shell)
        assert problem.startswith("The proxy answered 502 itself; let it lead to TRADEWIND_HOST")

        (problem,) = proxy_problems(shell.having({"SSL_CERT_FILE": "/etc/ssl/none.pem"}))
        assert problem == (
            "The certificate of TRADEWIND_PUBLIC_URL is not valid (unable to get local issuer "
            "certificate); check the certificate of the proxy."
        )

        (problem,) = proxy_problems(shell.having({"TRADEWIND_PUBLIC_URL": "https://localhost:1"}))
        assert problem.startswith("TRADEWIND_PUBLIC_URL was not reached (")


def test_the_caddy_of_the_page_is_right(
    commands: ForkServer, database_url: str, tmp_path: Path
) -> None:
    with behind_caddy(commands, database_url, tmp_path, {}) as shell:
        assert proxy_problems(shell) == []


def test_each_wrong_line_of_caddy_is_named(
    commands: ForkServer, database_url: str, tmp_path: Path
) -> None:
    upstream = f"reverse_proxy {UPSTREAM} {{"
    changes = {
        "keepalive 10s": "keepalive off",
        upstream: (
            f"request_body {{\nmax_size 1MB\n}}\n{upstream}\n"
            "header_up Host {upstream_hostport}\nheader_up X-Forwarded-For 192.0.2.1"
        ),
    }
    with behind_caddy(commands, database_url, tmp_path, changes) as shell:
        problems = proxy_problems(shell)

    lines = ["keepalive 10s", "no header_up Host", "no header_up X-Forwarded-For", "max_size 12MiB"]
    assert all(
        line in problem.rpartition("; Caddy: ")[2]
        for problem, line in zip(problems, lines, strict=True)
    ), problems


def test_a_caddy_that_keeps_connections_or_leads_elsewhere(
    commands: ForkServer, database_url: str, tmp_path: Path
) -> None:
    for number, (line, wrong, start) in enumerate(
        [
            ("keepalive 10s", "keepalive 60s", "The proxy keeps idle connections"),
            (f"reverse_proxy {UPSTREAM}", "reverse_proxy 127.0.0.1:1", "The proxy answered 502"),
            (
                f"reverse_proxy {UPSTREAM}",
                f"reverse_proxy h2c://{UPSTREAM}",
                "The proxy uses HTTP/2",
            ),
        ]
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        with behind_caddy(commands, database_url, folder, {line: wrong}) as shell:
            (problem,) = proxy_problems(shell)
        assert problem.startswith(start)


def test_a_connection_that_is_open_at_the_end_prints_nothing() -> None:
    complaints: list[object] = []

    async def check() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, what: complaints.append(what))
        probe = ProbeServer("token")
        server = await asyncio.start_server(probe.serve, "127.0.0.1", 0)
        with socket.create_connection(server.sockets[0].getsockname()) as proxy:
            proxy.sendall(b"POST / HTTP/1.1\r\ncontent-length: 9\r\n\r\n")
            async with asyncio.timeout(10):
                while not probe.connections:  # noqa: ASYNC110 - it has no event for this
                    await asyncio.sleep(0)
            server.close()
            for task in probe.serving:
                task.cancel()
            await asyncio.wait(probe.serving)

    asyncio.run(check())

    assert complaints == []
