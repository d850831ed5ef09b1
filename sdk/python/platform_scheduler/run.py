"""One attempt, as its handler sees it."""

import contextvars
import logging
import threading
from datetime import datetime, timezone
from typing import Any, Callable, Dict, Optional, Tuple

# The reasons to stop.
TIMEOUT, CANCEL, SHUTDOWN, LOST = "timeout", "cancel", "shutdown", "lost"

_current: "contextvars.ContextVar[Optional[Run]]" = contextvars.ContextVar("platform_scheduler_run", default=None)


class Fatal(Exception):
    """Fails the run at once, whatever retries its job has."""


class RetryAfter(Exception):
    """Fails the attempt, and asks for the next one after so many seconds, at most 24 hours."""

    def __init__(self, seconds: float, message: str = "the next attempt is asked for later"):
        super().__init__(message)
        self.seconds = seconds


class Stopped(Exception):
    """Ends a handler that was asked to stop; raised by Run.raise_if_stopped and Run.sleep."""

    def __init__(self, reason: str):
        super().__init__(f"the run was stopped: {reason}")
        self.reason = reason


class Run:
    """One attempt. Its methods are safe to call from any thread, and do nothing of note once the handler is done."""

    def __init__(self, delivery: Optional[Dict[str, Any]] = None, journal: Any = None):
        """Makes a run of what a gateway delivers. A test of a handler makes one of the fields that it needs."""
        d = delivery or {}
        self.execution_id: str = d.get("executionId") or ""
        self.job_id: str = d.get("jobId") or ""
        self.job_name: str = d.get("jobName") or ""
        self.group: str = d.get("group") or ""
        self.owner: str = d.get("owner") or ""
        self.handler: str = d.get("handler") or ""
        # Counts starts of the run, from 1.
        self.attempt: int = d.get("attempt") or 1
        # The time that the schedule names, however late the run started.
        self.scheduled_time: Optional[datetime] = _time(d.get("scheduledTime"))
        # This run's share of the work, 0 to shard_total-1.
        self.shard_index: int = d.get("shardIndex") or 0
        self.shard_total: int = max(d.get("shardTotal") or 1, 1)
        # A target that remembers the greatest number seen can refuse an attempt that was replaced.
        self.fencing_token: int = d.get("fencingToken") or 0
        # The same over all attempts and replays of one piece of work.
        self.idempotency_key: str = d.get("idempotencyKey") or ""
        self.job_data: Dict[str, Any] = d.get("data") or {}
        self.params: Dict[str, Any] = d.get("params") or {}
        # The job's data with the trigger's params laid over them, field by field.
        self.data: Dict[str, Any] = {**self.job_data, **self.params}
        self.trace_parent: str = d.get("traceparent") or ""
        self._checkpoint: str = d.get("checkpoint") or ""
        self._journal = journal
        self._asked = threading.Event()
        self._lock = threading.Lock()
        self._reason = ""
        self._wake: Optional[Callable[[], None]] = None

    def __repr__(self) -> str:
        return f"<Run {self.execution_id} of {self.job_name!r}, attempt {self.attempt}>"

    @staticmethod
    def current() -> "Optional[Run]":
        """The run whose handler calls; None outside of handlers and in threads that they start."""
        return _current.get()

    def log(self, text: str, *args: Any) -> "Run":
        """Writes to the run's log, formatted as logging does. Each line of the text is a line of the log."""
        if self._journal is not None:
            self._journal.log(str(text) % args if args else str(text))
        return self

    def progress(self, percent: float) -> "Run":
        """Says how far the work is, 0 to 100."""
        if self._journal is not None:
            self._journal.set_progress(min(max(int(percent), 0), 100))
        return self

    def checkpoint(self, state: Any) -> "Run":
        """Keeps a text that the next attempt, perhaps elsewhere, reads by last_checkpoint.

        Each call replaces the former text. It is stored within a second, not before the call returns. Over 64 KiB it
        is cut.
        """
        with self._lock:
            self._checkpoint = str(state)
        if self._journal is not None:
            self._journal.set_checkpoint(str(state))
        return self

    @property
    def last_checkpoint(self) -> str:
        """The latest checkpoint: this attempt's, or before its first the one of the attempt before. Empty: none."""
        with self._lock:
            return self._checkpoint

    @property
    def stop_reason(self) -> str:
        """Why the run is to stop: "timeout", "cancel", "shutdown" or "lost"; empty while it may go on."""
        return self._reason

    @property
    def stopped(self) -> bool:
        """Whether the run is to stop."""
        return self._asked.is_set()

    def raise_if_stopped(self) -> None:
        """Raises Stopped when the run is to stop."""
        if self._asked.is_set():
            raise Stopped(self._reason)

    def sleep(self, seconds: float) -> None:
        """Sleeps, and raises Stopped as soon as the run is to stop."""
        if self._asked.wait(seconds):
            raise Stopped(self._reason)

    def share(self, count: int) -> Tuple[int, int]:
        """The half-open range of item numbers that are this run's, when count items are spread over all shards."""
        size, rest = divmod(max(count, 0), self.shard_total)
        begin = self.shard_index * size + min(self.shard_index, rest)
        return begin, begin + size + (1 if self.shard_index < rest else 0)

    def stop(self, reason: str) -> bool:
        """Asks the handler to end; the SDK and tests call it. The first reason stays, but "lost" replaces it."""
        with self._lock:
            if self._reason and (reason != LOST or self._reason == LOST):
                return False
            self._reason = reason
            wake = self._wake
        self._asked.set()
        if wake is not None:
            wake()
        return True

    def _on_stop(self, wake: Callable[[], None]) -> None:
        """Calls wake when the run is to stop, also when it already is."""
        with self._lock:
            self._wake = wake
            late = bool(self._reason)
        if late:
            wake()


def _time(text: Any) -> Optional[datetime]:
    """The moment of an RFC 3339 text. Python before 3.11 reads neither Z nor fractions of other lengths."""
    if not text:
        return None
    main, zone = str(text).replace("z", "Z"), "+00:00"
    if main.endswith("Z"):
        main = main[:-1]
    elif len(main) > 6 and main[-6] in "+-":
        main, zone = main[:-6], main[-6:]
    main, _, fraction = main.partition(".")
    try:
        return datetime.fromisoformat(f"{main}.{(fraction + '000000')[:6]}{zone}").astimezone(timezone.utc)
    except ValueError:
        return None


class LogHandler(logging.Handler):
    """Writes what a handler logs by the module logging into the log of its run."""

    def emit(self, record: logging.LogRecord) -> None:
        run = _current.get()
        if run is None:
            return
        try:
            run.log(self.format(record))
        except Exception:  # as the module logging wants it
            self.handleError(record)
