"""Templates of workers (`plaudit.processes.template`) as forks of a process that has imported what they import.

A template that is started as users meet it spends a quarter of a second of processor time on imports, and the suite
starts more than a thousand. `tests/conftest.py` names the places whose tests use this: they start templates on the way
to something else. Tests of the engine itself, and commands in processes of their own, start real ones.
"""

import importlib
import os
import pickle
import selectors
import signal
import socket
import struct
import subprocess
import sys
import traceback
from pathlib import Path
from types import SimpleNamespace

from plaudit.processes import child, template

IMPORTED = ("plaudit.engine.reward_service", "plaudit.loading.building")
ROOT = Path(__file__).parents[1]
START = "import sys; sys.path.append(sys.argv[1]); from tests.warm_start import serve; serve(*map(int, sys.argv[2:]))"
CODE = struct.Struct("<i")
MOST = 1 << 17
"""The bytes of a request: the folder and the environment of a template."""

_server: tuple[int, socket.socket, subprocess.Popen] | None = None
"""The process that asks, its connection, and the server: a fork of it asks a server of its own."""


def use_warm_templates(is_wanted: bool) -> None:
    """Whether templates are forks from now on; the server starts at once, so that no test sees it as left behind."""
    user = os.getpid()
    if is_wanted:
        _connection()

    def start(command, **options):
        is_fork = os.getpid() != user
        return subprocess.Popen(command, **options) if is_fork else WarmTemplate(*options["pass_fds"])

    warm = SimpleNamespace(Popen=start, DEVNULL=subprocess.DEVNULL, TimeoutExpired=subprocess.TimeoutExpired)
    child.subprocess = warm if is_wanted else subprocess


class WarmTemplate:
    """What `subprocess.Popen` would return for the command of a template."""

    def __init__(self, control, settings):
        self.returncode = None
        self._ended, reports = socket.socketpair()
        with reports:
            request = pickle.dumps((os.getcwd(), dict(os.environ)))
            socket.send_fds(_connection(), [request], [reports.fileno(), control, settings, 1, 2])

    def poll(self):
        return self._read(0.0)

    def wait(self, timeout=None):
        if self._read(timeout) is None:
            raise subprocess.TimeoutExpired("a template", timeout)
        return self.returncode

    def _read(self, timeout):
        if self.returncode is None:
            self._ended.settimeout(timeout)
            try:
                message = self._ended.recv(CODE.size)
            except (BlockingIOError, TimeoutError):
                return None
            self.returncode = CODE.unpack(message)[0] if message else -signal.SIGKILL
            self._ended.close()
        return self.returncode


def _connection():
    """To the server of this process, which ends with it."""
    global _server
    if _server is None or _server[0] != os.getpid():
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [sys.executable, "-P", "-c", START, str(ROOT), str(theirs.fileno()), str(os.getpid())]
            server = subprocess.Popen(
                command, pass_fds=[theirs.fileno()], cwd="/", stdin=subprocess.DEVNULL, start_new_session=True
            )
        _server = os.getpid(), ours, server
    return _server[1]


def serve(connection, parent):
    """In a process of its own: fork templates until the other end of the connection is closed."""
    template._die_with(parent)
    for name in IMPORTED:
        importlib.import_module(name)
    running = {}  # process id → where its exit code is sent
    waking, woken = socket.socketpair()
    waking.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waking.fileno())
    requests = socket.socket(fileno=connection)
    selector = selectors.DefaultSelector()
    for end in (requests, woken):
        selector.register(end, selectors.EVENT_READ)
    while True:
        ready = {key.fileobj for key, _ in selector.select()}
        if woken in ready:
            woken.recv(4096)
            _report(running)
        if requests in ready:
            request, descriptors, _, _ = socket.recv_fds(requests, MOST, 5)
            if not request:
                return
            process = os.fork()
            if process == 0:
                for end in (requests, waking, woken, *running.values()):
                    end.close()
                os.close(descriptors[0])
                _become_template(request, *descriptors[1:])
            running[process] = socket.socket(fileno=descriptors[0])
            for descriptor in descriptors[1:]:
                os.close(descriptor)


def _report(running):
    for process in list(running):
        if os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
            with running.pop(process) as reports:
                reports.send(CODE.pack(code))


def _become_template(request, control, settings, out, err):
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        os.dup2(out, 1)
        os.dup2(err, 2)
        folder, environment = pickle.loads(request)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        template.main(control, settings, os.getppid())
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)
