"""Retry delays and the retention of the log as operators set them."""

from datetime import timedelta

import pytest

from tradewind.delivery.retry_policy import RetryPolicy
from tradewind.errors import CannotStart
from tradewind.runtime.wiring import retry_policy_of
from tradewind.settings import settings

_DATABASE = {"TRADEWIND_DATABASE_URL": "postgresql://tradewind@db.internal/tradewind"}


@pytest.mark.parametrize("text", ["59,300", "60,299", "60", "60,300,900", "60,x", "-60,300"])
def test_retry_delays_below_the_contract_are_refused(text: str) -> None:
    wrong = "RETRY_DELAYS must be 2 whole numbers of seconds, .+ of at least 60 and 300"
    with pytest.raises(CannotStart, match=wrong):
        settings.load({**_DATABASE, "TRADEWIND_RETRY_DELAYS": text})


def test_without_settings_the_policy_is_the_contract() -> None:
    assert retry_policy_of(settings.load(_DATABASE)) == RetryPolicy()


def test_longer_delays_and_another_retention_become_the_policy() -> None:
    environ = {"TRADEWIND_RETRY_DELAYS": "90, 3600", "TRADEWIND_DELIVERY_LOG_DAYS": "7"}

    assert retry_policy_of(settings.load({**_DATABASE, **environ})) == RetryPolicy(
        (timedelta(seconds=90), timedelta(hours=1)), timedelta(days=7)
    )
