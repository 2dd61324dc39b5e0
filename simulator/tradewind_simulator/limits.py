"""The rate limit of an application, in calls a second."""


class Limits:
    """A bucket for each app that holds one second's worth of calls."""

    def __init__(self) -> None:
        self.per_second: float | None = None
        self._level: dict[str, tuple[float, float]] = {}

    def set(self, per_second: float | None) -> None:
        self.per_second = per_second
        self._level.clear()

    def allow(self, app: str, real: float) -> bool:
        if self.per_second is None:
            return True
        size = max(1.0, self.per_second)
        level, since = self._level.get(app, (size, real))
        level = min(size, level + (real - since) * self.per_second)
        if level < 1:
            self._level[app] = (level, real)
            return False
        self._level[app] = (level - 1, real)
        return True
