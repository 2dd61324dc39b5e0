"""Sandboxes for tests: the real server in a process of its own, and clients of both dialects."""

import json
import os
import re
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from kit import forks
from kit.tls import NO_TLS
from tradewind_simulator import apps, signing

START_SECONDS = 30
PLAIN, OUT_OF_STOCK, PRICE_RISES = 900000000001, 900000000002, 900000000003
OTHER_SELLERS = 900000000020
KEYS = {app.name: app for app in apps.DEFAULT}
ADDRESS = {
    "fullName": "张三",
    "mobile": "15251667788",
    "provinceText": "浙江省",
    "cityText": "杭州市",
    "areaText": "滨江区",
    "address": "网商路699号",
    "postCode": "310000",
}
RECEIVER = {
    "name": "张三",
    "mobile_phone": "15251667788",
    "country": "中国",
    "state": "浙江省",
    "city": "杭州市",
    "district": "滨江区",
    "address": "网商路699号",
    "zip": "310000",
}
TRADE = "com.alibaba.trade"
CROSSBORDER = "com.alibaba.fenxiao.crossborder"
_NAMESPACES = {"product.": CROSSBORDER, "push.": "cn.alibaba.open"}


def spec(product: int, colour: int = 0) -> str:
    """The spec id of a magic product: 0 is red, 1 is blue."""
    from tradewind_simulator import catalogue  # noqa: PLC0415

    return catalogue.spec(product * 100 + colour)


def cargo(product: int = PLAIN, quantity: int = 1, colour: int = 0) -> dict[str, Any]:
    return {"offerId": product, "specId": spec(product, colour), "quantity": quantity}


def line(product: int = PLAIN, quantity: int = 1, colour: int = 0) -> dict[str, Any]:
    return {"itemId": product, "skuId": product * 100 + colour, "quantity": quantity}


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@dataclass
class Market:
    """A running sandbox, called as its clients call it."""

    url: str
    process: forks.Process | None = None
    client: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        self.client = httpx.Client(base_url=self.url, timeout=10, verify=NO_TLS)

    # The 1688 dialect

    def alibaba_request(
        self, api: str, app: str = "sandbox", token: str | None = None, **params: Any
    ) -> tuple[str, dict[str, str]]:
        who = KEYS[app]
        space = next((ns for start, ns in _NAMESPACES.items() if api.startswith(start)), TRADE)
        path = f"param2/1/{space}/{api}/{who.key}"
        form = {name: _written(value) for name, value in params.items()}
        form["_aop_timestamp"] = str(int(time.time() * 1000))
        form["access_token"] = who.access_token if token is None else token
        form["_aop_signature"] = signing.alibaba_request(who.secret, path, form)
        return f"/openapi/{path}", form

    def raw(self, api: str, app: str = "sandbox", **params: Any) -> httpx.Response:
        path, form = self.alibaba_request(api, app, **params)
        return self.client.post(path, data=form)

    def call(self, api: str, app: str = "sandbox", **params: Any) -> Any:
        answer = self.raw(api, app, **params)
        return answer.json()

    def preview(self, *cargo: Mapping[str, Any], **params: Any) -> Any:
        value = {"flow": "general", "addressParam": ADDRESS, "cargoParamList": list(cargo)}
        return self.call("alibaba.createOrder.preview", **{**value, **params})

    def create(self, *cargo: Mapping[str, Any], **params: Any) -> Any:
        value = {"flow": "general", "addressParam": ADDRESS, "cargoParamList": list(cargo)}
        return self.call("alibaba.trade.createCrossOrder", **{**value, **params})

    def order(self, *cargo_list: Mapping[str, Any], **params: Any) -> str:
        """The id of a new order."""
        made = self.create(*(cargo_list or (cargo(),)), **params)
        number: str = made["result"]["orderId"]
        return number

    def view(self, order: str, app: str = "sandbox") -> Any:
        answer = self.call("alibaba.trade.get.buyerView", app, webSite="1688", orderId=order)
        assert answer["success"] == "true", answer
        return answer["result"]

    def status(self, order: str, app: str = "sandbox") -> str:
        word: str = self.view(order, app)["baseInfo"]["status"]
        return word

    def pay(self, order: str, operation: str = "", **more: Any) -> Any:
        value = {"orderId": order, "opRequestId": operation or f"op-{order}", **more}
        api = "alibaba.trade.pay.protocolPay.preparePay"
        return self.call(api, tradeWithholdPreparePayParam=value)["result"]

    # The Taobao dialect

    def taobao_request(self, path: str, token: str | None = None, **params: Any) -> dict[str, str]:
        who = KEYS["taobao"]
        form = {name: _written(value) for name, value in params.items()}
        form |= {"app_key": who.key, "sign_method": "sha256"}
        form["timestamp"] = str(int(time.time() * 1000))
        form["access_token"] = who.access_token if token is None else token
        form["sign"] = signing.taobao_request(who.secret, path, form)
        return form

    def rest(self, path: str, **params: Any) -> Any:
        form = self.taobao_request(path, **params)
        return self.client.post(f"/rest{path}", data=form).json()

    def purchase(self, *lines: Mapping[str, Any], reference: str = "", **more: Any) -> Any:
        value: dict[str, Any] = {
            "outer_purchase_id": reference or f"ref-{time.monotonic_ns()}",
            "purchase_amount": 10_000_000,
            "order_line_list": list(lines or (line(),)),
            "receiver": RECEIVER,
        }
        return self.rest("/purchase/order/create", **{**value, **more})

    def purchased(self, *lines: Mapping[str, Any]) -> int:
        """The id of a new purchase order that waits for payment."""
        number: int = self.purchase(*lines)["data"]["order_list"][0]["purchase_id"]
        self.clock(advance_seconds=2.5)
        return number

    def purchases(self, *ids: int) -> list[Any]:
        answer = self.rest("/purchase/orders/query", purchase_ids=list(ids), sort_type="ASC")
        result: list[Any] = answer["data"]["purchase_orders"]
        return result

    # Control

    def control(self, path: str, method: str = "POST", **body: Any) -> Any:
        answer = self.client.request(method, f"/_control/{path}", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def state(self) -> Any:
        return self.client.get("/_control/state").json()

    def clock(self, **body: float) -> Any:
        return self.client.post("/_control/clock", json=body).json()

    def advance(self, order: str | int, to: str, **details: Any) -> Any:
        return self.control(f"orders/{order}/advance", to=to, **details)

    def fault(self, operation: str, mode: str, **more: Any) -> None:
        self.control("faults", operation=operation, mode=mode, **more)

    def debits(self, order: str | int) -> list[int]:
        ledger = self.state()["ledger"]
        return [e["fen"] for e in ledger if e["order"] == str(order) and e["kind"] == "debit"]

    def stop(self, signum: signal.Signals = signal.SIGTERM) -> None:
        """End the server; SIGKILL ends its worker as well, which a parent cannot tell then."""
        if self.process is None or self.process.poll() is not None:
            return
        if signum is signal.SIGKILL:
            for child in _children(self.process.pid):
                os.kill(child, signal.SIGKILL)
        self.process.send_signal(signum)
        self.process.wait(15)


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(item) for task in tasks for item in task.read_text().split()]


@contextmanager
def serving(folder: Path, state: Path | None = None, **environment: str) -> Iterator[Market]:
    """The real server on a free port of this machine."""
    log = folder / f"sandbox-{time.monotonic_ns()}.log"
    words = ["sandbox", "--port", "0", *(["--state", str(state)] if state else [])]
    variables = {f"TRADEWIND_SANDBOX_{name}": value for name, value in environment.items()}
    process = forks.commands().start(words, os.environ | variables, stdout=log, stderr=log)
    market = Market(_url(log, process), process)
    try:
        yield market
    finally:
        market.client.close()
        market.stop()


def _url(log: Path, process: forks.Process) -> str:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        result = re.search(r"port=\D*(\d+)", re.sub(r"\x1b\[[0-9;]*m", "", log.read_text()))
        if result:
            url = f"http://127.0.0.1:{result[1]}"
            try:
                httpx.get(f"{url}/healthz", timeout=1, verify=NO_TLS).raise_for_status()
            except httpx.HTTPError:
                pass
            else:
                return url
        time.sleep(0.05)
    raise AssertionError(log.read_text())
