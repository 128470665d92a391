"""Run a command as a job on a Ray cluster, and follow what it prints.

The job runs in this folder, with this Python: the cluster's nodes must see the same files, as with the Ray backend.
"""

import asyncio
import codecs
import os
import secrets
import shlex
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import tenacity

from plaudit.engine.backends.ray_session import RaySession
from plaudit.errors import MissingPackage, ScoringFailed, TrainingError, require
from plaudit.launching.command_actor import CommandActor

__all__ = ["Job", "RayJob", "plaudit_command", "submit_job"]

PURPOSE = "submitting jobs to Ray"
PAUSE_S = 1.0
START_S = 120.0
NO_AGENT = "No available agent"


class RayJob(Protocol):
    """A command that runs on a cluster."""

    @property
    def id(self) -> str: ...

    def follow(self, show: Callable[[str], None]) -> str | None:
        """Show what the job prints until it ends; returns what went wrong, or None where nothing did."""

    @property
    def commands(self) -> str:
        """How to go on with a job that is no longer followed."""


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be run, and with which variables and GPUs."""

    command: str
    environment: Mapping[str, str] = field(default_factory=dict)
    gpus: int = 0


def submit_job(address: str, job: Job) -> RayJob:
    """Start a command on a cluster, in this folder: through its dashboard (`http://…`), or by joining it."""
    is_dashboard = address.startswith(("http://", "https://"))
    return _through_dashboard(address, job) if is_dashboard else _through_actor(address, job)


@dataclass(frozen=True, slots=True)
class DashboardJob:
    """A job that the dashboard of a cluster runs: what `ray job submit` starts."""

    id: str
    address: str
    client: Any

    def follow(self, show: Callable[[str], None]) -> str | None:
        shown = ""
        while True:
            shown = asyncio.run(self._show_log(show, shown))
            status = self.client.get_job_status(self.id)
            if status.is_terminal():
                break
            time.sleep(PAUSE_S)  # the connection ended before the job did
        self._show_rest(show, shown)
        if status.value == "SUCCEEDED":
            return None
        return f"{status.value}: {str(self.client.get_job_info(self.id).message or '').strip()}"

    async def _show_log(self, show: Callable[[str], None], shown: str) -> str:
        """Show the log behind what was shown of it; returns what is shown now."""
        seen = 0
        async for text in self.client.tail_job_logs(self.id):
            new = text[max(0, len(shown) - seen) :]
            seen += len(text)
            if new:
                show(new)
                shown += new
        return shown

    def _show_rest(self, show: Callable[[str], None], shown: str) -> None:
        """Show what the connections did not bring, which may also be a line in between."""
        whole = self.client.get_job_logs(self.id)
        kept = next(
            (n for n, (a, b) in enumerate(zip(shown, whole, strict=False)) if a != b), min(len(shown), len(whole))
        )
        if kept < len(shown):
            show("\n(a part of the log was lost on its way; from there on again:)\n")
            kept = whole.rfind("\n", 0, kept) + 1
        if kept < len(whole):
            show(whole[kept:])

    @property
    def commands(self) -> str:
        address = f"--address {shlex.quote(self.address)}"
        follow, stop = f"ray job logs --follow {address} {self.id}", f"ray job stop {address} {self.id}"
        return f"follow it with `{follow}`, end it with `{stop}`"


@dataclass(frozen=True, slots=True)
class ActorJob:
    """A job that an actor of ours runs, on a cluster without a dashboard."""

    id: str
    session: RaySession
    actor: Any
    pid: int

    def follow(self, show: Callable[[str], None]) -> str | None:
        ray = self.session.ray
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        place = 0
        try:
            while True:
                text, code = ray.get(self.actor.read.remote(place))
                place += len(text)
                show(decode(text))
                if code is not None:
                    break
            ray.kill(self.actor)
        except ray.exceptions.RayError as error:
            return f"lost: {str(error).splitlines()[0]}"
        finally:
            self.session.leave()
        Path(f"{self.id}.log").unlink(missing_ok=True)  # all of it was shown
        return None if code == 0 else f"failed with exit code {code}"

    @property
    def commands(self) -> str:
        return f"see its log with `tail -f {self.id}.log`, end it with `kill {self.pid}` on its node"


_BESIDE_NEW_CLUSTERS = tenacity.Retrying(
    retry=tenacity.retry_if_exception_message(match=rf"(?s).*{NO_AGENT}"),
    wait=tenacity.wait_fixed(0.5),
    stop=tenacity.stop_after_delay(180.0),
    reraise=True,
)
"""A new cluster has a dashboard before it has the agent that starts jobs: over a minute earlier on a busy machine."""


def _through_dashboard(address: str, job: Job) -> DashboardJob:
    submission = require("ray.job_submission", extra="ray", purpose=PURPOSE)
    own = {"PYTHONPATH": os.environ["PYTHONPATH"]} if "PYTHONPATH" in os.environ else {}
    try:
        client = submission.JobSubmissionClient(address)
        name = _BESIDE_NEW_CLUSTERS(
            client.submit_job,
            entrypoint=f"cd {shlex.quote(os.getcwd())} && {job.command}",
            runtime_env={"env_vars": {**own, **job.environment}},
            entrypoint_num_gpus=job.gpus or None,
        )
    except ConnectionError as error:
        raise TrainingError(
            f"no Ray dashboard answers at {address!r}; `ray start --head` prints its address, "
            "and a cluster without one is joined by host:port or auto"
        ) from error
    except (RuntimeError, ValueError) as error:
        if "ray[default]" in str(error):
            raise MissingPackage(
                f"{PURPOSE} by {address} needs Ray's own client: pip install 'ray[default]'"
            ) from error
        if NO_AGENT in str(error):
            raise TrainingError(
                f"Ray at {address!r} has no agent that starts jobs; where another Ray ran on its head node before it, "
                "start it anew with `ray start --head --dashboard-agent-listen-port 0`"
            ) from error
        raise TrainingError(f"Ray at {address!r} did not take the job: {error}") from error
    return DashboardJob(name, address, client)


def _through_actor(address: str, job: Job) -> ActorJob:
    try:
        session = RaySession(address, 1)
    except ScoringFailed as error:
        raise TrainingError(f"no Ray cluster answers at {address!r}; start one with `ray start --head`") from error
    ray, name = session.ray, f"plaudit-{secrets.token_hex(4)}"
    options = {"name": name, "namespace": "plaudit", "lifetime": "detached", "num_cpus": 0, "num_gpus": job.gpus}
    kind = ray.remote(CommandActor).options(**options, runtime_env=session.runtime_env or None)
    actor = kind.remote(job.command, os.getcwd(), f"{name}.log", dict(job.environment))
    try:
        pid = ray.get(actor.pid.remote(), timeout=START_S)
    except ray.exceptions.RayError as error:
        ray.kill(actor)
        reason = [line for line in str(error).splitlines() if line.strip()][-1]
        raise TrainingError(
            f"Ray at {address!r} did not start the job (the nodes must see this folder and have {job.gpus} GPUs free): "
            f"{reason}"
        ) from error
    return ActorJob(name, session, actor, pid)


def plaudit_command(arguments: Sequence[str]) -> str:
    """The command line of plaudit, for a shell that has this Python."""
    return shlex.join([sys.executable, "-m", "plaudit", *arguments])
