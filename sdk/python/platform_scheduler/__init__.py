"""Jobs of platform-scheduler inside your own program. docs/workers/python.md is the guide."""

from .run import Fatal, LogHandler, RetryAfter, Run, Stopped
from .worker import VERSION as __version__
from .worker import Worker, WorkerError

__all__ = ["Fatal", "LogHandler", "RetryAfter", "Run", "Stopped", "Worker", "WorkerError", "__version__"]
