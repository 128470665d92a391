"""Watch a run by its rollouts file: what is there, and what comes while training goes on."""

import time
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path

from plaudit import jsonline
from plaudit.errors import PlauditError
from plaudit.report.run_files import run_files
from plaudit.rollouts import Rollout, ScoredRollout
from plaudit.watch.reward_watch import Look, RewardWatch

__all__ = ["watch_run"]

PAUSE_S = 1.0
CHUNK = 1 << 20


def watch_run(
    path: Path, watch: RewardWatch, *, follow: bool = False, is_over: Callable[[], bool] = lambda: False
) -> Iterator[Look]:
    """The looks at a run folder or rollouts file; with `follow`, also at what is appended, until `is_over`."""
    rollouts = _read(run_files(path).rollouts, follow, is_over)
    for step, listed in groupby(rollouts, key=lambda rollout: rollout.trajectory.training_step or 0):
        look = watch.observe(step, list(listed))
        if look is not None:
            yield look


def _read(path: Path, follow: bool, is_over: Callable[[], bool]) -> Iterator[ScoredRollout]:
    """Scored rollouts, line by line; a line that is not finished waits for its end."""
    rest = b""
    with path.open("rb") as file:
        while True:
            part = file.read(CHUNK)
            if part:
                *lines, rest = (rest + part).split(b"\n")
                yield from filter(None, map(_rollout, lines))
            elif not follow or is_over():
                return
            else:
                time.sleep(PAUSE_S)


def _rollout(line: bytes) -> ScoredRollout | None:
    """The rollout of a line; None for one without an output, and for a line that is none."""
    if not line.strip():
        return None
    try:
        found = Rollout.from_dict(jsonline.decode(line))
    except (PlauditError, jsonline.InvalidJSON, TypeError, AttributeError):
        return None
    return None if found.output is None else Rollout(found.trajectory, found.output)
