"""Traces by OpenTelemetry: off by default, and then nothing of it is imported or called.

Each event has a trace of its own, whose id follows from the id of the event: its first span is
linked to the change that made the event, and every attempt to deliver it is part of it. So nothing
has to be stored with an event, whenever and by whichever worker it is delivered.
"""

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any
from uuid import UUID

from tradewind import ids
from tradewind.errors import CannotStart

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import SpanContext, Tracer

Attributes = Mapping[str, str | int | float | bool]

_PURPOSE = b"tradewind event"
_NANOSECONDS = 1_000_000_000


class Tracing:
    """The spans of one process. It exists only where tracing is on."""

    def __init__(self, service: str) -> None:
        """`service` is the name in traces, unless OTEL_SERVICE_NAME is set."""
        try:
            from tradewind.observability import otel  # noqa: PLC0415 - only where tracing is on
        except ModuleNotFoundError:
            raise CannotStart(
                "TRADEWIND_TRACING is on, and OpenTelemetry is not installed; "
                "run `pip install 'tradewind[tracing]'`, or set TRADEWIND_TRACING=no."
            ) from None
        self._otel = otel
        self._ids = otel.ChosenIds()
        self._provider: TracerProvider = otel.provider(service, self._ids)
        self._tracer: Tracer = self._provider.get_tracer("tradewind")

    def close(self) -> None:
        """Send the spans that have ended, for a few seconds at the most."""
        self._provider.shutdown()

    def request(self, headers: Mapping[str, str]) -> AbstractContextManager[Any]:
        """The span of a request; it continues the trace of its `traceparent`, if there is one."""
        return self._otel.server_span(self._tracer, headers)

    def span(
        self, name: str, attributes: Attributes, *, client: bool
    ) -> AbstractContextManager[Any]:
        """A span inside the current one."""
        return self._otel.span(self._tracer, name, attributes, client=client)

    def is_recording(self) -> bool:
        """Whether there is a current span that is recorded."""
        return self._otel.is_recording()

    def journaled(self, events: Sequence[tuple[UUID, str]]) -> None:
        """Begin the trace of each event, by id and type, linked to the current span."""
        for event_id, kind in events:
            context = self._event(event_id)
            with self._ids.choosing(context):
                shown = {"tradewind.event": ids.EVENT.show(event_id)}
                self._otel.linked_span(self._tracer, kind, shown)

    def attempted(
        self, event_id: UUID, name: str, attributes: Attributes, *, began: float, ended: float
    ) -> None:
        """Add an attempt that has ended to the trace of its event; times are Unix seconds."""
        self._otel.past_span(
            self._tracer,
            name,
            attributes,
            parent=self._event(event_id),
            start=int(began * _NANOSECONDS),
            end=int(ended * _NANOSECONDS),
        )

    def _event(self, event_id: UUID) -> "SpanContext":
        """Return the first span of an event's trace.

        Its id is a hash, because samplers decide by some bits of it, which must be random. Every
        process decides alike whether the trace is sampled.
        """
        digest = hashlib.blake2b(event_id.bytes, digest_size=24, person=_PURPOSE).digest()
        trace_id, span_id = int.from_bytes(digest[:16]), int.from_bytes(digest[16:])
        return self._otel.root_context(self._provider, trace_id, span_id)


# The tracing of this process; None where it is off. It is installed once, at the start.
_current: Tracing | None = None
_NO_SPAN: AbstractContextManager[None] = nullcontext()


def install(tracing: Tracing) -> None:
    global _current  # noqa: PLW0603 - like the log and the metrics, there is one in a process
    _current = tracing


def current() -> Tracing | None:
    return _current


def is_recording() -> bool:
    """Whether there is a current span that is recorded."""
    return _current is not None and _current.is_recording()


def request_span(headers: Mapping[str, str]) -> AbstractContextManager[Any]:
    """The span of a request, or nothing where tracing is off."""
    return _NO_SPAN if _current is None else _current.request(headers)


def span(name: str, **attributes: str) -> AbstractContextManager[Any]:
    """A span for our own work, or nothing where tracing is off."""
    return _NO_SPAN if _current is None else _current.span(name, attributes, client=False)


def client_span(name: str, **attributes: str) -> AbstractContextManager[Any]:
    """A span for a call to another service, or nothing where tracing is off."""
    return _NO_SPAN if _current is None else _current.span(name, attributes, client=True)
