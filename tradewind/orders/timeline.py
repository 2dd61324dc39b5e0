"""The timeline of an order as JSON: one entry for each of its versions."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from tradewind import clock, ids
from tradewind.orders.model import Who
from tradewind.orders.wire import WhoOut
from tradewind.web.inputs import Output


class ChangeOut(Output):
    """A change of an order."""

    version: Annotated[int, Meta(examples=[4])]
    at: clock.Timestamp
    cause: Annotated[
        str,
        Meta(
            description="`accepted`, `create`, `sync`, `pay`, `cancel`, `payment_requested`, "
            "`payment_approved`, `refund_requested`, …",
            examples=["sync"],
        ),
    ]
    by: Annotated[WhoOut | None, Meta(description="Who asked; null: the platform, or we.")]
    changes: Annotated[
        dict[str, Any],
        Meta(
            description="Each field of the order that changed, `from` and `to`.",
            examples=[{"status": {"from": "pending_payment", "to": "paid"}}],
        ),
    ]
    events: Annotated[
        list[str],
        Meta(
            description="The events that told of it.",
            examples=[["evt_06EJ4KQZC5T9XN4R5ZJ2V7M8QW"]],
        ),
    ]

    @staticmethod
    def of(row: Any) -> "ChangeOut":
        by = None if row["actor_id"] is None else Who(row["actor_id"], row["actor"])
        return ChangeOut(
            version=row["version"],
            at=clock.show(row["at"]),
            cause=row["cause"],
            by=WhoOut.of(by),
            changes=msgspec.json.decode(row["changes"]),
            events=[ids.EVENT.show(event_id) for event_id in row["events"]],
        )
