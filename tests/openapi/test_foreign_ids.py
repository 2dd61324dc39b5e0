"""Ids of another account, in every operation: the same response as for missing ids."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field

import httpx
import pytest
from kit import scorecard
from kit.api_document import Document, Operation, Slot
from kit.server import Person
from kit.system import ADDRESS, PLAIN, System
from kit.webhook_endpoint import WebhookEndpoint, running_endpoint
from kit.webhook_system import Webhook, WebhookSystem, until

from tradewind import ids
from tradewind.auth.model import Role

pytestmark = pytest.mark.xdist_group("system")

# Free texts in a path or query that name nothing of an account.
_NAMES_NOTHING = {"action", "after", "column", "cursor", "email", "file_name", "platform"}
_OUR_IDS = re.compile(r"\b(ORD|[a-z]{3}_)[0-7][0-9A-HJKMNP-TV-Z]{25}\b")
_CURSORS = re.compile(r'(?<="next_cursor":)"[^"]+"')
_TIMES = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
# What the worker writes by itself, and what only says when somebody came by.
_VOLATILE = ["next_sync_at", "synced_at", "sync_failures", "lease", "lease_until", "hints"]
_VOLATILE += ["last_used_at", "last_seen_at"]
_OPERATIONS = list(Document().operations())


@dataclass
class Account:
    """An account, and something of every kind that it can have."""

    webhooks: WebhookSystem
    endpoint: WebhookEndpoint
    person: Person
    ids: dict[str, str] = field(default_factory=dict)

    def hook(self) -> Webhook:
        return self.webhooks.hook(self.endpoint.url(), by=self.person)

    def furnish(self) -> None:
        """Make a webhook with an attempt, an event and a finished job, an order and a payment."""
        webhooks = self.webhooks
        hook = self.hook()
        order = webhooks.order(external_id=f"PO {self.person.email}")
        payment = webhooks.request_payment(order["id"])
        webhooks.tried(hook, attempts=2)
        job = webhooks.ok(
            "POST", f"{hook.path}/recover", json={"since": order["created_at"], "include": "all"}
        )
        path = f"{hook.path}/recover/{job['id']}"
        until(lambda: webhooks.ok("GET", path), lambda shown: shown["status"] == "done")
        until(lambda: webhooks.pending(hook), lambda rows: rows == [])
        made = webhooks.ok("POST", "/v1/api-keys", json={"name": "another"})
        webhooks.api.launcher.secrets.add(made["key"])
        event = webhooks.events(order["id"])[0]["id"]
        address = webhooks.ok("POST", "/v1/addresses", json=order["address"])
        item = {"platform": "sandbox", **webhooks.order_body()["items"][0]}
        line = webhooks.ok("POST", "/v1/cart/items", json=item)
        self.ids |= {
            "imp_": self._import(),
            "ORD": order["id"],
            "whk_": hook.id,
            "dlv_": webhooks.log(hook)[0]["id"],
            "job_": job["id"],
            "evt_": event,
            "pay_": payment["id"],
            "key_": made["id"],
            "acc_": self.person.id,
            "adr_": address["id"],
            "cln_": line["id"],
            # Texts that name something of ours.
            "event": event,
            "external_id": order["external_id"],
            "order_id": order["order_id"],
            "tracking_number": "ZT0000000001",
            # Those of the path of a product.
            "platform": "sandbox",
            "id": PLAIN,
        }

    def _import(self) -> str:
        """An import that is checked: a row that has an error."""
        fields = ("product_id", "quantity", *ADDRESS)
        made = self.webhooks.ok(
            "POST",
            "/v1/imports?platform=sandbox",
            content=",".join(fields) + "\n" + "x," * len(fields),
            headers={"content-type": "text/csv"},
        )
        path = f"/v1/imports/{made['id']}"
        until(lambda: self.webhooks.ok("GET", path), lambda shown: shown["status"] == "ready")
        return str(made["id"])

    def rows(self) -> dict[str, list[str]]:
        """Everything that the database holds of the account."""
        tables = self.webhooks.api.fetch(
            """
            SELECT c.relname AS name
              FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
             WHERE a.attname = 'account_id'
               AND c.relkind IN ('r', 'p')
               AND NOT c.relispartition
               AND c.relnamespace = 'public'::regnamespace
            """
        )
        return {
            table["name"]: [
                row["shown"]
                for row in self.webhooks.api.fetch(
                    f"SELECT (to_jsonb(t) - $2::text[])::text AS shown FROM {table['name']} AS t"  # noqa: S608 - a name that the database gave
                    " WHERE account_id = $1 ORDER BY 1",
                    self.person.uuid,
                    _VOLATILE,
                )
            ]
            for table in tables
        }


@pytest.fixture(scope="module")
def owner(shared_system: System) -> Iterator[Account]:
    shared_system.market.client.delete("/_control/push")
    with running_endpoint() as endpoint:
        webhooks = WebhookSystem.of(shared_system)
        account = Account(webhooks, endpoint, webhooks.buyer)
        account.furnish()
        yield account
    shared_system.hear_notices()


@dataclass
class Caller:
    """Another account, by one of its credentials."""

    account: Account
    headers: dict[str, str]
    roles: tuple[Role, ...] = (Role.BUYER,)

    def operations(self) -> list[Operation]:
        """All operations, but those by which a role of the caller sees every account."""
        across = {Role.APPROVER, Role.OPERATOR} & set(self.roles)
        return [operation for operation in _OPERATIONS if operation.role not in across]

    def call(self, operation: Operation, values: dict[Slot, str]) -> httpx.Response:
        """The operation with these ids; where one is needed in the path, with the caller's own."""
        api = self.account.webhooks.api
        with ExitStack() as afterwards:
            path = operation.path
            for slot in operation.path_slots:
                value = values.get(slot) or self._own(slot, afterwards)
                path = path.replace(f"{{{slot.name}}}", value)
            body = operation.body_with(values)
            if isinstance(body, dict) and "url" in body:
                body["url"] = self.account.endpoint.url()
            return api.call(
                operation.method,
                path,
                headers={**self.headers, **_needed_headers(operation)},
                params=_needed_query(operation)
                | {slot.name: value for slot, value in values.items() if slot.place == "query"},
                **({} if body is None else {"json": body}),
            )

    def _own(self, slot: Slot, afterwards: ExitStack) -> str:
        if slot.kind == "whk_":  # a new one each time, so that no call finds what another left
            hook = self.account.hook()
            afterwards.callback(
                self.account.webhooks.call, "DELETE", hook.path, by=self.account.person
            )
            return hook.id
        return self.account.ids[slot.kind]


def _needed_headers(operation: Operation) -> dict[str, str]:
    names = {each["name"] for each in operation.parameters if each["in"] == "header"}
    assert names <= {"Idempotency-Key"}, f"{operation.name}: give {names} a value here"
    return {name: str(ids.new()) for name in names}


def _needed_query(operation: Operation) -> dict[str, str]:
    names = {each["name"] for each in operation.parameters if each["required"]}
    known = {"event": ids.EVENT.show(ids.new())}
    return {name: known[name] for name in names & known.keys()}


@pytest.fixture(params=["API key", "access token", "API key with every role"])
def caller(request: pytest.FixtureRequest, owner: Account, shared_system: System) -> Caller:
    roles = tuple(Role) if "every role" in request.param else (Role.BUYER,)
    person = shared_system.api.person(roles=roles)
    webhooks = WebhookSystem(
        shared_system.api, shared_system.market, person, shared_system.approver, shared_system.skus
    )
    account = Account(webhooks, owner.endpoint, person)
    account.furnish()
    if "token" in request.param:
        token = shared_system.api.login(person)["access_token"]
        return Caller(account, {"authorization": f"Bearer {token}"}, roles)
    return Caller(account, person.headers, roles)


def object_slots(operation: Operation) -> list[Slot]:
    """The slots of an operation that can name something of an account."""
    return [
        slot
        for slot in operation.slots
        if slot.kind not in _NAMES_NOTHING and not operation.path.startswith("/v1/products/")
    ]


def attempts(operation: Operation) -> Iterator[list[Slot]]:
    """Which slots get a foreign id: all of the path, and each slot alone."""
    slots = object_slots(operation)
    in_path = [slot for slot in slots if slot.place == "path"]
    if len(in_path) > 1:
        yield in_path
    for slot in slots:
        yield [slot]


def without_chance(answer: httpx.Response) -> tuple[int, str, str]:
    """What an answer says, but for ids, cursors and times."""
    text = _CURSORS.sub("<cursor>", _OUR_IDS.sub(r"<\1>", answer.text))
    text = _TIMES.sub("<time>", text)
    return answer.status_code, answer.headers.get("content-type", ""), text


def nobodys(kind: str) -> str:
    by_prefix = {each.prefix: each for each in vars(ids).values() if isinstance(each, ids.Kind)}
    return by_prefix[kind].show(ids.new()) if kind in by_prefix else "nobody's"


def test_every_id_of_the_document_is_of_a_kind_that_is_tried(owner: Account) -> None:
    unknown = {
        (operation.name, slot)
        for operation in _OPERATIONS
        for slot in object_slots(operation)
        if slot.kind not in owner.ids
    }

    assert unknown == set(), "make one of these in Account.furnish"
    assert len([operation for operation in _OPERATIONS if object_slots(operation)]) > 30


def test_the_owner_finds_all_of_it(owner: Account) -> None:
    """So that the ids of the tests below are real ones."""
    result = 0
    for operation in _OPERATIONS:
        slots = [slot for slot in object_slots(operation) if slot.place == "path"]
        if operation.method == "GET" and slots:
            values = {slot: owner.ids[slot.kind] for slot in object_slots(operation)}
            answer = Caller(owner, owner.person.headers).call(operation, values)
            assert answer.status_code in (200, 403), (operation.name, answer.text)
            result += answer.status_code == 200
    assert result > 10


def test_a_foreign_id_is_answered_as_one_of_nothing_and_nothing_changes(
    owner: Account, caller: Caller
) -> None:
    everything = owner.rows()
    tried: dict[str, set[int]] = {}
    requests, leaks, wrong = 0, [], []
    for operation in caller.operations():
        for slots in attempts(operation):
            foreign = {slot: owner.ids[slot.kind] for slot in slots}
            missing = {slot: nobodys(slot.kind) for slot in slots}
            answers = [caller.call(operation, values) for values in (foreign, missing)]
            where = (operation.name, slots, answers[0].text)
            requests += 1
            if without_chance(answers[0]) != without_chance(answers[1]):
                leaks.append(where)
                continue
            in_path = any(slot.place == "path" for slot in slots)
            status = answers[0].status_code
            if status >= 500 or (in_path and status not in (403, 404)):
                wrong.append(where)
            tried.setdefault(operation.name, set()).add(answers[0].status_code)

    scorecard.record(17, requests, foreign=len(leaks), violations=len(wrong))
    assert leaks == []
    assert wrong == []
    assert owner.rows() == everything
    assert owner.webhooks.market.status(owner.ids["order_id"]) == "waitbuyerpay"
    assert len([name for name, statuses in tried.items() if 404 in statuses]) > 20


def test_no_list_shows_anything_of_another_account(owner: Account, caller: Caller) -> None:
    names = owner.ids.keys() - {"tracking_number", "platform", "id"}
    theirs = {owner.ids[name] for name in names}
    for operation in caller.operations():
        if operation.method == "GET" and not object_slots(operation):
            answer = caller.call(operation, {})
            assert not [value for value in theirs if value in answer.text], operation.name


@pytest.mark.parametrize("path", ["/v1/orders/1", "/v1/orders/ORDx", "/v1/events/evt_1"])
def test_what_cannot_be_an_id_is_answered_like_a_missing_one(owner: Account, path: str) -> None:
    assert owner.webhooks.call("GET", path).status_code == 404
