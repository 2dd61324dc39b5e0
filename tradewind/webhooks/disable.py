"""Disables subscriptions whose endpoints have failed for days."""

from datetime import timedelta

from tradewind import ids
from tradewind.audit.model import Actor
from tradewind.audit.record import record
from tradewind.observability.logs import log
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction
from tradewind.webhooks import sql
from tradewind.webhooks.subscribe import CANCELLATIONS

FAILING_FOR = timedelta(days=5)
AT_LEAST = 20
_SYSTEM = Actor("tradewind")


async def switch_off_failing(db: Database) -> None:
    """Switch off what has failed for five days and twenty events; the audit log says so."""
    async with transaction(db) as tx:
        failing = await sql.switch_off_failing(tx, failing_for=FAILING_FOR, at_least=AT_LEAST)
        for subscription in failing:
            tx.wake(CANCELLATIONS)
            shown = ids.SUBSCRIPTION.show(subscription.id)
            record(
                tx,
                _SYSTEM,
                "webhook.switched_off",
                account_id=subscription.account_id,
                subject=shown,
                reason="failing",
            )
            log.warning(
                "webhook.switched_off", subscription=shown, since=str(subscription.failing_since)
            )
