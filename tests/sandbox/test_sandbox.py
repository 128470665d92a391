"""A sandbox and its server: closed ones, lost ones, forks of the owner."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from plaudit.errors import SandboxError
from plaudit.sandbox import CallStatus, RunLimits, Sandbox, Tier
from plaudit.sandbox.server import ForkServer
from tests.process_watch import descendants, gone, open_files


def answer(sandbox, number=1):
    with sandbox.open() as program:
        program.load("def f(x): return x + 1")
        return program.call("f", [number]).value


def children():
    return {int(pid) for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()}


def test_a_server_is_replaced_after_so_many_programs(monkeypatch):
    monkeypatch.setattr("plaudit.sandbox.sandbox.PROGRAMS_PER_SERVER", 4)
    with Sandbox() as sandbox:
        answer(sandbox)
        first = sandbox._server
        assert [answer(sandbox, n) for n in range(3)] == [1, 2, 3]
        assert first is not sandbox._server


def test_a_program_has_its_own_limits_whatever_those_of_the_one_before():
    said = "import sys; sys.stdout.write('x' * 5_000)"
    tight, wide = RunLimits(output_bytes=1_000), RunLimits(output_bytes=10_000)
    endings = []
    with Sandbox() as sandbox:
        for limits in (wide, wide, tight, tight, wide, tight):
            with sandbox.open(limits) as program:
                endings.append(program.load(said, b"").status)
        server = sandbox._server
        below = descendants(server._process.pid)
    assert endings == [
        CallStatus.OUTPUT_LIMIT if limits is tight else CallStatus.RETURNED
        for limits in (wide, wide, tight, tight, wide, tight)
    ]
    assert gone(below), "also those with limits that nobody wanted"


def test_closing_leaves_no_process_and_no_descriptor():
    before, files = children(), open_files()
    with Sandbox() as sandbox:
        answer(sandbox)
        assert len(children()) > len(before)
    assert children() == before
    assert open_files() <= files


def test_a_lost_server_is_replaced():
    with Sandbox() as sandbox:
        answer(sandbox)
        server = sandbox._server
        below = descendants(server._process.pid)
        assert below
        server._process.kill()
        server._process.wait()
        assert gone(below)
        assert answer(sandbox, 2) == 3


def test_a_server_lost_under_a_program_is_no_outcome_of_the_program():
    with Sandbox() as sandbox:
        with sandbox.open() as program:
            program.load("import time\ndef f(): time.sleep(100)")
            killer = threading.Timer(0.2, program._host._process.kill)
            killer.start()
            with pytest.raises(SandboxError, match="lost"):
                program.call("f")
            killer.join()
        assert answer(sandbox) == 2


def test_a_second_program_while_one_is_open_is_refused_with_a_message():
    with Sandbox() as sandbox, sandbox.open(), pytest.raises(SandboxError, match="one program open at a time"):
        sandbox.open()


OWNER = """
import sys, threading
from plaudit.sandbox import Sandbox
sandbox = Sandbox(at_most={tier})
program = sandbox.open()
program.load("def f():\\n    while True: pass")
threading.Timer(0.3, lambda: print(program._host._process.pid, flush=True)).start()
program.call("f")
"""


@pytest.mark.parametrize("tier", [Tier.LANDLOCK, Tier.NAMESPACES])
def test_when_the_owner_is_killed_servers_and_programs_go_with_it(tier):
    command = [sys.executable, "-c", OWNER.format(tier=int(tier))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as owner:
        session = int(owner.stdout.readline())
        assert in_session(session)
        owner.kill()
    deadline = time.monotonic() + 20
    while in_session(session) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert in_session(session) == []


def in_session(session):
    """The processes that descend from a server, which starts a session, and from its children, which start theirs."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if session in (int(fields[1]), int(fields[3])) or int(stat.parent.name) == session:
            found.append(int(stat.parent.name))
    return found


def test_a_closed_sandbox_raises_an_error():
    sandbox = Sandbox()
    sandbox.close()
    with pytest.raises(SandboxError, match="closed"):
        sandbox.open()


@pytest.mark.filterwarnings("ignore:This process")
def test_a_forked_process_starts_servers_of_its_own():
    with Sandbox() as sandbox:
        answer(sandbox)
        pid = os.fork()
        if pid == 0:
            value = answer(sandbox, 5)
            sandbox.close()
            os._exit(0 if value == 6 else 1)
        _, status = os.waitpid(pid, 0)
        assert status == 0
        assert answer(sandbox) == 2


def test_without_protection_the_sandbox_opens_only_with_allow_unsafe():
    with Sandbox(at_most=Tier.NONE) as sandbox, pytest.raises(SandboxError, match="allow_unsafe"):
        sandbox.open()
    with Sandbox(at_most=Tier.NONE, allow_unsafe=True) as sandbox:
        assert answer(sandbox) == 2


def test_a_sandbox_that_a_program_can_leave_does_not_start(monkeypatch):
    monkeypatch.setattr("plaudit.sandbox.doctor.REACHING_OUT", "def reach_out(): return [['read a file', True]]")
    started = []
    monkeypatch.setattr(
        "plaudit.sandbox.sandbox.ForkServer", lambda *a, **k: started.append(ForkServer(*a, **k)) or started[-1]
    )
    with Sandbox() as sandbox, pytest.raises(SandboxError, match=r"could read a file; it must not be used"):
        sandbox.open()
    assert len(started) == 1, "it is not tried again until it comes out well"


def test_an_unknown_flavour_is_named():
    with pytest.raises(SandboxError, match="did you mean 'numpy'"):
        Sandbox("numpi")


def test_servers_are_in_a_session_of_their_own_so_that_ctrl_c_does_not_reach_them():
    with Sandbox() as sandbox:
        answer(sandbox)
        server = sandbox._server
        assert os.getsid(server._process.pid) != os.getsid(0)


NUMBERED = """
import os
from plaudit.sandbox.child.confinement.profiles import Profile
from plaudit.sandbox.server import ForkServer
while os.open("/dev/null", os.O_RDONLY) < 8: pass
ForkServer().close()
while os.open("/dev/null", os.O_RDONLY) < 8: pass
ForkServer(profile=Profile(executes=True)).close()
"""


def test_a_server_starts_whatever_the_number_of_the_descriptor_it_is_given():
    """The servers' own number of that descriptor is 10: the next that is free in this process."""
    done = subprocess.run([sys.executable, "-c", NUMBERED], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_a_module_that_fails_in_its_own_way_does_not_keep_a_server_from_starting(tmp_path, monkeypatch):
    (tmp_path / "odd_module.py").write_text("import http.client\nhttp.client.HTTPSConnection.no_such_thing\n")
    monkeypatch.syspath_prepend(tmp_path)
    ForkServer(("odd_module",)).close()
