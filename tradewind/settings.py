"""Settings: read once at the edge, checked all together, and passed on as plain values."""

import hashlib
import os
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qsl, urlsplit

from tradewind.errors import CannotStart

Network = IPv4Network | IPv6Network

PREFIX = "TRADEWIND_"
SECRET_BYTES = 32
_LARGEST_PLAN = 6_000_000
_LARGEST_PORT = 65535
_SSL_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")

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
    trusted_proxies: Sequence[Network]
    cors_origins: Sequence[str]
    metrics_listen: tuple[str, int] | None
    data_dir: Path
    plans: Mapping[str, int]
    login_rate: int
    log_level: str
    log_style: Literal["json", "console"]
    sandbox_url: str
    search_cache_seconds: int
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


def _one_of(*words: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in words:
            raise ValueError(f"is one of {', '.join(filter(None, words))}")
        return text

    return read


def _number(low: int, high: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not text.isdecimal() or not low <= int(text) <= high:
            raise ValueError(f"is a whole number from {low} to {high}")
        return int(text)

    return read


def _items(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]


def _secrets(text: str) -> tuple[bytes, ...]:
    found = []
    for item in _items(text):
        try:
            secret = bytes.fromhex(item)
        except ValueError:
            secret = b""
        if len(secret) != SECRET_BYTES:
            raise ValueError("is 64 hexadecimal digits (32 random bytes), or several by comma")
        found.append(secret)
    return tuple(found)


def _url(*schemes: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text and (urlsplit(text).scheme not in schemes or not urlsplit(text).netloc):
            raise ValueError(f"is a URL that begins with {' or '.join(s + '://' for s in schemes)}")
        return text.rstrip("/") if "http" in schemes else text

    return read


def _database(text: str) -> str:
    if not text:
        return text
    wrong = "is like postgresql://user:password@host:5432/database?sslmode=require"
    try:
        parts = urlsplit(text)
        query = dict(parse_qsl(parts.query, strict_parsing=bool(parts.query)))
    except ValueError:
        raise ValueError(wrong) from None
    hosts = parts.netloc.rpartition("@")[2].split(",")  # there may be several
    ports = [host.rpartition("]")[2].partition(":")[2] or "5432" for host in hosts]
    named = parts.scheme in ("postgresql", "postgres")
    reachable = all(port.isdecimal() and 0 < int(port) <= _LARGEST_PORT for port in ports)
    if not named or not reachable or query.get("sslmode", "prefer") not in _SSL_MODES:
        raise ValueError(wrong)
    return text


def _networks(text: str) -> tuple[Network, ...]:
    try:
        return tuple(ip_network(item, strict=False) for item in _items(text))
    except ValueError:
        raise ValueError("is a list of networks by comma, such as 10.0.0.0/8,::1/128") from None


def _origins(text: str) -> tuple[str, ...]:
    for item in _items(text):
        parts = urlsplit(item)
        if parts.scheme not in ("http", "https") or not parts.netloc or parts.path:
            raise ValueError("is a list of origins by comma, such as https://shop.example")
    return tuple(_items(text))


def _listen(text: str) -> tuple[str, int] | None:
    if not text:
        return None
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or int(port) > _LARGEST_PORT:
        raise ValueError("is host:port, such as 127.0.0.1:9464")
    return host.strip("[]"), int(port)


def _host(text: str) -> str:
    try:
        return str(ip_address("127.0.0.1" if text == "localhost" else text)) if text else ""
    except ValueError:
        raise ValueError("is an IP address, such as 127.0.0.1 or ::1, or localhost") from None


def _plans(text: str) -> Mapping[str, int]:
    found = {}
    for item in _items(text):
        name, _, number = item.partition("=")
        known = name in ("free", "pro", "enterprise")
        if not known or not number.isdecimal() or not 1 <= int(number) <= _LARGEST_PLAN:
            raise ValueError(
                f"is free=120,pro=1200,enterprise=12000: 1 to {_LARGEST_PLAN} requests a minute"
            )
        found[name] = int(number)
    return {"free": 120, "pro": 1200, "enterprise": 12000, **found}


def _yes(text: str) -> bool:
    if text not in ("", "yes", "no"):
        raise ValueError("is yes or no")
    return text == "yes"


KNOWN = [
    Setting("env", _one_of("development", "production"), "development",
            "`production` refuses weak settings; `development` listens on loopback only."),
    Setting("database_url", _database, "",
            "PostgreSQL 15 or newer. Required, except for `tradewind dev`, which brings its own."),
    Setting("database_pool", _number(2, 200), "10", "Connections per process."),
    Setting("secret_key", _secrets, "",
            "The master secret: 64 hexadecimal digits. A list by comma while rotating: the first "
            "is used for new values. Required in production."),
    Setting("host", _host, "", "Where the API listens: 127.0.0.1, in production 0.0.0.0."),
    Setting("port", _number(0, _LARGEST_PORT), "8000", "The API's port."),
    Setting("dev_bind_any", _yes, "no",
            "`yes` lets a development server listen beyond loopback."),
    Setting("public_url", _url("http", "https"), "",
            "How callers reach the API, for the URLs that we hand out. Required in production, "
            "with https."),
    Setting("trusted_proxies", _networks, "",
            "Networks of your own proxies: only their X-Forwarded-For is believed."),
    Setting("cors_origins", _origins, "", "Web origins whose pages may call the API."),
    Setting("metrics_listen", _listen, "",
            "host:port for `/metrics` and `/healthz` of this process; none when empty."),
    Setting("data_dir", lambda text: Path(text).expanduser(), "./data",
            "Where `tradewind dev` keeps its database and secrets."),
    Setting("plans", _plans, "free=120,pro=1200,enterprise=12000",
            "Requests a minute of each plan."),
    Setting("login_rate", _number(1, 100_000), "30", "Logins a minute from one address."),
    Setting("log_level", _one_of("debug", "info", "warning", "error"), "info",
            "The least important log lines to write."),
    Setting("log_style", _one_of("", "json", "console"), "",
            "`json` or `console`; by default `json` in production."),
    Setting("sandbox_url", _url("http", "https"), "",
            "Where the simulated marketplace is; the platform `sandbox` is on when it is set."),
    Setting("search_cache_seconds", _number(0, 3600), "60",
            "How long the answer to a product search is kept; 0 keeps none."),
]  # fmt: skip

# TRADEWIND_PLATFORM_ALIBABA_URL and so on, for whatever marketplace there is.
PLATFORM_FIELDS: Mapping[str, tuple[Callable[[str], Any], str]] = {
    "url": (_url("http", "https"), "Where its gateway is, if not at its usual address."),
    "app_key": (str, "The application's key; an operator can set it as well."),
    "app_secret": (str, "The application's secret."),
    "refresh_token": (str, "A refresh token to begin with; later ones are kept in the database."),
    "rate": (_number(1, 6_000_000), "Calls a minute that all processes make together."),
}
_PLATFORM = re.compile(r"TRADEWIND_PLATFORM_([A-Z0-9]+)_([A-Z_]+)")
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
        read, _ = PLATFORM_FIELDS[field]
        try:
            found.setdefault(name, {})[field] = read(text.strip())
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
        secret == DEVELOPMENT_SECRET or len(set(secret)) < SECRET_BYTES // 2 for secret in secrets
    ):
        wrong.append("TRADEWIND_SECRET_KEY is a default or not random (openssl rand -hex 32)")
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
