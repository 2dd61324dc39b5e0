"""Settings: read once at the start, checked all together, and passed on as plain values."""

import hashlib
import os
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from tradewind.errors import CannotStart
from tradewind.settings import parsers as parse

PREFIX = "TRADEWIND_"
# What client commands read: the server, an API key, and the secret of a webhook to verify.
CLIENT_VARIABLES = {PREFIX + name for name in ("URL", "API_KEY", "WEBHOOK_SECRET")}

# The secret of a development server when none is set; production rejects it.
DEVELOPMENT_SECRET = hashlib.sha256(b"tradewind development only").digest()


@dataclass(frozen=True, slots=True)
class PlatformSettings:
    """The settings of one marketplace; None where one is not set."""

    url: str | None = None
    app_key: str | None = None
    app_secret: str | None = field(default=None, repr=False)
    refresh_token: str | None = field(default=None, repr=False)
    rate: int | None = None
    pay_mode: Literal["auto", "link"] | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting of every process."""

    env: Literal["development", "production"]
    database_url: str = field(repr=False)
    database_direct_url: str = field(repr=False)
    database_pool: int
    secret_key: Sequence[bytes] = field(repr=False)
    host: str
    port: int
    dev_bind_any: bool
    public_url: str
    trusted_proxies: Sequence[parse.Network]
    cors_origins: Sequence[str]
    metrics_listen: tuple[str, int] | None
    data_dir: Path
    plans: Mapping[str, int]
    login_rate: int
    log_level: str
    log_style: Literal["json", "console"]
    tracing: bool
    sandbox_url: str
    search_cache_seconds: int
    refresh_min_age: int
    events_days: int
    delivery_log_days: int
    retry_delays: tuple[int, ...]
    max_subscriptions: int
    webhook_ports: Sequence[int]
    dns_servers: Sequence[str]
    own_addresses: Sequence[parse.Network]
    platforms: Mapping[str, PlatformSettings]

    @property
    def production(self) -> bool:
        return self.env == "production"


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: how its text is parsed, and its default."""

    name: str
    parse: Callable[[str], Any]
    default: str
    about: str

    @property
    def variable(self) -> str:
        return PREFIX + self.name.upper()


SETTINGS = [
    Setting("env", parse.choice("development", "production"), "development",
            "`production` rejects weak settings; `development` listens on loopback only."),
    Setting("database_url", parse.database, "",
            "PostgreSQL 15 or newer. Required, except for `tradewind dev`, which brings its own."),
    Setting("database_direct_url", parse.database, "",
            "The URL of PostgreSQL itself, if TRADEWIND_DATABASE_URL leads to a pooler in "
            "transaction mode, such as PgBouncer."),
    Setting("database_pool", parse.number(2, 200), "10", "Database connections of a process"),
    Setting("secret_key", parse.secrets, "",
            "The master secret: 64 hexadecimal digits. While rotating, a list separated by commas: "
            "the first is used for new values. Required in production."),
    Setting("host", parse.host, "",
            "The address that the API listens on: 127.0.0.1, in production 0.0.0.0."),
    Setting("port", parse.number(0, parse.LARGEST_PORT), "8000", "The API's port."),
    Setting("dev_bind_any", parse.yes_or_no, "no",
            "`yes` lets a development server listen beyond loopback."),
    Setting("public_url", parse.url("http", "https"), "",
            "The base of the URLs in responses and links, as callers reach the API. Required in "
            "production, with https."),
    Setting("trusted_proxies", parse.networks, "",
            "Addresses of your proxies, separated by commas: only their X-Forwarded-For is "
            "trusted."),
    Setting("cors_origins", parse.origins, "", "Web origins whose pages may call the API."),
    Setting("metrics_listen", parse.listen, "",
            "host:port for `/metrics` and `/healthz` of this process; none when empty."),
    Setting("data_dir", lambda text: Path(text).expanduser(), "./data",
            "The directory of `tradewind dev`, with its database and secrets."),
    Setting("plans", parse.plans, "free=120,pro=1200,enterprise=12000",
            "Requests a minute of each plan."),
    Setting("login_rate", parse.number(1, 100_000), "30", "Logins a minute from one address."),
    Setting("log_level", parse.choice("debug", "info", "warning", "error"), "info",
            "The lowest level that is logged."),
    Setting("log_style", parse.choice("", "json", "console"), "",
            "`json` or `console`; by default `json` in production."),
    Setting("tracing", parse.yes_or_no, "no",
            "`yes` sends traces by OpenTelemetry to OTEL_EXPORTER_OTLP_ENDPOINT; needs the extra "
            "`tracing`."),
    Setting("sandbox_url", parse.url("http", "https"), "",
            "The URL of the simulated marketplace; the platform `sandbox` is on when it is set."),
    Setting("search_cache_seconds", parse.number(0, 3600), "60",
            "Seconds that the result of a product search is cached; 0 caches none."),
    Setting("refresh_min_age", parse.number(0, 3600), "0",
            "Seconds after a sync during which a read of the order does not sync it again."),
    Setting("events_days", parse.number(1, 3650), "30",
            "Days that events are kept."),
    Setting("delivery_log_days", parse.number(1, 3650), "30",
            "Days that the log of delivery attempts is kept."),
    Setting("retry_delays", parse.seconds_of_at_least(60, 300), "60,300",
            "Seconds from a failed attempt to the second and to the third one. They can be longer "
            "than the default, not shorter."),
    Setting("max_subscriptions", parse.number(1, 10_000), "20",
            "Webhooks of one account."),
    Setting("webhook_ports", parse.ports, "443,8443",
            "Ports that webhooks may be sent to in production."),
    Setting("dns_servers", parse.servers, "",
            "host:port of the DNS servers for webhooks, separated by commas, instead of the "
            "system's."),
    Setting("own_addresses", parse.networks, "",
            "The public addresses of this deployment: no webhook is sent there."),
]  # fmt: skip

# TRADEWIND_PLATFORM_ALIBABA_URL and so on, for every marketplace.
PLATFORM_FIELDS: Mapping[str, tuple[Callable[[str], Any], str]] = {
    "url": (parse.url("http", "https"), "The URL of its gateway, if it is not the default."),
    "app_key": (str, "The application's key; an operator can also set it on the Platforms page."),
    "app_secret": (str, "The application's secret."),
    "refresh_token": (str, "The first refresh token; later ones are stored in the database."),
    "rate": (parse.number(1, 6_000_000), "Calls a minute of all processes together."),
    "pay_mode": (
        parse.choice("auto", "link"),
        "How approved payments are made: `auto` debits, `link` returns a page to pay on.",
    ),
}
_PLATFORM = re.compile(r"TRADEWIND_PLATFORM_([A-Z0-9]+)_([A-Z_]+)")
# The secrets of the simulator's applications end like this.
_DEMO_SECRET = "-demo-secret"  # noqa: S105 - public on purpose
_LOCAL = ("127.0.0.1", "localhost", "::1")
# Settings of the simulator, which reads them itself.
_SANDBOX = PREFIX + "SANDBOX_"


def load(environ: Mapping[str, str] | None = None, *, database: bool = True) -> Settings:
    """Read the environment and the TOML file in TRADEWIND_CONFIG, or report everything wrong.

    The environment wins over the file. `database` is whether a database URL is required; in
    production it always is.
    """
    environ = os.environ if environ is None else environ
    wrong: list[str] = []
    texts = {setting.name: setting.default for setting in SETTINGS}
    path = environ.get(PREFIX + "CONFIG", "")
    content = _content(path, wrong)
    marketplaces = content.pop("platform", {})
    texts.update(_from_file(path, content, wrong))
    for setting in SETTINGS:
        texts[setting.name] = environ.get(setting.variable, texts[setting.name]).strip()
    values: dict[str, Any] = {}
    unreadable: set[str] = set()
    for setting in SETTINGS:
        try:
            values[setting.name] = setting.parse(texts[setting.name])
        except ValueError as error:
            wrong.append(f"{setting.variable} {error}")
            unreadable.add(setting.variable)
            values[setting.name] = setting.parse(setting.default)
    values["platforms"] = _platforms({**_variables(marketplaces), **environ}, wrong)
    _complete(values)
    if PREFIX + "ENV" not in unreadable:  # the other checks depend on it
        wrong += [
            sentence
            for sentence in _check(values, database=database)
            if sentence.partition(" ")[0] not in unreadable
        ]
    if wrong:
        raise CannotStart("These settings are wrong: " + "; ".join(wrong) + ".")
    return Settings(**values)


def unknown_variables(environ: Mapping[str, str]) -> list[str]:
    """Variables with our prefix that are no settings: most likely typing errors."""
    variables = {setting.variable for setting in SETTINGS} | {PREFIX + "CONFIG"} | CLIENT_VARIABLES
    return sorted(
        name
        for name in environ
        if name.startswith(PREFIX)
        and name not in variables
        and not name.startswith(_SANDBOX)
        and not _PLATFORM.fullmatch(name)
    )


def _platforms(environ: Mapping[str, str], wrong: list[str]) -> Mapping[str, PlatformSettings]:
    platforms: dict[str, dict[str, Any]] = {}
    for variable, text in environ.items():
        match = _PLATFORM.fullmatch(variable)
        if match is None:
            continue
        name, field = match[1].lower(), match[2].lower()
        if field not in PLATFORM_FIELDS:
            wrong.append(f"{variable} is not a setting of a marketplace")
            continue
        parser, _ = PLATFORM_FIELDS[field]
        try:
            platforms.setdefault(name, {})[field] = parser(text.strip())
        except ValueError as error:
            wrong.append(f"{variable} {error}")
    for name, fields in platforms.items():
        if ("app_key" in fields) != ("app_secret" in fields):
            wrong.append(
                f"TRADEWIND_PLATFORM_{name.upper()}_APP_KEY and …_APP_SECRET must be set together"
            )
    return {name: PlatformSettings(**fields) for name, fields in platforms.items()}


def _content(path: str, wrong: list[str]) -> dict[str, Any]:
    if not path:
        return {}
    try:
        return tomllib.loads(Path(path).read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        wrong.append(f"{PREFIX}CONFIG names {path}, which cannot be read ({error})")
        return {}


def _variables(marketplaces: Any) -> dict[str, str]:
    """The tables `[platform.alibaba]` of the file, as environment variables."""
    tables = marketplaces if isinstance(marketplaces, dict) else {}
    return {
        f"{PREFIX}PLATFORM_{name}_{field}".upper(): str(value)
        for name, table in tables.items()
        for field, value in (table.items() if isinstance(table, dict) else [("", table)])
    }


def _from_file(path: str, content: Mapping[str, Any], wrong: list[str]) -> dict[str, str]:
    names = {setting.name for setting in SETTINGS}
    wrong.extend(
        f"{path} sets {name}, which is not a setting" for name in sorted(set(content) - names)
    )
    return {
        name: ",".join(map(str, value)) if isinstance(value, list) else str(value)
        for name, value in content.items()
        if name in names
    }


def _complete(values: dict[str, Any]) -> None:
    """Fill in what depends on other settings."""
    production = values["env"] == "production"
    values["host"] = values["host"] or ("0.0.0.0" if production else "127.0.0.1")  # noqa: S104
    values["log_style"] = values["log_style"] or ("json" if production else "console")
    if not production:
        values["secret_key"] = values["secret_key"] or (DEVELOPMENT_SECRET,)
        values["public_url"] = values["public_url"] or f"http://127.0.0.1:{values['port']}"


def _check(values: Mapping[str, Any], *, database: bool) -> list[str]:
    wrong = []
    production = values["env"] == "production"
    if (database or production) and not values["database_url"]:
        wrong.append("TRADEWIND_DATABASE_URL is missing")
    if not production:
        if not is_loopback(values["host"]) and not values["dev_bind_any"]:
            wrong.append(
                f"TRADEWIND_HOST is {values['host']}, but a development server listens on loopback "
                "only (set TRADEWIND_ENV=production, or TRADEWIND_DEV_BIND_ANY=yes)"
            )
        if database and values["dev_bind_any"] and DEVELOPMENT_SECRET in values["secret_key"]:
            wrong.append("TRADEWIND_DEV_BIND_ANY needs a TRADEWIND_SECRET_KEY of your own")
        return wrong
    secrets = values["secret_key"]
    if not secrets:
        wrong.append("TRADEWIND_SECRET_KEY is missing (make one: openssl rand -hex 32)")
    if any(
        secret == DEVELOPMENT_SECRET or len(set(secret)) < parse.SECRET_BYTES // 2
        for secret in secrets
    ):
        wrong.append("TRADEWIND_SECRET_KEY is a default or not random (openssl rand -hex 32)")
    wrong += [
        f"TRADEWIND_PLATFORM_{name.upper()}_APP_SECRET is a published demo secret"
        for name, platform in values["platforms"].items()
        if platform.app_secret and platform.app_secret.endswith(_DEMO_SECRET)
    ]
    wrong += [
        f"TRADEWIND_PLATFORM_{name.upper()}_URL is not https: its secrets would travel in clear"
        for name, platform in values["platforms"].items()
        if platform.url
        and platform.url.startswith("http://")
        and urlsplit(platform.url).hostname not in _LOCAL
    ]
    if not values["public_url"].startswith("https://"):
        wrong.append("TRADEWIND_PUBLIC_URL is missing or not https")
    if values["dev_bind_any"]:
        wrong.append("TRADEWIND_DEV_BIND_ANY is for development only")
    return wrong


def is_loopback(host: str) -> bool:
    return ip_address(host).is_loopback
