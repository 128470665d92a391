"""Go's standard library, compiled once per machine and user.

Go comes without compiled packages and would compile them anew for every program, since each compilation has an empty
work folder. So the packages that programs import are compiled once, into a folder that later compilations read. No
program is involved: the tool-chain compiles its library.
"""

import fcntl
import hashlib
import os
import stat
import subprocess
import tempfile
from pathlib import Path

from plaudit.errors import SandboxError

BUILD_S = 900.0
PACKAGES = """
    bufio bytes cmp container/heap container/list container/ring context encoding/binary encoding/hex encoding/json
    errors fmt hash/fnv io iter maps math math/big math/bits math/cmplx math/rand os reflect regexp runtime
    runtime/debug slices sort strconv strings sync sync/atomic text/tabwriter time unicode unicode/utf8 unsafe
"""
DONE = "plaudit-done"


def go_library(tool: str, version: str, environment: dict[str, str]) -> str:
    """The folder of the compiled library, made if there is none."""
    digest = hashlib.sha256(f"{tool}\0{version}\0{environment}".encode()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"plaudit-go-{os.getuid()}-{digest}"
    folder.mkdir(mode=0o755, exist_ok=True)
    seen = folder.lstat()
    if not stat.S_ISDIR(seen.st_mode) or seen.st_uid != os.getuid() or seen.st_mode & 0o022:
        raise SandboxError(f"{folder} belongs to somebody else, so Go's library cannot be kept there; remove it")
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if not (folder / DONE).exists():
            _build(tool, folder, environment)
            (folder / DONE).touch()
    finally:
        os.close(descriptor)
    return str(folder)


def _build(tool: str, folder: Path, environment: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as work:
        variables = environment | {"GOCACHE": str(folder), "GOPATH": work, "HOME": work, "PATH": "/usr/bin:/bin"}
        known = subprocess.run(
            [tool, "list", "std"], capture_output=True, text=True, timeout=BUILD_S, check=True, cwd=work, env=variables
        ).stdout.split()
        imports = "".join(f'import _ "{name}"\n' for name in PACKAGES.split() if name in {*known, "unsafe"})
        Path(work, "library.go").write_text(f"package main\n{imports}func main() {{}}\n")
        subprocess.run(
            [tool, "build", "library.go"], capture_output=True, timeout=BUILD_S, check=True, cwd=work, env=variables
        )
