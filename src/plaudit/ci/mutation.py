"""The share of mutants of a reward that its case table notices.

A mutant is killed where a case fails, or where the cases do not end in time. One that cannot be loaded, or that
compiles to the same instructions as the reward, is neither killed nor has it survived: it is counted apart. Each mutant
runs in a worker process of its own.
"""

import importlib.util
import pickle
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plaudit.ci.mutants import Mutant, make_mutants
from plaudit.errors import InvalidSettings, PlauditError
from plaudit.loading import load
from plaudit.loading.importing import module_from_file
from plaudit.processes.single import SingleWorker, WorkerLost
from plaudit.processes.worker import Handler, Service, UnitProgress
from plaudit.testing import load_cases, run_cases
from plaudit.testing.cases.running import find_spec

__all__ = ["MutationScore", "measure_mutations"]

SHORTEST_S = 5.0
PATIENCE = 10
"""How many times as long as the reward itself a mutant may take."""
_FILE_SPEC = re.compile(r"(?P<path>[^'\"]+?\.py)(?::(?P<name>\w+)[^:]*)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class MutationScore:
    """How many mutants were killed, those that survived, and those that are not counted."""

    killed: int
    timed_out: int
    """Of the killed, those whose cases did not end in time."""
    survived: tuple[Mutant, ...]
    unloadable: int
    equivalent: int
    untried: int
    """Beyond the limit of mutants or of time."""

    @property
    def score(self) -> float | None:
        """The share that was killed; None if no mutant could be tried."""
        counted = self.killed + len(self.survived)
        return self.killed / counted if counted else None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        counts = ("killed", "timed_out", "unloadable", "equivalent", "untried")
        survived = [{"kind": each.kind, "line": each.line, "diff": each.diff} for each in self.survived]
        return {"score": self.score, **{name: getattr(self, name) for name in counts}, "survived": survived}


def measure_mutations(spec: str, cases: Path, *, most: int = 100, seconds: float = 600.0) -> MutationScore:
    """Run a case table on mutants of the file that `spec` names, at most `most` of them, spread over the file.

    Raises InvalidSettings if the reward is not in a file, or if the table does not pass on the reward as it is.
    """
    spec = find_spec(load_cases(cases), spec)
    match = _FILE_SPEC.fullmatch(spec)
    if match is None or not Path(match["path"]).is_file():
        raise InvalidSettings(f"mutants are made of a reward in a file, such as rewards.py:name; got {spec!r}")
    path, until = Path(match["path"]).resolve(), time.monotonic() + seconds
    try:
        text = importlib.util.decode_source(path.read_bytes())
        mutants, equivalent = make_mutants(text, match["name"])
    except (SyntaxError, ValueError) as error:
        raise InvalidSettings(f"{path} cannot be read: {error}") from None
    tried = mutants[:: -(-len(mutants) // most)] if mutants else []
    worker = SingleWorker(MutantService())
    try:
        limit_s = _limit(worker, (path, text, spec, cases), seconds)
        outcomes: list[str | None] = []
        for mutant in tried:
            if time.monotonic() > until:
                break
            outcomes.append(_outcome(worker, (path, mutant.text, spec, cases), limit_s))
    finally:
        worker.close()
    return MutationScore(
        killed=outcomes.count("killed") + outcomes.count("timeout"),
        timed_out=outcomes.count("timeout"),
        survived=tuple(each for each, outcome in zip(tried, outcomes, strict=False) if outcome == "survived"),
        unloadable=outcomes.count("unloadable"),
        equivalent=equivalent,
        untried=len(mutants) - len(outcomes),
    )


Job = tuple[Path, str, str, Path]
"""The file of the reward, its text, the spec, and the case table."""


def _limit(worker: SingleWorker, job: Job, seconds: float) -> float:
    """The time that a mutant may take, from the time of the reward itself; raises where the table does not pass."""
    began = time.monotonic()
    try:
        failed = pickle.loads(worker.call(pickle.dumps(("load", *job)), seconds)) or pickle.loads(
            worker.call(pickle.dumps(("run", *job)), seconds)
        )
    except WorkerLost as lost:
        failed = str(lost)
    if failed:
        raise InvalidSettings(f"{job[3]} does not pass on the reward as it is ({failed}); correct that first")
    return max(SHORTEST_S, PATIENCE * (time.monotonic() - began))


def _outcome(worker: SingleWorker, job: Job, limit_s: float) -> str:
    worker.end_worker()
    try:
        if pickle.loads(worker.call(pickle.dumps(("load", *job)), limit_s)):
            return "unloadable"
    except WorkerLost:
        return "unloadable"
    try:
        return "killed" if pickle.loads(worker.call(pickle.dumps(("run", *job)), limit_s)) else "survived"
    except WorkerLost as lost:
        return "timeout" if lost.exit_code is None else "killed"


class MutantService(Service):
    """Loads a reward from a text, and runs cases on it."""

    def open(self) -> Handler:
        return MutantHandler()


class MutantHandler:
    """Answers with a reason: why the reward cannot be loaded, or which case fails first; None where there is none."""

    in_order = False

    def __call__(self, body: bytes, progress: UnitProgress) -> bytes:
        step, path, text, spec, cases = pickle.loads(body)
        try:
            if step == "load":
                module_from_file(path, text)
                load(spec)
                return pickle.dumps(None)
            failed = (each.case.name for each in run_cases(spec, load_cases(cases)) if not each.passed)
            return pickle.dumps(next(failed, None))
        except PlauditError as error:
            return pickle.dumps(str(error))
