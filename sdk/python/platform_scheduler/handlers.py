"""Handlers: how they get their arguments, where they run, and what their end means."""

import asyncio
import contextvars
import inspect
import json
import threading
import traceback
from typing import Any, Callable, Dict, Optional

from . import texts
from .run import CANCEL, LOST, SHUTDOWN, TIMEOUT, Fatal, RetryAfter, Run, Stopped, _current

# The longest stack that goes into the log of a run, in bytes.
STACK = 8 << 10
# A longer wait for the next attempt is cut to this.
RETRY_SECONDS = 24 * 3600.0

End = Dict[str, Any]

_STATUS = {TIMEOUT: "TIMEOUT", CANCEL: "CANCELLED", "replaced": "CANCELLED", SHUTDOWN: "RELEASED"}


class Handler:
    """A function of the user, called with the run and with fields of its data by name."""

    def __init__(self, name: str, function: Callable[..., Any]):
        if not callable(function):
            raise ValueError(f"the handler {name!r} is no function")
        if not name or name.strip() != name or len(name) > 255 or not name.isprintable():
            raise ValueError(f"{name!r} is no name of a handler: 1 to 255 characters without outer spaces")
        self.name, self.function = name, function
        self.is_async = inspect.iscoroutinefunction(function)
        self._wants_run = ""
        self._all = False
        self._fields: Dict[str, bool] = {}  # whether it must be there
        for p in inspect.signature(function).parameters.values():
            if p.kind is p.VAR_KEYWORD:
                self._all = True
            elif p.kind in (p.VAR_POSITIONAL, p.POSITIONAL_ONLY):
                raise ValueError(f"the handler {name!r} has a parameter {p.name!r} that cannot be given by name")
            elif not self._wants_run and not self._fields and (p.annotation in (Run, "Run") or p.name == "run"):
                self._wants_run = p.name
            else:
                self._fields[p.name] = p.default is p.empty

    def arguments(self, run: Run) -> Dict[str, Any]:
        """The arguments of a call. A field that is missing will be missing at the next attempt, too: Fatal."""
        out = dict(run.data) if self._all else {k: run.data[k] for k in self._fields if k in run.data}
        missing = [k for k, needed in self._fields.items() if needed and k not in out]
        if missing:
            raise Fatal(f"the data of the job have no field {missing[0]!r}, which the handler {self.name!r} needs")
        if self._wants_run:
            out[self._wants_run] = run
        return out


class Loop:
    """The event loop of the handlers that are coroutines, in a thread of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: Optional[asyncio.AbstractEventLoop] = None

    def get(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._serve, args=(self._loop,), name="ps-async", daemon=True).start()
            return self._loop

    @staticmethod
    def _serve(loop: asyncio.AbstractEventLoop) -> None:
        try:
            loop.run_forever()
        finally:
            loop.close()

    def close(self) -> None:
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is not None:
            loop.call_soon_threadsafe(loop.stop)


def start(handler: Handler, run: Run, loop: Loop, done: Callable[[End], None]) -> None:
    """Starts a handler, and calls done with its end. The thread dies with the process, however deaf the handler is."""
    if handler.is_async:
        _start_async(handler, run, loop.get(), done)
        return

    def work() -> None:
        _current.set(run)
        end: End = {"status": "FAILED", "reason": "PANIC", "message": "the handler did not return"}
        try:
            end = _success(handler.function(**handler.arguments(run)))
        except BaseException as e:  # also SystemExit: a handler ends its run, not the worker
            end = _failure(e, run)
        finally:
            done(end)

    context = contextvars.Context()
    threading.Thread(target=context.run, args=(work,), name=f"ps-{handler.name}", daemon=True).start()


def _start_async(handler: Handler, run: Run, loop: asyncio.AbstractEventLoop, done: Callable[[End], None]) -> None:
    async def work() -> None:
        _current.set(run)
        task = asyncio.current_task()
        assert task is not None
        run._on_stop(lambda: loop.call_soon_threadsafe(task.cancel))
        end: End = {"status": "FAILED", "reason": "PANIC", "message": "the handler did not return"}
        try:
            end = _success(await handler.function(**handler.arguments(run)))
        except BaseException as e:
            end = _failure(e, run)
        finally:
            done(end)

    asyncio.run_coroutine_threadsafe(work(), loop)


def _success(result: Any) -> End:
    if result is None:
        text = ""
    elif isinstance(result, str):
        text = result
    elif isinstance(result, (dict, list, tuple)):
        text = json.dumps(result, ensure_ascii=False, default=str)
    else:
        text = str(result)
    return {"status": "SUCCESS", "result": texts.cut(text, texts.RESULT)}


def _failure(e: BaseException, run: Run) -> End:
    """The end of a handler that raised. One that was asked to stop has given up, whatever it raised."""
    own = isinstance(e, (Fatal, RetryAfter, Stopped))
    text = str(e) if own else f"{type(e).__name__}: {e}" if str(e) else type(e).__name__
    reason = run.stop_reason
    if reason:
        quiet = isinstance(e, (Stopped, asyncio.CancelledError))
        message = f"stopped: {reason}" + ("" if quiet else f": {text}")
        return {"status": _STATUS.get(reason, "FAILED"), "message": texts.cut(message, texts.MESSAGE)}
    end: End = {"status": "FAILED", "reason": "ERROR", "message": texts.cut(text, texts.MESSAGE)}
    if isinstance(e, Fatal):
        end["noRetry"] = True
    elif isinstance(e, RetryAfter):
        if e.seconds > 0:
            end["retryAfterMs"] = int(min(e.seconds, RETRY_SECONDS) * 1000)
    elif not isinstance(e, Exception):
        end["reason"] = "PANIC"
    if not own:
        stack = "".join(traceback.format_exception(type(e), e, _own(e.__traceback__)))
        run.log("%s", texts.cut(stack.rstrip("\n"), STACK))
    return end


def _own(trace: Any) -> Any:
    """The stack without the frame of this module."""
    return trace.tb_next if trace is not None and trace.tb_next is not None else trace


__all__ = ["End", "Handler", "Loop", "start", "LOST"]
