"""Settings: all errors in one message, and no weak value in production."""

import secrets
from ipaddress import ip_network
from pathlib import Path

import pytest

from tradewind.errors import CannotStart
from tradewind.platforms.registry import MARKETPLACES
from tradewind.settings import settings
from tradewind.settings.settings import DEVELOPMENT_SECRET, PlatformSettings

DATABASE = "postgresql://tradewind@db.internal/tradewind"
SECRET = secrets.token_bytes(32)
OLD_SECRET = secrets.token_bytes(32)
SECRET_WANTED = "TRADEWIND_SECRET_KEY is a default or not random (openssl rand -hex 32)"
PRODUCTION = {
    "TRADEWIND_ENV": "production",
    "TRADEWIND_DATABASE_URL": DATABASE,
    "TRADEWIND_SECRET_KEY": SECRET.hex(),
    "TRADEWIND_PUBLIC_URL": "https://api.example",
}


def load_error(environ: dict[str, str]) -> str:
    with pytest.raises(CannotStart) as caught:
        settings.load(environ)
    return str(caught.value)


def test_development_needs_a_database_and_nothing_else() -> None:
    chosen = settings.load({"TRADEWIND_DATABASE_URL": DATABASE})

    assert chosen.database_url == DATABASE
    assert chosen.env == "development"
    assert not chosen.production
    assert (chosen.host, chosen.port) == ("127.0.0.1", 8000)
    assert chosen.public_url == "http://127.0.0.1:8000"
    assert chosen.secret_key == (DEVELOPMENT_SECRET,)
    assert chosen.log_style == "console"
    assert chosen.plans == {"free": 120, "pro": 1200, "enterprise": 12000}
    assert chosen.trusted_proxies == ()
    assert chosen.cors_origins == ()
    assert chosen.metrics_listen is None
    assert chosen.data_dir == Path("data")


def test_a_database_is_asked_for_only_where_one_is_needed() -> None:
    assert load_error({}) == "These settings are wrong: TRADEWIND_DATABASE_URL is missing."
    assert settings.load({}, database=False).database_url == ""


def test_production_with_all_it_needs_listens_everywhere_and_logs_json() -> None:
    chosen = settings.load(PRODUCTION)

    assert chosen.production
    assert chosen.host == "0.0.0.0"  # noqa: S104 - the very default that we mean
    assert chosen.log_style == "json"
    assert chosen.secret_key == (SECRET,)
    assert chosen.public_url == "https://api.example"


def test_every_wrong_setting_is_named_in_one_message() -> None:
    sentence = load_error(
        {
            "TRADEWIND_DATABASE_URL": "mysql://db",
            "TRADEWIND_DATABASE_POOL": "1",
            "TRADEWIND_SECRET_KEY": "abc",
            "TRADEWIND_HOST": "shop.example",
            "TRADEWIND_PORT": "65536",
            "TRADEWIND_DEV_BIND_ANY": "true",
            "TRADEWIND_PUBLIC_URL": "ftp://api.example",
            "TRADEWIND_TRUSTED_PROXIES": "10.0.0.0/8,proxy",
            "TRADEWIND_CORS_ORIGINS": "https://shop.example/path",
            "TRADEWIND_METRICS_LISTEN": "9464",
            "TRADEWIND_PLANS": "gold=1",
            "TRADEWIND_LOGIN_RATE": "0",
            "TRADEWIND_LOG_LEVEL": "loud",
            "TRADEWIND_LOG_STYLE": "xml",
        }
    )

    assert sentence == (
        "These settings are wrong: "
        "TRADEWIND_DATABASE_URL must be like "
        "postgresql://user:password@host:5432/database?sslmode=require; "
        "TRADEWIND_DATABASE_POOL must be a whole number from 2 to 200; "
        "TRADEWIND_SECRET_KEY must be 64 hexadecimal digits (32 random bytes), or several, "
        "separated by commas; "
        "TRADEWIND_HOST must be an IP address, such as 127.0.0.1 or ::1, or localhost; "
        "TRADEWIND_PORT must be a whole number from 0 to 65535; "
        "TRADEWIND_DEV_BIND_ANY must be yes or no; "
        "TRADEWIND_PUBLIC_URL must be a URL that starts with http:// or https://; "
        "TRADEWIND_TRUSTED_PROXIES must be a list of networks, separated by commas, such as "
        "10.0.0.0/8,::1/128; "
        "TRADEWIND_CORS_ORIGINS must be a list of origins, separated by commas, such as "
        "https://shop.example; "
        "TRADEWIND_METRICS_LISTEN must be host:port, such as 127.0.0.1:9464; "
        "TRADEWIND_PLANS must be like free=120,pro=1200,enterprise=12000, with 1 to 6000000 "
        "requests a minute; "
        "TRADEWIND_LOGIN_RATE must be a whole number from 1 to 100000; "
        "TRADEWIND_LOG_LEVEL must be one of debug, info, warning, error; "
        "TRADEWIND_LOG_STYLE must be one of json, console."
    )


def test_what_is_missing_is_named_along_with_what_cannot_be_read() -> None:
    sentence = load_error({"TRADEWIND_ENV": "production", "TRADEWIND_PORT": "eighty"})

    assert sentence == (
        "These settings are wrong: TRADEWIND_PORT must be a whole number from 0 to 65535; "
        "TRADEWIND_DATABASE_URL is missing; "
        "TRADEWIND_SECRET_KEY is missing (make one: openssl rand -hex 32); "
        "TRADEWIND_PUBLIC_URL is missing or not https."
    )


def test_a_setting_that_cannot_be_read_is_not_called_missing_as_well() -> None:
    sentence = load_error({**PRODUCTION, "TRADEWIND_SECRET_KEY": "abc"})

    assert sentence == (
        "These settings are wrong: TRADEWIND_SECRET_KEY must be 64 hexadecimal digits (32 random "
        "bytes), or several, separated by commas."
    )


def test_an_unknown_environment_is_not_held_to_the_rules_of_another() -> None:
    sentence = load_error({**PRODUCTION, "TRADEWIND_ENV": "prod", "TRADEWIND_HOST": "0.0.0.0"})  # noqa: S104

    assert sentence == (
        "These settings are wrong: TRADEWIND_ENV must be one of development, production."
    )


@pytest.mark.parametrize(
    ("secret", "sentence"),
    [
        ("", "TRADEWIND_SECRET_KEY is missing (make one: openssl rand -hex 32)"),
        (DEVELOPMENT_SECRET.hex(), SECRET_WANTED),
        ("00" * 32, SECRET_WANTED),
        ("0123456789abcdef" * 4, SECRET_WANTED),
        (f"{SECRET.hex()},{'ab' * 32}", SECRET_WANTED),
    ],
)
def test_production_rejects_a_missing_default_or_weak_secret(secret: str, sentence: str) -> None:
    message = load_error({**PRODUCTION, "TRADEWIND_SECRET_KEY": secret})

    assert message == f"These settings are wrong: {sentence}."
    assert SECRET.hex() not in message


@pytest.mark.parametrize("url", ["", "http://api.example"])
def test_production_rejects_a_public_url_without_https(url: str) -> None:
    assert load_error({**PRODUCTION, "TRADEWIND_PUBLIC_URL": url}) == (
        "These settings are wrong: TRADEWIND_PUBLIC_URL is missing or not https."
    )


def test_production_rejects_what_is_for_development_only() -> None:
    assert load_error({**PRODUCTION, "TRADEWIND_DEV_BIND_ANY": "yes"}) == (
        "These settings are wrong: TRADEWIND_DEV_BIND_ANY is for development only."
    )


@pytest.mark.parametrize(
    "url",
    [
        "mysql://db",
        "db.internal",
        "postgresql://db:port/t",
        "postgresql://db:65536/t",
        "postgresql://[db/t",
        "postgresql://db/t?sslmode=yes",
    ],
)
def test_a_database_url_that_no_driver_can_read_is_rejected(url: str) -> None:
    assert load_error({"TRADEWIND_DATABASE_URL": url}) == (
        "These settings are wrong: TRADEWIND_DATABASE_URL must be like "
        "postgresql://user:password@host:5432/database?sslmode=require."
    )


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.10", "::1", "localhost"])
def test_a_development_server_listens_on_loopback(host: str) -> None:
    chosen = settings.load({"TRADEWIND_DATABASE_URL": DATABASE, "TRADEWIND_HOST": host})

    assert chosen.host == ("127.0.0.1" if host == "localhost" else host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.1.2.3", "192.0.2.1"])  # noqa: S104
def test_a_development_server_rejects_any_other_address_unless_allowed(host: str) -> None:
    environ = {"TRADEWIND_DATABASE_URL": DATABASE, "TRADEWIND_HOST": host}

    assert load_error(environ) == (
        f"These settings are wrong: TRADEWIND_HOST is {host}, but a development server listens on "
        "loopback only (set TRADEWIND_ENV=production, or TRADEWIND_DEV_BIND_ANY=yes)."
    )

    environ["TRADEWIND_DEV_BIND_ANY"] = "yes"
    assert load_error(environ) == (
        "These settings are wrong: TRADEWIND_DEV_BIND_ANY needs a TRADEWIND_SECRET_KEY of your own."
    )
    environ["TRADEWIND_SECRET_KEY"] = SECRET.hex()
    assert settings.load(environ).host == host


def test_lists_are_read_by_comma_and_blanks_do_not_matter() -> None:
    chosen = settings.load(
        {
            **PRODUCTION,
            "TRADEWIND_SECRET_KEY": f"{SECRET.hex()} , {OLD_SECRET.hex()}",
            "TRADEWIND_TRUSTED_PROXIES": "10.0.0.0/8, 192.0.2.7, ::1/128,",
            "TRADEWIND_CORS_ORIGINS": "https://shop.example, http://localhost:3000",
            "TRADEWIND_PLANS": "free=1, pro=2",
            "TRADEWIND_METRICS_LISTEN": "[::1]:9464",
            "TRADEWIND_PUBLIC_URL": " https://api.example/ ",
        }
    )

    assert chosen.secret_key == (SECRET, OLD_SECRET)
    assert chosen.trusted_proxies == tuple(
        map(ip_network, ("10.0.0.0/8", "192.0.2.7/32", "::1/128"))
    )
    assert chosen.cors_origins == ("https://shop.example", "http://localhost:3000")
    assert chosen.plans == {"free": 1, "pro": 2, "enterprise": 12000}
    assert chosen.metrics_listen == ("::1", 9464)
    assert chosen.public_url == "https://api.example"


def test_a_file_is_read_and_the_environment_wins_over_it(tmp_path: Path) -> None:
    file = tmp_path / "tradewind.toml"
    file.write_text(
        f'database_url = "{DATABASE}"\n'
        "port = 9000\n"
        "login_rate = 5\n"
        'trusted_proxies = ["10.0.0.0/8", "::1/128"]\n'
    )

    chosen = settings.load({"TRADEWIND_CONFIG": str(file), "TRADEWIND_PORT": "9001"})

    assert chosen.database_url == DATABASE
    assert (chosen.port, chosen.login_rate) == (9001, 5)
    assert chosen.trusted_proxies == tuple(map(ip_network, ("10.0.0.0/8", "::1/128")))


def test_an_unknown_key_in_the_file_is_rejected_along_with_wrong_values(tmp_path: Path) -> None:
    file = tmp_path / "tradewind.toml"
    file.write_text('database_url = "postgresql:///t"\nprot = 1\nTRADEWIND_PORT = 2\nport = "x"\n')

    assert load_error({"TRADEWIND_CONFIG": str(file)}) == (
        f"These settings are wrong: {file} sets TRADEWIND_PORT, which is not a setting; "
        f"{file} sets prot, which is not a setting; "
        "TRADEWIND_PORT must be a whole number from 0 to 65535."
    )


@pytest.mark.parametrize("content", [None, b"port = ", b"\xff\xfe"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "tradewind.toml"
    if content is not None:
        file.write_bytes(content)

    sentence = load_error({"TRADEWIND_DATABASE_URL": DATABASE, "TRADEWIND_CONFIG": str(file)})

    assert sentence.startswith(
        f"These settings are wrong: TRADEWIND_CONFIG names {file}, which cannot be read ("
    )


def test_variables_that_look_like_ours_but_are_none_are_listed() -> None:
    environ = {
        **PRODUCTION,
        "TRADEWIND_CONFIG": "",
        "TRADEWIND_PROT": "80",
        "TRADEWIND_DATABASE": "x",
        "PATH": "/bin",
    }

    assert settings.unknown_variables(environ) == ["TRADEWIND_DATABASE", "TRADEWIND_PROT"]
    assert settings.load(environ).port == 8000


def test_marketplaces_are_set_by_variables_or_tables(tmp_path: Path) -> None:
    file = tmp_path / "tradewind.toml"
    file.write_text('[platform.alibaba]\nurl = "https://file.example"\nrate = 30\n')
    environ = {
        "TRADEWIND_CONFIG": str(file),
        "TRADEWIND_PLATFORM_ALIBABA_URL": "https://environment.example/",
        "TRADEWIND_PLATFORM_TAOBAO_APP_KEY": "k",
        "TRADEWIND_PLATFORM_TAOBAO_APP_SECRET": "s",
    }

    result = settings.load({**environ, "TRADEWIND_DATABASE_URL": DATABASE}).platforms

    assert result == {
        "alibaba": PlatformSettings(url="https://environment.example", rate=30),
        "taobao": PlatformSettings(app_key="k", app_secret="s"),
    }
    assert "app_secret" not in repr(result)
    environ["TRADEWIND_PLATFORM_TAOBAO_RATE"] = "fast"
    environ["TRADEWIND_PLATFORM_TAOBAO_COLOUR"] = "red"
    assert load_error({**environ, "TRADEWIND_DATABASE_URL": DATABASE}) == (
        "These settings are wrong: TRADEWIND_PLATFORM_TAOBAO_RATE must be a whole number from 1 to "
        "6000000; TRADEWIND_PLATFORM_TAOBAO_COLOUR is not a setting of a marketplace."
    )


def test_production_sends_no_secret_of_a_marketplace_in_clear() -> None:
    environ = {
        **PRODUCTION,
        "TRADEWIND_PLATFORM_ALIBABA_URL": "http://gw.example",
        "TRADEWIND_PLATFORM_TAOBAO_URL": "http://127.0.0.1:8688/rest",
        "TRADEWIND_PLATFORM_TAOBAO_APP_KEY": "1",
    }

    assert load_error(environ) == (
        "These settings are wrong: TRADEWIND_PLATFORM_TAOBAO_APP_KEY and …_APP_SECRET must be set "
        "together; "
        "TRADEWIND_PLATFORM_ALIBABA_URL is not https: its secrets would travel in clear."
    )


def test_production_takes_no_published_demo_secret() -> None:
    for platform, market in MARKETPLACES.items():
        assert market.demo is not None
        prefix = f"TRADEWIND_PLATFORM_{platform.upper()}_APP_"
        demo = {prefix + "KEY": market.demo.app_key, prefix + "SECRET": market.demo.app_secret}

        assert load_error({**PRODUCTION, **demo}) == (
            f"These settings are wrong: {prefix}SECRET is a published demo secret."
        )
