"""The worker's half of what a worker and a gateway agree on.

Which runs of an answer begin, what a poll lists, until when the worker may work, and what becomes of ends. It reads no
clock and makes no call: the moments are handed in, in nanoseconds of the monotonic clock. It is the same code as
sdk/worker/internal/attempts, which a model drives through every order of messages (docs/workers/delivery.md).
"""

from dataclasses import dataclass, field
from typing import Dict, List, NamedTuple, Optional, Tuple

# For how many leases an ended attempt is remembered, so that it is not begun again.
MEMORY = 2
# Bounds the remembered calls. The moment of a forgotten one renews nothing.
MAX_CALLS = 1024
# The largest difference between wall clock and monotonic clock that is no sleep.
MAX_GAP = 2_000_000_000

GENERAL, COMMAND = 0, 1

# The status of an attempt that did not begin: it uses no attempt of the run.
RETURNED = "RETURNED"
# The receipt of an end that is to be sent again. After any other one the worker drops it.
RETRY = "RETRY"


class Attempt(NamedTuple):
    """Names one start of an execution."""

    execution: str
    token: int


class Taken(NamedTuple):
    """An attempt and the kind of slot that it takes."""

    attempt: Attempt
    kind: int = GENERAL


class Stop(NamedTuple):
    """Asks for the end of an attempt. The reason "lost" says that its end counts nowhere."""

    attempt: Attempt
    reason: str


@dataclass
class Entry:
    """An accepted registration."""

    epoch: int
    lease: int
    slots: Tuple[int, int]


@dataclass
class Poll:
    """The worker's call for work. It lists all that the worker holds at the moment of the call."""

    epoch: int
    seq: int
    ack: int
    free: Tuple[int, int] = (0, 0)
    running: List[Attempt] = field(default_factory=list)
    stopping: bool = False


@dataclass
class Answer:
    """What a poll got. lease_seq names the newest poll whose beat is stored, and lease what was stored with it."""

    seq: int
    lease_seq: int = 0
    lease: int = 0
    runs: List[Taken] = field(default_factory=list)
    cancel: List[Stop] = field(default_factory=list)
    hold: bool = False


@dataclass
class Work:
    """What the worker does after an answer."""

    begin: List[Taken] = field(default_factory=list)
    stop: List[Stop] = field(default_factory=list)


@dataclass
class _Hold:
    """An attempt that takes a slot, until its end has a receipt. The status is empty while the handler runs."""

    run: Taken
    status: str = ""


class Life:
    """What a worker holds under one epoch; not safe for concurrent use.

    When it is over, the worker stops its handlers, draws a new boot id and registers anew. The new life sends nothing
    that the old one held, not even its ends.
    """

    def __init__(self, entry: Entry, sent: int):
        """Makes a life of the answer to a registration that was sent at that moment."""
        self.epoch = entry.epoch
        self.slots = tuple(entry.slots)
        self.seq = 0
        self.ack = 0
        # The polls whose beat may still be stored, oldest first: [seq, moment].
        self._calls: List[List[int]] = [[0, sent]]
        # The longest lease that the worker was told of; the store keeps at least that.
        self.lease = entry.lease
        # When the lease ends. The worker wakes up then and asks over.
        self.until = sent + entry.lease
        self._over = False
        # The newest poll that was sent before the machine slept; its answer begins nothing.
        self._asleep = 0
        self.stopping = False
        self._holds: Dict[Attempt, _Hold] = {}
        # The attempts whose ends have a receipt, and until when they are remembered.
        self._ended: Dict[Attempt, int] = {}

    def poll(self, now: int) -> Poll:
        """Makes the next poll, which is sent now. Answers to former ones deliver nothing from here on."""
        self.seq += 1
        self._calls.append([self.seq, now])
        if len(self._calls) > MAX_CALLS:
            del self._calls[0]
        free = (0, 0) if self.stopping else self.free()
        return Poll(self.epoch, self.seq, self.ack, free, list(self._holds), self.stopping)

    def free(self) -> Tuple[int, int]:
        free = list(self.slots)
        for h in self._holds.values():
            free[h.run.kind] -= 1
        return max(free[0], 0), max(free[1], 0)

    def answer(self, a: Answer, now: int) -> Work:
        """Takes an answer that came now.

        Each one may renew the lease. Runs and stops count only from the answer to the newest poll, once, and while the
        lease holds. A run that it cannot begin is returned: no slot is free, the worker stops, or the machine slept
        since the poll.
        """
        work = Work()
        if self._over:
            return work
        self._renew(a)
        if self.over(now) or a.seq != self.seq or a.seq <= self.ack:
            return work
        self.ack = a.seq
        self._ended = {k: until for k, until in self._ended.items() if until > now}
        for run in a.runs:
            if run.attempt in self._holds or run.attempt in self._ended:
                continue
            hold = _Hold(run)
            if self.stopping or self.free()[run.kind] == 0 or a.seq <= self._asleep:
                hold.status = RETURNED
            else:
                work.begin.append(run)
            self._holds[run.attempt] = hold
        work.stop.extend(stop for stop in a.cancel if stop.attempt in self._holds)
        return work

    def _renew(self, a: Answer) -> None:
        """Moves the end of the lease to the moment at which the stored call was *sent*, plus the lease.

        The store counts from a later moment, so the worker stops first. No answer brings the end forward: the store
        keeps the latest end, too.
        """
        self.lease = max(self.lease, a.lease)
        seq, lease = (a.seq, self.lease) if a.hold else (a.lease_seq, a.lease)
        for i, (number, at) in enumerate(self._calls):
            if number == seq:
                self.until = max(self.until, at + lease)
                if not a.hold:
                    del self._calls[:i]
                return

    def over(self, now: int) -> bool:
        """Reports whether the lease is over; it stays so.

        The worker then tells all handlers that they are lost, sends nothing more of this life and registers anew.
        """
        self._over = self._over or now >= self.until
        return self._over

    def lost(self) -> None:
        """Ends the life, for a gateway that answers that the epoch is not the worker's any more."""
        self._over = True

    def slept(self, gap: int) -> None:
        """Tells the life that the machine slept for so long without its clock.

        The lease went on, so its end comes nearer by as much. The worker calls at once, and begins nothing before the
        answer to that call.
        """
        for call in self._calls:
            call[1] -= gap
        self.until -= gap
        self._asleep = self.seq

    def end(self, attempt: Attempt, status: str) -> None:
        """Notes that the handler of an attempt has ended. The slot stays taken until the receipt."""
        hold = self._holds.get(attempt)
        if hold is not None and not hold.status:
            hold.status = status

    def ends(self) -> List[Tuple[Attempt, str]]:
        """Those without a receipt, oldest first. A life that is over has none."""
        if self._over:
            return []
        return [(a, h.status) for a, h in self._holds.items() if h.status]

    def receipt(self, attempt: Attempt, kind: str, now: int) -> bool:
        """Takes the receipt of an end; true when the end is done with.

        Each but RETRY frees the slot, and the attempt is remembered for two leases: an answer that still delivers it
        was late.
        """
        hold = self._holds.get(attempt)
        if hold is None or kind == RETRY or not hold.status:
            return False
        del self._holds[attempt]
        self._ended[attempt] = now + MEMORY * self.lease
        return True

    def stop(self) -> None:
        """Makes the worker drain: it begins nothing more, and its polls say so."""
        self.stopping = True

    def leave(self) -> Optional[int]:
        """Ends the life of a worker that drains and holds nothing, and returns its epoch; None before."""
        if self._over or not self.stopping or self._holds:
            return None
        self._over = True
        return self.epoch

    def working(self) -> List[Attempt]:
        """The attempts whose handlers run."""
        return [a for a, h in self._holds.items() if not h.status]


def asleep(wall: int, monotonic: int) -> int:
    """For how long the machine slept between two readings of both clocks, where the monotonic one does not count it.

    Small differences are none: wall clocks are set.
    """
    gap = wall - monotonic
    return gap if gap > MAX_GAP else 0
