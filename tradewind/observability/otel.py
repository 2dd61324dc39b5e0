"""The calls of OpenTelemetry's SDK; imported only where tracing is on."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from opentelemetry import context, propagate, trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import Decision
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    Span,
    SpanContext,
    SpanKind,
    StatusCode,
    TraceFlags,
    Tracer,
)

Values = Mapping[str, str | int | float | bool]


class ChosenIds(RandomIdGenerator):
    """Random ids, except for a span whose ids are chosen."""

    def __init__(self) -> None:
        self._chosen: SpanContext | None = None

    @contextmanager
    def choosing(self, span: SpanContext) -> Iterator[None]:
        """Give the next span these ids. Nothing else runs meanwhile: it does not wait."""
        self._chosen = span
        try:
            yield
        finally:
            self._chosen = None

    def generate_trace_id(self) -> int:
        return self._chosen.trace_id if self._chosen else super().generate_trace_id()

    def generate_span_id(self) -> int:
        return self._chosen.span_id if self._chosen else super().generate_span_id()


def provider(service: str, ids: ChosenIds) -> TracerProvider:
    """Export in the background, as the variables OTEL_… say."""
    resource = Resource({SERVICE_NAME: service}).merge(OTELResourceDetector().detect())
    made = TracerProvider(resource=resource, id_generator=ids)
    made.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return made


@contextmanager
def server_span(tracer: Tracer, headers: Mapping[str, str]) -> Iterator[Span]:
    parent = propagate.extract(headers)
    with tracer.start_as_current_span("request", context=parent, kind=SpanKind.SERVER) as span:
        yield span


@contextmanager
def span(tracer: Tracer, name: str, values: Values, *, client: bool) -> Iterator[Span]:
    """A span that names the class of an error, and not its text: that may quote rows."""
    kind = SpanKind.CLIENT if client else SpanKind.INTERNAL
    with tracer.start_as_current_span(
        name,
        kind=kind,
        attributes=dict(values),
        record_exception=False,
        set_status_on_exception=False,
    ) as begun:
        try:
            yield begun
        except BaseException as error:
            begun.set_attribute("error.type", type(error).__name__)
            begun.set_status(StatusCode.ERROR)
            raise


def linked_span(tracer: Tracer, name: str, values: Values) -> None:
    """A span without duration that begins a trace, and is linked to the current one."""
    change = trace.get_current_span().get_span_context()
    links = [Link(change)] if change.is_valid else []
    tracer.start_span(
        name,
        context=context.Context(),
        kind=SpanKind.PRODUCER,
        attributes=dict(values),
        links=links,
    ).end()


def past_span(
    tracer: Tracer, name: str, values: Values, *, parent: SpanContext, start: int, end: int
) -> None:
    inside = trace.set_span_in_context(NonRecordingSpan(parent), context.Context())
    made = tracer.start_span(
        name, context=inside, kind=SpanKind.CLIENT, attributes=dict(values), start_time=start
    )
    if "error.type" in values:
        made.set_status(StatusCode.ERROR)
    made.end(end_time=end)


def root_context(made: TracerProvider, trace_id: int, span_id: int) -> SpanContext:
    """The first span of a trace with these ids, sampled or not as the sampler decides."""
    decision = made.sampler.should_sample(context.Context(), trace_id, "event").decision
    is_sampled = decision is Decision.RECORD_AND_SAMPLE
    flags = TraceFlags(TraceFlags.SAMPLED if is_sampled else TraceFlags.DEFAULT)
    return SpanContext(trace_id, span_id, is_remote=True, trace_flags=flags)


def is_recording() -> bool:
    return trace.get_current_span().is_recording()
