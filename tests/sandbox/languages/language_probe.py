"""Run the harms of one language on one machine as one user, and print what each did: JSON, one entry per harm.

Arguments: the language, the strongest tier to use, a folder with a secret that anybody may read.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

from plaudit.errors import SandboxError
from plaudit.sandbox import Outcome, RunLimits, Tier
from plaudit.sandbox.languages.binaries import BinaryCache
from plaudit.sandbox.languages.language import LANGUAGES
from plaudit.sandbox.languages.running import CommandPool
from plaudit.sandbox.languages.toolchains import find_toolchain

HARMS = {"cpp": "harms.cpp", "javascript": "harms.js"}
LIMITS = RunLimits(cpu_s=0.5, wall_s=4.0, memory_mb=256, output_bytes=1 << 18)


def report(outcome: Outcome) -> dict:
    said = outcome.stdout.decode(errors="replace").splitlines()
    return {"harms": [line for line in said if line.startswith("HARM")], "reason": outcome.reason}


def main(language: str, at_most: int, folder: Path) -> None:
    os.environ["PLAUDIT_SECRET"] = "hush"
    victim = subprocess.Popen(["sleep", "600"], env={"PLAUDIT_SECRET": "hush"})
    server = socket.create_server(("127.0.0.1", 0))
    server.setblocking(False)
    given = f"{folder}\n{victim.pid}\n{server.getsockname()[1]}\n"
    source = Path(__file__).with_name(HARMS[language]).read_text()
    found = {}
    try:
        with (
            CommandPool(BinaryCache(folder / f"cache-{os.getuid()}"), Tier(at_most)) as pool,
            pool.load(find_toolchain(LANGUAGES[language]), source, LIMITS) as program,
        ):
            for name in program.run(f"names\n{given}".encode()).stdout.decode().splitlines():
                found[name] = report(program.run(f"{name}\n{given}".encode()))
                if victim.poll() is not None:
                    found[name]["harms"].append("the victim is dead")
                with contextlib.suppress(BlockingIOError):
                    server.accept()
                    found[name]["harms"].append("a connection arrived")
    except SandboxError as error:
        found = {"refused": str(error)}
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
