"""`pytest --workers N`: collect the tests once, then run them in N forks of the process that collected them.

Imports and collection take half a minute of processor time, which each worker of pytest-xdist would spend again. A file
of tests is one unit of work, so that fixtures of modules are set up once. A test that ends its worker has failed, by
name, and the others of its file run in a new fork.
"""

import atexit
import os
import pickle
import select
import selectors
import socket
import struct
import sys
import tempfile
import traceback
import warnings
from collections import deque
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from plaudit.processes.child import describe_exit

NEXT = "next"
SIZE = struct.Struct("!I")
TOGETHER = pytest.StashKey[dict[str, str]]()
"""For files that share what is costly to start: the name of their common unit of work."""


def pytest_addoption(parser):
    parser.addoption("--workers", type=int, default=0, help="run the tests in so many forks of this process")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session):
    if not session.config.option.workers or session.config.option.collectonly:
        return None
    if session.testsfailed and not session.config.option.continue_on_collection_errors:
        raise session.Interrupted(f"{session.testsfailed} errors during collection")
    Workers(session).run()
    return True


def units_of(session):
    """The indices of the tests of each file, or of files that are one unit of work, in the order of the tests."""
    together = session.config.stash.get(TOGETHER, {})
    units = {}
    for index, item in enumerate(session.items):
        file = item.nodeid.partition("::")[0]
        units.setdefault(together.get(file, file), []).append(index)
    return units


class Workers:
    """The process that collected: assigns units, and reports what the workers send."""

    def __init__(self, session):
        self.session, self.config = session, session.config
        self.units = deque(units_of(session).values())
        self.folder = self.config._tmp_path_factory.getbasetemp()
        self.selector = selectors.DefaultSelector()
        self.workers = []
        self.started = 0

    def run(self):
        for _ in range(min(self.config.option.workers, len(self.units))):
            self._start_worker()
        try:
            while self.workers:
                for key, _ in self.selector.select():
                    if key.data in self.workers:
                        self._read(key.data)
        finally:
            for worker in list(self.workers):
                self._end(worker)

    def _start_worker(self):
        ours, theirs = socket.socketpair()
        folder = self.folder / f"worker{self.started}"
        self.started += 1
        sys.stdout.flush()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of forks among threads
            pid = os.fork()
        if pid == 0:
            code = 3
            try:
                for connection in (ours, *(worker.socket for worker in self.workers)):
                    connection.close()
                code = _work(self.session, theirs, folder)
            finally:
                os._exit(code)
        theirs.close()
        worker = Worker(ours, pid, os.pidfd_open(pid))
        self.workers.append(worker)
        self.selector.register(worker.socket, selectors.EVENT_READ, worker)
        self.selector.register(worker.exit, selectors.EVENT_READ, worker)

    def _read(self, worker):
        """Read a message; a worker that sends none has ended, even if a process that it left holds its socket."""
        message = receive(worker.socket) if select.select([worker.socket], [], [], 0)[0] else None
        if message is None:
            self._bury(worker)
        elif message == NEXT:
            unit = self.units.popleft() if self.units else []
            worker.tests += unit
            send(worker.socket, unit)
        else:
            self._report(worker, *message)

    def _report(self, worker, index, reports, recorded):
        worker.tests.remove(index)
        for warning in recorded:
            self.config.hook.pytest_warning_recorded.call_historic(kwargs=warning)
        for data in reports:
            report = self.config.hook.pytest_report_from_serializable(config=self.config, data=data)
            self.config.hook.pytest_runtest_logreport(report=report)
        if self.session.shouldfail:
            raise self.session.Failed(self.session.shouldfail)
        if self.session.shouldstop:
            raise self.session.Interrupted(self.session.shouldstop)

    def _bury(self, worker):
        """A worker without tests has finished. Otherwise the first of its tests has ended it; the others are left."""
        code = self._end(worker)
        if worker.tests:
            item = self.session.items[worker.tests.popleft()]
            reason = f"the worker ended with {describe_exit(code)} while running {item.nodeid!r}"
            report = pytest.TestReport(item.nodeid, item.location, {}, "failed", reason, "call")
            self.config.hook.pytest_runtest_logreport(report=report)
            if worker.tests:
                self.units.appendleft(list(worker.tests))
            if self.units:
                self._start_worker()

    def _end(self, worker):
        """Close its socket, which it takes as the order to end, and wait for it."""
        self.workers.remove(worker)
        self.selector.unregister(worker.socket)
        self.selector.unregister(worker.exit)
        worker.socket.close()
        os.close(worker.exit)
        return os.waitstatus_to_exitcode(os.waitpid(worker.pid, 0)[1])


@dataclass(eq=False)
class Worker:
    """A fork, seen by the process that assigns units."""

    socket: socket.socket
    pid: int
    exit: int
    """A file descriptor that is readable once the process has ended."""
    tests: deque[int] = field(default_factory=deque)
    """Those that it has been assigned and has not reported."""


class Sender:
    """In a worker: keeps what a test reports until it is over."""

    def __init__(self, config):
        self.config = config
        self.reports, self.recorded = [], []

    def pytest_runtest_logreport(self, report):
        self.reports.append(self.config.hook.pytest_report_to_serializable(config=self.config, report=report))

    def pytest_warning_recorded(self, warning_message, when, nodeid, location):
        plain = warnings.WarningMessage(
            str(warning_message.message), Warning, warning_message.filename, warning_message.lineno
        )
        self.recorded.append({"warning_message": plain, "when": when, "nodeid": nodeid, "location": location})


def _work(session, connection, folder):
    """What a fork does: ask for units and run them, until there are none."""
    config = session.config
    try:
        sender = _prepare(config, folder)
        tests = deque(ask(connection))
        while tests:
            index = tests.popleft()
            if not tests:
                tests += ask(connection)  # now, as the last test of a file keeps what the next file uses, too
            item, following = session.items[index], session.items[tests[0]] if tests else None
            config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            send(connection, (index, sender.reports, sender.recorded))
            sender.reports, sender.recorded = [], []
            if session.shouldstop or session.shouldfail:
                break
    except (KeyboardInterrupt, ConnectionError, EOFError):
        return 2
    except BaseException:
        traceback.print_exc()
        return 3
    finally:
        session._setupstate.teardown_exact(None)
        atexit._run_exitfuncs()
    return 0


def _prepare(config, folder):
    """Own files for captured output and temporary files, and reports that are sent instead of printed."""
    captured = config.pluginmanager.getplugin("capturemanager")._global_capturing
    for stream in filter(None, (captured.out, captured.err)):
        with tempfile.TemporaryFile() as empty:  # in place of the shared one, which modules that were imported refer to
            os.dup2(empty.fileno(), stream.tmpfile.fileno())
    folder.mkdir(mode=0o700)
    config._tmp_path_factory._basetemp = folder
    printer = config.pluginmanager.unregister(name="terminalreporter")
    quiet = SimpleNamespace(_tw=printer._tw)  # what pytest-timeout writes to
    config.pluginmanager.register(quiet, "terminalreporter")
    for name in ("junitxml", "lfplugin"):
        config.pluginmanager.unregister(name=name)
    sender = Sender(config)
    config.pluginmanager.register(sender)
    return sender


def ask(connection):
    """The indices of the tests of the next unit; none if there is none."""
    send(connection, NEXT)
    if (unit := receive(connection)) is None:
        raise EOFError("the process that assigns tests has ended")
    return unit


def send(connection, message):
    packed = pickle.dumps(message)
    connection.sendall(SIZE.pack(len(packed)) + packed)


def receive(connection):
    """A message, or None if the other process has ended."""
    size = _receive_exactly(connection, SIZE.size)
    packed = size and _receive_exactly(connection, *SIZE.unpack(size))
    return pickle.loads(packed) if packed else None


def _receive_exactly(connection, size):
    parts = []
    while size:
        try:
            part = connection.recv(min(size, 1 << 20))
        except ConnectionError:
            return None
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
