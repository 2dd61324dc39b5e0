"""Reading orders and their refunds: by id, by our reference, or by when they changed."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial

from tradewind.platforms.failures import Reason, Rejected, Unavailable
from tradewind.platforms.model import PlatformOrder, Refund
from tradewind.platforms.taobao import orders
from tradewind.platforms.taobao.gateway import TaobaoGateway, together
from tradewind.platforms.taobao.orders import ListedOrder, OrderPage
from tradewind.platforms.taobao.refusals import PLATFORM

ORDERS_A_PAGE = 20
_MOST_PAGES = 20


class OrderReader:
    """The orders of our buyer."""

    def __init__(self, gateway: TaobaoGateway) -> None:
        self._gateway = gateway

    async def one(self, order_id: str) -> ListedOrder:
        for found in await self.by_ids([order_id]):
            return found
        message = f"There is no order {order_id}."
        raise Rejected(PLATFORM, "ORDER_NOT_EXIST", message, reason=Reason.NOT_FOUND)

    async def by_ids(self, order_ids: Sequence[str]) -> list[ListedOrder]:
        """Ids are numbers there; what is none cannot exist, and would spoil the whole list."""
        ids = [one for one in dict.fromkeys(order_ids) if one.isascii() and one.isdigit()]
        parts = [ids[at : at + ORDERS_A_PAGE] for at in range(0, len(ids), ORDERS_A_PAGE)]
        asked = ({"purchase_ids": f"[{','.join(part)}]"} for part in parts)
        answered = await together(partial(self._all, params) for params in asked)
        return [found for part in answered for found in part if found.order.id in ids]

    async def by_reference(self, reference: str) -> list[ListedOrder]:
        """Every order of our reference; one that is shown without any is read again first."""
        found = await self._all({"outer_purchase_id": reference})
        told = [await self._named(one) for one in found]
        return [one for one in told if one.order.reference == reference]

    async def _named(self, shown: ListedOrder) -> ListedOrder:
        if shown.order.reference is not None:
            return shown
        try:
            return await self.one(shown.order.id)
        except Rejected as never:
            raise Unavailable(PLATFORM, never.code, never.message) from None

    async def changed(
        self, since: datetime, until: datetime, page_no: int
    ) -> tuple[Sequence[ListedOrder], bool]:
        params = {
            "modify_time_start": str(int(since.timestamp() * 1000)),
            "modify_time_end": str(int(until.timestamp() * 1000)),
            "sort_field": "modify_time",
            "sort_type": "ASC",
        }
        page = await self._page(params, page_no)
        return page.orders, _goes_on(page, page_no)

    async def with_refunds(self, found: Sequence[ListedOrder]) -> list[PlatformOrder]:
        """Orders name their refunds without amounts, so each that succeeded is asked about."""
        ids = [(one.order.id, refund_id) for one in found for refund_id in one.refunded]
        asked = await together(partial(self._refund, *pair) for pair in ids)
        amounts = {refund.id: refund.amount_fen for refund in asked if refund is not None}
        return [orders.with_refunds(one, amounts) for one in found]

    async def refunds(self, of: ListedOrder) -> list[Refund]:
        asked = await together(partial(self._refund, of.order.id, one) for one in of.refunds)
        return [refund for refund in asked if refund is not None]

    async def _refund(self, order_id: str, refund_id: str) -> Refund | None:
        """None when the marketplace knows no such refund: its order is worth reading anyway."""
        try:
            return await self._gateway.call(
                "refunds",
                "/order/refund/query",
                {"refundId": refund_id},
                partial(orders.refund, refund_id=refund_id, order_id=order_id),
                safe=True,
            )
        except Rejected:
            return None

    async def _all(self, params: Mapping[str, str]) -> list[ListedOrder]:
        """Read every page of a query that has few; raise Unavailable unless it is complete."""
        found: dict[str, ListedOrder] = {}
        for page_no in range(1, _MOST_PAGES + 1):
            page = await self._page(params, page_no)
            found.update((one.order.id, one) for one in page.orders)
            if not _goes_on(page, page_no):
                if page.total is not None and len(found) < page.total:
                    message = f"Of {page.total} orders, {len(found)} were shown."
                    raise Unavailable(PLATFORM, "incomplete", message)
                return list(found.values())
        raise Unavailable(PLATFORM, "too_many", "The answer has more orders than were asked for.")

    async def _page(self, params: Mapping[str, str], page_no: int) -> OrderPage:
        paged = {**params, "page_no": str(page_no), "page_size": str(ORDERS_A_PAGE)}
        path = "/purchase/orders/query"
        return await self._gateway.call("read", path, paged, orders.page, safe=True)


def _goes_on(page: OrderPage, page_no: int) -> bool:
    """By the number of all results, or, unsaid, by whether the page is full."""
    size = page.size or ORDERS_A_PAGE
    if not page.orders:
        return False
    return len(page.orders) >= size if page.total is None else page_no * size < page.total
