"""Deliveries of all accounts over HTTP, for operators: failing endpoints, and the queue."""

from functools import partial
from typing import Annotated

from msgspec import Meta
from msgspec.structs import asdict

from tradewind import clock, ids
from tradewind.auth.model import Operator
from tradewind.delivery import sql_log
from tradewind.delivery.model import QueuedSubscription
from tradewind.storage.pool import Database
from tradewind.web.endpoint import Routes
from tradewind.web.inputs import Output
from tradewind.web.paging import Page, PageQuery
from tradewind.web.scopes import FULL_ACCESS
from tradewind.webhooks import sql as webhooks
from tradewind.webhooks.model import Health, Subscription
from tradewind.webhooks.wire import ALL_WEBHOOKS, SubscriptionOut

routes = Routes("/v1/admin", tag="Deliveries (operators)")

_MOST = 1000


class AdminWebhooksQuery(PageQuery):
    """Which subscriptions to list."""

    health: Annotated[
        list[Health] | None, Meta(description="Any of these, by comma or repeated.")
    ] = None


class AdminSubscriptionOut(SubscriptionOut):
    """A subscription, with the account that it belongs to."""

    account_id: Annotated[str, Meta(examples=["acc_06EJ4KQZC5T9XN4R5ZJ2V7M8QW"])]


class QueueOut(Output):
    """What waits for one subscription."""

    subscription_id: Annotated[str, Meta(examples=["whk_06EJ4KQZC5T9XN4R5ZJ2V7M8QW"])]
    account_id: Annotated[str | None, Meta(description="Null: it was deleted.")]
    url: Annotated[str | None, Meta(examples=["https://shop.example.com/hooks"])]
    pending: Annotated[int, Meta(description="Counted up to 10,001.", examples=[12])]
    first_due_at: clock.Timestamp
    failing_since: Annotated[str | None, Meta(examples=[None])]
    concurrency: Annotated[int | None, Meta(examples=[16])]


@routes.get("/webhooks", scope=FULL_ACCESS, expensive=True)
async def list_all_webhooks(
    caller: Operator, query: AdminWebhooksQuery, db: Database
) -> Page[AdminSubscriptionOut]:
    """List the subscriptions of every account, newest first."""
    read = partial(webhooks.list_all, db, health=query.health)
    return await ALL_WEBHOOKS.page(query.cursor, query.limit, read, _with_account)


def _with_account(subscription: Subscription) -> AdminSubscriptionOut:
    shown = asdict(SubscriptionOut.of(subscription))
    return AdminSubscriptionOut(**shown, account_id=ids.ACCOUNT.show(subscription.account_id))


@routes.get("/queue", scope=FULL_ACCESS, expensive=True)
async def list_queue(caller: Operator, db: Database) -> Page[QueueOut]:
    """List what waits to be delivered, by subscription, those first that have waited longest."""
    rows = await sql_log.list_queue(db, limit=_MOST + 1)
    shown = [_queued(row) for row in rows[:_MOST]]
    return Page(items=shown, has_more=len(rows) > _MOST, next_cursor=None)


def _queued(queued: QueuedSubscription) -> QueueOut:
    account_id = queued.account_id
    return QueueOut(
        subscription_id=ids.SUBSCRIPTION.show(queued.subscription_id),
        account_id=None if account_id is None else ids.ACCOUNT.show(account_id),
        url=queued.url,
        pending=queued.pending,
        first_due_at=clock.show(queued.due_at),
        failing_since=clock.show_or_none(queued.failing_since),
        concurrency=queued.concurrency,
    )
