"""An authority for the endpoints of these tests, and both event loops."""

from typing import Any

import pytest
from egress.receivers import Certificates, certificates


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return certificates(tmp_path_factory.mktemp("authority"))


@pytest.fixture(params=[True, False], ids=["uvloop", "asyncio"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """The event loop of production, and the one where there is no uvloop."""
    return "asyncio", {"use_uvloop": request.param}
