"""Whether bfloat16 works on this CPU, tested in a child process.

Some virtual machines report AMX and do not allow it: oneDNN, with which torch computes, then ends the process with an
illegal instruction. A child process multiplies matrices first. If it dies, an environment variable limits oneDNN to
older instructions, also in child processes; if that does not help, float32 is used. oneDNN reads the variable when
it first computes, so it is set before torch is imported. The result is kept in the user's cache folder.
"""

import contextlib
import functools
import hashlib
import importlib.metadata
import importlib.util
import json
import logging
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

from plaudit.errors import require

VARIABLE = "ONEDNN_MAX_CPU_ISA"
LIMIT = "AVX512_CORE_BF16"
"""The newest instructions of oneDNN without AMX."""

PROBE = (sys.executable, "-P", "-c", "import torch; a = torch.ones(64, 64, dtype=torch.bfloat16); (a @ a).sum().item()")
PROBE_S = 120
CPU_INFO = Path("/proc/cpuinfo")

logger = logging.getLogger("plaudit.models")


def import_torch(*, extra: str, purpose: str) -> Any:
    """The module torch, imported after oneDNN is limited to what this machine allows."""
    limit_instructions()
    return require("torch", extra=extra, purpose=purpose)


def limit_instructions() -> None:
    """Set the variable where a CPU with AMX needs it. Without effect once torch is imported: it may have computed."""
    if "torch" in sys.modules or VARIABLE in os.environ or importlib.util.find_spec("torch") is None:
        return
    if any(flag.startswith("amx") for flag in _cpu_flags()) and (limit := _find_limit("")):
        os.environ[VARIABLE] = limit


def usable_dtype(dtype: str, device: str) -> str:
    """The dtype to compute in: the given one, or float32 where this process cannot compute bfloat16 on its CPU."""
    if dtype != "bfloat16" or device.partition(":")[0] != "cpu":
        return dtype
    current = os.environ.get(VARIABLE, "")
    limit = _find_limit(current)
    if limit == current:
        return dtype
    _notify(None if current else limit)
    return "float32"


@functools.cache
def _find_limit(current: str) -> str | None:
    """The value of the variable with which bfloat16 works: the current one, or the limit, or None for neither.

    A value that the user has set is not replaced. If all fail, nothing is kept: memory may have been too low.
    """
    candidates = (current,) if current else ("", LIMIT)
    with contextlib.suppress(OSError, ValueError):
        kept = json.loads(_cache_file(current).read_bytes())
        if kept in candidates:
            return str(kept)
    working = next((candidate for candidate in candidates if _passes(candidate)), None)
    if working is not None:
        with contextlib.suppress(OSError):  # the next process probes again
            for value in {current, working}:  # the variable may be set to the working value
                file = _cache_file(value)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(json.dumps(working), encoding="utf-8")
    return working


def _passes(limit: str) -> bool:
    environment = {**os.environ, VARIABLE: limit} if limit else os.environ
    try:
        done = subprocess.run(PROBE, env=environment, capture_output=True, timeout=PROBE_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _cache_file(current: str) -> Path:
    """The cache file of this machine, torch version and value of the environment variable: machines may share a home
    folder.
    """
    machine = (platform.node(), platform.release(), platform.machine(), *_cpu_flags())
    key = "\n".join((importlib.metadata.version("torch"), current, *machine))
    folder = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(folder) / "plaudit" / f"bfloat16-{hashlib.sha256(key.encode()).hexdigest()[:16]}"


def _cpu_flags() -> tuple[str, ...]:
    """The instruction sets that the first core reports; none where the system has no such file."""
    try:
        with CPU_INFO.open(encoding="utf-8") as lines:
            return next((tuple(line.partition(":")[2].split()) for line in lines if line.startswith("flags")), ())
    except OSError:
        return ()


@functools.cache
def _notify(limit: str | None) -> None:
    remedy = f"; to compute in bfloat16, set {VARIABLE}={limit} before Python starts" if limit else ""
    logger.warning("torch cannot compute in bfloat16 on this CPU: float32 is used instead%s", remedy)
