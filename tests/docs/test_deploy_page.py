"""docs/how-to/deploy.md: its settings, proxies and the unit of the API serve as it says."""

import configparser
import os
import re
import shlex
import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from egress.receivers import certificates
from kit import blocks
from kit.blocks import ROOT
from kit.docs import replaced
from kit.event_stream import OpenStream
from kit.pages import COOKIE
from kit.server import SECRET_KEY, Person, Server, ServerLauncher, free_port
from kit.toolchains import deployment_tool
from kit.webhook_system import emit

from tradewind.imports.table import MOST_BYTES

PAGE = "docs/how-to/deploy.md"
NAME = "api.your-company.example"
UPSTREAM = "127.0.0.1:8000"
TRUSTED, CLIENT, OTHER = "127.0.0.1", "127.0.0.2", "127.0.0.3"
START_SECONDS = 20
# What the page calls the largest body: 11 MiB.
LARGEST_FORM = 11 * 2**20

pytestmark = pytest.mark.xdist_group("deploy")

# What nginx and Caddy need besides the page's part, so that they run beside others.
NGINX = """\
{user}daemon off; pid {folder}/pid; error_log stderr;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/tradewind.conf;
}}
"""
CADDY = """\
{{
    admin off
    https_port {port}
    auto_https disable_redirects
    local_certs
    skip_install_trust
    storage file_system {folder}
}}
import {folder}/Caddyfile.page
"""


def unit() -> configparser.SectionProxy:
    """The unit of the API; tests/deploy checks that systemd accepts it."""
    parsed = configparser.ConfigParser()
    parsed.optionxform = str  # type: ignore[assignment, method-assign]
    parsed.read_string((ROOT / "deploy/systemd/tradewind-serve.service").read_text())
    return parsed["Service"]


def environment() -> dict[str, str]:
    """The settings of the page, as systemd reads such a file: a comment is a line of its own."""
    (block,) = blocks.find(PAGE, "ini", containing="TRADEWIND_ENV=")
    lines = [line for line in block.text.splitlines() if line and line[0] != "#"]
    return dict(line.split("=", 1) for line in lines)


@pytest.fixture(scope="module")
def api(launcher: ServerLauncher) -> Iterator[Server]:
    """A server with the settings and the command of the page; secrets and ports are our own."""
    settings = environment()
    assert (settings.pop("TRADEWIND_SECRET_KEY"), settings["TRADEWIND_HOST"]) == ("…", TRUSTED)
    assert settings.pop("TRADEWIND_DATABASE_URL").startswith("postgresql://")
    variable, _, metrics = unit()["Environment"].partition("=")
    settings[variable] = metrics.replace("9464", str(free_port()))
    program, *words = shlex.split(unit()["ExecStart"])
    assert program.endswith("/.venv/bin/tradewind")
    assert words == ["serve", "--workers", "4"]
    settings["TRADEWIND_SECRET_KEY"] = SECRET_KEY
    with launcher.serving(workers=1, settings=settings) as server:
        blocks.ran(blocks.find(PAGE, "ini", containing="TRADEWIND_ENV="))
        yield server


class Proxy:
    """A running proxy in front of the server."""

    def __init__(self, port: int, trusted: Path) -> None:
        self.port = port
        self.tls = ssl.create_default_context(cafile=trusted)

    def client(self, address: str) -> httpx.Client:
        """A client with an address of its own."""
        transport = httpx.HTTPTransport(local_address=address, verify=self.tls)
        return httpx.Client(transport=transport, timeout=10)

    def call(self, method: str, path: str, *, address: str = CLIENT, **options: Any) -> Any:
        headers = {"host": NAME, **options.pop("headers", {})}
        with self.client(address) as client:
            return client.request(
                method,
                f"https://127.0.0.1:{self.port}{path}",
                headers=headers,
                extensions={"sni_hostname": NAME},
                **options,
            )


@contextmanager
def running(command: list[str], folder: Path, port: int, name: str = NAME) -> Iterator[None]:
    """Run a proxy until the test is over. It is ready when it has a certificate."""
    log = folder / "log"
    unchecked = ssl.create_default_context()
    unchecked.check_hostname, unchecked.verify_mode = False, ssl.CERT_NONE
    environ: Mapping[str, str] = {**os.environ, "HOME": str(folder)}
    with (
        log.open("wb") as output,
        subprocess.Popen(command, env=environ, stdout=output, stderr=output) as process,
    ):
        try:
            deadline = time.monotonic() + START_SECONDS
            while True:
                try:
                    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
                        unchecked.wrap_socket(connection, server_hostname=name).close()
                    break
                except OSError:
                    assert process.poll() is None, log.read_text()
                    assert time.monotonic() < deadline, log.read_text()
                    time.sleep(0.02)
            yield
        finally:
            process.terminate()


@contextmanager
def nginx(api: Server, folder: Path) -> Iterator[Proxy]:
    (block,) = blocks.find(PAGE, "nginx")
    program, port, authority = deployment_tool("nginx"), free_port(), certificates(folder)
    certificate, key = authority.files(NAME)
    changes = {
        UPSTREAM: api.url.removeprefix("http://"),
        "listen 443 ": f"listen 127.0.0.1:{port} ",
        "/etc/ssl/tradewind/certificate.pem": str(certificate),
        "/etc/ssl/tradewind/key.pem": str(key),
    }
    assert all(change in block.text for change in changes)
    (folder / "tradewind.conf").write_text(replaced(block.text, changes))
    user = "user root; " if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(NGINX.format(user=user, folder=folder))
    with running([program, "-e", "stderr", "-c", str(folder / "nginx.conf")], folder, port):
        yield Proxy(port, authority.bundle)
    blocks.ran([block])


@contextmanager
def caddy(api: Server, folder: Path) -> Iterator[Proxy]:
    (block,) = blocks.find(PAGE, "caddyfile")
    program, port = deployment_tool("caddy"), free_port()
    assert f"{NAME} {{\n" in block.text
    assert UPSTREAM in block.text
    page = block.text.replace(UPSTREAM, api.url.removeprefix("http://"))
    (folder / "Caddyfile.page").write_text(page)
    (folder / "Caddyfile").write_text(CADDY.format(port=port, folder=folder))
    command = [program, "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]
    with running(command, folder, port):
        yield Proxy(port, folder / "pki/authorities/local/root.crt")
    blocks.ran([block])


@pytest.mark.parametrize("start", [nginx, caddy])
def test_a_proxy_serves_as_the_page_says(
    start: Callable[[Server, Path], Any], api: Server, tmp_path: Path
) -> None:
    person = api.person()
    with start(api, tmp_path) as proxy:
        answer = proxy.call("GET", "/v1/me", headers=person.headers)
        assert (answer.status_code, answer.json()["email"]) == (200, person.email)
        assert answer.headers.get_list("strict-transport-security") == ["max-age=31536000"]
        assert proxy.call("GET", "/sign-in", headers={"accept": "text/html"}).status_code == 200
        _assert_only_the_proxy_is_believed(proxy, api)
        _assert_the_largest_bodies_arrive(proxy, person)
        _assert_errors_arrive_though_a_large_body_is_not_read(proxy, person)
        _assert_events_arrive_at_once(proxy, api)


def _assert_only_the_proxy_is_believed(proxy: Proxy, api: Server) -> None:
    """A key that is bound to an address shows which address Tradewind sees."""
    person = api.person()
    wish = {"name": "bound", "allowed_cidrs": [CLIENT]}
    made = api.call("POST", "/v1/api-keys", by=person, json=wish).json()
    api.launcher.secrets.add(made["key"])
    key = {"x-api-key": made["key"]}

    def direct(address: str, **headers: str) -> int:
        with proxy.client(address) as client:
            return client.get(f"{api.url}/v1/me", headers={**key, **headers}).status_code

    def proxied(address: str, **headers: str) -> int:
        answer = proxy.call("GET", "/v1/me", address=address, headers={**key, **headers})
        status: int = answer.status_code
        return status

    claimed = {"x-forwarded-for": CLIENT}
    assert proxied(CLIENT) == 200
    assert proxied(CLIENT, **{"x-forwarded-for": "203.0.113.9"}) == 200
    assert proxied(OTHER) == 403
    assert proxied(OTHER, **claimed) == 403, "a client may claim anything"
    assert direct(OTHER, **claimed) == 403, "it is no proxy"
    assert direct(TRUSTED, **claimed) == 200


def _import(proxy: Proxy, file: bytes, headers: Mapping[str, str]) -> tuple[int, Any]:
    answer = proxy.call(
        "POST", "/v1/imports", content=file, headers={**headers, "content-type": "text/csv"}
    )
    return answer.status_code, answer.json()


def _assert_the_largest_bodies_arrive(proxy: Proxy, person: Person) -> None:
    """An import of as many bytes as it may have, and the form with the largest picture."""
    columns = "product_id,quantity,platform,name,phone,province,city,district,detail,more\n"
    row = "1,2,sandbox,Li Lei,15251667788,浙江省,杭州市,滨江区,网商路699号,"
    head, line = columns.encode(), row.encode().ljust(1100, b"x") + b"\n"
    lines = line * ((MOST_BYTES - len(head)) // len(line))
    file = (head + lines).rstrip(b"\n").ljust(MOST_BYTES, b"x")
    status, made = _import(proxy, file, person.headers)
    assert (len(file), status) == (MOST_BYTES, 201), made

    signed_in = proxy.call(
        "POST", "/sign-in", data={"email": person.email, "password": person.password}
    )
    name = f"__Host-{COOKIE}"
    cookie = {"cookie": f"{name}={signed_in.cookies[name]}", "accept": "text/html"}
    page = proxy.call("GET", "/keys", headers=cookie).text
    token = re.search(r'name="csrf" value="([^"]+)"', page)
    assert token
    shown = proxy.call(
        "POST",
        "/products/picture",
        headers=cookie,
        data={"csrf": token[1], "platform": "sandbox"},
        files={"picture": bytes(LARGEST_FORM - 2000)},
    )
    assert shown.status_code == 422
    assert "An operator must connect a marketplace" in shown.text, "the token in the form was read"


def _assert_errors_arrive_though_a_large_body_is_not_read(proxy: Proxy, person: Person) -> None:
    """Tradewind answers before it has the body, and takes the rest of it without looking."""
    for _ in range(3):
        status, problem = _import(proxy, bytes(LARGEST_FORM), {})
        assert (status, problem["code"]) == (401, "credentials_missing")
        status, problem = _import(proxy, bytes(LARGEST_FORM), person.headers)
        assert (status, problem["code"]) == (413, "body_too_large")


def _assert_events_arrive_at_once(proxy: Proxy, api: Server) -> None:
    """The second event is written when the first was read: nothing waits for a full buffer."""
    person = api.person()
    with (
        proxy.client(CLIENT) as client,
        client.stream(
            "GET",
            f"https://127.0.0.1:{proxy.port}/v1/events/stream",
            headers={"host": NAME, **person.headers},
            extensions={"sni_hostname": NAME},
        ) as answer,
    ):
        stream = OpenStream(answer, answer.iter_lines())
        assert next(stream.blocks()) is None
        for _ in range(3):
            started = time.monotonic()
            emit(api.database_url, person.uuid)
            (event,) = stream.take(1)
            assert event.event == "order.updated"
            assert time.monotonic() - started < 5, "a heartbeat pushed it out of a buffer"
