"""Run a command as a job on Ray, and show its log while it runs."""

import sys

from plaudit.cli.console import print_message
from plaudit.launching.ray_jobs import Job, submit_job

__all__ = ["run_job"]

NOT_DONE, INTERRUPTED = 1, 130


def run_job(address: str, job: Job) -> int:
    """Submit a command, follow it to its end, and return an exit code; Ctrl-C ends the following, not the job."""
    submitted = submit_job(address, job)
    print_message(f"submitted to Ray at {address} as {submitted.id}")
    try:
        problem = submitted.follow(_show)
    except KeyboardInterrupt:
        print_message(f"{submitted.id} goes on; {submitted.commands}")
        return INTERRUPTED
    if problem is not None:
        print_message(f"{submitted.id} {problem}")
        return NOT_DONE
    return 0


def _show(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
