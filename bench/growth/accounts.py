"""Grows the number of accounts: requests of many of them, and orders until they are paid."""

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from http.client import HTTPConnection
from itertools import cycle
from urllib.parse import urlsplit
from uuid import uuid4

from bench import orders, servers, workers
from bench.growth import sql_fill
from bench.growth.model import API, WORKER, Figure
from bench.growth.series import ACCOUNTS, Effort
from bench.growth.stage import Site
from tradewind.auth.api_keys import key_format
from tradewind.settings.settings import DEVELOPMENT_SECRET
from tradewind.storage.keyring import Keyring

ME = "authenticate, GET /v1/me"
LIST = "GET /v1/orders"
CREATE = "POST /v1/orders"
PAY = "an order, from its creation until it is paid"
_ORDERS_AN_ACCOUNT = 20
# Requests are made by this many accounts in turn.
_CALLERS = 100
_OK = 300


class Caller:
    """A client with one connection that stays open, and the keys of several accounts."""

    def __init__(self, url: str, keys: Sequence[str]) -> None:
        self._connection = HTTPConnection(urlsplit(url).netloc, timeout=30)
        self._keys: Iterator[str] = cycle(keys)

    async def call(self, method: str, path: str, body: object = None) -> None:
        """Make one request, in the thread of the caller: nothing else runs in this process."""
        headers: Mapping[str, str] = {
            "x-api-key": next(self._keys),
            "idempotency-key": str(uuid4()),
            "content-type": "application/json",
        }
        text = None if body is None else json.dumps(body)
        self._connection.request(method, path, text, headers)
        answer = self._connection.getresponse()
        content = answer.read()
        if answer.status >= _OK:
            raise RuntimeError(f"{method} {path} was answered with {answer.status}: {content!r}")

    def close(self) -> None:
        self._connection.close()


async def measure(site: Site, size: int, effort: Effort) -> AsyncIterator[Figure]:
    """Each account has a key and 20 orders; requests are made by up to a hundred of them."""
    keys = await _fill(site, size)
    with ExitStack() as stack:
        api, api_pid = stack.enter_context(servers.serving(site.url, site.settings))
        caller = Caller(api, keys)
        stack.callback(caller.close)
        measured = partial(site.meter.beside({API: api_pid}).measure, ACCOUNTS, size)
        often = partial(measured, times=effort.times, at_most=effort.seconds, rounds=effort.rounds)
        yield await often(ME, lambda: caller.call("GET", "/v1/me"))
        yield await often(LIST, lambda: caller.call("GET", "/v1/orders"))
        body = site.template.order_body
        yield await often(CREATE, lambda: caller.call("POST", "/v1/orders", body))
        worker, *_ = stack.enter_context(workers.working(site.url, 1, site.settings))
        await site.worker_is_idle()
        both = site.meter.beside({API: api_pid, WORKER: worker.process_id})
        key, approver = keys[0], site.template.approver_key

        async def pay() -> None:
            orders.pay_order(api, key, approver, body)

        yield await both.measure(
            ACCOUNTS,
            size,
            PAY,
            pay,
            times=effort.paid_orders,
            at_most=2 * effort.seconds,
            rounds=effort.rounds,
        )
        await site.check_fill()


async def _fill(site: Site, size: int) -> Sequence[str]:
    """Copies of the account with a key and orders each; the keys of the first of them."""
    connection, account_id = site.connection, site.template.account_id
    others = size - 1
    account_of = "filled_id('2026-01-01Z'::timestamptz, {number})"
    await sql_fill.copy_rows(
        connection,
        "account",
        f"t.id = '{account_id}'",
        others,
        {"id": account_of.format(number="g"), "email": "g || '@growth.example'"},
    )
    await sql_fill.copy_rows(
        connection,
        "api_key",
        f"t.account_id = '{account_id}'",
        others,
        {
            "id": "filled_id(now(), g)",
            "account_id": account_of.format(number="g"),
            "hash": "sha256(convert_to(g::text, 'UTF8'))",
        },
    )
    owner = account_of.format(number=f"(g - 1) / {_ORDERS_AN_ACCOUNT} + 1")
    number = others * _ORDERS_AN_ACCOUNT
    await sql_fill.copy_orders(connection, site.template.order_ids[0], number, owner)
    keys = [site.template.key]
    keyring = Keyring([DEVELOPMENT_SECRET])
    for index in range(1, min(size, _CALLERS)):
        keys.append(key_format.make())
        await connection.execute(
            f"UPDATE api_key SET hash = $1 WHERE account_id = {account_of.format(number='$2')}",  # noqa: S608 - our own expression
            key_format.hash_now(keyring, keys[-1])[1],
            index,
        )
    await sql_fill.settle(
        connection, "account", "api_key", "purchase_order", "platform_order", "order_change"
    )
    return keys
