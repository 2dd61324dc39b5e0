"""Render, create, pay, cancel and query in the Taobao dialect."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from tradewind_simulator import basket, create, freight, magic, payments
from tradewind_simulator import orders as life
from tradewind_simulator.answers import Answer, Refused
from tradewind_simulator.basket import Part, Problem, Wanted
from tradewind_simulator.calls import Call, Operation
from tradewind_simulator.model import Address, Due, Order, Status
from tradewind_simulator.payments import Refusal
from tradewind_simulator.taobao import wire

CANCEL_SECONDS = 5.0  # of world time, from the acceptance of a cancel to its end
_MOST_PAID = 10
_MOST_LISTED = 50
_DEFAULT_PAGE = 20


class _Item(Struct):
    """A line by either spelling: documents and samples do not agree."""

    quantity: int
    item_id: int | None = None
    itemId: int | None = None  # noqa: N815 - the platform's own name
    sku_id: int | None = None
    skuId: int | None = None  # noqa: N815
    price: int | None = None
    orderLineNo: str | None = None  # noqa: N815

    def wanted(self) -> Wanted:
        product = self.item_id if self.item_id is not None else self.itemId
        sku = self.sku_id if self.sku_id is not None else self.skuId
        return Wanted(product or 0, self.quantity, sku=sku or 0)


class _Receiver(Struct):
    name: str = ""
    phone: str = ""
    mobile_phone: str = ""
    country: str = ""
    state: str = ""
    city: str = ""
    district: str = ""
    address: str = ""
    zip: str = ""


def _items(call: Call, name: str) -> list[_Item]:
    items = call.read(name, list[_Item])
    if not items or any(one.quantity < 1 for one in items):
        raise Refused("PARAM_ILLEGAL", f"{name}: quantity")
    return items


def _address(call: Call, *names: str) -> Address:
    """The first of these parameters that is there; sent to China, so the province must be known."""
    name = next((one for one in names if call.params.get(one)), names[0])
    given = call.read(name, _Receiver)
    if not freight.known(given.state):
        raise Refused("ADDRESS_INVALID", f"{name}.state [{given.state}]")
    return Address(
        given.name, given.mobile_phone or given.phone, given.state, given.city,
        given.district, given.address, given.zip,
    )  # fmt: skip


def _price(fen: int) -> dict[str, Any]:
    return {"amount": fen, "currency": "CNY"}


def render(call: Call) -> dict[str, Any]:
    """What it would cost, and what cannot be had; the rest is priced all the same."""
    name = "render_item_list" if call.params.get("render_item_list") else "render_item_List"
    items = _items(call, name)
    address = _address(call, "warehouse_address", "receiver_address")
    shop = call.world.shop()
    picked, problems = basket.pick(shop, [one.wanted() for one in items], creating=False)
    parts = basket.parts(shop, picked, address.province)
    data = {
        "render_item_list": [_rendered(part) for part in parts],
        "unavailable_sku_list": [_unavailable(problem) for problem in problems],
        "total_real_pay_price": _price(sum(part.total_fen for part in parts)),
    }
    return {"result": {"success": True, "error_code": None, "error_msg": None, "data": data}}


def _rendered(part: Part) -> dict[str, Any]:
    return {
        "seller_id": part.seller.id,
        "nick": part.seller.login,
        "currency_code": "CNY",
        "dispatch_place": f"{part.seller.province}{part.seller.city}",
        "mainland_shipping_fee": _price(part.freight_fen),
        "delivery_fee": part.freight_fen,
        "order_fee": _price(part.total_fen),
        "item_price_infos": [
            {
                "item_id": one.product.id,
                "sku_id": one.sku.id,
                "quantity": one.quantity,
                "origin_price": _price(one.price_fen),
                "discount_price": _price(one.amount_fen - off),
            }
            for one, off in zip(part.picked, basket.line_discounts(part), strict=True)
        ],
    }


def _unavailable(problem: Problem) -> dict[str, Any]:
    return {
        "item_id": problem.wanted.product,
        "sku_id": problem.wanted.sku,
        "reason": problem.sentence,
        "error_code": problem.code,
        "error_msg": problem.sentence,
    }


def refuse_render(refused: Refused) -> dict[str, Any]:
    told = {"success": False, "error_code": refused.code, "error_msg": refused.message}
    return {"result": {**told, "data": None}}


def create_order(call: Call) -> Any:
    """Once for each `outer_purchase_id`: again, the orders of the first time are shown."""
    reference = call.text("outer_purchase_id")
    known = call.world.referenced(call.app.name, reference)
    if known:
        return _created(call, known, {})
    items = _items(call, "order_line_list")
    limit = call.number("purchase_amount")
    call.text("receiver")
    address = _address(call, "warehouse_address_info", "receiver")
    shop = call.world.shop()
    picked, problems = basket.pick(shop, [one.wanted() for one in items], creating=True)
    partial = call.params.get("support_partial_success", "") == "true"
    if problems and not (partial and picked):
        raise Refused(problems[0].code, problems[0].sentence)
    parts = basket.parts(shop, picked, address.province)
    total = sum(part.total_fen for part in parts)
    if total > limit:
        raise Refused("PURCHASE_AMOUNT_CHANGED", f"order amount {total}, planned {limit}")
    made = create.create(
        call.world,
        call.app.name,
        parts,
        address=address,
        reference=reference,
        remark=call.params.get("order_remark", ""),
        at=call.at,
    )
    if any(magic.CREATE_TIMES_OUT in call.world.spells(order) for order in made):
        return Answer(b"", silence=magic.SILENT_SECONDS)
    numbers = {one.wanted().sku: one.orderLineNo for one in items}
    return _created(call, made, numbers)


def _created(call: Call, made: Sequence[Order], numbers: dict[int, str | None]) -> dict[str, Any]:
    ids = ";".join(str(order.id) for order in made)
    data = {
        "success": True,
        "error_code": None,
        "error_message": None,
        "outer_purchase_id": made[0].reference,
        "payment_url": f"{call.base}/order/cashier.htm?orderId={ids}",
        "order_list": [_created_order(call, order, numbers) for order in made],
    }
    return {"success": True, "error_code": None, "error_msg": None, "data": data}


def _created_order(call: Call, order: Order, numbers: dict[int, str | None]) -> dict[str, Any]:
    nick = call.world.sellers[order.seller].login
    return {
        "purchase_id": order.id,
        "supplier_nick": nick,
        "estimate_amount": order.total_fen,
        "estimate_currency": "CNY",
        "source_market": "TAOBAO",
        "order_line_list": [
            {
                "sub_purchase_order_id": line.id,
                "item_id": str(line.product),
                "sku_id": line.sku,
                "order_line_no": numbers.get(line.sku) or str(at + 1),
                "quantity": line.quantity,
                "estimate_amount": line.amount_fen,
                "estimate_currency": "CNY",
                "supplier_nick": nick,
            }
            for at, line in enumerate(order.lines)
        ],
    }


def refuse(refused: Refused) -> dict[str, Any]:
    return {
        "success": False,
        "error_code": refused.code,
        "error_msg": refused.message,
        "data": None,
    }


def batch_pay(call: Call) -> Any:
    """Accepted is not paid: the outcome shows in the orders, some seconds later."""
    ids = call.read("purchaseOrderIdList", list[int])
    if not 1 <= len(ids) <= _MOST_PAID:
        raise Refused("PARAM_ILLEGAL", f"purchaseOrderIdList: 1 to {_MOST_PAID} orders")
    will: list[int] = []
    failed: list[dict[str, Any]] = []
    silent = False
    for one in dict.fromkeys(ids):
        order = call.world.of_app(call.app.name, one)
        outcome: Order | str = (
            payments.accept(call.world, order, call.at) if order else "ORDER_NOT_EXIST"
        )
        if isinstance(outcome, Order):
            will.append(one)
            silent = silent or magic.PAYMENT_TIMES_OUT in call.world.spells(outcome)
        else:
            reason = outcome.value if isinstance(outcome, Refusal) else outcome
            failed.append({"purchase_order_id": one, "reason": reason})
    if silent:
        return Answer(b"", silence=magic.SILENT_SECONDS)
    data = {
        "will_pay_purchase_order_ids": will,
        "pay_failure_purchase_order_ids": [one["purchase_order_id"] for one in failed],
        "pay_failed_results": failed,
    }
    return {"success": True, "error_code": None, "error_msg": None, "data": data}


def cancel(call: Call) -> dict[str, Any]:
    """Accepted is not cancelled: an order that is paid before its turn comes stays."""
    call.text("cancel_reason")
    order = call.world.of_app(call.app.name, call.number("purchase_id"))
    if order is None:
        raise Refused("ORDER_NOT_EXIST", "purchase order not found")
    if order.status not in (Status.UNPAID, Status.BUILDING):
        raise Refused("ORDER_STATUS_ERROR", f"purchase order is {wire.status_word(order)}")
    if not order.cancelling:
        asked = replace(
            order,
            cancelling=True,
            due=(*order.due, Due(call.at + CANCEL_SECONDS, "cancel_settle")),
        )
        call.world.put(life.Change(life.touched(asked, call.at), None))
    return {"success": True, "error_code": None, "error_msg": None}


def query(call: Call) -> dict[str, Any]:
    low = call.number("modify_time_start", 0) / 1000
    high = call.number("modify_time_end", 0) / 1000
    status = call.params.get("status", "")
    found = [
        order
        for order in _candidates(call, low)
        if order.changed_at >= low
        and (not high or order.changed_at <= high)
        and (not status or wire.status_word(order) == status)
    ]
    by_change = call.params.get("sort_field", "modify_time").lower() != "created_time"
    found.sort(
        key=lambda order: (order.changed_at if by_change else order.created_at, order.id),
        reverse=call.params.get("sort_type", "DESC").upper() != "ASC",
    )
    size = min(max(call.number("page_size", _DEFAULT_PAGE), 1), _MOST_LISTED)
    page = max(call.number("page_no", 1), 1)
    here = found[(page - 1) * size : page * size]
    data = {
        "results_total": len(found),
        "page_no": page,
        "page_size": size,
        "purchase_orders": [wire.purchase_order(call.world, one, call.base) for one in here],
    }
    return {"success": True, "error_code": None, "error_msg": None, "data": data}


def _candidates(call: Call, low: float) -> list[Order]:
    if call.params.get("purchase_ids"):
        ids = dict.fromkeys(_ids(call))
        orders = (call.world.of_app(call.app.name, one) for one in ids)
        return [order for order in orders if order is not None]
    if call.params.get("outer_purchase_id"):
        return call.world.referenced(call.app.name, call.text("outer_purchase_id"))
    found: list[Order] = []
    for order in call.world.latest_changed(call.app.name):
        if order.changed_at < low:
            break
        found.append(order)
    return found


def _ids(call: Call) -> list[int]:
    """A JSON list, or numbers with commas between them."""
    text = call.text("purchase_ids")
    try:
        return msgspec.json.decode(text, type=list[int], strict=False)
    except msgspec.MsgspecError:
        pass
    try:
        return [int(one) for one in text.split(",")]
    except ValueError:
        raise call.missing("purchase_ids") from None


def logistics(call: Call) -> dict[str, Any]:
    number = call.number("purchase_order_line_id")
    mine = call.world.latest_changed(call.app.name)
    order = next((one for one in mine if life.line_of(one, number)), None)
    if order is None:
        raise Refused("ORDER_NOT_EXIST", "purchase order line not found")
    received = order.status in (Status.RECEIVED, Status.SUCCESS)
    parcels = [parcel for parcel in order.parcels if number in parcel.lines]
    details = [
        {
            "mail_no": parcel.number,
            "logistics_status": "SIGN" if received else "TRANSPORT",
            "logistics_desc": "已签收" if received else "运输中",
            "logistics_partner": [{"company": parcel.carrier}],
            "logistics_traces": [],
        }
        for parcel in parcels
    ]
    data = {"pnm_logistics_details": details, "purchase_order_outer_id": order.id}
    return {"result": {"success": True, "error_code": None, "error_msg": None, "data": data}}


OPERATIONS = (
    Operation("/purchase/order/render", "preview", render, refuse_render),
    Operation("/purchase/order/create", "create", create_order, refuse),
    Operation("/purchase/order/batch/pay", "pay", batch_pay, refuse),
    Operation("/purchase/order/asyn/cancel", "cancel", cancel, refuse),
    Operation("/purchase/orders/query", "list", query, refuse),
    Operation("/logistics/detail/get", "logistics", logistics, refuse_render),
)
