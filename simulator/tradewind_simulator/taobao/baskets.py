"""Preview and creation of orders in the Taobao dialect."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from tradewind_simulator import basket, create, freight, magic
from tradewind_simulator.basket import Part, Problem, Wanted
from tradewind_simulator.calls import Call, Operation
from tradewind_simulator.model import Address, Order
from tradewind_simulator.responses import BusinessError, Response
from tradewind_simulator.taobao import errors


class _Item(Struct):
    """A line in either spelling: the documentation and its samples differ."""

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
    if not items or any(item.quantity < 1 for item in items):
        raise BusinessError("PARAM_ILLEGAL", f"{name}: quantity")
    return items


def _address(call: Call, *names: str) -> Address:
    """Read an address in China from the first of these parameters that is set."""
    name = next((candidate for candidate in names if call.params.get(candidate)), names[0])
    receiver = call.read(name, _Receiver)
    if not freight.is_province(receiver.state):
        raise BusinessError("ADDRESS_INVALID", f"{name}.state [{receiver.state}]")
    return Address(
        receiver.name, receiver.mobile_phone or receiver.phone, receiver.state, receiver.city,
        receiver.district, receiver.address, receiver.zip,
    )  # fmt: skip


def _price(fen: int) -> dict[str, Any]:
    return {"amount": fen, "currency": "CNY"}


def render(call: Call) -> dict[str, Any]:
    """Price the lines that can be bought, and list the others."""
    name = "render_item_list" if call.params.get("render_item_list") else "render_item_List"
    items = _items(call, name)
    address = _address(call, "warehouse_address", "receiver_address")
    shop = call.world.shop()
    picked, problems = basket.pick(shop, [item.wanted() for item in items], creating=False)
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
                "item_id": item.product.id,
                "sku_id": item.sku.id,
                "quantity": item.quantity,
                "origin_price": _price(item.price_fen),
                "discount_price": _price(item.amount_fen - off),
            }
            for item, off in zip(part.picked, basket.line_discounts(part), strict=True)
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


def create_order(call: Call) -> Any:
    """Create the orders of a reference once; later calls return the same orders."""
    reference = call.text("outer_purchase_id")
    earlier = call.world.referenced(call.app.name, reference)
    if earlier:
        return _created(call, earlier, {})
    items = _items(call, "order_line_list")
    limit = call.number("purchase_amount")
    call.text("receiver")
    address = _address(call, "warehouse_address_info", "receiver")
    shop = call.world.shop()
    picked, problems = basket.pick(shop, [item.wanted() for item in items], creating=True)
    partial = call.params.get("support_partial_success", "") == "true"
    if problems and not (partial and picked):
        raise BusinessError(problems[0].code, problems[0].sentence)
    parts = basket.parts(shop, picked, address.province)
    total = sum(part.total_fen for part in parts)
    if total > limit:
        raise BusinessError("PURCHASE_AMOUNT_CHANGED", f"order amount {total}, planned {limit}")
    orders = create.create(
        call.world,
        call.app.name,
        parts,
        address=address,
        reference=reference,
        remark=call.params.get("order_remark", ""),
        at=call.at,
    )
    if any(magic.CREATE_TIMES_OUT in call.world.magic_words(order) for order in orders):
        return Response(b"", silence=magic.SILENT_SECONDS)
    numbers = {item.wanted().sku: item.orderLineNo for item in items}
    return _created(call, orders, numbers)


def _created(call: Call, orders: Sequence[Order], numbers: dict[int, str | None]) -> dict[str, Any]:
    ids = ";".join(str(order.id) for order in orders)
    data = {
        "success": True,
        "error_code": None,
        "error_message": None,
        "outer_purchase_id": orders[0].reference,
        "payment_url": f"{call.base}/order/cashier.htm?orderId={ids}",
        "order_list": [_created_order(call, order, numbers) for order in orders],
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


OPERATIONS = (
    Operation("/purchase/order/render", "preview", render, errors.nested_error),
    Operation("/purchase/order/create", "create", create_order, errors.order_error),
)
