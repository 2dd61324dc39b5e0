"""Settings: read once at the edge, checked all together, and passed on as plain values."""

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
from tradewind.settings import parsers as read

PREFIX = "TRADEWIND_"

# What a development server uses when nobody set a secret; production refuses it by name.
DEVELOPMENT_SECRET = hashlib.sha256(b"tradewind development only").digest()


@dataclass(frozen=True, slots=True)
class PlatformSettings:
    """What can be set about one marketplace; None where it is not."""

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
    database_pool: int
    secret_key: Sequence[bytes] = field(repr=False)
    host: str
    port: int
    dev_bind_any: bool
    public_url: str
    trusted_proxies: Sequence[read.Network]
    cors_origins: Sequence[str]
    metrics_listen: tuple[str, int] | None
    data_dir: Path
    plans: Mapping[str, int]
    login_rate: int
    log_level: str
    log_style: Literal["json", "console"]
    sandbox_url: str
    search_cache_seconds: int
    refresh_min_age: int
    events_days: int
    max_subscriptions: int
    webhook_ports: Sequence[int]
    dns_servers: Sequence[str]
    own_addresses: Sequence[read.Network]
    platforms: Mapping[str, PlatformSettings]

    @property
    def production(self) -> bool:
        return self.env == "production"


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: how its text is read, and what it is when nobody sets it."""

    name: str
    read: Callable[[str], Any]
    default: str
    about: str

    @property
    def variable(self) -> str:
        return PREFIX + self.name.upper()


KNOWN = [
    Setting("env", read.one_of("development", "production"), "development",
            "`production` refuses weak settings; `development` listens on loopback only."),
    Setting("database_url", read.database, "",
            "PostgreSQL 15 or newer. Required, except for `tradewind dev`, which brings its own."),
    Setting("database_pool", read.number(2, 200), "10", "Connections of a process for its work"),
    Setting("secret_key", read.secrets, "",
            "The master secret: 64 hexadecimal digits. A list by comma while rotating: the first "
            "is used for new values. Required in production."),
    Setting("host", read.host, "", "Where the API listens: 127.0.0.1, in production 0.0.0.0."),
    Setting("port", read.number(0, read.LARGEST_PORT), "8000", "The API's port."),
    Setting("dev_bind_any", read.yes, "no",
            "`yes` lets a development server listen beyond loopback."),
    Setting("public_url", read.url("http", "https"), "",
            "How callers reach the API, for the URLs that we hand out. Required in production, "
            "with https."),
    Setting("trusted_proxies", read.networks, "",
            "Addresses of your own proxies, by comma: only their X-Forwarded-For is believed."),
    Setting("cors_origins", read.origins, "", "Web origins whose pages may call the API."),
    Setting("metrics_listen", read.listen, "",
            "host:port for `/metrics` and `/healthz` of this process; none when empty."),
    Setting("data_dir", lambda text: Path(text).expanduser(), "./data",
            "Where `tradewind dev` keeps its database and secrets."),
    Setting("plans", read.plans, "free=120,pro=1200,enterprise=12000",
            "Requests a minute of each plan."),
    Setting("login_rate", read.number(1, 100_000), "30", "Logins a minute from one address."),
    Setting("log_level", read.one_of("debug", "info", "warning", "error"), "info",
            "The least important log lines to write."),
    Setting("log_style", read.one_of("", "json", "console"), "",
            "`json` or `console`; by default `json` in production."),
    Setting("sandbox_url", read.url("http", "https"), "",
            "Where the simulated marketplace is; the platform `sandbox` is on when it is set."),
    Setting("search_cache_seconds", read.number(0, 3600), "60",
            "How long the answer to a product search is kept; 0 keeps none."),
    Setting("refresh_min_age", read.number(0, 3600), "0",
            "Seconds within which an order that was heard of is shown without asking its platform "
            "again."),
    Setting("events_days", read.number(1, 3650), "30",
            "Days that the journal of events is kept."),
    Setting("max_subscriptions", read.number(1, 10_000), "20",
            "Webhook subscriptions of one account."),
    Setting("webhook_ports", read.ports, "443,8443",
            "Ports that webhooks may be sent to in production."),
    Setting("dns_servers", read.servers, "",
            "host:port of the name servers for webhooks, by comma, in place of the system's."),
    Setting("own_addresses", read.networks, "",
            "This deployment's own public addresses: no webhook is sent there."),
]  # fmt: skip

# TRADEWIND_PLATFORM_ALIBABA_URL and so on, for whatever marketplace there is.
PLATFORM_FIELDS: Mapping[str, tuple[Callable[[str], Any], str]] = {
    "url": (read.url("http", "https"), "Where its gateway is, if not at its usual address."),
    "app_key": (str, "The application's key; an operator can set it as well."),
    "app_secret": (str, "The application's secret."),
    "refresh_token": (str, "A refresh token to begin with; later ones are kept in the database."),
    "rate": (read.number(1, 6_000_000), "Calls a minute that all processes make together."),
    "pay_mode": (
        read.one_of("auto", "link"),
        "How approved payments are made: `auto` debits, `link` hands out a page to pay on.",
    ),
}
_PLATFORM = re.compile(r"TRADEWIND_PLATFORM_([A-Z0-9]+)_([A-Z_]+)")
# How the secrets of the simulator's own applications end.
_DEMO_SECRET = "-demo-secret"  # noqa: S105 - public on purpose
_LOCAL = ("127.0.0.1", "localhost", "::1")
# The simulator's own, which it reads itself.
_SANDBOX = PREFIX + "SANDBOX_"


def load(environ: Mapping[str, str] | None = None, *, database: bool = True) -> Settings:
    """Read the environment and the TOML file in TRADEWIND_CONFIG, or say all that is wrong.

    The environment wins over the file. `database` is whether a database URL is needed, which in
    production it always is.
    """
    environ = os.environ if environ is None else environ
    wrong: list[str] = []
    texts = {setting.name: setting.default for setting in KNOWN}
    path = environ.get(PREFIX + "CONFIG", "")
    content = _content(path, wrong)
    marketplaces = content.pop("platform", {})
    texts.update(_from_file(path, content, wrong))
    for setting in KNOWN:
        texts[setting.name] = environ.get(setting.variable, texts[setting.name]).strip()
    values: dict[str, Any] = {}
    unreadable: set[str] = set()
    for setting in KNOWN:
        try:
            values[setting.name] = setting.read(texts[setting.name])
        except ValueError as error:
            wrong.append(f"{setting.variable} {error}")
            unreadable.add(setting.variable)
            values[setting.name] = setting.read(setting.default)
    values["platforms"] = _platforms({**_variables(marketplaces), **environ}, wrong)
    _complete(values)
    if PREFIX + "ENV" not in unreadable:  # else nobody knows what to hold the others to
        wrong += [
            sentence
            for sentence in _check(values, database=database)
            if sentence.partition(" ")[0] not in unreadable
        ]
    if wrong:
        raise CannotStart("These settings are wrong: " + "; ".join(wrong) + ".")
    return Settings(**values)


def unknown_variables(environ: Mapping[str, str]) -> list[str]:
    """Variables that look like ours but are none: most likely typing errors."""
    known = {setting.variable for setting in KNOWN} | {PREFIX + "CONFIG"}
    return sorted(
        name
        for name in environ
        if name.startswith(PREFIX)
        and name not in known
        and not name.startswith(_SANDBOX)
        and not _PLATFORM.fullmatch(name)
    )


def _platforms(environ: Mapping[str, str], wrong: list[str]) -> Mapping[str, PlatformSettings]:
    found: dict[str, dict[str, Any]] = {}
    for variable, text in environ.items():
        match = _PLATFORM.fullmatch(variable)
        if match is None:
            continue
        name, field = match[1].lower(), match[2].lower()
        if field not in PLATFORM_FIELDS:
            wrong.append(f"{variable} is not a setting of a marketplace")
            continue
        reader, _ = PLATFORM_FIELDS[field]
        try:
            found.setdefault(name, {})[field] = reader(text.strip())
        except ValueError as error:
            wrong.append(f"{variable} {error}")
    for name, fields in found.items():
        if ("app_key" in fields) != ("app_secret" in fields):
            wrong.append(f"TRADEWIND_PLATFORM_{name.upper()}_APP_KEY and …_APP_SECRET go together")
    return {name: PlatformSettings(**fields) for name, fields in found.items()}


def _content(path: str, wrong: list[str]) -> dict[str, Any]:
    if not path:
        return {}
    try:
        return tomllib.loads(Path(path).read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        wrong.append(f"{PREFIX}CONFIG names {path}, which cannot be read ({error})")
        return {}


def _variables(marketplaces: Any) -> dict[str, str]:
    """The tables `[platform.alibaba]` of the file, as the variables that they stand for."""
    tables = marketplaces if isinstance(marketplaces, dict) else {}
    return {
        f"{PREFIX}PLATFORM_{name}_{field}".upper(): str(value)
        for name, table in tables.items()
        for field, value in (table.items() if isinstance(table, dict) else [("", table)])
    }


def _from_file(path: str, content: Mapping[str, Any], wrong: list[str]) -> dict[str, str]:
    known = {setting.name for setting in KNOWN}
    wrong.extend(
        f"{path} sets {name}, which is not a setting" for name in sorted(set(content) - known)
    )
    return {
        name: ",".join(map(str, value)) if isinstance(value, list) else str(value)
        for name, value in content.items()
        if name in known
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
        secret == DEVELOPMENT_SECRET or len(set(secret)) < read.SECRET_BYTES // 2
        for secret in secrets
    ):
        wrong.append("TRADEWIND_SECRET_KEY is a default or not random (openssl rand -hex 32)")
    wrong += [
        f"TRADEWIND_PLATFORM_{name.upper()}_APP_SECRET is a published demo secret"
        for name, own in values["platforms"].items()
        if own.app_secret and own.app_secret.endswith(_DEMO_SECRET)
    ]
    wrong += [
        f"TRADEWIND_PLATFORM_{name.upper()}_URL is not https: its secrets would travel in clear"
        for name, own in values["platforms"].items()
        if own.url and own.url.startswith("http://") and urlsplit(own.url).hostname not in _LOCAL
    ]
    if not values["public_url"].startswith("https://"):
        wrong.append("TRADEWIND_PUBLIC_URL is missing or not https")
    if values["dev_bind_any"]:
        wrong.append("TRADEWIND_DEV_BIND_ANY is for development only")
    return wrong


def is_loopback(host: str) -> bool:
    return ip_address(host).is_loopback
