"""Declaring jobs: the servers create those that are not there."""

import logging
import random
from typing import Any, Dict, List

from .wire import CallFailed, Line, Refused

log = logging.getLogger("platform_scheduler")

# How many jobs one call declares at most.
DECLARED_AT_ONCE = 100
_SECONDS = 30.0
_TRIES = 10
_LONGEST_WAIT = 30.0


def declare(worker: Any, session: Any, line: Line, jobs: List[Dict[str, Any]]) -> None:
    """Declares jobs, and logs what came of each. A call that failed is repeated: it creates nothing twice."""
    body = {"epoch": session.life.epoch, "jobs": jobs}
    for tried in range(1, _TRIES + 1):
        server = worker.servers.now()
        wait = 0.0
        try:
            answer = line.call(server, session.path + "/jobs", body, _SECONDS)
        except Refused as e:
            if e.status < 500 and e.status not in (408, 425, 429) or tried == _TRIES:
                raise
            wait = e.retry_after
        except CallFailed:
            if tried == _TRIES:
                raise
        else:
            _say(answer)
            return
        worker.servers.next(server)
        wait = max(wait, random.uniform(0.1, min(0.25 * 2 ** tried, _LONGEST_WAIT)))
        with session.cond:
            session.cond.wait_for(lambda: session.closed, wait)
            if session.closed:
                return  # the next life declares them


def _say(answer: Dict[str, Any]) -> None:
    jobs = answer.get("jobs")
    for job in jobs if isinstance(jobs, list) else []:
        if not isinstance(job, dict):
            continue
        name, outcome = f"{job.get('group')}/{job.get('name')}", job.get("outcome")
        if outcome == "CREATED":
            log.info("the job %s was created; it fires when somebody has resumed it", name)
        elif outcome == "EXISTS":
            log.info("the job %s exists as it is declared", name)
        elif outcome == "DIFFERS":
            fields = _joined(job, "differs")
            log.warning("the job %s differs in %s from what is declared, and stays as it is", name, fields)
        elif outcome == "REFUSED":
            log.warning("the job %s was refused: %s", name, _joined(job, "errors"))


def _joined(job: Dict[str, Any], field: str) -> str:
    parts = job.get(field)
    return ", ".join(
        f"{p.get('field')}: {p.get('message')}" if isinstance(p, dict) else str(p)
        for p in (parts if isinstance(parts, list) else [])
    )
