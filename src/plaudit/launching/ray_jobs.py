"""Run a command as a job on a Ray cluster with Ray's own job client, and follow its log.

The job runs in this folder, with this Python: the cluster's nodes must see the same files, as with the Ray backend.
"""

import asyncio
import contextlib
import os
import shlex
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import tenacity

from plaudit.engine.backends.ray_session import check_listener
from plaudit.errors import MissingPackage, PlauditError, TrainingError, require

PURPOSE = "submitting jobs to Ray"
PAUSE_S = 1.0
NO_AGENT = "No available agent"


@dataclass(frozen=True, slots=True)
class Job:
    """A command with its environment variables and GPUs."""

    command: str
    environment: Mapping[str, str] = field(default_factory=dict)
    gpus: int = 0


@dataclass(frozen=True, slots=True)
class RayJob:
    """A submitted job."""

    id: str
    address: str
    client: Any

    def follow(self, show: Callable[[str], None]) -> str | None:
        """Show what the job prints until it ends; returns what went wrong, or None."""
        shown = ""
        while True:
            shown = asyncio.run(self._show_log(show, shown))
            status = self.client.get_job_status(self.id)
            if status.is_terminal():
                break
            time.sleep(PAUSE_S)  # the connection ended before the job did
        whole = self.client.get_job_logs(self.id)
        if not whole.startswith(shown):
            show("\n(a part of the log was lost; the whole log:)\n")
        if rest := whole.removeprefix(shown):
            show(rest)
        if status.value == "SUCCEEDED":
            return None
        return f"{status.value}: {str(self.client.get_job_info(self.id).message or '').strip()}"

    async def _show_log(self, show: Callable[[str], None], shown: str) -> str:
        """Show the part of the log that was not shown yet; returns all that was shown."""
        seen = 0
        async with contextlib.aclosing(self.client.tail_job_logs(self.id)) as texts:
            async for text in texts:
                new = text[max(0, len(shown) - seen) :]
                seen += len(text)
                if new:
                    show(new)
                    shown += new
        return shown

    @property
    def commands(self) -> str:
        """The shell commands that follow or stop the job."""
        address = f"--address {shlex.quote(self.address)}"
        follow, stop = f"ray job logs --follow {address} {self.id}", f"ray job stop {address} {self.id}"
        return f"follow it with `{follow}`, end it with `{stop}`"


_WAIT_FOR_AGENT = tenacity.Retrying(
    retry=tenacity.retry_if_exception_message(match=rf"(?s).*{NO_AGENT}"),
    wait=tenacity.wait_fixed(0.5),
    stop=tenacity.stop_after_delay(180.0),
    reraise=True,
)
"""The dashboard of a new cluster starts before the agent that runs jobs: over a minute earlier on a busy machine."""


def submit_job(address: str, job: Job) -> RayJob:
    """Start a command in this folder on a cluster: `auto`, `host:port`, or the address of its dashboard."""
    submission = require("ray.job_submission", extra="ray", purpose=PURPOSE)
    variables = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
    try:
        check_listener(address)
        client = submission.JobSubmissionClient(address)
        name = _WAIT_FOR_AGENT(
            client.submit_job,
            entrypoint=f"cd {shlex.quote(os.getcwd())} && {job.command}",
            runtime_env={"env_vars": {**variables, **job.environment}},
            entrypoint_num_gpus=job.gpus or None,
        )
    except OSError as error:
        raise TrainingError(f"no Ray cluster answers at {address!r}; start one with `ray start --head`") from error
    except (RuntimeError, ValueError) as error:
        raise _explain(address, error) from error
    return RayJob(name, address, client)


def _explain(address: str, error: Exception) -> PlauditError:
    if "ray[default]" in str(error):
        return MissingPackage(f"{PURPOSE} needs Ray's job client: pip install 'ray[default]'")
    if NO_AGENT in str(error):
        return TrainingError(
            f"Ray at {address!r} has no agent that starts jobs; if another Ray ran on its head node before it, "
            "restart it with `ray start --head --dashboard-agent-listen-port 0`"
        )
    return TrainingError(f"Ray at {address!r} did not take the job: {error}")


def plaudit_command(arguments: Sequence[str]) -> str:
    """The command line of plaudit, for a shell that has this Python."""
    return shlex.join([sys.executable, "-m", "plaudit", *arguments])
