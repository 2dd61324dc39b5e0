"""Extreme numbers and times: rejected, and never a server error."""

import base64
from typing import Any
from uuid import UUID

import msgspec
import pytest
from kit.system import System

pytestmark = pytest.mark.xdist_group("system")

SOMEBODY = str(UUID(int=5))
ENDS = [
    "0001-01-01T00:00:00Z",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59-14:00",
    "9999-12-31T23:59:59.999999Z",
]


def cursor(name: str, key: Any) -> str:
    """A cursor that we would never give."""
    return base64.urlsafe_b64encode(msgspec.msgpack.encode((name, key))).decode()


@pytest.mark.parametrize("version", [2**31, 2**40, 2**63 - 1])
def test_a_version_beyond_any_is_after_all_of_them(system: System, version: int) -> None:
    order = system.order()
    path = f"/v1/orders/{order['id']}/timeline"

    page = system.ok("GET", f"{path}?cursor={cursor('timeline', version)}")

    assert page["items"] == system.ok("GET", path)["items"]


@pytest.mark.parametrize("version", [2**63, 2**64 - 1, -(2**63) + 1])
def test_a_version_that_nobody_can_store_is_no_error_of_ours(system: System, version: int) -> None:
    order = system.order()

    answer = system.call(
        "GET", f"/v1/orders/{order['id']}/timeline?cursor={cursor('timeline', version)}"
    )

    if version > 0:
        assert (answer.status_code, answer.json()["code"]) == (400, "malformed_cursor")
    else:
        assert (answer.status_code, answer.json()["items"]) == (200, [])


@pytest.mark.parametrize("moment", [*ENDS, "2026-01-01T00:00:00"])
@pytest.mark.parametrize(
    "list_of", ["orders by change", "payment queue", "events"], ids=["orders", "payments", "events"]
)
def test_a_cursor_at_the_end_of_the_calendar_is_malformed(
    system: System, list_of: str, moment: str
) -> None:
    path, by, key = {
        "orders by change": ("orders?sort=updated_at&cursor=", system.buyer, (moment, SOMEBODY)),
        "payment queue": ("payments?cursor=", system.approver, (moment, SOMEBODY)),
        "events": ("events?after=", system.buyer, (5, SOMEBODY, moment)),
    }[list_of]

    system.refused("GET", f"/v1/{path}{cursor(list_of, key)}", 400, "malformed_cursor", by=by)


@pytest.mark.parametrize(
    ("number", "answer"),
    [
        (2**64 - 1, (400, "malformed_cursor")),
        (2**63, (400, "malformed_cursor")),
        (2**63 - 1, (410, "events_rewound")),
        (-1, (400, "malformed_cursor")),
        (0, (400, "malformed_cursor")),
    ],
)
def test_a_number_of_an_event_that_cannot_be_is_no_error_of_ours(
    system: System, number: int, answer: tuple[int, str]
) -> None:
    system.refused("GET", f"/v1/events?after={cursor('events', (number, SOMEBODY))}", *answer)


@pytest.mark.parametrize("moment", [*ENDS, "2026-01-01T00:00:00"])
def test_a_comparison_with_such_a_time_points_at_it(system: System, moment: str) -> None:
    order = system.order()
    known = {"id": order["id"], "updated_at": order["updated_at"]}
    body = {"orders": [known, {**known, "updated_at": moment}]}

    problem = system.refused("POST", "/v1/orders/diff", 422, "validation_failed", json=body)

    assert [error["pointer"] for error in problem["errors"]] == ["/orders/1/updated_at"]


@pytest.mark.parametrize("moment", ENDS)
@pytest.mark.parametrize(
    "bound", ["created_after", "created_before", "updated_after", "updated_before"]
)
def test_a_list_between_such_times_is_no_error_of_ours(
    system: System, bound: str, moment: str
) -> None:
    answer = system.call("GET", "/v1/orders", params={bound: moment})

    assert answer.status_code in (200, 422), answer.text
