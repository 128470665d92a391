"""Connect to a Ray cluster, or start one on this machine.

A process has one connection to Ray. A connection that the user made is used and left open; one that we made is shared
by all our sessions and closed with the last of them, and the folder of a Ray that we started is deleted.
"""

import atexit
import logging
import os
import secrets
import shutil
import socket
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

from plaudit.errors import ScoringFailed, require

OBJECT_STORE_BYTES = 256 << 20
CONNECT_S = 10.0
TOKEN_VARIABLES = ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")
QUIET = {"log_to_driver": False, "logging_level": logging.ERROR}
_lock = threading.Lock()


class RaySession:
    """A share in this process's connection to Ray, until `leave()`."""

    _sessions = 0  # that share a connection of ours
    _folder: str | None = None  # of a Ray that we started

    def __init__(self, address: str | None, cpus: int) -> None:
        self.ray = require("ray", extra="ray", purpose="the Ray backend")
        with _lock:
            if not self.ray.is_initialized():
                RaySession._sessions = 0  # the user may have closed our connection
                _start(self.ray, cpus) if address is None else _join(self.ray, address)
                self._shares = True
            else:
                self._shares = RaySession._sessions > 0
            RaySession._sessions += self._shares

    @property
    def is_ours(self) -> bool:
        """Whether we started this Ray."""
        return self._shares and RaySession._folder is not None

    @property
    def runtime_env(self) -> dict[str, Any]:
        """Makes plaudit and the user's modules importable on nodes that see the same files."""
        interpreter = [os.path.abspath(prefix) for prefix in (sys.prefix, sys.base_prefix)]
        folders = dict.fromkeys(os.path.abspath(folder) for folder in sys.path)
        search = [folder for folder in folders if not any(map(Path(folder).is_relative_to, interpreter))]
        return {"env_vars": {"PYTHONPATH": os.pathsep.join([*search, "${PYTHONPATH}"])}}

    def leave(self) -> None:
        """End the share; the last one closes a connection of ours."""
        with _lock:
            if self._shares:
                self._shares = False
                RaySession._sessions -= 1
                if not RaySession._sessions:
                    _end()


def _start(ray: Any, cpus: int) -> None:
    # Ray puts sockets there, whose paths must be short, so TMPDIR is not used.
    RaySession._folder = tempfile.mkdtemp(prefix="plaudit-ray-", dir="/tmp" if os.path.isdir("/tmp") else None)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if not any(name in os.environ for name in TOKEN_VARIABLES) and not (Path.home() / ".ray" / "auth_token").exists():
        os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)  # else Ray writes one to ~/.ray
    atexit.register(_end)
    try:
        ray.init(
            address="local",
            num_cpus=cpus,
            include_dashboard=False,
            object_store_memory=OBJECT_STORE_BYTES,
            _temp_dir=RaySession._folder,
            **QUIET,
        )
    except Exception as error:  # Ray raises many types, for example when it does not start within 30 s
        _end()
        raise ScoringFailed(f"Ray could not be started on this machine: {error}") from error


def _join(ray: Any, address: str) -> None:
    try:
        check_listener(address)
        ray.init(address=address, **QUIET)
    except (OSError, RuntimeError, ValueError) as error:
        raise ScoringFailed(
            f"cannot join a Ray cluster at {address!r}: {error}; start one with 'ray start --head', or leave the "
            "address out to score on this machine"
        ) from error


def check_listener(address: str) -> None:
    """Raise OSError if nothing listens at `host:port`: Ray itself would retry for minutes."""
    host, _, port = address.rpartition("//")[2].rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host, int(port)), timeout=CONNECT_S).close()


def _end() -> None:
    require("ray", extra="ray", purpose="the Ray backend").shutdown()
    atexit.unregister(_end)
    if RaySession._folder is not None:
        shutil.rmtree(RaySession._folder, ignore_errors=True)
        RaySession._folder = None
