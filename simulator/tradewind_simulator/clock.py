"""The simulated clock: real time that can be advanced and run faster."""

from msgspec import Struct

FASTEST = 1_000_000.0


class Clock(Struct):
    """Simulated time, as a line through a point: each change of speed sets a new point."""

    real: float
    world: float
    speed: float = 1.0

    def now(self, real: float) -> float:
        return self.world + max(0.0, real - self.real) * self.speed

    def advance(self, seconds: float, real: float) -> None:
        self.world = self.now(real) + seconds
        self.real = real

    def run_at(self, speed: float, real: float) -> None:
        """Zero stops the clock."""
        self.world = self.now(real)
        self.real = real
        self.speed = speed
