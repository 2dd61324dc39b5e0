"""A server with the settings that most tests leave alone: proxies, origins, https, logins."""

from collections.abc import Iterator

import pytest
from kit.server import Server, ServerLauncher

SETTINGS = {
    "TRADEWIND_TRUSTED_PROXIES": "127.0.0.0/8, 10.0.0.0/8",
    "TRADEWIND_CORS_ORIGINS": "https://shop.example, http://localhost:3000",
    "TRADEWIND_PUBLIC_URL": "https://api.test.example",
    "TRADEWIND_LOGIN_RATE": "2",
}


@pytest.fixture(scope="session")
def configured_api(launcher: ServerLauncher) -> Iterator[Server]:
    with launcher.serving(workers=1, settings=SETTINGS) as server:
        yield server
