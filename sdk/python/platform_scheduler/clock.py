"""The clocks of a worker. Times of day are never sent, and none of them decides when a lease ends."""

import time

from .attempts import asleep


class Clock:
    """The monotonic clock, and how long it stood still."""

    def __init__(self) -> None:
        self._wall, self._monotonic = self._read()

    @staticmethod
    def now() -> int:
        """The moment, in nanoseconds of the monotonic clock."""
        return time.monotonic_ns()

    @staticmethod
    def _read() -> "tuple[int, int]":
        """A clock that goes on while the machine sleeps, and the monotonic one."""
        if hasattr(time, "CLOCK_BOOTTIME"):
            return time.clock_gettime_ns(time.CLOCK_BOOTTIME), time.monotonic_ns()
        return time.time_ns(), time.monotonic_ns()

    def slept(self) -> int:
        """For how long the machine slept since the last call."""
        wall, monotonic = self._read()
        gap = asleep(wall - self._wall, monotonic - self._monotonic)
        self._wall, self._monotonic = wall, monotonic
        return gap
