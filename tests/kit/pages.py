"""The dashboard without a browser: sends what a browser would, and what no browser would."""

import re
from functools import cached_property
from typing import Any

import httpx

from kit.server import Person, Server
from kit.tls import NO_TLS

COOKIE = "tradewind_session"


class Pages:
    """Somebody who is signed in. Redirects are returned, not followed."""

    def __init__(self, api: Server, person: Person) -> None:
        self.client = httpx.Client(base_url=api.url, timeout=10, verify=NO_TLS)
        response = self.client.post(
            "/sign-in", data={"email": person.email, "password": person.password}
        )
        assert response.status_code == 303, response.text
        api.launcher.secrets.add(self.client.cookies[COOKIE])

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.client.get(path, **options)

    def post(self, path: str, **form: Any) -> httpx.Response:
        """Send a form as a page would, with the CSRF token of the session."""
        return self.client.post(path, data={"csrf": self.token, **form})

    @cached_property
    def token(self) -> str:
        """The CSRF token of the session, from a page that every role can open."""
        match = re.search(r'name="csrf" value="([^"]+)"', self.get("/keys").text)
        assert match
        return match[1]
