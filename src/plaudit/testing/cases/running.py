"""Run the cases of a table against a reward and describe each result.

All cases are scored together, as group rewards and expected orders need. A case that could not be scored has failed,
unless that was expected.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from plaudit.contract.function import RewardLike
from plaudit.contract.output import RewardOutput, Status
from plaudit.contract.scoring import score_samples
from plaudit.engine import Scorer
from plaudit.errors import CasesError
from plaudit.loading import load
from plaudit.loading.names import locate_files
from plaudit.testing.cases.expectations import Expectation
from plaudit.testing.cases.table import Case, CaseTable, load_cases


@dataclass(frozen=True, slots=True)
class CaseResult:
    """A case, the reward's output, and whether it was expected."""

    case: Case
    output: RewardOutput
    passed: bool
    explanation: str


def run_cases(
    reward: RewardLike | str | None, table: CaseTable, *, deadline_s: float | None = None
) -> list[CaseResult]:
    """One result per case; `reward` may be a spec, or None for the reward that the table names.

    With a deadline, cases are scored on worker processes, and one that takes longer has the status `timeout`.
    """
    source = find_spec(table, reward) if reward is None or isinstance(reward, str) else reward
    trajectories = [case.trajectory for case in table.cases]
    if deadline_s is None:
        outputs = score_samples(load(source), trajectories)
    else:
        with Scorer(source, backend="processes", deadline_s=deadline_s) as scorer:
            outputs = scorer.score(trajectories)
    named = {case.name: output for case, output in zip(table.cases, outputs, strict=True)}
    return [_result(case, output, named) for case, output in zip(table.cases, outputs, strict=True)]


def assert_cases(reward: RewardLike | str | None, path: str | Path) -> None:
    """Raise AssertionError that lists the cases of a file which the reward does not pass."""
    results = run_cases(reward, load_cases(path))
    failed = [result for result in results if not result.passed]
    if failed:
        lines = [f"{result.case.name}: {result.explanation}" for result in failed]
        raise AssertionError("\n  ".join([f"{len(failed)} of {len(results)} cases in {path} failed:", *lines]))


def find_spec(table: CaseTable, override: str | None = None, folders: Sequence[Path] = ()) -> str:
    """The spec of the reward to run a table with: `override` if set, else the spec in the table.

    A relative path in the spec is looked up in the table's folder, then in `folders`, then in the working directory.
    """
    spec = override or table.reward
    if spec is None:
        raise CasesError(f"{table.path}: names no reward; add 'reward: rewards.py:name' to the file, or give one")
    return locate_files(spec, [table.path.parent, *folders])


def _result(case: Case, output: RewardOutput, named: Mapping[str, RewardOutput]) -> CaseResult:
    problem = _check_case(case, output, named)
    return CaseResult(case, output, problem is None, problem or f"got {_describe(output)}, as expected")


def _check_case(case: Case, output: RewardOutput, named: Mapping[str, RewardOutput]) -> str | None:
    if output.status is not (case.status or Status.OK):
        wanted = (
            f"status {case.status}"
            if case.expected is None and case.status
            else str(case.expected or case.expected_score)
        )
        return f"expected {wanted}, got {_describe(output)}{_reason_suffix(output)}"
    if case.expected is not None and output.reward is not None:
        rewards = {name: other.reward for name, other in named.items()}
        if problem := _find_problem("", case.expected, output.reward, rewards):
            return problem + _reason_suffix(output)
    if case.expected_score is None:
        return None
    if output.score is None:
        return f"expected score {case.expected_score}, but the reward gives no score"
    scores = {name: other.score for name, other in named.items()}
    problem = _find_problem("score ", case.expected_score, output.score, scores)
    return problem and problem + _reason_suffix(output)


def _find_problem(what: str, expected: Expectation, value: float, others: Mapping[str, float | None]) -> str | None:
    if expected.is_met(value, others):
        return None
    detail = expected.detail(others)
    return f"expected {what}{expected}{f' ({detail})' if detail else ''}, got {value:.6g}"


def _describe(output: RewardOutput) -> str:
    return f"{output.reward:.6g}" if output.reward is not None else f"status {output.status}"


def _reason_suffix(output: RewardOutput) -> str:
    return f" (reason: {output.reason})" if output.reason else ""
