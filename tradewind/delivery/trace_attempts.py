"""Adds attempts to the traces of their events, where tracing is on."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from tradewind import ids
from tradewind.delivery.model import ClaimedDelivery
from tradewind.egress.result import AttemptResult, Outcome
from tradewind.observability.tracing import Tracing


def trace_attempts(
    tracing: Tracing, attempts: Sequence[tuple[ClaimedDelivery, AttemptResult]]
) -> None:
    """Add the attempts that were sent. Endpoints get no trace context: it is ours."""
    for delivery, result in attempts:
        if delivery.duration_ms is None:
            continue
        attributes: dict[str, str | int] = {
            "tradewind.webhook": ids.SUBSCRIPTION.show(delivery.subscription_id),
            "tradewind.event": ids.EVENT.show(delivery.event_id),
            "tradewind.attempt": delivery.attempt,
            "tradewind.outcome": str(result.outcome),
            "http.request.method": "POST",
            "server.address": urlsplit(delivery.url or "").hostname or "",
        }
        if result.status is not None:
            attributes["http.response.status_code"] = result.status
        if result.outcome is not Outcome.DELIVERED:
            attributes["error.type"] = str(result.outcome)
        tracing.attempted(
            delivery.event_id,
            "deliver",
            attributes,
            began=delivery.started,
            ended=delivery.started + delivery.duration_ms / 1000,
        )
