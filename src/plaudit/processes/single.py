"""One worker process that is called and waited for; it is started at the first call and again after it was lost.

A call that does not return the answer of its worker ends the worker, so no call can read the answer of another.

For callers that need a process they can lose: code that may hang or crash below Python, such as a database engine.
"""

import atexit
import os
import pickle
import select
import threading
import time
from contextlib import suppress

from plaudit.errors import ScoringFailed
from plaudit.processes.child import ChildProcess, Template, describe_exit
from plaudit.processes.pool import NO_LIMITS, Limits, PoolUnit, template_of
from plaudit.processes.worker import Service

MAX_ANSWER = 1 << 24
START_S = 60.0


class WorkerLost(ScoringFailed):
    """The worker died in a call, or was killed since the call took too long."""

    def __init__(self, message: str, exit_code: int | None = None) -> None:
        super().__init__(message)
        self.exit_code = exit_code
        """Negative for a signal; None where the worker was killed by this process."""


class SingleWorker:
    """Calls a service in one worker process, one call at a time; a forked process starts a worker of its own."""

    def __init__(self, service: Service, limits: Limits = NO_LIMITS) -> None:
        self._service, self._limits = service, limits
        self._lock = threading.Lock()
        self._template: Template | None = None
        self._process: ChildProcess | None = None
        self.pid: int | None = None
        """The process id of the last worker that was started."""
        atexit.register(self.close)
        os.register_at_fork(after_in_child=self._forget)

    def call(self, body: bytes, wall_s: float) -> bytes:
        """The result for a body; WorkerLost where there is none after `wall_s` seconds, or the worker died."""
        with self._lock:
            try:
                process = self._process or self._start()
                process.send(PoolUnit(body, 1).message())
                return self._receive(process, wall_s)[1:]  # after the kind of the message
            except BaseException:  # its answer would be read by the next call
                self._end_worker()
                raise

    def end_worker(self) -> None:
        """End the worker, so that nothing of the last calls is left; the next call starts another one."""
        with self._lock:
            self._end_worker()

    def close(self) -> None:
        """End the worker and its template."""
        with self._lock:
            self._end_worker()
            if self._template is not None:
                self._template.close()
                self._template = None

    def _forget(self) -> None:
        self._lock, self._template, self._process = threading.Lock(), None, None

    def _start(self) -> ChildProcess:
        if self._template is None:
            self._template = template_of(self._service, self._limits)
        self._process = self._template.start_worker(MAX_ANSWER)
        os.set_blocking(self._process.writing, True)  # it waits for nothing else
        greeting = pickle.loads(self._receive(self._process, START_S))
        if "refusal" in greeting:
            raise ScoringFailed(f"a worker process did not start: {greeting['refusal']}")
        self.pid = greeting["pid"]
        return self._process

    def _receive(self, process: ChildProcess, wall_s: float) -> bytes:
        """The next message of the worker; WorkerLost if there is none."""
        until = time.monotonic() + wall_s
        arrivals = select.poll()
        arrivals.register(process.reading, select.POLLIN)
        while (left := until - time.monotonic()) > 0:
            if arrivals.poll(1e3 * left):
                if messages := process.receive():
                    return messages[0]
                if process.has_ended:
                    code = process.exit_code()
                    raise WorkerLost(f"the worker process died: {describe_exit(code)}", code)
        raise WorkerLost(f"no answer within {wall_s:g} s")

    def _end_worker(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with suppress(OSError):
                process.kill()
