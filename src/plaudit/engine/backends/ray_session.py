"""Join a Ray cluster, or start one on this machine that leaves nothing behind.

A connection to Ray belongs to the whole process. Whoever connected it before us keeps it; what we connected is shared
by all our users and ends with the last of them.

A Ray of our own is quiet and small: no dashboard, no usage report, no worker output here, none of the processes that
would serve them, its files in a folder under /tmp that goes when it goes. It listens on the network, so it keeps Ray's
token authentication; the token stays in this process's environment (RAY_AUTH_TOKEN), where Ray would otherwise write
one to ~/.ray. A token or RAY_AUTH_MODE of the user's is left as it is.
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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from plaudit.errors import ScoringFailed, require

__all__ = ["RaySession"]

OBJECT_STORE_BYTES = 256 << 20
KNOCK_S = 10.0
TOKEN_VARIABLES = ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")
_lock = threading.Lock()
_log = logging.getLogger("ray")


class RaySession:
    """A share in this process's connection to Ray, until `leave()`."""

    _users = 0  # of a connection that we made
    _local = False
    _folder: str | None = None

    def __init__(self, address: str | None, cpus: int) -> None:
        self.ray = require("ray", extra="ray", purpose="the Ray backend")
        with _lock:
            if not self.ray.is_initialized():
                RaySession._users = 0  # somebody else may have ended what we made
                _start(self.ray, cpus) if address is None else _join(self.ray, address)
                RaySession._local = address is None
                _mute(self.ray, True)
                self._shares = True
            else:
                self._shares = RaySession._users > 0
            RaySession._users += self._shares

    @property
    def is_ours(self) -> bool:
        """Whether this Ray was started by us, for us alone."""
        return self._shares and RaySession._local

    @property
    def runtime_env(self) -> dict[str, Any]:
        """What actors and tasks need on a connection that somebody else made; our own brings it along."""
        return {} if self._shares else _runtime_env()

    def leave(self) -> None:
        """Give the share back; the last one ends what we made."""
        with _lock:
            if self._shares:
                self._shares = False
                RaySession._users -= 1
                if not RaySession._users:
                    _end()


def _start(ray: Any, cpus: int) -> None:
    # Sockets live in this folder and their paths may not be long, so TMPDIR is not used.
    RaySession._folder = tempfile.mkdtemp(prefix="plaudit-ray-", dir="/tmp" if os.path.isdir("/tmp") else None)
    if not any(name in os.environ for name in TOKEN_VARIABLES) and not (Path.home() / ".ray" / "auth_token").exists():
        os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)  # stays: Ray remembers it, and its children look here
    path = os.pathsep.join(_search_path())
    try:
        with _quiet(), _environment(RAY_USAGE_STATS_ENABLED="0", PYTHONPATH=path), _only_needed_processes(ray):
            ray.init(
                address="local",
                num_cpus=cpus,
                include_dashboard=False,
                log_to_driver=False,
                configure_logging=False,
                object_store_memory=OBJECT_STORE_BYTES,
                _temp_dir=RaySession._folder,
            )
    except Exception as error:  # Ray has no narrower one, as for a machine that is too busy for its limit of 30 s
        _end()
        raise ScoringFailed(f"Ray could not be started on this machine: {error}") from error
    atexit.register(_end)


def _join(ray: Any, address: str) -> None:
    try:
        _knock(address)
        with _quiet():
            ray.init(address=address, log_to_driver=False, configure_logging=False, runtime_env=_runtime_env())
    except (OSError, RuntimeError, ValueError) as error:
        raise ScoringFailed(
            f"cannot join a Ray cluster at {address!r}: {error}; start one with 'ray start --head', or leave the "
            "address out to score on this machine"
        ) from error


def _runtime_env() -> dict[str, Any]:
    """Makes plaudit and the user's modules importable on nodes that see the same files."""
    return {"env_vars": {"PYTHONPATH": os.pathsep.join([*_search_path(), "${PYTHONPATH}"])}}


def _search_path() -> list[str]:
    """This process's import path without the interpreter's own folders."""
    own = {os.path.abspath(prefix) for prefix in (sys.prefix, sys.base_prefix)}
    folders = dict.fromkeys(os.path.abspath(folder) for folder in sys.path)
    return [folder for folder in folders if not any(Path(folder).is_relative_to(prefix) for prefix in own)]


def _knock(address: str) -> None:
    """Raise OSError when nobody listens at host:port; Ray itself would go on trying for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host, int(port)), timeout=KNOCK_S).close()


def _end() -> None:
    ray = require("ray", extra="ray", purpose="the Ray backend")
    ray.shutdown()
    _mute(ray, False)
    atexit.unregister(_end)
    if RaySession._folder is not None:
        shutil.rmtree(RaySession._folder, ignore_errors=True)
        RaySession._folder = None


def _mute(ray: Any, muted: bool) -> None:
    # Ray prints the deaths of workers to stdout, where our caller may be writing; no option of `init` stops that.
    ray._private.worker._worker_logs_enabled = not muted


@contextmanager
def _only_needed_processes(ray: Any) -> Iterator[None]:
    """Leave out what nobody would ask, as no setting of `ray.init` does.

    That is the autoscaler, the reader of workers' output, and the dashboard's process, which Ray starts even without a
    dashboard. Together they take almost half of the processor time of a start, which waits for the last of them.
    """
    kind = ray._private.node.Node
    nodes = []

    def prepare(node: Any, **settings: Any) -> None:
        """In place of the dashboard's start, which is before that of the agent."""
        _free_agent_port(node)
        nodes.append(node)

    instead = {"start_monitor": _leave_out, "start_log_monitor": _leave_out, "start_api_server": prepare}
    starts = {name: getattr(kind, name) for name in instead if hasattr(kind, name)}  # of another Ray's, those it has
    for name in starts:
        setattr(kind, name, instead[name])
    try:
        yield
    except BaseException:
        for node in nodes:  # Ray itself ends what it has started only with this process
            node.kill_all_processes(check_alive=False, allow_graceful=False)
        raise
    finally:
        for name, start in starts.items():
            setattr(kind, name, start)


def _leave_out(node: Any, **settings: Any) -> None:
    """In place of a process's start."""


def _free_agent_port(node: Any) -> None:
    """Let the agent of this node listen at any free port.

    A fixed one is Ray's choice; a second Ray on this machine waits for it in vain, and then takes no jobs.
    """
    node._ray_params.dashboard_agent_listen_port = 0


@contextmanager
def _quiet() -> Iterator[None]:
    before = _log.level
    _log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        _log.setLevel(before)


@contextmanager
def _environment(**variables: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
