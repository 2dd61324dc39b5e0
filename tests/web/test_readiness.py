"""The API while the database acknowledges no changes: 503 at once, and reading works."""

import time

from kit.missing_standby import missing_standby
from kit.postgres import Postgres
from kit.server import ServerLauncher

_PATIENCE_SECONDS = 10.0
_KEY = {"name": "warehouse"}


def test_changes_get_503_while_the_standby_is_away(
    launcher: ServerLauncher, postgres: Postgres, database_url: str
) -> None:
    [row] = postgres.fetch(database_url, "SELECT current_database()")
    postgres.fetch(database_url, f"ALTER DATABASE {row[0]} SET synchronous_commit = on")
    with (
        launcher.serving_on(database_url, workers=1) as api,
        missing_standby(postgres, database_url) as standby,
    ):
        person = api.person()
        assert api.call("GET", "/readyz").status_code == 200
        standby.leave()

        first = api.call("POST", "/v1/api-keys", by=person, json=_KEY)
        waiting = standby.count_waiting()
        later = [api.call("POST", "/v1/api-keys", by=person, json=_KEY) for _ in range(5)]
        reading = api.call("GET", "/v1/api-keys", by=person)
        ready = api.call("GET", "/readyz")

        for answer in (first, *later):
            assert answer.status_code == 503, answer.text
            assert answer.headers["retry-after"] == "2"
            assert answer.json()["code"] == "database_unavailable"
            assert "acknowledges no changes" in answer.json()["detail"]
        assert standby.count_waiting() == waiting  # the later ones did not reach the server
        assert reading.status_code == 200
        assert len(reading.json()["items"]) == 1
        assert ready.status_code == 503
        assert ready.headers["retry-after"] == "2"
        assert ready.json()["problems"] == [
            "The database acknowledges no changes: is a standby or its disk away?"
        ]

        standby.come_back()
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while api.call("GET", "/readyz").status_code != 200:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert api.call("POST", "/v1/api-keys", by=person, json=_KEY).status_code == 201
