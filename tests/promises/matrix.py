"""The matrix itself: which combinations are tried, what each must give, and how a trial is judged."""

import copy
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tests.promises.faults import FAULTS, Fault
from tests.promises.misbehaviour import number
from tests.promises.pairwise import Row, pairwise, spread
from tests.promises.paths import (
    GROUP_SIZE,
    UNKNOWN,
    CallLog,
    Case,
    Outcome,
    ProcessState,
    ScoringPath,
    Session,
    make_samples,
    timed,
)
from tests.promises.styles import STYLES, Style
from tests.promises.wrappers import WRAPPERS, Wrapper

SLACK_S = 3.0
DEADLINES = {"sample": 0.5, "group": 0.25, "batch": 0.25}
PATH_NAMES = ("direct", "inline", "processes", "exported", "trained", "command_line", "served")  # the cheapest first
IN_PROCESS = ("direct", "inline")
COSTLY = ("command_line",)


class Expected(NamedTuple):
    reward: float | None
    status: str


@dataclass(frozen=True)
class Trial:
    """One combination with the faults that it meets; each inner list is one call."""

    style: Style
    is_async: bool
    wrapper: Wrapper
    path: str
    calls: tuple[tuple[Fault, ...], ...]

    @property
    def name(self) -> str:
        return f"{self.style.name}_{'async' if self.is_async else 'sync'}_{self.wrapper.name}"

    def case(self, folder: Path) -> Case:
        spec = self.wrapper.spec(self.style, self.style.write(folder, is_async=self.is_async), folder)
        return Case(self.name, spec, DEADLINES[self.style.kind], self.by_sample)

    @property
    def by_sample(self) -> bool:
        return self.style.kind == "sample" and not self.wrapper.by_group


def build_trials() -> list[Trial]:
    """All pairs of style, mode, wrapper and path; every fault meets every style and every path where it can.

    A fault that ends its worker costs a deadline, and the style only says how the call is made: such a fault meets each
    kind of style, each mode and each path.
    """
    rows = pairwise({"path": PATH_NAMES, "style": tuple(STYLES), "wrapper": tuple(WRAPPERS)})
    for first, style in enumerate(STYLES):
        for place, row in enumerate((row for row in rows if row["style"] == style), start=first):
            row |= {"mode": ("sync", "async")[place % 2], "kind": STYLES[style].kind}
    stops = [name for name, fault in FAULTS.items() if fault.ends_worker]
    others = [name for name, fault in FAULTS.items() if not fault.ends_worker]
    stopped = spread(rows, stops, ("kind", "mode", "path"), _can_meet, 2)
    few = spread([row for row in rows if _is_costly(row)], others, ("style", "path"), _can_meet, 2)
    return [
        _trial(row, few.pop(0) if _is_costly(row) else [name for name in others if _can_meet(row, name)], stop)
        for row, stop in zip(rows, stopped, strict=True)
    ]


def _can_meet(row: Row, name: str) -> bool:
    is_async, isolated = row["mode"] == "async", row["path"] not in IN_PROCESS
    return FAULTS[name].suits(STYLES[row["style"]], is_async=is_async, isolated=isolated)


def _is_costly(row: Row) -> bool:
    """Whether each fault costs the start of processes."""
    return row["path"] in COSTLY and STYLES[row["style"]].kind == "batch"


def _trial(row: Row, quick: list[str], stops: list[str]) -> Trial:
    style = STYLES[row["style"]]
    faults = [FAULTS[name] for name in quick]
    together = row["path"] in COSTLY and style.kind != "batch"
    calls = [tuple(faults)] if together else [(fault,) for fault in faults]
    calls += [(FAULTS[name],) for name in stops]
    return Trial(style, row["mode"] == "async", WRAPPERS[row["wrapper"]], row["path"], tuple(calls))


def responses_of(faults: Sequence[Fault], kind: str) -> list[str]:
    """A group without a fault, and one group with each fault in its middle; no two responses are equal.

    A batch that is stopped has no more samples than it needs, as the deadline grows with them.
    """
    is_short = kind == "batch" and any(fault.kind == "stop" for fault in faults)
    responses = [] if is_short else ["", "a", "bb"]
    for place, fault in enumerate(faults):
        responses += ["c" * (3 + place), fault.response("x" * place), "d" * (5 + 2 * place)]
    return responses


def expect(trial: Trial, responses: Sequence[str], faults: Sequence[Fault]) -> list[Expected]:
    """What each sample must give: its own fault, or the fault of the call that it shares."""
    size = {"sample": 1, "group": GROUP_SIZE, "batch": len(responses)}[trial.style.kind]
    by_response = {fault.response("x" * place): fault for place, fault in enumerate(faults)}
    own = [by_response.get(response) for response in responses]
    blamed: list[Fault | None] = []
    for start in range(0, len(responses), size):
        call = own[start : start + size]
        shared = next((fault for fault in call if fault is not None and fault.fails_call), None)
        blamed += [shared or fault for fault in call]
    scored = [fault is None or fault.is_scored for fault in blamed]
    raw = [number(response) if ok else None for response, ok in zip(responses, scored, strict=True)]
    statuses = ["ok" if ok or fault is None else fault.status for ok, fault in zip(scored, blamed, strict=True)]
    merged = trial.wrapper.merge(raw, GROUP_SIZE)
    return [Expected(reward, status) for reward, status in zip(merged, statuses, strict=True)]


def problems_of(trial: Trial, path: ScoringPath, session: Session) -> Iterator[str]:
    """Everything that is not as promised: a batch without faults, all faults, and two batches without faults again."""
    repeated = [()] * 2 if path.keeps_scorer else []
    for faults in ((), *trial.calls, *repeated):
        label = faults[0].name if len(faults) == 1 else f"{len(faults)} faults"
        for problem in _problems_of_call(trial, path, session, faults):
            yield f"{label}: {problem}"


def _problems_of_call(trial: Trial, path: ScoringPath, session: Session, faults: Sequence[Fault]) -> Iterator[str]:
    responses = responses_of(faults, trial.style.kind)
    samples = make_samples(responses)
    before, state = copy.deepcopy(samples), ProcessState.now()
    CallLog.clear()
    try:
        found, seconds = timed(session, samples)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        yield f"the call raised {type(error).__name__}: {str(error)[:300]}"
        return
    if samples != before:
        yield "the caller's samples were changed"
    if ProcessState.now() != state:
        yield "the caller's process was changed"
    size = _samples_of_call(trial, responses)
    is_repeated = trial.is_async and trial.wrapper.uses > 1 and any(fault.kind == "stop" for fault in faults)
    rounds = trial.wrapper.uses + is_repeated  # async calls that were lost together are made again one by one
    limit = DEADLINES[trial.style.kind] * size * rounds + SLACK_S + path.start_s
    if seconds > limit:
        yield f"it took {seconds:.1f} s, and {limit:.1f} s are allowed"
    if trial.style.kind != "sample":
        count, sizes = len(responses) // size, CallLog.sizes(has_trial=path.name == "command_line")
        may_repeat = any(fault.may_be_repeated for fault in faults)
        most = count * trial.wrapper.uses * (2 if is_repeated or may_repeat else 1)
        if set(sizes) != {size} or not count <= len(sizes) <= most:
            yield f"{count} calls of {size} samples were to be made, but the calls had {sizes} samples"
    yield from _problems_of_outcomes(trial, path, found, expect(trial, responses, faults), responses)


def _problems_of_outcomes(
    trial: Trial, path: ScoringPath, found: list[Outcome], expected: list[Expected], responses: Sequence[str]
) -> Iterator[str]:
    if len(found) != len(expected):
        yield f"{len(found)} outcomes for {len(expected)} samples"
    elif path.name == "direct" and not trial.by_sample and any(_is_failure(each) for each in expected):
        if not all(each.reward is None and each.reason for each in found):
            yield f"no ScoringFailed, but {[each.reward for each in found]}"
    else:
        for place, (outcome, wanted) in enumerate(zip(found, expected, strict=True)):
            if problem := _problem_of(outcome, wanted):
                yield f"sample {place} ({responses[place][:40]!r}): {problem}"


def _is_failure(expected: Expected) -> bool:
    return expected.status not in ("ok", "skipped")


def _samples_of_call(trial: Trial, responses: Sequence[str]) -> int:
    return {"sample": 1, "group": GROUP_SIZE, "batch": len(responses)}[trial.style.kind]


def _problem_of(outcome: Outcome, wanted: Expected) -> str | None:
    reward, status, reason = outcome
    if wanted.reward is not None:
        if reward is None:
            return f"not scored ({status}: {reason[:200]}), but {wanted.reward:.4f} was expected"
        is_right = math.isclose(reward, wanted.reward, rel_tol=1e-6, abs_tol=1e-9)
        return None if is_right and status in ("ok", UNKNOWN) else f"{reward!r} ({status}) instead of {wanted.reward!r}"
    if reward is not None:
        return f"the number {reward!r}, but it could not be scored ({wanted.status})"
    if status not in (wanted.status, UNKNOWN):
        return f"status {status} ({reason[:200]}) instead of {wanted.status}"
    return None if reason or (status, wanted.status) == (UNKNOWN, "skipped") else "no reason"
