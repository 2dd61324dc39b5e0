"""`tradewind doctor`: checks a deployment, and says what to do about each problem."""

import asyncio
import os
import shutil
import socket
import ssl
import tempfile
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from tradewind.accounts.sql import has_operator
from tradewind.cli.context import load_settings
from tradewind.cli.doctor_checks.database_hosts import database_host_warnings
from tradewind.cli.doctor_checks.exposure import exposure_warnings, own_address_warnings
from tradewind.cli.doctor_checks.finding import Finding
from tradewind.cli.doctor_checks.pooler import check_pooler
from tradewind.cli.doctor_checks.proxy import check_proxy
from tradewind.cli.output import write
from tradewind.errors import TradewindError
from tradewind.observability import logs
from tradewind.platforms.registry import DEMO_SECRETS
from tradewind.runtime.wiring import api_connections, configured_credentials, worker_connections
from tradewind.settings import settings
from tradewind.settings.settings import Settings
from tradewind.storage import migrate, partitions, sql
from tradewind.storage.errors import DatabaseAway
from tradewind.storage.pool import Database, connect_plainly
from tradewind.storage.pooler import PoolMode, find_mode
from tradewind.storage.writes import Writes

_OLDEST_POSTGRES = 150_000
_CLOCK_SECONDS = 2.0
_REACH_SECONDS = 3
_FREE_BYTES = 100 * 1024 * 1024


def check(*, reach: Sequence[str], blocked: Sequence[str], proxy: bool, as_json: bool) -> int:
    """Run every check; the exit status is 1 when one of them failed.

    `reach` are addresses outside, as host:port, to which connections must go out, and `blocked`
    those to which none may. `proxy` is whether to listen in place of the API.
    """
    logs.configure("console", "error")  # the findings say the rest
    findings = asyncio.run(_all(reach, blocked, proxy=proxy))
    write(findings, as_json=as_json)
    return int(any(finding.result == "failed" for finding in findings))


async def _all(reach: Sequence[str], blocked: Sequence[str], *, proxy: bool) -> list[Finding]:
    try:
        chosen = load_settings()
    except TradewindError as error:
        return [Finding("settings", "failed", str(error))]
    return [
        *_settings(chosen),
        *[finding async for finding in _database(chosen)],
        _folder(),
        _certificates(),
        _resolvers(),
        *[await asyncio.to_thread(_reached, address) for address in reach],
        *[await asyncio.to_thread(_reached, address, is_blocked=True) for address in blocked],
        *(await check_proxy(chosen) if proxy else []),
    ]


def _settings(chosen: Settings) -> list[Finding]:
    warnings = []
    unknown = settings.unknown_variables(os.environ)
    if unknown:
        warnings.append(f"Unknown settings: {', '.join(unknown)}.")
    warnings += database_host_warnings(chosen)
    warnings += exposure_warnings(chosen)
    if chosen.production and chosen.metrics_listen is None:
        warnings.append("TRADEWIND_METRICS_LISTEN is not set, so there are no metrics.")
    if chosen.production:
        warnings += own_address_warnings(chosen)
        warnings += _demo_secrets(chosen)
    return [
        Finding("settings", "ok", f"{chosen.env}, public URL {chosen.public_url}"),
        *(Finding("settings", "warning", warning) for warning in warnings),
    ]


def _demo_secrets(chosen: Settings) -> list[str]:
    """Warn of marketplaces that production would use with a published secret."""
    return [
        (
            f"{platform} is simulated with the published demo secret, so its notices are rejected; "
            f"set TRADEWIND_PLATFORM_{platform.upper()}_APP_KEY and …_APP_SECRET, and "
            "TRADEWIND_SANDBOX_APPS of the simulator."
        )
        for platform, credentials in configured_credentials(chosen).items()
        if credentials.app_secret in DEMO_SECRETS
    ]


async def _database(chosen: Settings) -> AsyncIterator[Finding]:
    try:
        mode = await find_mode(chosen.database_url)
        async for finding in check_pooler(chosen, mode):
            yield finding
    except DatabaseAway as error:
        yield Finding(
            "database",
            "failed",
            f"Cannot be reached ({error.__cause__}); check TRADEWIND_DATABASE_URL and the server.",
        )
        return
    # Through a pooler that the settings do not name, too, these checks should tell the truth.
    direct_url = chosen.database_direct_url or (
        chosen.database_url if mode is not PoolMode.NONE else ""
    )
    db = Database(chosen.database_url, size=1, name="tradewind doctor", direct_url=direct_url)
    await db.open()
    try:
        facts = await sql.server_facts(db)
        yield Finding.when(
            facts.version_number >= _OLDEST_POSTGRES,
            "database",
            f"PostgreSQL {facts.version}",
            "use 15 or newer.",
        )
        drift = abs((facts.clock - datetime.now(UTC)).total_seconds())
        yield Finding.when(
            drift < _CLOCK_SECONDS,
            "clock",
            f"{drift * 1000:.0f} ms from the database's",
            "synchronise both with NTP.",
        )
        yield _connections(chosen, facts.connections)
        if not await sql.is_writable(db):
            yield Finding(
                "database",
                "failed",
                "TRADEWIND_DATABASE_URL leads to a server that is read-only, such as a standby; "
                "use the address of the primary.",
            )
        elif not await _acknowledges_changes(chosen):
            yield Finding(
                "database",
                "failed",
                "It acknowledges no changes: a standby of synchronous_standby_names is away, or "
                "the disk is full; bring the standby back.",
            )
        for finding in _ownership(await sql.ownership(db)):
            yield finding
        migrated = await _migrations(db)
        yield migrated
        if migrated.result == "ok":
            for finding in await _contents(db):
                yield finding
    except DatabaseAway as error:
        yield Finding("database", "failed", f"Stopped answering ({error.__cause__}).")
    finally:
        await db.close()


async def _acknowledges_changes(chosen: Settings) -> bool:
    writes = Writes(partial(connect_plainly, chosen.database_url))
    try:
        return await writes.are_acknowledged()
    finally:
        await writes.close()


def _connections(chosen: Settings, allowed: int) -> Finding:
    """Whether the server has room for at least one API process and one worker."""
    api, worker = api_connections(chosen), worker_connections(chosen)
    if chosen.database_direct_url:
        needed = api.sessions + worker.sessions
        detail = (
            f"Beside the pooler, an API process opens up to {api.sessions}, a worker up to "
            f"{worker.sessions}"
        )
    else:
        needed = api.total + worker.total
        detail = f"An API process opens up to {api.total}, a worker up to {worker.total}"
    return Finding.when(
        needed <= allowed,
        "connections",
        f"{detail}; the server allows {allowed} for all of them",
        "raise max_connections, or lower TRADEWIND_DATABASE_POOL.",
        "warning",
    )


def _ownership(owned: sql.Ownership) -> list[Finding]:
    """Whether migrations can create, change and drop tables, and no other program has any there."""
    findings = []
    if not owned.owns_database:
        findings.append(
            f"The role {owned.role} in TRADEWIND_DATABASE_URL does not own the database "
            f"{owned.database}; run: ALTER DATABASE {owned.database} OWNER TO {owned.role}"
        )
    elif owned.has_tables_of_others:
        findings.append(
            f"Tables in the database {owned.database} belong to another role than {owned.role}, "
            "the role in TRADEWIND_DATABASE_URL; use the role that migrated it, or REASSIGN OWNED."
        )
    if owned.has_unknown_tables:
        findings.append(
            f"The database {owned.database} in TRADEWIND_DATABASE_URL has tables of another "
            "program; create an empty database for Tradewind."
        )
    return [Finding("ownership", "failed", sentence) for sentence in findings]


async def _migrations(db: Database) -> Finding:
    try:
        pending = await migrate.pending(db)
    except migrate.MigrationsDiffer as error:
        return Finding("migrations", "failed", str(error))
    if pending:
        names = ", ".join(f"{migration.number:04} {migration.name}" for migration in pending)
        return Finding("migrations", "failed", f"Missing: {names}; run `tradewind migrate`.")
    return Finding("migrations", "ok", f"All {len(migrate.all_migrations())} are applied.")


async def _contents(db: Database) -> list[Finding]:
    """Whether there is what running processes and people need."""
    findings = []
    if not await partitions.reach_tomorrow(db):
        findings.append(
            Finding(
                "partitions",
                "failed",
                "Tomorrow's partitions are missing; start `tradewind worker`, which makes them.",
            )
        )
    if not await has_operator(db):
        findings.append(
            Finding(
                "accounts",
                "warning",
                "There is no operator; run `tradewind account create EMAIL --role operator`.",
            )
        )
    return findings


def _folder() -> Finding:
    folder = Path(tempfile.gettempdir())
    free = shutil.disk_usage(folder).free
    detail = f"{free // 1024 // 1024} MiB free in {folder}"
    return Finding.when(free > _FREE_BYTES, "disk", detail, "free some space.", "warning")


def _certificates() -> Finding:
    count = ssl.create_default_context().cert_store_stats()["x509_ca"]
    folder = ssl.get_default_verify_paths().capath
    if not count and folder:  # loaded on demand, so not counted yet
        count = len(list(Path(folder).glob("*.[0-9]")))
    if count:
        return Finding("certificates", "ok", f"{count} authorities are trusted.")
    return Finding("certificates", "failed", "No authority is trusted; install ca-certificates.")


def _resolvers() -> Finding:
    """Whether this machine has DNS servers; nothing outside is called for this check."""
    path = Path("/etc/resolv.conf")
    lines = path.read_text(errors="replace").split("\n") if path.exists() else []
    servers = [line.split()[1] for line in lines if line.startswith("nameserver ")]
    if servers:
        return Finding("egress", "ok", f"Names are resolved by {', '.join(servers)}.")
    return Finding(
        "egress",
        "warning",
        "No resolver in /etc/resolv.conf: the hosts of webhooks cannot be resolved.",
    )


def _reached(address: str, *, is_blocked: bool = False) -> Finding:
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        return Finding("egress", "failed", f"{address} is not host:port.")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=_REACH_SECONDS):
            if not is_blocked:
                return Finding("egress", "ok", f"{address} was reached.")
        return Finding(
            "egress", "failed", f"{address} was reached; block it in the rules of your firewall."
        )
    except OSError as error:
        if is_blocked:
            return Finding("egress", "ok", f"{address} was not reached ({error}).")
        return Finding(
            "egress",
            "failed",
            f"{address} was not reached ({error}); allow DNS and outgoing TCP to it.",
        )
