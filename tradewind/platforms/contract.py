"""The contract that every connector implements."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from tradewind.platforms import model


class Capability(StrEnum):
    """What a marketplace can be asked to do."""

    SEARCH = "search"
    DETAIL = "detail"
    IMAGE_SEARCH = "image_search"
    PREVIEW = "preview"
    CREATE = "create"
    CANCEL = "cancel"
    PAY_AUTO = "pay_auto"
    PAY_LINK = "pay_link"
    REFUND = "refund"
    NOTICES = "notices"


@dataclass(frozen=True, slots=True)
class Traits:
    """The facts about a marketplace: its names, its capabilities and its limits."""

    platform: str
    name: str
    capabilities: frozenset[Capability]
    max_lines: int
    single_seller: bool
    most_orders_a_read: int
    aliases: Sequence[str] = ()
    # Origins that serve its product pictures; pages load pictures from these only.
    picture_origins: Sequence[str] = ()


class Connector(Protocol):
    """A marketplace. Its calls raise Unavailable, Rejected or, for changes, OutcomeUnknown."""

    traits: Traits

    async def search(self, query: model.Query) -> model.SearchPage: ...

    async def upload_image(self, image: bytes) -> str:
        """Upload a picture to search by; return the ID by which a query names it."""
        ...

    async def search_by_image(self, query: model.Query) -> model.SearchPage:
        """Find products that look like the picture `query.image_id`; Rejected if it is unknown."""
        ...

    async def detail(self, product_id: str, lang: str) -> model.Product:
        """Read a product; Rejected with NOT_FOUND when there is none."""
        ...

    async def preview(
        self, lines: Sequence[model.Line], address: model.Address
    ) -> model.Preview: ...

    async def create(self, draft: model.OrderRequest) -> model.Placed:
        """Place an order, once. After OutcomeUnknown, look it up before placing it again."""
        ...

    async def read_one(self, order_id: str) -> model.PlatformOrder: ...

    async def read_many(self, order_ids: Sequence[str]) -> Sequence[model.PlatformOrder]:
        """Read at most `most_orders_a_read` orders, in any order; unknown ids are left out."""
        ...

    async def modified_between(
        self, since: datetime, until: datetime, page: int
    ) -> tuple[Sequence[model.PlatformOrder], bool]:
        """Read a page of the orders that changed in a window, and whether more pages follow."""
        ...

    async def find_by_reference(self, reference: str) -> Sequence[model.PlatformOrder]:
        """Find every order that was placed under our reference; none if it was never placed.

        A create that is still in progress may show only later: look again before you repeat it.
        """
        ...

    async def cancel(self, order_id: str) -> model.CancelState:
        """Cancel an unpaid order in the buyer's name."""
        ...

    async def pay(self, order_id: str, amount_fen: int, operation_id: str) -> model.Payment:
        """Debit at once. The same `operation_id` never debits twice."""
        ...

    async def pay_link(self, order_ids: Sequence[str]) -> str:
        """Return the URL of a page where a person pays these orders."""
        ...

    async def find_payment(self, order_id: str, operation_id: str) -> model.Payment:
        """Look up a payment whose outcome was unknown."""
        ...

    async def refund(self, request: model.RefundRequest) -> str:
        """Request a refund; return its id."""
        ...

    async def refunds(self, order_id: str) -> Sequence[model.Refund]: ...

    def read_notice(
        self, headers: Mapping[str, str], body: bytes, app_key: str, app_secret: str
    ) -> model.Notice:
        """Verify and read a notice; NoticeRejected when its signature is wrong."""
        ...


class NoticeRejected(ValueError):
    """A notice that is forged or unreadable."""
