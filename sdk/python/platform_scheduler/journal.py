"""What an attempt has said and the server does not have yet."""

import json
import threading
from collections import deque
from typing import Any, Callable, Deque, Dict, List, NamedTuple, Optional, Tuple

from . import texts
from .attempts import Attempt

# The bytes of lines that are kept until the server has them. Beyond, the oldest go.
KEPT = 256 << 10
# The bytes of lines that go into one report, and that make one go at once.
BATCH = 64 << 10


class Sent(NamedTuple):
    """What an item held, so that its answer can be understood."""

    attempt: Attempt
    line: int
    said: int
    end: bool


class Journal:
    """Lines, progress, checkpoint and end of an attempt. It is safe for concurrent use."""

    def __init__(self, attempt: Attempt, number: int, wake: Callable[[bool], None]):
        """Calls wake when there is something to send; with True when that should not wait."""
        self.attempt = attempt
        self._number = number
        self._wake = wake
        self._lock = threading.Lock()
        self._lines: Deque[Tuple[str, int]] = deque()  # each with its size
        self._first = 1  # the number of the oldest line that is kept
        self._bytes = 0
        self._dropped = 0  # lines before _first that are missing; a mark takes the number of the newest of them
        self._progress: Optional[int] = None
        self._checkpoint: Optional[str] = None
        self._said = 0  # counts changes of progress and checkpoint
        self._had = 0  # the count that the server has
        self._closed = False
        self._end: Optional[Dict[str, Any]] = None
        self._ended_at = 0

    def log(self, text: str) -> None:
        """Adds the lines of a text."""
        with self._lock:
            if self._closed:
                return
            for line in texts.lines(texts.clean(text)):
                size = len(line.encode("utf-8")) + 1
                self._lines.append((line, size))
                self._bytes += size
            while self._bytes > KEPT:
                self._bytes -= self._lines.popleft()[1]
                self._first += 1
                self._dropped += 1
            urgent = self._bytes >= BATCH
        self._wake(urgent)

    def set_progress(self, percent: int) -> None:
        """Replaces the progress."""
        with self._lock:
            if self._closed or self._progress == percent:
                return
            self._progress = percent
            self._said += 1
        self._wake(False)

    def set_checkpoint(self, state: str) -> None:
        """Replaces the checkpoint."""
        with self._lock:
            if self._closed:
                return
            self._checkpoint = texts.cut(state, texts.RESULT)
            self._said += 1
        self._wake(False)

    def close(self, end: Dict[str, Any], now: int) -> None:
        """Adds the end; what the handler says from here on is dropped."""
        with self._lock:
            self._closed = True
            self._end = end
            self._ended_at = now
            self._had = 0  # the end comes with the last checkpoint, whichever server takes it
        self._wake(True)

    def again(self) -> None:
        """Sends progress and checkpoint once more: another server may not know of them."""
        with self._lock:
            self._had = 0

    def meagre(self) -> None:
        """Drops all that is no end: the server refuses it."""
        with self._lock:
            self._first += len(self._lines)
            self._lines.clear()
            self._bytes = self._dropped = 0
            self._progress = self._checkpoint = None
            self._had = self._said
            if self._end is not None:
                self._end = {**self._end, "result": "", "message": "the server refused what this attempt reported"}

    def item(self, now: int, limit: int) -> Optional[Tuple[Dict[str, Any], Sent, int]]:
        """The next item of a report and its size; None when there is nothing to say. An end goes with the last lines.

        Where all together is larger than the limit, the lines go alone.
        """
        with self._lock:
            lines: List[str] = []
            line_from = self._first
            size = taken = 0
            if self._dropped:
                line_from -= 1
                lines.append(f"… {self._dropped} lines are missing here: they could not be sent in time …")
            for line, bytes_of in self._lines:
                if size + bytes_of > BATCH and taken:
                    break
                lines.append(line)
                size += bytes_of
                taken += 1
            end = self._end if taken == len(self._lines) else None
            if not lines and self._had == self._said and end is None:
                return None
            name = {"executionId": self.attempt.execution, "token": self.attempt.token, "attempt": self._number}
            text = {"lineFrom": line_from, "lines": lines} if lines else {}
            state: Dict[str, Any] = {}
            if self._had != self._said:
                if self._progress is not None:
                    state["progress"] = self._progress
                if self._checkpoint is not None:
                    state["checkpoint"] = self._checkpoint
            if end is not None:
                state["end"] = {**end, "agoMs": max(now - self._ended_at, 0) // 1_000_000}
            item = {**name, **text, **state}
            bytes_of = _size(item)
            last = line_from + len(lines) - 1
            if bytes_of > limit and lines:
                item = {**name, **text}
                return item, Sent(self.attempt, last, self._had, False), _size(item)
            return item, Sent(self.attempt, last, self._said, end is not None), bytes_of

    def taken(self, sent: Sent, line: Optional[int]) -> None:
        """Drops what a server has: the lines up to line, and what was said until the item was made."""
        with self._lock:
            if self._end is None or sent.end:
                self._had = max(self._had, sent.said)
            upto = sent.line if line is None else min(line, sent.line)
            if upto >= self._first - 1:
                self._dropped = 0
            while self._lines and self._first <= upto:
                self._bytes -= self._lines.popleft()[1]
                self._first += 1

    @property
    def due(self) -> Optional[bool]:
        """Whether a report is to go: True at once, False soon, None not at all."""
        with self._lock:
            if self._end is not None or self._bytes >= BATCH:
                return True
            return False if self._lines or self._dropped or self._had != self._said else None


def _size(item: Dict[str, Any]) -> int:
    return len(json.dumps(item, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")) + 1
