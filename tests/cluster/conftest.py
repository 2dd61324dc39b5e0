"""A cluster for each test that loses a host."""

from collections.abc import Iterator

import pytest
from kit.server import SECRET_KEY, ServerLauncher

from tools.cluster import run
from tools.cluster.programs import NotInstalled, installed
from tools.cluster.run import Cluster


@pytest.fixture
def cluster(launcher: ServerLauncher) -> Iterator[Cluster]:
    """A cluster of the test's own: each fault begins with all hosts as they were installed."""
    try:
        installed()
    except NotInstalled as error:
        pytest.skip(str(error))
    with run.running(logs=launcher.folder, secret_key=SECRET_KEY) as cluster:
        yield cluster
