"""Each test that uses `db` runs twice: with connections to PostgreSQL, and through PgBouncer."""

import pytest
from kit.pgbouncer import in_both_ways


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    in_both_ways(metafunc)
