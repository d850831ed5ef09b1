"""The reports of a life: one at a time, with all that is to be said by then."""

import logging
from typing import Any, Dict, List

from .attempts import GENERAL
from .journal import Sent
from .polls import MS, SECOND
from .wire import CallFailed, Refused, Server

log = logging.getLogger("platform_scheduler")

# How often lines, progress and checkpoints are sent.
FLUSH = 500 * MS
# How long a report may take: the server answers within two seconds.
REPORT_SECONDS = 15.0
# How long the body of a report may be; the server refuses over 1 MiB.
MAX_BODY = 1_000_000


class Reports:
    """The part of a session that tells what became of runs."""

    def _say(self, urgent: bool) -> None:
        """Makes a report go: now, or within half a second."""
        if self.report_at is not None and not urgent:
            return
        with self.cond:
            at = self.worker.clock.now() + (0 if urgent else FLUSH)
            if self.report_at is None or (at < self.report_at and not self.report_failed):
                self.report_at = at
                self.cond.notify_all()

    def _reports(self) -> None:
        line = self._line()
        while True:
            with self.cond:
                while not self.closed:
                    now = self.worker.clock.now()
                    if self.report_at is not None and self.report_at <= now:
                        break
                    self.cond.wait(1.0 if self.report_at is None else max(self.report_at - now, MS) / SECOND)
                if self.closed or self.life.over(now):
                    self.cond.notify_all()
                    return
                self.report_at = None
                server = self.worker.servers.now()
                items, sent, more = self._items(now, server)
            if not items:
                continue
            try:
                answer = line.call(server, self.path + "/report", {"epoch": self.life.epoch, "items": items}, REPORT_SECONDS)
                with self.cond:
                    self._reported(answer, sent, more, server)
            except (CallFailed, Refused) as e:
                with self.cond:
                    self._report_failed(e, sent, server)
            except Exception:
                log.exception("the answer of %s cannot be used", server)
                with self.cond:
                    self._report_failed(CallFailed("an answer that cannot be used"), sent, server)

    def _items(self, now: int, server: Server) -> Any:
        if server != self.report_server:  # another one may not know what the former one had not stored yet
            self.report_server = server
            for a in self.actives.values():
                a.journal.again()
        items: List[Dict[str, Any]] = []
        sent: List[Sent] = []
        size = 0
        # Ends first: they free slots.
        for a in sorted(self.actives.values(), key=lambda a: a.run is not None):
            made = a.journal.item(now, MAX_BODY)
            if made is None:
                continue
            item, of, bytes_of = made
            if items and (size + bytes_of > MAX_BODY or len(items) >= self.batch):
                return items, sent, True
            items.append(item)
            sent.append(of)
            size += bytes_of
        return items, sent, False

    def _reported(self, answer: Dict[str, Any], sent: List[Sent], more: bool, server: Server) -> None:
        if self.closed:
            return
        now = self._now()
        self.report_failed, self.batch = 0, self.max_items
        answers = {(str(i.get("executionId")), i.get("token")): i for i in answer.get("items") or []}
        again = more
        for s in sent:
            active = self.actives.get(s.attempt)
            got = answers.get((s.attempt.execution, s.attempt.token))
            if active is None or got is None:
                again = True
                continue
            receipt = str(got.get("receipt") or "")
            active.journal.taken(s, got.get("line"))
            if not s.end:
                if receipt == "STALE":
                    active.journal.meagre()
            elif receipt and self.life.receipt(s.attempt, receipt, now):
                del self.actives[s.attempt]
            else:
                again = True
                self.report_failed = 1
        if self.report_failed:
            self.worker.servers.next(server)
        due = [a.journal.due for a in self.actives.values()]
        if self.report_failed:
            self._report_again(now + 200 * MS)
        elif again or True in due:
            self._report_again(now)
        elif False in due:
            self._report_again(now + FLUSH)
        if self.poll_at is None and self.parked_free == 0 and self.life.free()[GENERAL] > self.worker.leftovers():
            if not self.life.stopping:
                self._poll_soon(now)
        self.cond.notify_all()

    def _report_failed(self, e: Exception, sent: List[Sent], server: Server) -> None:
        if self.closed:
            return
        if self.report_failed == 0:
            log.warning("report: %s", e)
        now = self._now()
        if isinstance(e, Refused) and e.code == "epoch_lost":
            self.life.lost()
            self.cond.notify_all()
            return
        self.report_failed += 1
        if isinstance(e, Refused) and e.status in (400, 413, 422):
            # One item spoils the others: they go in smaller parts, and the one alone goes without its texts.
            if len(sent) == 1 and sent[0].attempt in self.actives:
                self.actives[sent[0].attempt].journal.meagre()
            self.batch = max(len(sent) // 2, 1)
        else:
            self.worker.servers.next(server)
        self._report_again(now + max(self._back_off(self.report_failed, e), 50 * MS))

    def _report_again(self, at: int) -> None:
        self.report_at = at if self.report_at is None else min(self.report_at, at)
        self.cond.notify_all()
