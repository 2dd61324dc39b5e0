"""A sealed signing secret can be opened only in the row that it was sealed for."""

import json
from typing import Any

import pytest
from kit.webhook_endpoint import WebhookEndpoint, assert_genuine
from kit.webhook_system import Webhook, WebhookSystem, until

from tradewind import ids
from tradewind.storage.keyring import Keyring
from tradewind.storage.sealing import CannotUnseal, seal
from tradewind.webhooks.secret import sealed, unsealed

pytestmark = pytest.mark.xdist_group("webhooks")

_COPY = """
    UPDATE webhook_subscription
       SET secret = (SELECT secret FROM webhook_subscription WHERE id = $1)
     WHERE id = $2
"""


def errors_logged(webhooks: WebhookSystem, event: str, hook: Webhook) -> list[Any]:
    """The error lines of all processes about a subscription."""
    lines = [
        json.loads(line)
        for log in webhooks.api.launcher.folder.glob("*.log")
        for line in log.read_text(errors="replace").splitlines()
        if hook.id in line and f'"{event}"' in line
    ]
    return [line for line in lines if line["event"] == event and line["level"] == "error"]


def test_a_secret_copied_from_another_row_signs_nothing(
    webhooks: WebhookSystem, endpoint: WebhookEndpoint
) -> None:
    """The worker has the secret of the first open when it is copied to the second."""
    whole, robbed = webhooks.hook(endpoint.url("/whole")), webhooks.hook(endpoint.url("/robbed"))
    webhooks.emit()
    endpoint.until(lambda got: len(got) == 2)
    webhooks.logged(robbed, 1)

    webhooks.api.fetch(_COPY, whole.uuid, robbed.uuid)
    (event_id,) = webhooks.emit()
    webhooks.logged(whole, 2)
    until(lambda: errors_logged(webhooks, "delivery.cannot_sign", robbed), lambda lines: lines)
    problem = webhooks.refused("POST", f"{robbed.path}/test", 500, "signing_secret_unreadable")

    assert len(endpoint.at("/robbed")) == 1
    assert "error on our side" in problem["detail"]
    assert errors_logged(webhooks, "webhook.secret_unreadable", robbed)
    assert len(webhooks.log(robbed)) == 1
    # Nobody is blamed: no attempt is used up, and the endpoint's health is as it was.
    until(
        lambda: webhooks.pending(robbed),
        lambda rows: [(row["event_id"], row["attempt"]) for row in rows] == [(event_id, 1)],
    )
    assert webhooks.health(robbed)["health"] == "ok"
    rotated = webhooks.rotated(robbed)
    assert webhooks.ok("POST", f"{robbed.path}/test")["delivered"] is True
    assert_genuine(endpoint.at("/robbed")[-1], rotated.secret)
    for item in endpoint.at("/whole"):
        assert_genuine(item, whole.secret)


def test_a_secret_opens_for_its_own_subscription_and_account_only(keyring: Keyring) -> None:
    account, hook = ids.new(), ids.new()
    value = sealed(keyring, account, hook, "whsec_x")

    assert unsealed(keyring, account, hook, value) == "whsec_x"
    for other_account, other_hook in ((account, ids.new()), (ids.new(), hook)):
        with pytest.raises(CannotUnseal):
            unsealed(keyring, other_account, other_hook, value)
    # As it was sealed before accounts were part of it: `tradewind secrets rotate` seals it anew.
    former = seal(keyring, b"whsec_x", f"subscription/{ids.SUBSCRIPTION.show(hook)}/secret")
    with pytest.raises(CannotUnseal):
        unsealed(keyring, account, hook, former)
