"""The planted faults: for each row of the scorecard, a change that its tests must detect."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools.chaos.model import Detection, Fault
from tools.chaos.run import CasesReport, read_report, run_tests

# What a copy of the project needs for its tests to run.
_COPIED = ("bench", "docs", "sdk", "simulator", "tests", "tools", "tradewind", "pyproject.toml")
_NOT_COPIED = shutil.ignore_patterns("__pycache__", "node_modules", "target")
# Exit codes of pytest.
_PASSED, _FAILED = 0, 1
_KILLED = "tests/chaos/test_deliveries_killed.py::test_"
_OUTAGE = "tests/chaos/test_database_outage.py::test_"
_FROZEN = "tests/chaos/test_frozen_worker.py::test_"
_MISBEHAVING = "tests/egress/test_misbehaving_receivers.py::test_"
_PLACE = "tests/orders/test_place.py::test_"
_DOWNLOADS = "tests/exports/test_downloads_beside_others.py::test_"
_HOSTILE = "tests/chaos/test_hostile_clients.py::test_"
_ATTEMPTS = "tests/delivery/test_attempts.py::test_"

FAULTS: tuple[Fault, ...] = (
    Fault(
        1,
        "A claim deletes the delivery from the queue instead of leasing it",
        "tradewind/delivery/sql.py",
        "",
        """
_claim = claim


async def claim(db, *args, **more):
    claimed = await _claim(db, *args, **more)
    ids = [delivery.id for delivery in claimed]
    await db.execute("DELETE FROM delivery_queue WHERE id = ANY ($1::uuid[])", ids)
    return claimed
""",
        (f"{_KILLED}no_event_is_lost_when_workers_are_killed_again_and_again",),
        {"SOAK_KILLS": "6"},
    ),
    Fault(
        1,
        "What was delivered is recorded a second later",
        "tradewind/delivery/recorder.py",
        "",
        """
async def _wait_for_a_second(self):
    await asyncio.sleep(1)


Recorder._wait = _wait_for_a_second
""",
        (f"{_KILLED}no_event_is_lost_when_workers_are_killed_again_and_again",),
        {"SOAK_KILLS": "6"},
    ),
    Fault(
        2,
        "The journal is not written with the change",
        "tradewind/events/journal.py",
        "sql.append_with(tx, events, change, args)",
        "sql.append_with(tx, [], change, args)",
        ("tests/chaos/test_api_killed.py",),
    ),
    Fault(
        3,
        "A commit does not wait for the disk",
        "tradewind/storage/pool.py",
        '    "timezone": "UTC",\n',
        '    "timezone": "UTC",\n    "synchronous_commit": "off",\n',
        (f"{_OUTAGE}nothing_acknowledged_is_lost_and_only_503_while_it_is_away[immediate]",),
    ),
    Fault(
        4,
        "A worker that lost its lease may still send the order",
        "tradewind/orders/sql_leases.py",
        "         WHERE id = $2 AND lease = $1 AND lease_until > tradewind_now()\n"
        "        RETURNING true\n",
        "         WHERE id = $2 AND $1::uuid IS NOT NULL\n        RETURNING true\n",
        ("tests/chaos/test_frozen_worker.py::test_frozen_between_the_late_preview_and_the_create",),
    ),
    Fault(
        5,
        "Retries come after half of their delay",
        "tradewind/runtime/wiring.py",
        "delays=tuple(timedelta(seconds=seconds) for",
        "delays=tuple(timedelta(seconds=seconds / 2) for",
        (f"{_ATTEMPTS}three_attempts_and_no_fourth",),
    ),
    Fault(
        6,
        "An attempt may take twice its deadline",
        "tradewind/egress/sender.py",
        "            began + seconds,\n",
        "            began + 2 * seconds,\n",
        (f"{_MISBEHAVING}a_dripping_body_is_read_until_the_deadline",),
    ),
    Fault(
        7,
        "A redirect is followed, with a second request",
        "tradewind/egress/sender.py",
        "",
        """
_begin = Sender.begin


def _begin_and_follow(self, url, body, headers, done, **more):
    from urllib.parse import urljoin

    def follow(result):
        location = {name.lower(): value for name, value in result.headers}.get("location")
        if result.status in range(300, 400) and location:
            _begin(self, urljoin(url, location), body, headers, lambda _: done(result), **more)
        else:
            done(result)

    return _begin(self, url, body, headers, follow, **more)


Sender.begin = _begin_and_follow
""",
        (f"{_ATTEMPTS}a_redirect_is_a_failure_and_is_not_followed",),
    ),
    Fault(
        8,
        "The addresses that a name resolves to are not checked",
        "tradewind/egress/guard.py",
        "    if not _allowed(resolved, policy):\n",
        "    if not resolved:\n",
        ("tests/egress/test_corpus.py",),
    ),
    Fault(
        9,
        "The signature leaves out the timestamp",
        "tradewind/webhooks/signing.py",
        '    keyed.update(b"%d.%b" % (timestamp, body))\n',
        "    keyed.update(body)\n",
        ("tests/webhooks/test_signing.py",),
    ),
    Fault(
        10,
        "Endpoints that time out keep their concurrency, in a worker with little room",
        "tradewind/delivery/lanes.py",
        "",
        """
Lane._reduce = lambda self, factor, now: None
EngineLimits.__init__.__defaults__ = (24, 24, 24, 24)
""",
        ("tests/chaos/test_fairness.py",),
    ),
    Fault(
        11,
        "The idempotency key is not stored with the order",
        "tradewind/web/idempotency.py",
        "        if self.key is None:\n            await db.execute(effect.sql, *effect.args)\n",
        "        if pending:\n            await db.execute(effect.sql, *effect.args)\n",
        (f"{_PLACE}of_twenty_requests_with_one_key_at_once_one_makes_an_order",),
    ),
    Fault(
        12,
        "An order that is not found at the marketplace is created again at once",
        "tradewind/orders/submit.py",
        "SETTLE = timedelta(minutes=2)\n",
        "SETTLE = timedelta(0)\n",
        ("tests/chaos/test_ambiguous_platform.py",),
        {"SOAK_STORIES": "1"},
    ),
    Fault(
        13,
        "A step that changes two statuses makes one event",
        "tradewind/orders/advance.py",
        "    if after.payment_status is not before.payment_status:\n",
        "    elif after.payment_status is not before.payment_status:\n",
        ("tests/orders/test_state_machine.py",),
    ),
    Fault(
        14,
        "A claim has no lease",
        "tradewind/delivery/sql.py",
        "               SET lease_until = tradewind_now() + $3::interval,\n"
        "                   lost = q.lost",
        "               SET lease_until = tradewind_now(),\n                   lost = q.lost",
        ("tests/chaos/test_engine_virtual.py",),
    ),
    Fault(
        15,
        "Logins that are being checked do not count for the throttle",
        "tradewind/auth/login_throttle.py",
        "        if len(failures.failed_at) + len(failures.tried_at) >= MOST_FAILURES:\n",
        "        if len(failures.failed_at) >= MOST_FAILURES:\n",
        ("tests/auth/test_many_guesses.py",),
    ),
    Fault(
        16,
        "A process remembers for a second whom it let in",
        "tradewind/auth/gate.py",
        "",
        """
_look_up = Authenticator._look_up
_remembered = {}


async def _look_up_or_remember(self, credentials):
    now = asyncio.get_running_loop().time()
    since, looked_up = _remembered.get(credentials, (now - 2, None))
    if now - since > 1:
        looked_up = await _look_up(self, credentials)
        _remembered[credentials] = now, looked_up
    return looked_up


Authenticator._look_up = _look_up_or_remember
""",
        ("tests/auth/test_revocation.py",),
    ),
    Fault(
        17,
        "An order is read without the account's id",
        "tradewind/orders/get_order.py",
        "sql_lists.find_order(db, account_id, order_id)",
        "sql_lists.find_order(db, None, order_id)",
        ("tests/openapi/test_foreign_ids.py",),
    ),
    Fault(
        18,
        "A worker that stops does not wait for its attempts in flight",
        "tradewind/delivery/engine.py",
        "            async with asyncio.timeout(SECONDS + 1):\n",
        "            async with asyncio.timeout(0):\n",
        (f"{_KILLED}no_event_is_sent_twice_when_workers_are_told_to_stop_under_load",),
    ),
    Fault(
        18,
        "The API that stops does not wait for its running requests",
        "tradewind/runtime/serve.py",
        "            workers_kill_timeout=_STOP_SECONDS,\n",
        "            workers_kill_timeout=0.001,\n",
        ("tests/chaos/test_stopping.py",),
    ),
    Fault(
        19,
        "A worker keeps what it has recorded",
        "tradewind/delivery/recorder.py",
        "",
        """
_add = Recorder.add
_kept = []


def _add_and_keep(self, delivery, result):
    _kept.append(bytearray(8192))
    _add(self, delivery, result)


Recorder.add = _add_and_keep
""",
        ("tests/chaos/test_long_queue.py",),
    ),
    Fault(
        20,
        "HTTP/2 is accepted",
        "tradewind/runtime/serve.py",
        "            http=HTTPModes.http1,\n",
        "            http=HTTPModes.auto,\n",
        (f"{_HOSTILE}http2_is_closed_at_once",),
    ),
    Fault(
        20,
        "Connections that send nothing take the room of others",
        "tradewind/runtime/serve.py",
        "            backlog=2048,\n",
        "            backlog=2048,\n            backpressure=64,\n",
        (f"{_HOSTILE}hostile_connections_end_and_neither_fill_memory_nor_delay_others",),
    ),
    Fault(
        21,
        "A commit waits for the primary's disk only",
        "tradewind/storage/pool.py",
        '    "timezone": "UTC",\n',
        '    "timezone": "UTC",\n    "synchronous_commit": "local",\n',
        ("tests/chaos/test_failover_under_load.py",),
    ),
    Fault(
        22,
        "Expensive requests of one account are not limited",
        "tradewind/web/concurrency.py",
        "asyncio.Semaphore(self._limit)",
        "asyncio.Semaphore(1000)",
        ("tests/web/test_concurrency.py::test_an_account_at_its_limit_does_not_slow_another",),
    ),
    Fault(
        22,
        "A download writes 500 rows at once",
        "tradewind/exports/export.py",
        "PAGE_ROWS = 10\n",
        "PAGE_ROWS = 500\n",
        (f"{_DOWNLOADS}downloads_of_one_account_do_not_slow_another",),
    ),
)


class NothingShown(Exception):
    """The tests of a fault did not run, do not pass without it, or failed by no assertion."""


def plant(fault: Fault, root: Path, *, output: Path) -> Detection:
    """Run a fault's tests in a copy of the project, and again when the copy has the fault.

    Returns the first assertion that failed, or none. Raises NothingShown if a test does not pass
    without the fault, if the program does not start with it, or if a test failed by another error:
    only an assertion that fails has shown what the fault breaks.
    """
    with tempfile.TemporaryDirectory(prefix="tradewind-fault-") as folder:
        copy = Path(folder) / "project"
        _copy(root, copy)
        found = os.pathsep.join(str(copy / part) for part in (".", "simulator", "sdk/python"))
        settings = {**fault.settings, "PYTHONPATH": found}
        report = Path(folder) / "without.xml"
        code, said = _run(fault.tests, copy, settings, report, output)
        if code != _PASSED or not said.cases or said.skipped:
            raise NothingShown(
                f"Without the fault {said.skipped} of {said.cases} tests were skipped, and of "
                f"the others these failed: {list(said.failures)}"
            )
        path = copy / fault.file
        path.write_text(changed(fault, path.read_text(encoding="utf-8")), encoding="utf-8")
        _check_start(fault, copy, found)
        report = Path(folder) / "with.xml"
        code, said = _run(fault.tests, copy, settings, report, output)
        if code not in (_PASSED, _FAILED) or (said.failures and not said.assertions):
            raise NothingShown(f"No assertion failed, but: {list(said.failures)}")
    return Detection(fault.row, fault.description, fault.file, _first(said.assertions, folder))


def _run(
    tests: Sequence[str], copy: Path, settings: Mapping[str, str], report: Path, output: Path
) -> tuple[int, CasesReport]:
    options = ["-x", "-p", "tools.chaos.assertions"]
    code = run_tests(tests, copy, settings, report=report, output=output, options=options)
    return code, read_report(report, code)


def changed(fault: Fault, text: str) -> str:
    """The text of the file with the fault in it."""
    if not fault.before:
        return text + fault.after
    if text.count(fault.before) != 1:
        raise ValueError(f"{fault.file} no longer has this once: {fault.before}")
    return text.replace(fault.before, fault.after)


def _copy(root: Path, copy: Path) -> None:
    copy.mkdir()
    for name in _COPIED:
        if (root / name).is_dir():
            shutil.copytree(root / name, copy / name, ignore=_NOT_COPIED, symlinks=True)
        else:
            shutil.copy2(root / name, copy / name)


def _check_start(fault: Fault, copy: Path, python_path: str) -> None:
    module = fault.file.removesuffix(".py").replace("/", ".")
    code = f"import {module} as changed; print(changed.__file__)"
    ended = subprocess.run(
        [sys.executable, "-c", code],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": python_path},
        capture_output=True,
        text=True,
        check=False,
    )
    if not ended.stdout.startswith(str(copy)):
        raise NothingShown(f"The copy does not start with the fault.\n{ended.stderr}")


def _first(failures: Sequence[str], folder: str) -> str | None:
    """The first failure, without the path of the copy, which is another each time."""
    return failures[0].replace(folder, "") if failures else None
