"""Traces: a request and its marketplace calls are one trace, and deliveries are linked to it."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from kit.server import ServerLauncher
from kit.system import System, simulated
from kit.webhook_endpoint import WebhookEndpoint, running_endpoint
from kit.webhook_system import WebhookSystem, until
from simulator.sandbox_kit import serving

from tradewind.auth.model import Role

service_pb2 = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")

pytestmark = pytest.mark.xdist_group("tracing")
CALLER_TRACE, CALLER_SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


class Collector:
    """A real receiver of OTLP over HTTP, with the spans that it got."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.services: dict[bytes, str] = {}
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                assert self.path == "/v1/traces"
                request = service_pb2.ExportTraceServiceRequest()
                request.ParseFromString(body)
                collector.add(request)
                answer = service_pb2.ExportTraceServiceResponse().SerializeToString()
                self.send_response(200)
                self.send_header("content-type", "application/x-protobuf")
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: Any) -> None:
                """Not logged."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def add(self, request: Any) -> None:
        for resource in request.resource_spans:
            names = {item.key: item.value.string_value for item in resource.resource.attributes}
            for scope in resource.scope_spans:
                for span in scope.spans:
                    self.services[span.span_id] = names["service.name"]
                    self.spans.append(span)

    def named(self, name: str, trace_id: bytes | None = None) -> list[Any]:
        return [
            span for span in self.spans if span.name == name and trace_id in {None, span.trace_id}
        ]


def attributes(span: Any) -> dict[str, str]:
    return {item.key: item.value.string_value for item in span.attributes}


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    made = Collector()
    thread = threading.Thread(target=made.server.serve_forever, daemon=True)
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture(scope="module")
def endpoint() -> Iterator[WebhookEndpoint]:
    with running_endpoint() as made:
        yield made


@pytest.fixture(scope="module")
def traced(
    launcher: ServerLauncher, collector: Collector, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[WebhookSystem]:
    with ExitStack() as stack:
        market = stack.enter_context(serving(tmp_path_factory.mktemp("traced")))
        settings = {
            **simulated(market),
            "TRADEWIND_TRACING": "yes",
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
            "OTEL_BSP_SCHEDULE_DELAY": "100",
        }
        api = stack.enter_context(launcher.serving(workers=1, settings=settings))
        stack.enter_context(launcher.working(api.database_url, settings=settings))
        approver = api.person(roles=(Role.APPROVER,))
        yield WebhookSystem.of(System(api, market, api.person(), approver))


def test_one_trace_from_the_request_to_the_marketplace_and_a_linked_delivery(
    traced: WebhookSystem, collector: Collector, endpoint: WebhookEndpoint
) -> None:
    hook = traced.hook(endpoint.url())
    body = traced.order_body()
    headers = {
        "idempotency-key": "traced-order",
        "traceparent": f"00-{CALLER_TRACE}-{CALLER_SPAN}-01",
    }

    answer = traced.call("POST", "/v1/orders", json=body, headers=headers)
    assert answer.status_code == 201, answer.text
    traced.logged(hook, 1)

    (request,) = until(lambda: collector.named("POST /v1/orders"), len)
    assert request.trace_id.hex() == CALLER_TRACE
    assert request.parent_span_id.hex() == CALLER_SPAN
    assert attributes(request)["http.route"] == "/v1/orders"
    assert collector.services[request.span_id] == "tradewind-api"

    deliveries = until(lambda: collector.named("deliver"), len)
    trace = [span for span in collector.spans if span.trace_id == request.trace_id]
    by_id = {span.span_id: span for span in trace}
    calls = [span for span in trace if span.name.startswith("sandbox ")]
    assert any("create" in span.name for span in calls), [span.name for span in trace]
    assert any(span.name == "postgresql" for span in trace)
    for span in trace:  # connected: every parent is there, up to the caller's span
        assert span is request or span.parent_span_id in by_id, span.name

    delivery = deliveries[0]
    assert collector.services[delivery.span_id] == "tradewind-worker"
    assert attributes(delivery)["tradewind.outcome"] == "delivered"
    (event,) = [span for span in collector.spans if span.span_id == delivery.parent_span_id]
    assert event.trace_id == delivery.trace_id
    assert event.parent_span_id == b""
    assert attributes(event)["tradewind.event"] == attributes(delivery)["tradewind.event"]
    (link,) = event.links
    assert link.trace_id == request.trace_id
    assert link.span_id in by_id


def test_jobs_of_workers_have_a_trace_with_their_calls(
    traced: WebhookSystem, collector: Collector
) -> None:
    traced.paid()

    (job, *_) = until(lambda: collector.named("order pay"), len)
    assert collector.services[job.span_id] == "tradewind-worker"
    calls = until(
        lambda: [
            span
            for span in collector.spans
            if span.trace_id == job.trace_id and span.name.startswith("sandbox ")
        ],
        len,
    )
    assert calls


def test_nobody_outside_gets_our_trace_context_and_no_value_leaks(
    traced: WebhookSystem, collector: Collector, endpoint: WebhookEndpoint
) -> None:
    hook = traced.hook(endpoint.url())
    traced.paid()
    traced.logged(hook, 1)
    until(lambda: collector.named("deliver"), len)

    assert endpoint.received
    for received in endpoint.received:
        assert not [name for name in received.headers if name.lower().startswith("trace")]
    text = b"".join(span.SerializeToString() for span in collector.spans)
    for secret in (traced.buyer.key, "张三", "15251667788", "网商路699号"):
        assert secret.encode() not in text


PROGRAM = """
import sys
import tradewind.runtime.api, tradewind.runtime.worker, tradewind.runtime.serve
from tradewind.runtime.wiring import database_of
from tradewind.settings import settings
from tradewind.storage.pool import Database
from tradewind.web.application import Application

chosen = settings.load({"TRADEWIND_DATABASE_URL": "postgresql://nobody@127.0.0.1:9/none"})
application = tradewind.runtime.api.build(chosen)
assert type(application) is Application, type(application)
assert type(database_of(chosen, "test")) is Database
print([name for name in sys.modules if name.startswith("opentelemetry")])
"""


def test_nothing_of_opentelemetry_is_imported_while_it_is_off() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=60
    )

    assert done.stdout == "[]\n", done.stderr


WITHOUT_EXTRA = """
import sys
sys.modules["opentelemetry"] = None
from tradewind.runtime.wiring import start_tracing
from tradewind.settings import settings

environ = {"TRADEWIND_DATABASE_URL": "postgresql://nobody@127.0.0.1:9/none"}
start_tracing(settings.load({**environ, "TRADEWIND_TRACING": "yes"}), "test")
"""


def test_without_the_extra_a_sentence_says_what_to_install() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTRA],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert done.stderr.splitlines()[-1].partition(": ")[2] == (
        "TRADEWIND_TRACING is on, and OpenTelemetry is not installed; "
        "run `pip install 'tradewind[tracing]'`, or set TRADEWIND_TRACING=no."
    )
