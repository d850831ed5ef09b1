"""The worker that the conformance suite drives. Its settings are variables PS_…, its handlers those of the suite."""

import asyncio
import logging
import os
import sys
import threading
import time

from platform_scheduler import Fatal, RetryAfter, Run, Worker, WorkerError

ledger_lock = threading.Lock()


def note(line: str) -> None:
    """Appends to the ledger: what begins and what ends here."""
    with ledger_lock, open(os.environ["PS_LEDGER"], "a", encoding="utf-8") as f:
        f.write(line + "\n")


def key(run: Run) -> str:
    return f"{run.execution_id}:{run.fencing_token}"


def noted(function):
    """Writes begin and end of a handler into the ledger."""

    def work(run: Run):
        note(f"begin {key(run)}")
        try:
            return function(run)
        finally:
            note(f"end {key(run)} {run.stop_reason or 'returned'}")

    return work


def sleep(run: Run, stops: bool = True):
    until = time.monotonic() + float(run.data.get("ms", 0)) / 1000
    while time.monotonic() < until:
        if stops:
            run.sleep(min(0.02, max(until - time.monotonic(), 0)))
        else:
            time.sleep(0.02)
    return "slept"


def fail(run: Run):
    raise RuntimeError("it failed")


def fatal(run: Run):
    raise Fatal("no use")


def retry_after(run: Run):
    raise RetryAfter(60, "later")


def broken(run: Run):
    raise KeyError("broken")


def write(run: Run):
    for i in range(1, int(run.data.get("lines", 1)) + 1):
        run.log("%s", f"line {i}".ljust(int(run.data.get("size", 0)), "x"))


def progress(run: Run):
    for i in range(1, 101):
        run.progress(i)
    return "done"


def checkpoint(run: Run):
    run.log("last %s", run.last_checkpoint)
    for i in range(1, int(run.data.get("n", 0)) + 1):
        run.checkpoint(f"c{i}")
    return sleep(run)


async def hold_the_loop(run: Run):
    note(f"begin {key(run)}")
    until = time.monotonic() + float(run.data.get("ms", 0)) / 1000
    while time.monotonic() < until:
        pass
    note(f"end {key(run)} returned")
    return "busy"


async def sleep_async(run: Run):
    note(f"begin {key(run)}")
    try:
        await asyncio.sleep(float(run.data.get("ms", 0)) / 1000)
        return "slept"
    finally:
        note(f"end {key(run)} {run.stop_reason or 'returned'}")


def main() -> None:
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(message)s")
    env = os.environ
    worker = Worker(
        env["PS_SERVERS"], token_file=env["PS_TOKEN_FILE"], group=env["PS_GROUP"], instance=env["PS_INSTANCE"],
        slots=int(env.get("PS_SLOTS") or 8), grace=int(env.get("PS_GRACE_MS") or 5000) / 1000,
        ca_file=env.get("PS_CA_FILE") or None,
    )
    for name, function in {
        "ok": lambda run: "ok", "echo": lambda run: run.data.get("text", ""), "fail": fail, "fatal": fatal,
        "retryafter": retry_after, "panic": broken, "sleep": sleep, "deaf": lambda run: sleep(run, stops=False),
        "log": write, "big": lambda run: "ä" * int(run.data.get("bytes", 0)), "progress": progress,
        "checkpoint": checkpoint,
    }.items():
        worker.handle(name, noted(function))
    worker.handle("busy", hold_the_loop)
    worker.handle("async", sleep_async)
    worker.run()


if __name__ == "__main__":
    try:
        main()
    except (WorkerError, ValueError, OSError) as e:
        sys.exit(f"{e}")
