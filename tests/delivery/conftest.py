"""What tests of deliveries share: one system, whose clock they move by minutes."""

from collections.abc import Iterator

import pytest
from kit.hooks import Receiver, receiving
from kit.post import Post
from kit.server import ServerLauncher
from kit.system import System, running_system


@pytest.fixture(scope="session")
def post_office(
    launcher: ServerLauncher, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[System]:
    with running_system(launcher, tmp_path_factory.mktemp("post"), notices=False) as system:
        yield system


@pytest.fixture
def post(post_office: System) -> Post:
    """A system with a buyer of the test's own.

    Its clock may be moved, by minutes: all tests together by less than the hour within which the
    id of an attempt tells when it was.
    """
    return Post.of(post_office)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as made:
        yield made
