"""The applications that may call: three with public demo credentials, or those of a variable."""

from tradewind_simulator.errors import CannotRun
from tradewind_simulator.model import App, Dialect

DEFAULT = (
    App(
        name="sandbox",
        key="1000001",
        secret="sandbox-demo-secret",  # noqa: S106 - public on purpose, as all here
        dialect=Dialect.ALIBABA,
        access_token="sandbox-demo-access-token",  # noqa: S106
        refresh_token="sandbox-demo-refresh-token",  # noqa: S106
        buyer_id=2_208_000_001,
    ),
    App(
        name="alibaba",
        key="1000002",
        secret="alibaba-demo-secret",  # noqa: S106
        dialect=Dialect.ALIBABA,
        access_token="alibaba-demo-access-token",  # noqa: S106
        refresh_token="alibaba-demo-refresh-token",  # noqa: S106
        buyer_id=2_208_000_002,
    ),
    App(
        name="taobao",
        key="500003",
        secret="taobao-demo-secret",  # noqa: S106
        dialect=Dialect.TAOBAO,
        access_token="taobao-demo-access-token",  # noqa: S106
        refresh_token="taobao-demo-refresh-token",  # noqa: S106
        buyer_id=2_208_000_003,
    ),
)


class BadApps(CannotRun):
    def __init__(self, text: str) -> None:
        super().__init__(
            f"TRADEWIND_SANDBOX_APPS holds {text!r}; each app is name:dialect:key:secret, "
            "with commas between them, the dialect alibaba or taobao, names and keys unique."
        )


def read(text: str) -> tuple[App, ...]:
    """`name:dialect:key:secret`, separated by commas; nothing means the three demo apps.

    The tokens follow from the name: `{name}-demo-access-token`, `{name}-demo-refresh-token`.
    """
    if not text.strip():
        return DEFAULT
    apps = tuple(_app(part.strip(), at) for at, part in enumerate(text.split(",")))
    if len({app.name for app in apps}) < len(apps) or len({app.key for app in apps}) < len(apps):
        raise BadApps(text)
    return apps


def _app(text: str, at: int) -> App:
    name, _, rest = text.partition(":")
    dialect, _, rest = rest.partition(":")
    key, _, secret = rest.partition(":")
    if not (name and key and secret) or dialect not in list(Dialect):
        raise BadApps(text)
    return App(
        name=name,
        key=key,
        secret=secret,
        dialect=Dialect(dialect),
        access_token=f"{name}-demo-access-token",
        refresh_token=f"{name}-demo-refresh-token",
        buyer_id=2_208_000_101 + at,
    )
