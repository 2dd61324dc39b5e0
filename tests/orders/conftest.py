"""A system that the tests of orders share; each has a buyer of its own."""

from collections.abc import Iterator

import pytest
from kit.server import Workshop
from kit.store import Store, opened

from tradewind.accounts.model import Role


@pytest.fixture(scope="session")
def whole_store(workshop: Workshop, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with opened(workshop, tmp_path_factory.mktemp("store")) as store:
        yield store


@pytest.fixture
def store(whole_store: Store) -> Iterator[Store]:
    """The shared system with people of the test's own, and no faults left behind."""
    api = whole_store.api
    yield Store(
        api,
        whole_store.market,
        api.person(),
        api.person(roles=(Role.APPROVER,)),
        whole_store.skus,
    )
    whole_store.market.client.delete("/_control/faults")
