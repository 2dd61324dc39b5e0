"""`tradewind doctor`: checks a deployment, and says what to do about each problem."""

import asyncio
import os
import shutil
import socket
import ssl
import tempfile
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from tradewind.cli.context import load_settings
from tradewind.cli.output import write
from tradewind.errors import TradewindError
from tradewind.platforms.registry import DEMO_SECRETS
from tradewind.runtime.wiring import api_connections, configured_credentials, worker_connections
from tradewind.settings import settings
from tradewind.settings.settings import Settings
from tradewind.storage import migrate, sql
from tradewind.storage.pool import Database, DatabaseAway

_OLDEST_POSTGRES = 150_000
_CLOCK_SECONDS = 2.0
_REACH_SECONDS = 3
_FREE_BYTES = 100 * 1024 * 1024
# A larger network of trusted proxies contains more than proxies.
_PROXIES = 256


@dataclass(frozen=True, slots=True)
class Finding:
    """One check, its result, and what to do."""

    check: str
    result: Literal["ok", "warning", "failed"]
    detail: str

    @classmethod
    def when(
        cls,
        fine: bool,
        check: str,
        detail: str,
        advice: str,
        otherwise: Literal["warning", "failed"] = "failed",
    ) -> "Finding":
        """Return `ok` with the detail, or `otherwise` with the detail and what to do."""
        if fine:
            return cls(check, "ok", f"{detail}.")
        return cls(check, otherwise, f"{detail}; {advice}")


def check(*, reach: Sequence[str], as_json: bool) -> int:
    """Run every check; the exit status is 1 when one of them failed.

    `reach` are addresses outside, as host:port, to which connections must go out.
    """
    findings = asyncio.run(_all(reach))
    write(findings, as_json=as_json)
    return int(any(finding.result == "failed" for finding in findings))


async def _all(reach: Sequence[str]) -> list[Finding]:
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
    ]


def _settings(chosen: Settings) -> list[Finding]:
    warnings = []
    unknown = settings.unknown_variables(os.environ)
    if unknown:
        warnings.append(f"Unknown settings: {', '.join(unknown)}.")
    wide = [str(network) for network in chosen.trusted_proxies if network.num_addresses > _PROXIES]
    if wide:
        warnings.append(
            f"TRADEWIND_TRUSTED_PROXIES trusts all of {', '.join(wide)}: any machine there can "
            "claim to be any client. List the addresses of your proxies."
        )
    if chosen.production and chosen.metrics_listen is None:
        warnings.append("TRADEWIND_METRICS_LISTEN is not set, so there are no metrics.")
    if chosen.production:
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
    db = Database(chosen.database_url, size=1, name="tradewind doctor")
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
        yield await _migrations(db)
    except DatabaseAway as error:
        yield Finding(
            "database",
            "failed",
            f"Cannot be reached ({error.__cause__}); check TRADEWIND_DATABASE_URL and the server.",
        )
    finally:
        await db.close()


def _connections(chosen: Settings, allowed: int) -> Finding:
    """Whether the server has room for at least one API process and one worker."""
    api, worker = api_connections(chosen), worker_connections(chosen)
    return Finding.when(
        api.total + worker.total <= allowed,
        "connections",
        f"An API process opens up to {api.total}, a worker up to {worker.total}; the server allows "
        f"{allowed} "
        "for all of them",
        "raise max_connections, or lower TRADEWIND_DATABASE_POOL.",
        "warning",
    )


async def _migrations(db: Database) -> Finding:
    try:
        pending = await migrate.pending(db)
    except migrate.MigrationsDiffer as error:
        return Finding("migrations", "failed", str(error))
    if pending:
        names = ", ".join(f"{migration.number:04} {migration.name}" for migration in pending)
        return Finding("migrations", "failed", f"Missing: {names}; run `tradewind migrate`.")
    return Finding("migrations", "ok", f"All {len(migrate.all_migrations())} are applied.")


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


def _reached(address: str) -> Finding:
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        return Finding("egress", "failed", f"{address} is not host:port.")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=_REACH_SECONDS):
            return Finding("egress", "ok", f"{address} was reached.")
    except OSError as error:
        return Finding(
            "egress",
            "failed",
            f"{address} was not reached ({error}); allow DNS and outgoing TCP to it.",
        )
