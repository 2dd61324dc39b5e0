"""The server and the credentials that client commands use: where they come from, and are kept."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from tradewind.dev import data_dir
from tradewind.errors import TradewindError
from tradewind.settings import settings

URL_VARIABLE = "TRADEWIND_URL"
KEY_VARIABLE = "TRADEWIND_API_KEY"


class NotLoggedIn(TradewindError):
    """No server is known, or no credentials for it."""


class WrongUrl(TradewindError):
    """A text is not the URL of a server."""


class SavedLogin(msgspec.Struct, frozen=True, omit_defaults=True):
    """A server with an API key, or with the tokens of a session."""

    url: str
    api_key: str | None = None
    access_token: str | None = None
    refresh_token: str | None = None


def current_login() -> SavedLogin:
    """The login of this command: the environment, else `tradewind login`, else `tradewind dev`.

    What was saved for one server is never sent to another.
    """
    url, key = os.environ.get(URL_VARIABLE, ""), os.environ.get(KEY_VARIABLE, "")
    known = [login for login in (saved_login(), _demo_login()) if login is not None]
    if url:
        known = [login for login in known if login.url == server_url(url)]
    if key and (url or known):
        return SavedLogin(server_url(url) if url else known[0].url, api_key=key)
    if known:
        return known[0]
    if url:
        raise NotLoggedIn(f"Nobody is logged in at {url}; run `tradewind login {url}`.")
    raise NotLoggedIn(
        f"Nobody is logged in; run `tradewind login`, or set {URL_VARIABLE} and {KEY_VARIABLE}."
    )


def default_url() -> str | None:
    """The server to log in at when none is named."""
    demo = _demo_login()
    return os.environ.get(URL_VARIABLE) or (demo.url if demo else None)


def saved_login() -> SavedLogin | None:
    path = _path()
    try:
        return msgspec.json.decode(path.read_bytes(), type=SavedLogin)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise NotLoggedIn(f"{path} cannot be read ({error}); run `tradewind login`.") from None


def save_login(login: SavedLogin) -> Path:
    """Keep a login for later commands, readable only by its owner."""
    with _locked():
        return _write(login)


def replace_login(before: SavedLogin, after: SavedLogin) -> None:
    """Keep renewed tokens, unless another login was saved or deleted in the meantime."""
    with _locked(), suppress(NotLoggedIn):
        if saved_login() == before:
            _write(after)


def delete_login() -> None:
    with _locked():
        _path().unlink(missing_ok=True)


@contextmanager
def _locked() -> Iterator[None]:
    """Keep other commands from changing the saved login."""
    path = _path()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with path.with_suffix(".lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _write(login: SavedLogin) -> Path:
    path = _path()
    new = path.with_suffix(f".{os.getpid()}.new")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(msgspec.json.format(msgspec.json.encode(login)) + b"\n")
    new.replace(path)
    return path


def server_url(text: str) -> str:
    """The URL of a server as it is compared and saved: no path, and `http` for this machine."""
    text = text.strip()
    if "://" not in text:
        text = f"{'http' if _is_local(urlsplit(f'//{text}').hostname) else 'https'}://{text}"
    try:
        parts = urlsplit(text)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        raise WrongUrl(f"{text} is not a URL.") from None
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise WrongUrl(f"{text} is not the URL of a server, such as https://tradewind.example.com.")
    if parts.username or parts.query or parts.fragment or parts.path.rstrip("/") not in {"", "/v1"}:
        raise WrongUrl(f"{text} has more than scheme, host and port; leave the rest out.")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}{port}"


def is_readable_on_the_way(url: str) -> bool:
    """Whether credentials for this server would cross a network unencrypted."""
    parts = urlsplit(url)
    return parts.scheme == "http" and not _is_local(parts.hostname)


def _is_local(host: str | None) -> bool:
    if host is None or host == "localhost":
        return host is not None
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _demo_login() -> SavedLogin | None:
    """The demo buyer of `tradewind dev`, while it runs on this machine and the data directory."""
    folder = Path(os.environ.get(settings.PREFIX + "DATA_DIR") or "./data").expanduser()
    running = data_dir.running(folder)
    # The directory may be anybody's: a server elsewhere gets no credentials because of it.
    if running is None or not _is_local(urlsplit(running.url).hostname):
        return None
    return SavedLogin(running.url, api_key=data_dir.secrets_of(folder).buyer.api_key)


def _path() -> Path:
    configured = os.environ.get("XDG_CONFIG_HOME", "")
    # As the XDG specification says: a relative path is to be ignored.
    folder = Path(configured) if configured.startswith("/") else Path.home() / ".config"
    return folder / "tradewind" / "login.json"
