"""Score samples in a new Python process, where nothing is left over from this one.

The new process has another hash seed, so that values which follow the order of a set or `hash(text)` show up. It
shares `sys.path` and the working directory with this one, and answers through a file because a reward may print.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from plaudit import jsonline
from plaudit.contract.boundary import score_samples
from plaudit.contract.output import RewardOutput
from plaudit.errors import ScoringFailed
from plaudit.loading import load
from plaudit.python_command import python_command
from plaudit.trajectory import Trajectory

__all__ = ["PATIENCE_S", "score_in_fresh_process", "write_outputs"]

PATIENCE_S = 60.0
SEARCH_PATH = "search_path.json"


def score_in_fresh_process(spec: str, trajectories: Sequence[Trajectory]) -> list[RewardOutput]:
    """One output per trajectory from the reward that `spec` names; raises ScoringFailed when the process fails."""
    with TemporaryDirectory(prefix="plaudit-") as folder:
        asked, answered = Path(folder, "asked.jsonl"), Path(folder, "answered.jsonl")
        asked.write_text("\n".join(trajectory.to_json() for trajectory in trajectories), encoding="utf-8")
        Path(folder, SEARCH_PATH).write_text(json.dumps([place for place in sys.path if isinstance(place, str)]))
        _run(python_command(__name__, "write_outputs", spec, str(asked), str(answered), options=("-R",)))
        if not answered.exists():
            raise ScoringFailed("a fresh process ended early, without an error")
        return [RewardOutput.from_dict(jsonline.decode(line)) for line in answered.read_bytes().splitlines()]


def write_outputs(spec: str, asked: str, answered: str) -> None:
    """What the new process runs: read trajectories, score, write outputs."""
    sys.path[:] = json.loads(Path(asked).with_name(SEARCH_PATH).read_text())
    trajectories = [Trajectory.from_json(line) for line in Path(asked).read_bytes().split(b"\n")]
    outputs = score_samples(load(spec), trajectories)
    compared = [
        RewardOutput(o.reward, o.token_rewards, score=o.score, status=o.status, token_unit=o.token_unit)
        for o in outputs  # metadata may hold what JSON cannot
    ]
    Path(answered).write_bytes(b"\n".join(jsonline.encode(output.to_dict()) for output in compared))


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, timeout=PATIENCE_S, check=False)
    except subprocess.TimeoutExpired:
        raise ScoringFailed(f"a fresh process did not finish within {PATIENCE_S:g} s") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise ScoringFailed(f"a fresh process failed with code {done.returncode}: {said[-1] if said else 'no message'}")
