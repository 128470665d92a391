"""Commands that run a script as root, as an ordinary user, or without any capability or user namespace (as in a pod).

An interpreter in a folder that others may not enter is made visible to them at another place, in a mount namespace of
the command's own. Who is not root can only be who he is.
"""

import os
import shlex
import site
import sys
from pathlib import Path

__all__ = ["IDENTITIES", "as_identity"]

SOURCE = Path(__file__).resolve().parents[2] / "src"
PLACE = "/mnt"


def as_identity(identity: str, script: Path, *arguments: str) -> list[str]:
    """The command line that runs a script with this interpreter as somebody."""
    return _COMMANDS[identity]([str(script), *arguments])


def _as_is(script: list[str]) -> list[str]:
    return ["env", f"PYTHONPATH={SOURCE}", sys.executable, *script]


def _unprivileged(script: list[str]) -> list[str]:
    root = Path(sys.base_prefix)
    python = Path(PLACE) / Path(sys.executable).resolve().relative_to(root)
    paths = ":".join([str(SOURCE), *(path for path in (*site.getsitepackages(), *sys.path) if "site-packages" in path)])
    run = [
        "setpriv",
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
        "env",
        f"PYTHONPATH={paths}",
        str(python),
        *script,
    ]
    libraries = f"LD_LIBRARY_PATH={PLACE}/lib"
    line = f"mount --bind {shlex.quote(str(root))} {PLACE} && exec env {libraries} {shlex.join(run)}"
    return ["unshare", "--mount", "sh", "-c", line]


def _pod(script: list[str]) -> list[str]:
    run = shlex.join(["setpriv", "--bounding-set=-all", "--inh-caps=-all", *_as_is(script)])
    return [
        "unshare",
        "--user",
        "--map-root-user",
        "sh",
        "-c",
        f"echo 0 > /proc/sys/user/max_user_namespaces; exec {run}",
    ]


_COMMANDS = {"root": _as_is, "as is": _as_is, "unprivileged": _unprivileged, "no capabilities": _pod}
IDENTITIES = ["root", "unprivileged", "no capabilities"] if os.geteuid() == 0 else ["as is"]
