"""What every marketplace offers us: the one contract that all connectors keep."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from tradewind.platforms.model import (
    Address,
    CancelState,
    Line,
    Notice,
    OrderRequest,
    Payment,
    Placed,
    PlatformOrder,
    Preview,
    Product,
    Query,
    Refund,
    RefundRequest,
    SearchPage,
)


class Capability(StrEnum):
    """What a marketplace can be asked to do."""

    SEARCH = "search"
    DETAIL = "detail"
    PREVIEW = "preview"
    CREATE = "create"
    CANCEL = "cancel"
    PAY_AUTO = "pay_auto"
    PAY_LINK = "pay_link"
    REFUND = "refund"
    NOTICES = "notices"


@dataclass(frozen=True, slots=True)
class Traits:
    """What a marketplace is like: what it can, and what it asks for."""

    platform: str
    name: str
    capabilities: frozenset[Capability]
    max_lines: int
    single_seller: bool
    largest_page: int
    most_orders_a_read: int
    most_orders_a_payment: int
    aliases: Sequence[str] = ()
    # Origins that serve its product pictures; pages load pictures from these only.
    picture_origins: Sequence[str] = ()


class Connector(Protocol):
    """A marketplace. Its calls raise Unavailable, Rejected or, for changes, OutcomeUnknown."""

    traits: Traits

    async def search(self, query: Query) -> SearchPage: ...

    async def detail(self, product_id: str, lang: str) -> Product:
        """The product; Never with NOT_FOUND when there is none."""
        ...

    async def preview(self, lines: Sequence[Line], address: Address) -> Preview: ...

    async def create(self, draft: OrderRequest) -> Placed:
        """Place an order, once. After OutcomeUnknown, look for it before placing it again."""
        ...

    async def read_one(self, order_id: str) -> PlatformOrder: ...

    async def read_many(self, order_ids: Sequence[str]) -> Sequence[PlatformOrder]:
        """Those of at most `most_orders_a_read` orders that exist, in any order."""
        ...

    async def modified_between(
        self, since: datetime, until: datetime, page: int
    ) -> tuple[Sequence[PlatformOrder], bool]:
        """Orders that changed in a window of time, a page at a time, and whether more follow."""
        ...

    async def find_by_reference(self, reference: str) -> Sequence[PlatformOrder]:
        """Every order that was placed under our reference; none: it was never placed.

        A create that is still under way there may show only later: look again before you repeat it.
        """
        ...

    async def cancel(self, order_id: str) -> CancelState:
        """Cancel an unpaid order in the buyer's name."""
        ...

    async def pay(self, order_id: str, amount_fen: int, operation_id: str) -> Payment:
        """Debit at once. The same `operation_id` never debits twice."""
        ...

    async def pay_link(self, order_ids: Sequence[str]) -> str:
        """Where a person pays these orders by hand."""
        ...

    async def find_payment(self, order_id: str, operation_id: str) -> Payment:
        """What became of a payment whose outcome was not known."""
        ...

    async def refund(self, request: RefundRequest) -> str:
        """Ask for money back; the refund's id."""
        ...

    async def refunds(self, order_id: str) -> Sequence[Refund]: ...

    def read_notice(
        self, headers: Mapping[str, str], body: bytes, app_key: str, app_secret: str
    ) -> Notice:
        """What a push says; NoticeRefused when its signature is wrong, as far as one is defined."""
        ...


class NoticeRejected(ValueError):
    """A push that is forged, or that nobody can read."""
