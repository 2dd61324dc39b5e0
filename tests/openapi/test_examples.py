"""Every example of the OpenAPI document, and samples of the reference, sent as they are."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from kit.api_document import Document, Operation
from kit.sdk_examples import GO_OFFLINE, go_module, node_project
from kit.server import Server
from kit.system import ADDRESS, System
from kit.toolchains import need_toolchain
from kit.webhook_endpoint import running_endpoint
from kit.webhook_system import WebhookSystem, until
from openapi.test_foreign_ids import Account

from tradewind import ids
from tradewind.auth.model import Role

pytestmark = pytest.mark.xdist_group("system")

# The examples that no server can carry out, since they name a person, a token or an event of
# nobody. Each has its documented answer.
_CANNOT_SUCCEED = {
    "login": (401, "wrong_credentials"),
    "refresh": (401, "invalid_refresh_token"),
    "logout": (422, "no_session"),
    "change_password": (422, "validation_failed"),
    "explain_delivery": (404, "not_found"),
    "receive_notice": (401, "notice_refused"),
    # At a server without a marketplace: it would cut this one off.
    "connect_platform": (409, "platform_has_no_url"),
    "get_platform_connection": (422, "platform_not_configured"),
    "disconnect_platform": (422, "platform_not_configured"),
}
_CUTS_OFF = "/v1/admin/platforms/"


class Examples:
    """Sends the examples; only ids in the path are replaced, by live ones."""

    def __init__(self, account: Account, plain: Server) -> None:
        self.account = account
        self.webhooks = account.webhooks
        self.plain = plain
        document = Document()
        self.operations = {each.name: each for each in document.operations()}
        self.described = {
            described["operationId"]: described
            for methods in document.whole["paths"].values()
            for described in methods.values()
        }

    def send(self, operation: Operation) -> httpx.Response:
        path = operation.path
        ids_by_kind = {**self.account.ids, **self._fresh(operation.name)}
        for slot in operation.path_slots:
            path = path.replace(f"{{{slot.name}}}", ids_by_kind[slot.kind])
        headers = {}
        params: dict[str, Any] = {}
        for each in operation.parameters:
            if each["in"] == "header" and each["required"]:
                headers[each["name"]] = str(ids.new())
            if each["in"] == "query" and each["required"]:
                params[each["name"]] = each["schema"]["examples"][0]
        options: dict[str, Any] = {} if operation.body is None else {"json": operation.body}
        if operation.name == "create_import":
            headers["content-type"] = "text/csv"
            options["content"] = self._file()
        api, by = self.webhooks.api, self.account.person
        if operation.path.startswith(_CUTS_OFF):
            api, by = self.plain, self.plain.person(roles=tuple(Role))
        return api.call(
            operation.method, path, headers={**by.headers, **headers}, params=params, **options
        )

    def _fresh(self, name: str) -> dict[str, str]:
        """Live ids of what is in the right state for an operation."""
        makers: dict[str, Callable[[], dict[str, str]]] = {
            "cancel_order": lambda: {"ORD": self._order()},
            "request_order_payment": lambda: {"ORD": self._order()},
            "advance_sandbox_order": lambda: {"ORD": self._order()},
            "withdraw_order_payment": lambda: {"ORD": self._requested()[0]},
            "approve_payment": lambda: {"pay_": self._requested(by_another=True)[1]},
            "reject_payment": lambda: {"pay_": self._requested(by_another=True)[1]},
            "request_refund": lambda: {"ORD": self._shipped()},
            "remove_cart_item": lambda: {"cln_": self._line()},
            "update_cart_item": lambda: {"cln_": self._line()},
            "order_import": lambda: {"imp_": self._import()},
        }
        return makers[name]() if name in makers else {}

    def _example(self, name: str) -> Any:
        return self.operations[name].body

    def _order(self, webhooks: WebhookSystem | None = None) -> str:
        """An order, placed by the example: it costs what the other examples say."""
        placed = (webhooks or self.webhooks).place(self._example("create_order"))
        assert placed.status_code == 201, placed.text
        order_id: str = placed.json()["id"]
        (webhooks or self.webhooks).until(order_id, lambda order: order["status"] != "creating")
        return order_id

    def _requested(self, *, by_another: bool = False) -> tuple[str, str]:
        webhooks = self.webhooks
        if by_another:
            api = webhooks.api
            webhooks = WebhookSystem(
                api, webhooks.market, api.person(), webhooks.approver, webhooks.skus
            )
        order_id = self._order(webhooks)
        return order_id, webhooks.request_payment(order_id)["id"]

    def _shipped(self) -> str:
        """An order of which the seller may refund a part."""
        order_id, payment_id = self._requested()
        self.webhooks.approve(payment_id)
        self.webhooks.until(order_id, lambda order: order["payment_status"] == "paid")
        self.webhooks.advance(order_id, "shipped")
        return order_id

    def _line(self) -> str:
        added = self.webhooks.ok("POST", "/v1/cart/items", json=self._example("add_cart_item"))
        line_id: str = added["id"]
        return line_id

    def _file(self) -> str:
        item = self._example("create_order")["items"][0]
        columns = {"platform": "sandbox", **item, **ADDRESS}
        return ",".join(columns) + "\n" + ",".join(map(str, columns.values())) + "\n"

    def _import(self) -> str:
        headers = {"content-type": "text/csv"}
        made = self.webhooks.ok(
            "POST", "/v1/imports?platform=sandbox", content=self._file(), headers=headers
        )
        path = f"/v1/imports/{made['id']}"
        until(lambda: self.webhooks.ok("GET", path), lambda shown: shown["status"] == "ready")
        import_id: str = made["id"]
        return import_id


@pytest.fixture(scope="module")
def examples(shared_system: System, api: Server) -> Iterator[Examples]:
    person = shared_system.api.person(roles=tuple(Role))
    webhooks = WebhookSystem(
        shared_system.api, shared_system.market, person, shared_system.approver, shared_system.skus
    )
    with running_endpoint() as endpoint:
        account = Account(webhooks, endpoint, person)
        account.furnish()
        account.ids["acc_"] = shared_system.api.person().id  # to be locked and changed
        yield Examples(account, api)


def test_every_example_succeeds_or_has_its_documented_answer(examples: Examples) -> None:
    wrong = []
    # What deletes comes last, so that the others find what they are about.
    for operation in sorted(examples.operations.values(), key=lambda each: each.method == "DELETE"):
        answer = examples.send(operation)
        status = answer.status_code
        if str(status) not in examples.described[operation.name]["responses"]:
            wrong.append(f"{operation.name}: {status} is not documented: {answer.text}")
        elif operation.name in _CANNOT_SUCCEED:
            if (status, answer.json()["code"]) != _CANNOT_SUCCEED[operation.name]:
                wrong.append(f"{operation.name}: {answer.text}")
        elif status >= 300:
            wrong.append(f"{operation.name}: {answer.text}")
        if operation.name in {"create_webhook", "rotate_webhook_secret"}:
            examples.webhooks.api.launcher.secrets.add(answer.json()["secret"])

    assert wrong == [], "\n".join(wrong)
    assert len(examples.operations) > 80


@pytest.mark.parametrize(
    ("language", "file", "command"),
    [
        ("curl", "sample.sh", ["sh"]),
        ("Python", "sample.py", [sys.executable]),
        ("Node", "sample.js", ["node"]),
        ("Go", "sample.go", ["go", "run"]),
    ],
)
def test_samples_of_the_reference_run_as_they_are_printed(
    examples: Examples, tmp_path: Path, language: str, file: str, command: list[str]
) -> None:
    if language in {"Node", "Go"}:
        need_toolchain(language.lower())
    node_project(tmp_path)
    go_module(tmp_path)
    api, person = examples.webhooks.api, examples.webhooks.api.person()
    page = api.client.get("/docs/orders.md").text
    section = page.partition("`POST /v1/orders`\n")[2].partition("\n## ")[0]
    (code,) = re.findall(rf"### {language}\n\n```\w+\n(.*?)\n```\n", section, re.DOTALL)
    (tmp_path / file).write_text(code)

    ended = subprocess.run(
        [*command, file],
        cwd=tmp_path,
        env={**os.environ, **GO_OFFLINE, "TRADEWIND_API_KEY": person.key},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert ended.returncode == 0, ended.stderr
    assert "ORD" in ended.stdout, ended.stdout
    listed = api.call("GET", "/v1/orders", by=person).json()["items"]
    assert [order["total_amount_cny"] for order in listed] == [25.0]


def test_the_examples_of_orders_and_payments_can_occur(system: System) -> None:
    """They are in the states that a real order has, which was paid, shipped and not received."""
    order_id = system.paid()["id"]
    system.advance(order_id, "shipped")
    order = system.until(order_id, lambda each: each["status"] == "shipped")
    (payment,) = system.ok("GET", f"/v1/orders/{order_id}/payments")["items"]
    examples = {
        name: each["value"] for name, each in Document().whole["components"]["examples"].items()
    }

    states = (
        *("status", "payment_status", "platform_payment_status", "waiting_for", "platform_status"),
        *("payment", "refunds", "failure", "close_reason", "pay_before", "paid_outside", "dispute"),
        *("cancel_requested", "refunded_amount_cny", "discount_cny", "stale"),
    )
    assert {name: examples["Order"][name] for name in states} == {
        name: order[name] for name in states
    }
    (part,) = examples["Order"]["platform_orders"]
    (real_part,) = order["platform_orders"]
    for name in ("status", "platform_status", "payment_status", "refunded_amount_cny"):
        assert part[name] == real_part[name]
    assert examples["Order"]["order_id"] == part["order_id"]
    of_payment = ("status", "mode", "reason", "pay_url", "failure")
    assert {name: examples["Payment"][name] for name in of_payment} == {
        name: payment[name] for name in of_payment
    }
    assert examples["PaymentWithOrder"]["order"] == examples["Order"]
    four_eyes = [examples["Payment"][each]["email"] for each in ("requested_by", "decided_by")]
    assert len(set(four_eyes)) == 2
    amounts = [examples["Order"][f"{part}_cny"] for part in ("goods_amount", "freight", "discount")]
    assert examples["Order"]["total_amount_cny"] == amounts[0] + amounts[1] - amounts[2]
    (item,) = examples["Order"]["items"]
    assert amounts[0] == item["quantity"] * item["unit_price_cny"]
