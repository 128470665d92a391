"""What a hostile agent phase cannot do, a test per line of the list in the guide; and what is not covered."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from plaudit.errors import SandboxError
from plaudit.harbor.workspace import HostImage, pack

PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def image():
    with HostImage() as image:
        yield image


@pytest.fixture
def workspace(image):
    with image.workspace(storage_mb=64) as workspace:
        yield workspace


def python(workspace, code):
    workspace.put(pack({"tmp/attack.py": code.encode()}), "/")
    return workspace.run("python3 /tmp/attack.py 2>&1", seconds=60).output.strip()


REFUSED = {
    "mounting": "mount -t tmpfs none /mnt",
    "unmounting": "umount /usr",
    "user namespaces": "unshare --user true",
    "mount namespaces": "unshare --mount true",
    "device nodes": "mknod /tmp/disk b 8 0",
    "kernel settings": "echo x > /proc/sys/kernel/core_pattern",
    "system requests": "echo h > /proc/sysrq-trigger",
    "network interfaces": "ip link add dummy0 type dummy",
    "clock": "date -s 2020-01-01",
    "reading the first process": "cat /proc/1/environ",
    "descriptors of the first process": "ls /proc/1/fd",
    "out-of-memory protection": "echo -1000 > /proc/self/oom_score_adj",
    "root of the first process": "chroot /proc/1/root/../.. test -e /work",
    "kernel messages": "dmesg",
}


@pytest.mark.parametrize("command", REFUSED.values(), ids=REFUSED)
def test_root_of_a_workspace_is_refused(command, workspace):
    assert workspace.run(f"{command} 2>&1").code != 0


CALLS = {
    "ptrace of the first process": "ctypes.CDLL(None, use_errno=True).ptrace(16, 1, 0, 0)",
    "limits of the first process": "resource.prlimit(1, resource.RLIMIT_NOFILE, (0, 0))",
    "vsock": "socket.socket(40, socket.SOCK_STREAM)",
    "kernel crypto sockets": "socket.socket(38, socket.SOCK_SEQPACKET)",
    "the keyring": "ctypes.CDLL(None).syscall(250 if os.uname().machine == 'x86_64' else 219, 0, -3, 1)",
    "bpf": "ctypes.CDLL(None, use_errno=True).syscall(321 if os.uname().machine == 'x86_64' else 280, 0, 0, 0)",
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_system_call_out_of_the_workspace_is_refused(call, workspace):
    code = f"import ctypes, os, resource, socket\nprint('refused' if {call} == -1 else 'possible')"
    assert python(workspace, code).splitlines()[-1].partition(":")[0] in ("refused", "PermissionError")


def test_the_first_process_survives_every_signal(workspace):
    workspace.run("for number in $(seq 1 64); do kill -$number 1; done; kill -9 -1")
    assert workspace.run("echo alive").output == "alive\n"


def test_programs_have_the_usual_signals(workspace):
    assert workspace.run("set -o pipefail; yes | head -c 2; echo $?").output == "y\n141\n"
    done = workspace.run("python3 -c 'import os, signal; os.kill(os.getpid(), signal.SIGINT)'; echo $?")
    assert done.output.endswith("130\n")


# Loops until a call fails, or a million times, and prints how often it worked. `libc` and `os` are there.
COUNT = """import ctypes, os, resource, signal, socket, sys, time
libc = ctypes.CDLL(None, use_errno=True)
{setup}
kept = []
try:
    while len(kept) < 1_000_000 and (made := {call}) not in (-1, None):
        kept.append(made)
except OSError:
    pass
print(len(kept), flush=True)
time.sleep(float(sys.argv[1]))
"""
EXHAUSTED = {
    "inotify instances": ("", "libc.inotify_init()", 1 << 20),
    "queued signals": (
        "signal.pthread_sigmask(signal.SIG_BLOCK, [40])",
        "libc.sigqueue(os.getpid(), 40, ctypes.c_void_p(0)) or 1",
        1 << 20,
    ),
    "terminals": ("", "os.open('/dev/ptmx', os.O_RDWR | os.O_NOCTTY)", 256),
}


@pytest.mark.parametrize(("setup", "call", "most"), EXHAUSTED.values(), ids=EXHAUSTED)
def test_what_the_kernel_counts_per_user_is_limited_and_not_shared_with_other_images(setup, call, most, image):
    code = COUNT.format(setup=setup, call=call)
    with image.workspace() as workspace, HostImage() as other_image, other_image.workspace() as other:
        for each in (workspace, other):
            each.put(pack({"tmp/count.py": code.encode()}), "/")
        first = workspace.run("python3 /tmp/count.py 100 > /tmp/made & sleep 2; cat /tmp/made")
        assert 0 < int(first.output) <= most
        assert int(other.run("python3 /tmp/count.py 0").output) > 0
        alone = subprocess.run(
            [sys.executable, "-c", code.replace("1_000_000", "10"), "0"], capture_output=True, text=True
        )
        assert int(alone.stdout) == 10


def test_files_without_content_are_limited_too(workspace):
    code = "import os\nfor n in range(1 << 20): os.close(os.open(f'/app/{n}', os.O_CREAT | os.O_WRONLY))"
    assert "No space left" in python(workspace, code)
    assert workspace.run("rm -r /app/*; echo works", seconds=60).output.endswith("works\n")


def test_shared_memory_and_queues_end_with_their_workspace(image):
    shared = "import ctypes\nprint(ctypes.CDLL(None).shmget(77, 4096, 0o1666))"
    with image.workspace() as workspace:
        assert int(python(workspace, shared)) >= 0
    with image.workspace() as workspace:
        there = "import ctypes\nprint(ctypes.CDLL(None).shmget(77, 4096, 0o666))"
        assert int(python(workspace, there)) == -1


def test_sockets_of_two_workspaces_do_not_meet(image):
    listen = (
        "import socket, time\nfor family, address in ((2, ('127.0.0.1', 9999)), (1, '\\0name')):\n"
        "    server = socket.socket(family); server.bind(address); server.listen(); globals()[f's{family}'] = server\n"
        "print('listening', flush=True)\ntime.sleep(100)"
    )
    connect = (
        "import socket\nfor family, address in ((2, ('127.0.0.1', 9999)), (1, '\\0name')):\n"
        "    print(socket.socket(family).connect_ex(address))"
    )
    with image.workspace() as server, image.workspace() as client:
        server.put(pack({"tmp/listen.py": listen.encode()}), "/")
        assert "listening" in server.run("python3 /tmp/listen.py > /tmp/out & sleep 1; cat /tmp/out").output
        assert python(server, connect).split() == ["0", "0"]
        assert python(client, connect).split() == ["111", "111"]


def test_processes_that_trace_and_stop_each_other_end(workspace):
    code = (
        "import ctypes, os, signal, time\nfor _ in range(20):\n    child = os.fork()\n    if child == 0:\n"
        "        os.setsid()\n        signal.pthread_sigmask(0, range(1, 65))\n        time.sleep(1000)\n"
        "    ctypes.CDLL(None).ptrace(16, child, 0, 0)\n    os.kill(child, signal.SIGSTOP)\nos._exit(0)"
    )
    python(workspace, code)
    workspace.end_processes()
    assert workspace.run("ps -e --no-headers | wc -l").output.strip() in ("3", "4")


def test_a_fork_bomb_stays_in_its_workspace_and_ends_with_it(image):
    with image.workspace() as workspace, image.workspace() as other:
        bomb = "import os, time\nwhile True:\n    try: os.fork()\n    except OSError: time.sleep(0.2)\n"
        workspace.put(pack({"tmp/bomb.py": bomb.encode()}), "/")
        workspace.run("python3 /tmp/bomb.py & sleep 1", seconds=3)
        assert other.run("echo calm").output == "calm\n"
        workspace.end_processes()
        assert workspace.run("ps -e --no-headers | wc -l").output.strip() in ("3", "4")  # first process, sh, ps, wc


def test_a_full_disk_is_the_workspace_s_own(workspace):
    free = {path: shutil.disk_usage(path).free for path in ("/", tempfile.gettempdir(), "/dev/shm")}
    done = workspace.run(
        "dd if=/dev/zero of=/app/large bs=1M count=500 2>&1; dd if=/dev/zero of=/dev/shm/x bs=1M count=500"
    )
    assert "No space left" in done.output
    assert all(free[path] - shutil.disk_usage(path).free < 300 << 20 for path in free)  # others write to them as well
    with pytest.raises(SandboxError, match="No space left"):
        workspace.put(pack({"app/more": b"x" * (8 << 20)}), "/")
    assert workspace.run("rm /app/large; echo works").output.endswith("works\n")


def test_the_machine_s_files_are_not_there(workspace):
    secret = Path.home() / ".plaudit-secret-of-a-test"
    secret.write_text("secret")
    try:
        for path in (secret, PROJECT, Path(tempfile.gettempdir()) / "pytest-of-root", "/work", "/etc/machine-id"):
            assert workspace.run(f"test -e {path}").code == 1, path
    finally:
        secret.unlink()
    assert workspace.run("ls -A /root /home /tmp /run /usr/local/bin").output.split() == [
        "/home:", "/root:", "/run:", "/tmp:", "/usr/local/bin:"
    ]  # fmt: skip
    assert workspace.run("env").output.count(os.environ.get("USER", "no such name")) == 0


def test_sockets_of_the_machine_cannot_be_reached(workspace):
    with socket.socket() as server, socket.socket(socket.AF_UNIX) as abstract:
        server.bind(("127.0.0.1", 0))
        server.listen()
        abstract.bind("\0plaudit-test")
        abstract.listen()
        port = server.getsockname()[1]
        code = (
            f"import socket\nfor family, address in ((2, ('127.0.0.1', {port})), (1, '\\0plaudit-test')):\n"
            "    print(socket.socket(family).connect_ex(address))"
        )
        assert python(workspace, code).split() == ["111", "111"]


def test_links_devices_and_rights_do_not_cross(image):
    with image.workspace() as workspace:
        workspace.run(
            "cd /app; ln -s /etc/shadow out; ln -s ../../etc up; ln -s inner good; echo x > inner; mkfifo pipe;"
            "cp /bin/true setuid; chmod 4755 setuid; ln /etc/hosts hard; ln -s /app/inner absolute"
        )
        archive, left_out = workspace.get(["/app"])
    assert sorted(each.partition(":")[0] for each in left_out) == ["/app/absolute", "/app/out", "/app/pipe", "/app/up"]
    with image.workspace() as other:
        other.put(archive, "/")
        assert other.run("cd /app; ls; cat good; stat -c %a setuid").output.split() == [
            "good", "hard", "inner", "setuid", "x", "755"
        ]  # fmt: skip


def test_nothing_that_system_folders_hold_crosses(image):
    with image.workspace() as workspace:
        paths = "/usr/local/bin/python3 /etc/profile.d/x.sh /root/.bashrc /tests/conftest.py /logs/verifier/reward.txt"
        workspace.run(f"for p in {paths} /data/kept; do mkdir -p $(dirname $p); echo planted > $p; done")
        archive, _ = workspace.get(["/app"], with_changes=True)
    with image.workspace() as other:
        other.put(archive, "/")
        assert other.run(f"cat /data/kept; ls {paths} 2>/dev/null").output == "planted\n"


def test_a_workspace_ends_with_its_processes_when_it_is_closed(image):
    with image.workspace() as workspace:
        workspace.run("exec -a plaudit-left-behind sleep 1000 &")
        assert _becomes(lambda: _running("plaudit-left-behind"))  # the shell may return before its child runs `exec`
    assert _becomes(lambda: not _running("plaudit-left-behind"))


def test_a_phase_ends_at_its_deadline_even_if_its_output_stays_open(workspace):
    done = workspace.run("sleep 100 & exec sleep 100", seconds=0.5)
    assert done.timed_out
    assert done.seconds < 5


def test_an_output_flood_is_cut(workspace):
    done = workspace.run("yes | head -c 50000000; echo end")
    assert len(done.output) <= 1 << 16
    assert done.output.endswith("end\n")


def test_not_covered_a_workspace_with_network_reaches_the_host(image):
    with socket.socket() as server, image.workspace(network=True) as workspace:
        server.bind(("127.0.0.1", 0))
        server.listen()
        code = f"import socket\nprint(socket.socket().connect_ex(('127.0.0.1', {server.getsockname()[1]})))"
        assert python(workspace, code) == "0"


def test_not_covered_all_cores_and_the_total_memory_are_the_machine_s(workspace):
    assert python(workspace, "import os; print(os.cpu_count())") == str(os.cpu_count())
    assert python(workspace, "print(len(bytearray(300 << 20)))") == str(300 << 20)


def _becomes(condition):
    """Whether `condition` holds within ten seconds."""
    deadline = time.monotonic() + 10
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


def _running(name):
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes().startswith(name.encode()):
                return True
        except OSError:
            continue
    return False
