"""One life of a worker: its polls, its reports, and the watch over its lease, its time-outs and its end."""

import logging
import threading
from typing import Any, Dict, List, Optional

from .attempts import Attempt, Entry, Life
from .polls import MS, SECOND, SLACK_SECONDS, Active, Polls
from .reports import Reports
from .run import LOST, SHUTDOWN, TIMEOUT
from .wire import CallFailed, Line, Refused, Server

log = logging.getLogger("platform_scheduler")

# How long handlers that ignore the stop of a shutdown are waited for.
DEAF = 10 * SECOND


class Session(Polls, Reports):
    """What a worker does between a registration and the end of its lease, or its leave."""

    def __init__(self, worker: Any, entry: Dict[str, Any], sent: int):
        self.worker = worker
        self.cond = threading.Condition()
        self.path = f"/api/v1/workers/{entry['workerId']}"
        lease = int(entry["leaseMs"]) * MS
        self.life = Life(Entry(int(entry["epoch"]), lease, (worker.slots, 0)), sent)
        self.beat = max(int(entry.get("beatMs") or 10_000), 1) * MS
        self.wait = min(max(int(entry.get("waitMs") or 10_000), 0), 20_000)
        self.max_items = max(int(entry.get("maxItems") or 500), 1)
        self.actives: Dict[Attempt, Active] = {}
        self.closed = False
        self.left = False
        self.failure = ""  # why the servers refuse this worker
        self.draining = False
        now = worker.clock.now()
        # When the next poll is sent; None while one is parked that need not be renewed.
        self.poll_at: Optional[int] = now
        self.polled_at = now
        self.parked_free = worker.slots
        self.stop_answered = False
        self.idle = self.pollers = 0
        self.quick = self.failed = 0
        self.report_at: Optional[int] = None
        self.report_failed = 0
        self.batch = self.max_items
        self.report_server: Optional[Server] = None
        self.lines: List[Line] = []

    def serve(self) -> None:
        """Works until the life is over, or the worker has left."""
        with self.cond:
            self._poller()
        self._thread(self._reports, "ps-report")
        try:
            with self.cond:
                while not self._watch():
                    self.cond.wait(self._pause() / SECOND)
        finally:
            self._close()

    def _watch(self) -> bool:
        """Looks at the clock; true when this life ends here."""
        now = self._now()
        if self.life.over(now):
            return True
        for a in self.actives.values():
            if a.run is not None and a.deadline and a.deadline <= now:
                a.deadline = 0
                a.run.stop(TIMEOUT)
        if self.poll_at is None and now - self.polled_at > self.beat + max(self.beat // 7, SECOND // 2):
            self.worker.servers.next(self.polled_server)  # that poll hangs: the beat goes another way
            self._poll_soon(now)
        if self.worker.stopping:
            return self._drain(now)
        return False

    def _drain(self, now: int) -> bool:
        if not self.life.stopping:
            self.life.stop()
            self._poll_soon(now)
        grace = self.worker.grace_until(now)
        if now >= grace:
            for a in self.actives.values():
                if a.run is not None:
                    a.run.stop(SHUTDOWN)
        deaf = now >= grace + DEAF
        # A poll that is under way must not reach a server after the leave. One that hangs is waited for until then.
        if deaf or (not self.under_way() and (self.stop_answered or now >= grace)):
            self.left = self.life.leave() is not None
        return deaf or self.left

    def _pause(self) -> int:
        """How long the watch may sleep."""
        now = self.worker.clock.now()
        at = min(self.life.until, self.polled_at + self.beat + max(self.beat // 7, SECOND // 2), now + SECOND)
        for a in self.actives.values():
            if a.deadline:
                at = min(at, a.deadline)
        if self.worker.stopping:
            grace = self.worker.grace_until(now)
            at = min(at, grace if now < grace else grace + DEAF)
        return max(at - now, MS)

    def _now(self) -> int:
        """The moment; a sleep of the machine is told to the life first."""
        gap = self.worker.clock.slept()
        if gap:
            log.warning("the machine slept for %.1f s", gap / SECOND)
            self.life.slept(gap)
            self._poll_soon(self.worker.clock.now())
        return self.worker.clock.now()

    def _close(self) -> None:
        with self.cond:
            self.closed = True
            self.life.lost()
            lost = [a for a in self.actives.values() if a.run is not None]
            self.cond.notify_all()
            lines = list(self.lines)
        for a in lost:
            self.worker.leftover(a, True)
            if a.run is not None:
                a.run.stop(LOST)
        if self.left:
            line = self.worker.line()
            lines.append(line)
            try:
                line.call(self.worker.servers.now(), self.path + "/leave", {"epoch": self.life.epoch}, SLACK_SECONDS)
            except (CallFailed, Refused) as e:
                log.warning("leave: %s", e)
        for line in lines:
            line.close()

    def _thread(self, target: Any, name: str) -> None:
        """Starts a thread of this life. A worker without one of them would be deaf: its life ends."""

        def work() -> None:
            try:
                target()
            except Exception as e:
                log.exception("a thread of the worker has ended")
                with self.cond:
                    self.failure = f"a fault of the worker: {type(e).__name__}: {e}"
                    self.life.lost()
                    self.cond.notify_all()

        threading.Thread(target=work, name=name, daemon=True).start()

    def wake(self) -> None:
        with self.cond:
            self.cond.notify_all()

    def _line(self) -> Line:
        line = self.worker.line()
        with self.cond:
            self.lines.append(line)
        return line
