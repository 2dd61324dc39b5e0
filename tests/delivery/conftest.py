"""What tests of deliveries share: one system, whose clock they move by minutes."""

from collections.abc import Iterator

import pytest
from kit.server import ServerLauncher
from kit.system import System, running_system
from kit.webhook_endpoint import WebhookEndpoint, running_endpoint
from kit.webhook_system import WebhookSystem


@pytest.fixture(scope="session")
def webhook_system(
    launcher: ServerLauncher, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[System]:
    with running_system(launcher, tmp_path_factory.mktemp("post"), notices=False) as system:
        yield system


@pytest.fixture
def webhooks(webhook_system: System) -> WebhookSystem:
    """A system with a buyer of the test's own.

    Its clock may be moved, by minutes: all tests together by less than the hour within which the
    id of an attempt tells when it was.
    """
    return WebhookSystem.of(webhook_system)


@pytest.fixture
def endpoint() -> Iterator[WebhookEndpoint]:
    with running_endpoint() as made:
        yield made
