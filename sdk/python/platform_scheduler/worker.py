"""The worker: its settings, its handlers, and its lives one after the other."""

import json
import logging
import os
import platform
import random
import signal
import socket
import sys
import threading
import uuid
from typing import Any, Callable, Dict, List, Optional, Sequence, Union

from .clock import Clock
from .declare import DECLARED_AT_ONCE, declare
from .handlers import Handler, Loop
from .polls import SECOND
from .session import Session
from .wire import CallFailed, Line, Refused, Servers, Token, addresses, tls_context

VERSION = "0.1.0"
PROTOCOL = 1

log = logging.getLogger("platform_scheduler")


class WorkerError(Exception):
    """Why a worker has ended otherwise than by a drain."""


class Worker:
    """Runs jobs of the scheduler inside this program.

    servers: addresses of nodes, as a list or a text with commas. token_file (or token): the token of the worker group;
    the file is read anew when it changes. group: the worker group. instance: the name of this process, the same over
    its restarts; the host name by default. slots: runs at once. grace: how many seconds a drain leaves to runs.
    ca_file: the only authorities to be trusted. allow_plain: plain http also to other machines.
    """

    def __init__(
        self,
        servers: Union[str, Sequence[str]],
        *,
        group: str,
        token_file: Optional[str] = None,
        token: Optional[str] = None,
        instance: Optional[str] = None,
        slots: int = 8,
        labels: Optional[Dict[str, str]] = None,
        weight: int = 1,
        version: str = "",
        grace: float = 30.0,
        ca_file: Optional[str] = None,
        allow_plain: bool = False,
    ):
        if not group:
            raise ValueError("name the worker group: group=…")
        if not 0 < slots <= 1000:
            raise ValueError(f"slots={slots}: a worker has 1 to 1000 slots")
        if grace < 0:
            raise ValueError(f"grace={grace}: the grace is 0 seconds or more")
        self.group, self.instance = group, instance or socket.gethostname()
        self.slots, self.labels, self.weight, self.version = slots, dict(labels or {}), weight, version
        self.grace = grace
        self.servers = Servers(list(addresses(servers, allow_plain)))
        self.token = Token(token, token_file)
        self._tls = tls_context(ca_file)
        self.handlers: Dict[Any, Handler] = {}
        self._declared: List[Dict[str, Any]] = []
        self.clock = Clock()
        self.loop = Loop()
        self.stopping = False
        self._grace_until = 0
        self._lock = threading.Lock()
        self._asked = threading.Event()
        self._drains = False  # a signal asked for it
        self._left: set = set()
        self._session: Optional[Session] = None
        self._thread: Optional[threading.Thread] = None
        self._failure: Optional[BaseException] = None

    def job(
        self, name: str, /, *, schedule: Union[str, Dict[str, Any], None] = None, **declared: Any
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Registers the function below it as the handler of that name (jobClass of jobs).

        With a schedule, or other fields of a job, it also declares a job for it: see declare.
        """

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            self.handle(name, function)
            if schedule is not None or declared:
                self.declare(name, schedule=schedule, **declared)
            return function

        return register

    def handle(self, name: str, function: Callable[..., Any]) -> None:
        """Registers a function as the handler of that name."""
        if name in self.handlers:
            raise ValueError(f"there is a handler {name!r} already")
        if self._thread is not None:
            raise ValueError("the worker has started: register handlers before")
        self.handlers[name] = Handler(name, function)

    def declare(self, handler: str, /, *, schedule: Union[str, Dict[str, Any], None] = None, **fields: Any) -> None:
        """Declares a job for a handler: the servers create it where there is none of its name, and overwrite nothing.

        schedule is a cron expression, or what the field schedule of a job holds. fields are other fields of a job, as in
        its JSON: name (the handler's by default), group, jobData, timeoutSec and so on. A new job fires when a person
        has resumed it. The worker group needs declare.
        """
        if self._thread is not None:
            raise ValueError("the worker has started: declare jobs before")
        if isinstance(schedule, str):
            schedule = {"cronExpression": schedule}
        job = {"name": handler, "jobClass": handler, **({} if schedule is None else {"schedule": schedule}), **fields}
        try:
            json.dumps(job)
        except (TypeError, ValueError) as e:
            raise ValueError(f"the job {job['name']!r} cannot be declared: {e}") from None
        self._declared.append(job)

    def run(self) -> None:
        """Works until SIGTERM or SIGINT, then drains. A second signal ends the process at once.

        Raises WorkerError where it ends otherwise.
        """
        before = {}
        for number in (signal.SIGTERM, signal.SIGINT):
            before[number] = signal.signal(number, self._signalled)
        try:
            self.start()
            # The system may give a signal to any thread, but only this one acts on it, and only once it wakes.
            while not self.join(0.5):
                pass
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _signalled(self, number: int, frame: Any) -> None:
        if self._drains:
            os.write(sys.stderr.fileno(), b"a second signal: the worker ends at once, its runs are lost\n")
            os._exit(1)
        self._drains = True
        # The lock of the session may be held by the code that this signal has interrupted.
        self._asked.set()
        threading.Thread(target=self.stop, name="ps-stop", daemon=True).start()

    def start(self) -> None:
        """Begins to work, in threads of its own."""
        if self._thread is not None:
            raise WorkerError("the worker has started already: make another one")
        self._thread = threading.Thread(target=self._serve, name="ps-worker", daemon=True)
        self._thread.start()

    def stop(self, grace: Optional[float] = None) -> None:
        """Makes the worker drain: nothing new begins, and runs have so many seconds to end. It does not wait."""
        with self._lock:
            if not self.stopping:
                seconds = self.grace if grace is None else grace
                self._grace_until = self.clock.now() + int(seconds * SECOND)
                self.stopping = True
            session = self._session
        self._asked.set()
        if session is not None:
            session.wake()

    def join(self, seconds: Optional[float] = None) -> bool:
        """Waits for the end; False when the time was over before. Raises WorkerError where it is no drain."""
        if self._thread is None:
            return True
        self._thread.join(seconds)
        if self._thread.is_alive():
            return False
        if self._failure is not None:
            raise WorkerError(str(self._failure)) from self._failure
        return True

    # The session uses the rest.

    def grace_until(self, now: int) -> int:
        """When a drain stops what still runs."""
        return self._grace_until if self.stopping else now

    def line(self) -> Line:
        """A connection for one thread."""
        return Line(self.token, self._tls, f"platform-scheduler-python/{VERSION}")

    def leftover(self, active: Any, begins: bool) -> None:
        """Notes handlers that go on although their life is over: they keep their slots."""
        with self._lock:
            (self._left.add if begins else self._left.discard)(active)

    def leftovers(self) -> int:
        """How many handlers of former lives go on."""
        with self._lock:
            return len(self._left)

    def _serve(self) -> None:
        try:
            while not self.stopping:
                self._live()
        except BaseException as e:
            self._failure = e
        finally:
            self.loop.close()

    def _live(self) -> None:
        """One life, from its registration to its end."""
        boot = uuid.uuid4().hex
        line = self.line()
        try:
            entry, sent = self._register(line, boot)
        finally:
            line.close()
        if entry is None:
            return
        session = Session(self, entry, sent)
        with self._lock:
            self._session = session
        log.info("registered as %s, epoch %s", entry["workerId"], entry["epoch"])
        if self._declared:
            # Beside the life: it must not wait for what may fail.
            threading.Thread(target=self._declare, args=(session,), name="ps-declare", daemon=True).start()
        session.serve()
        with self._lock:
            self._session = None
        if session.left:
            log.info("left")
            return
        if session.failure:
            raise WorkerError(session.failure)
        if self.stopping:
            raise WorkerError("the worker could not leave: runs did not end, or no server took their ends in time")
        log.warning("the lease of this life is over: its runs were told that they are lost")

    def _declare(self, session: Session) -> None:
        """Declares the jobs once in each life. What comes of it is logged, and never ends the worker."""
        line = self.line()
        try:
            for at in range(0, len(self._declared), DECLARED_AT_ONCE):
                declare(self, session, line, self._declared[at:at + DECLARED_AT_ONCE])
        except Exception as e:
            log.warning("jobs were not declared: %s", e)
        finally:
            line.close()

    def _register(self, line: Line, boot: str) -> Any:
        """Registers with the first server that answers; None when the worker is stopped before."""
        body = {
            "protocol": PROTOCOL, "group": self.group, "instance": self.instance, "bootId": boot,
            "slots": self.slots, "commandSlots": 0, "handlers": sorted(self.handlers), "labels": self.labels,
            "weight": self.weight, "sdk": f"python/{VERSION}",
            "runtime": f"{platform.python_implementation()} {platform.python_version()}", "version": self.version,
            "host": socket.gethostname(), "pid": os.getpid(),
        }
        failed = refused = 0
        while not self.stopping:
            server = self.servers.now()
            wait = 0.0
            sent = self.clock.now()
            try:
                entry = line.call(server, "/api/v1/workers", body, 15.0)
                _check(entry)
                return entry, sent
            except Refused as e:
                if e.status in (401, 403):
                    refused += 1
                    former, now = self.token.get(), self.token.get(again=True)
                    if former == now and refused > 1:
                        raise WorkerError(f"the server refuses the token of this worker: {e}") from None
                elif e.status < 500 and e.status not in (408, 425, 429) and e.code != "instance_in_use":
                    raise WorkerError(f"the server refuses this worker: {e}") from None
                wait = e.retry_after or (2.0 if e.code == "instance_in_use" else 0.0)
                problem: Exception = e
            except CallFailed as e:
                problem = e
            if failed == 0:
                log.warning("register: %s", problem)
            failed += 1
            self.servers.next(server)
            if failed >= len(self.servers):
                most = min(0.5 * 2 ** min(failed // len(self.servers), 6), 30.0)
                wait = max(wait, random.uniform(0.2, most))
            self._asked.wait(wait)
        return None, 0


def _check(entry: Dict[str, Any]) -> None:
    """Refuses an answer that no server gives."""
    try:
        good = bool(entry["workerId"]) and int(entry["epoch"]) >= 0 and int(entry["leaseMs"]) > 0
    except (KeyError, TypeError, ValueError):
        good = False
    if not good or not str(entry["workerId"]).replace("@", "").replace(".", "").replace("-", "").isalnum():
        raise CallFailed("the answer to the registration is none of a server")


__all__: List[str] = ["VERSION", "Worker", "WorkerError"]
