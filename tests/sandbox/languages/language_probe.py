"""Run the harms of one language on one machine as one user, and print what each did: JSON, one entry per harm.

Arguments: the language, the strongest tier to use, a folder that anybody may read, with a secret and compiled harms.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from plaudit.errors import SandboxError
from plaudit.sandbox import Outcome, RunLimits, Tier
from plaudit.sandbox.languages import running
from plaudit.sandbox.languages.language import LANGUAGES
from plaudit.sandbox.languages.running import CommandPool
from plaudit.sandbox.languages.toolchains import find_toolchain

HARMS = {"cpp": "harms.cpp", "javascript": "harms.js", "rust": "harms.rs", "java": "harms.java"}
ROOMY = RunLimits(cpu_s=10.0, wall_s=60.0, memory_mb=64, output_bytes=1 << 18)
BRIEF = replace(ROOMY, cpu_s=0.05)  # for what ends only by the limit of processor time; runtimes get more of their own
IMPATIENT = replace(ROOMY, cpu_s=0.6, wall_s=0.6)  # for what ends only by the clock
LIMITS = {
    "many threads": replace(ROOMY, memory_mb=256),  # or memory ends them
    "loop": BRIEF,
    "loop deaf": BRIEF,
    "flood output": BRIEF,
    "flood errors": BRIEF,
    "flood deaf": BRIEF,
    "sleep": IMPATIENT,
}
TOGETHER = {  # what ends neither the process nor its time runs in one process
    "read files", "list folders", "write files", "see the environment", "connect", "start processes", "fork bomb",
    "signal others", "look into others", "other calls", "raise limits", "change user", "load libraries",
    "write to its input", "execute memory",
}  # fmt: skip


def report(names: str, outcome: Outcome) -> dict[str, dict]:
    """What was said by each of the harms that ran; one that ran alone may have been ended before it said anything."""
    parts = outcome.stdout.decode(errors="replace").split("## ")[1:]
    said = {part.splitlines()[0]: part.splitlines()[1:] for part in parts} or {names: []}
    return {
        name: {"harms": [line for line in lines if line.startswith("HARM")], "reason": outcome.reason}
        for name, lines in said.items()
    }


def notice(found: dict[str, dict], name: str, victim: subprocess.Popen, server: socket.socket) -> None:
    """Add what a harm did to others."""
    if victim.poll() is not None:
        found[name] = {"harms": ["the victim is dead"], "reason": ""}
    with contextlib.suppress(BlockingIOError):
        server.accept()
        found[name] = {"harms": ["a connection arrived"], "reason": ""}


def main(language: str, at_most: int, folder: Path) -> None:
    os.environ["PLAUDIT_SECRET"] = "hush"
    victim = subprocess.Popen(["sleep", "600"], env={"PLAUDIT_SECRET": "hush"})
    server = socket.create_server(("127.0.0.1", 0))
    server.setblocking(False)
    given = f"{folder}\n{victim.pid}\n{server.getsockname()[1]}\n"
    source = Path(__file__).with_name(HARMS[language]).read_text()
    found = {}
    running.compile_program = lambda *_, **__: (folder / "compiled").read_bytes()
    try:
        with CommandPool(Tier(at_most)) as pool:
            toolchain = find_toolchain(LANGUAGES[language])
            with pool.load(toolchain, source, ROOMY) as program:
                names = program.run(f"names\n{given}".encode()).stdout.decode().splitlines()
                together = ",".join(name for name in names if name in TOGETHER)
                found |= report(together, program.run(f"{together}\n{given}".encode()))
            notice(found, together, victim, server)
            for name in (name for name in names if name not in TOGETHER):
                with pool.load(toolchain, source, LIMITS.get(name, ROOMY)) as program:
                    found |= report(name, program.run(f"{name}\n{given}".encode()))
                notice(found, name, victim, server)
    except SandboxError as error:
        found = {"refused": str(error)}
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
