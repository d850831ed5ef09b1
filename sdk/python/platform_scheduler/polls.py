"""The polls of a life: one is parked at a server, and a newer one ends it."""

import logging
import random
from typing import Any, Dict, Optional

from . import handlers
from .attempts import COMMAND, GENERAL, RETURNED, Answer, Attempt, Stop, Taken
from .journal import Journal
from .run import LOST, Run
from .wire import CallFailed, Refused, Server

log = logging.getLogger("platform_scheduler")

MS, SECOND = 1_000_000, 1_000_000_000
# How many polls may be under way. One is parked; a newer one ends it, and one may hang at a dead server.
MAX_POLLS = 3
# A server that is gone is noticed so long after the wait of a poll.
SLACK_SECONDS = 5.0


class Active:
    """An attempt that this life holds."""

    def __init__(self, run: Optional[Run], journal: Journal, began: int, deadline: int):
        self.run, self.journal, self.began, self.deadline = run, journal, began, deadline


class Polls:
    """The part of a session that asks for runs and begins them."""

    def _poller(self) -> None:
        """Starts one more thread for polls; the caller holds the lock."""
        if not self.idle and self.pollers < MAX_POLLS:
            self.pollers += 1
            self.idle += 1
            self._thread(self._polls, f"ps-poll-{self.pollers}")

    def under_way(self) -> int:
        """How many polls have no answer yet; the caller holds the lock."""
        return self.pollers - self.idle

    def _poll_soon(self, at: int) -> None:
        if self.poll_at is None or at < self.poll_at:
            self.poll_at = at
        self.cond.notify_all()

    def _polls(self) -> None:
        line = self._line()
        while True:
            with self.cond:
                while not self.closed:
                    now = self._now()
                    if self.poll_at is not None and self.poll_at <= now:
                        break
                    self.cond.wait(1.0 if self.poll_at is None else max(self.poll_at - now, MS) / SECOND)
                if self.closed or self.life.over(now):
                    self.cond.notify_all()
                    return
                body, wait = self._poll_body(now)
                server = self.polled_server = self.worker.servers.now()
                self.idle -= 1
                self._poller()
            try:
                answer = line.call(server, self.path + "/poll", body, wait / 1000 + SLACK_SECONDS)
                with self.cond:
                    self._answered(body, answer, server, now)
            except (CallFailed, Refused) as e:
                with self.cond:
                    self._poll_failed(body["seq"], e, server)
            except Exception:  # an answer that no server gives
                log.exception("the answer of %s cannot be used", server)
                with self.cond:
                    self._poll_failed(body["seq"], CallFailed("an answer that cannot be used"), server)
            with self.cond:
                self.idle += 1
                self.cond.notify_all()

    def _poll_body(self, now: int) -> Any:
        p = self.life.poll(now)
        free = max(p.free[GENERAL] - self.worker.leftovers(), 0)
        wait = min(self.wait, self.beat // MS)
        self.poll_at, self.polled_at, self.parked_free = None, now, free
        return {
            "epoch": p.epoch, "seq": p.seq, "ack": p.ack, "free": free, "freeCommands": 0,
            "running": [f"{a.execution}:{a.token}" for a in p.running], "stopping": p.stopping, "waitMs": wait,
        }, wait

    def _answered(self, body: Dict[str, Any], answer: Dict[str, Any], server: Server, sent: int) -> None:
        if self.closed:
            return
        now = self._now()
        if answer.get("beatMs"):
            self.beat = max(int(answer["beatMs"]), 1) * MS
        if answer.get("waitMs"):
            self.wait = min(max(int(answer["waitMs"]), 0), 20_000)
        if answer.get("drain") and not self.draining:
            log.info("an operator lets this worker run out")
        self.draining = bool(answer.get("drain"))
        deliveries = {}
        for d in answer.get("runs") or []:
            kind = COMMAND if d.get("kind") == "COMMAND" else GENERAL
            deliveries[Taken(Attempt(str(d["executionId"]), int(d["token"])), kind)] = d
        cancel = [
            Stop(Attempt(str(c["executionId"]), int(c["token"])), str(c.get("reason") or "cancel"))
            for c in answer.get("cancel") or []
        ]
        seq = int(answer.get("seq") or 0)
        work = self.life.answer(Answer(
            seq, int(answer.get("leaseSeq") or 0), int(answer.get("leaseMs") or 0) * MS, list(deliveries), cancel,
            bool(answer.get("hold")),
        ), now)
        for taken in work.begin:
            self._begin(taken, deliveries[taken], now)
        for attempt, status in self.life.ends():
            if status == RETURNED and attempt not in self.actives:
                journal = Journal(attempt, int(_of(deliveries, attempt).get("attempt") or 1), self._say)
                self.actives[attempt] = Active(None, journal, now, 0)
                journal.close({"status": RETURNED, "message": "the worker cannot begin it now", "durationMs": 0}, now)
        new = sum(self._stop(stop) for stop in work.stop)
        if body["seq"] != self.life.seq:
            return  # a newer poll is under way
        self.failed = 0
        self.failure = ""
        self.stop_answered = self.stop_answered or body["stopping"]
        quick = not work.begin and not new and now - sent < min(self.beat, self.wait * MS) // 2
        self.quick = self.quick + 1 if quick else 0
        delay = min(50 * MS << min(self.quick - 1, 5), SECOND, self.beat // 2) if self.quick > 1 else 0
        if body["stopping"]:
            delay = max(delay, min(self.beat // 2, SECOND))  # such polls are answered at once
        if answer.get("retryAfterMs"):
            delay = max(delay, min(int(answer["retryAfterMs"]), 60_000) * MS)
            self.worker.servers.next(server)
        self._poll_soon(now + delay)

    def _poll_failed(self, seq: int, e: Exception, server: Server) -> None:
        if self.closed:
            return
        self.worker.servers.next(server)
        if isinstance(e, Refused) and e.code == "epoch_lost":
            log.warning("this life of the worker is over: %s", e)
            self.life.lost()
            self.cond.notify_all()
        if seq != self.life.seq:
            return
        if self.failed == 0:
            log.warning("poll: %s", e)
        self.failed += 1
        delay = self._back_off(self.failed, e)
        self._poll_soon(self._now() + delay)

    def _back_off(self, failed: int, e: Exception) -> int:
        """How long to wait after so many failures: not at all while there are other servers to ask."""
        if isinstance(e, Refused) and e.status in (401, 403):
            self.failure = f"the server refuses the token of this worker: {e}"
            self.worker.token.get(again=True)
        elif failed < len(self.worker.servers):
            return 0
        rounds = failed // len(self.worker.servers)
        delay = random.uniform(0.5, 1.0) * min(0.2 * 2 ** min(rounds, 8), 5.0)
        if isinstance(e, Refused):
            delay = max(delay, e.retry_after)
        return int(delay * SECOND)

    def _begin(self, taken: Taken, delivery: Dict[str, Any], now: int) -> None:
        handler = self.worker.handlers.get(delivery.get("handler")) if taken.kind == GENERAL else None
        journal = Journal(taken.attempt, int(delivery.get("attempt") or 1), self._say)
        if handler is None:
            self.actives[taken.attempt] = Active(None, journal, now, 0)
            self.life.end(taken.attempt, RETURNED)
            message = f"this worker has no handler {str(delivery.get('handler'))[:64]!r}"
            journal.close({"status": RETURNED, "message": message, "durationMs": 0}, now)
            return
        run = Run(delivery, journal)
        limit = int(delivery.get("timeoutMs") or 0)
        active = Active(run, journal, now, now + limit * MS if limit > 0 else 0)
        self.actives[taken.attempt] = active
        try:
            handlers.start(handler, run, self.worker.loop, lambda end: self._ended(active, end))
        except RuntimeError as e:  # the machine gives no more threads
            log.error("a run cannot begin: %s", e)
            self._ended(active, {"status": RETURNED, "message": "the worker has no thread for it"})

    def _stop(self, stop: Stop) -> bool:
        active = self.actives.get(stop.attempt)
        return active is not None and active.run is not None and active.run.stop(stop.reason)

    def _ended(self, active: Active, end: Dict[str, Any]) -> None:
        """Takes the end of a handler, on the thread of that handler."""
        now = self.worker.clock.now()
        end["durationMs"] = (now - active.began) // MS
        with self.cond:
            run, active.run, active.deadline = active.run, None, 0
            if self.closed:
                self.worker.leftover(active, False)
                return
            status = end["status"]
            if run is not None and run.stop_reason == LOST:
                status = end["status"] = "CANCELLED"  # it counts nowhere, and its receipt frees the slot
            self.life.end(active.journal.attempt, status)
            active.journal.close(end, now)


def _of(deliveries: Dict[Taken, Dict[str, Any]], attempt: Attempt) -> Dict[str, Any]:
    for taken, delivery in deliveries.items():
        if taken.attempt == attempt:
            return delivery
    return {}
