"""Run every harm against a sandbox and say what it achieved outside. A script, so that it can run as another user.

`python harm_probe.py FOLDER AT_MOST SCRATCH_MB SHARE` prints one JSON object: the tier, the harms by name, what was
left at the end. With scratch space it runs the harms that are about files; of all it runs one of SHARE.
"""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from plaudit.sandbox import CallStatus, Outcome, RunLimits, Sandbox, Tier
from tests.parts import part
from tests.sandbox.harm_cases import FILE_HARMS, HARMS, PRELUDE, SCRATCH_HARMS

LIMITS = RunLimits(cpu_s=0.1, wall_s=0.5, memory_mb=96, output_bytes=1 << 18, result_bytes=1 << 18)
SCRATCH_CPU_S, SCRATCH_WALL_S = 0.5, 5.0  # to fill a folder takes some of it, more on a busy machine
PATIENT = replace(LIMITS, cpu_s=0.9, wall_s=10.0)  # of the next program, whose process was forked as the harm ended
CLEAN = """
import builtins, json, os, sys, threading
def f(x):
    assert len([1]) == 1 and json.loads("[1]") == [1] and builtins.len is len and threading.active_count() == 1
    assert not os.environ and sys.gettrace() is None and isinstance(1, int) and "program" in sys.modules
    return [x, "ok"]
"""


class World:
    """What must not be touched: a folder, a process, listeners, an environment variable."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "secret.txt").write_text("a secret")
        (folder / "secret.txt").chmod(0o666)
        self.victim = subprocess.Popen(["sleep", "300"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.unix, self.datagrams, self.hidden = (
            socket.socket(socket.AF_UNIX, kind) for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_STREAM)
        )
        self.unix.bind(str(folder / "socket"))
        self.datagrams.bind(str(folder / "datagrams"))
        self.hidden.bind(f"\0plaudit-{os.getpid()}")
        for listener in (self.unix, self.hidden):
            listener.listen()
        for listener in (self.tcp, self.unix, self.datagrams, self.hidden):
            listener.setblocking(False)
        os.environ["PLAUDIT_SECRET"] = "a secret"
        self.before = self.state()

    def fill(self, source: str) -> str:
        words = {
            "<folder>": self.folder,
            "<victim>": self.victim.pid,
            "<parent>": os.getpid(),
            "<port>": self.tcp.getsockname()[1],
            "<host>": socket.gethostname(),
            "<abstract>": f"plaudit-{os.getpid()}",
        }
        for word, meaning in words.items():
            source = source.replace(word, str(meaning))
        return source

    def state(self) -> dict[str, object]:
        files = {
            path.name: (path.lstat().st_mode, path.lstat().st_size, path.lstat().st_mtime_ns)
            for path in self.folder.iterdir()
        }
        return {
            "files": files,
            "shared memory": os.path.exists("/dev/shm/plaudit-harm"),
            "victim": self.victim.poll(),
            "victim stopped": Path(f"/proc/{self.victim.pid}/stat").read_text().split()[2] in "Tt",
            "connections": [self._called(listener) for listener in (self.tcp, self.unix, self.hidden)],
            "datagrams": self._receive(),
            "host": socket.gethostname(),
        }

    def _called(self, listener: socket.socket) -> bool:
        try:
            listener.accept()
        except BlockingIOError:
            return False
        return True

    def _receive(self) -> bool:
        try:
            self.datagrams.recv(10)
        except BlockingIOError:
            return False
        return True


def harm(sandbox: Sandbox, source: str, scratch_mb: int = 0) -> tuple[Outcome, object]:
    limits = (
        replace(LIMITS, scratch_mb=scratch_mb, cpu_s=SCRATCH_CPU_S, wall_s=SCRATCH_WALL_S) if scratch_mb else LIMITS
    )
    with sandbox.open(limits) as program:
        loaded = program.load(PRELUDE + source)
        if loaded.status.is_final:
            return loaded, []
        reported = program.call("report")
        return loaded, reported.value if reported.status is CallStatus.RETURNED else []


def runs_clean(sandbox: Sandbox, scratch_mb: int = 0) -> bool:
    with sandbox.open(replace(PATIENT, scratch_mb=scratch_mb)) as program:
        program.load(CLEAN + ("assert os.listdir() == []" if scratch_mb else ""))
        return program.call("f", [4]).value == [4, "ok"]


def descendants() -> list[str]:
    found = {os.getpid()}
    lines = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = stat.read_text().rpartition(")")
        except OSError:
            continue
        lines[int(stat.parent.name)] = (int(rest.split()[1]), name)
    for _ in range(10):
        found |= {pid for pid, (parent, _) in lines.items() if parent in found}
    return [lines[pid][1] for pid in found - {os.getpid()} if pid in lines]


def main(folder: str, at_most: int, scratch_mb: int, share: int) -> None:
    world = World(Path(folder))
    findings: dict[str, object] = {}
    endings: dict[str, str] = {}
    with Sandbox(at_most=Tier(at_most)) as sandbox:
        tier = sandbox.protections.tier.name
        harms = FILE_HARMS | SCRATCH_HARMS if scratch_mb else HARMS
        for name in part(harms, share):
            outcome, achieved = harm(sandbox, world.fill(harms[name]), scratch_mb)
            endings[name] = outcome.reason
            after = world.state()
            changed = {key: after[key] for key in after if after[key] != world.before[key]}
            clean = runs_clean(sandbox, scratch_mb)
            if achieved or changed or not clean or "secret" in repr(outcome.stdout + outcome.stderr):
                findings[name] = {"achieved": achieved, "changed": repr(changed), "next clean": clean}
    world.victim.kill()
    world.victim.wait()
    time.sleep(0.1)
    left = {
        "processes": descendants(),
        "threads": threading.active_count() - 1,
        "descriptors": len(os.listdir("/proc/self/fd")),
    }
    report = {"tier": tier, "uid": os.getuid(), "findings": findings, "endings": endings, "left": left}
    sys.stdout.write(json.dumps(report))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
