"""Styles × wrappers × paths × faults × repeated batches: the same numbers everywhere, and a failure costs its call.

All pairs are covered, not the whole product. One test is one combination of style, wrapper and path; it meets many
faults one after the other with the same scorer, and lists everything that is not as promised.
"""

import contextlib
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from plaudit import serving
from tests.promises.faults import FAULTS
from tests.promises.matrix import DEADLINES, IN_PROCESS, PATH_NAMES, Trial, build_trials, problems_of
from tests.promises.misbehaviour import CALL_LOG
from tests.promises.paths import PATHS, ScoringPath, served_path
from tests.promises.styles import STYLES
from tests.promises.wrappers import WRAPPERS

TRIALS = build_trials()
LOCAL = [trial for trial in TRIALS if trial.path in PATHS]
SERVED = [trial for trial in TRIALS if trial.path == "served"]


def trial_id(trial: Trial) -> str:
    return f"{trial.path}-{trial.name}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("promises")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CALL_LOG, str(folder / "calls.log"))
        yield folder


@pytest.fixture(scope="module")
def servers(folder) -> Iterator[dict[float, ScoringPath]]:
    """One server for all combinations of one deadline."""
    cases = [trial.case(folder) for trial in SERVED]
    running = {}
    with contextlib.ExitStack() as stack:
        for deadline_s in sorted(set(DEADLINES.values())):
            rewards = tuple(f"{case.name}={case.spec}" for case in cases if case.deadline_s == deadline_s)
            settings = serving.ServerSettings(rewards=rewards, port=0, workers=1, deadline_s=deadline_s)
            running[deadline_s] = served_path(stack.enter_context(serving.ServerThread(settings)).address)
        yield running


def check(trial: Trial, path: ScoringPath, folder: Path) -> None:
    with path.open(trial.case(folder), folder) as session:
        problems = list(problems_of(trial, path, session))
    if problems:
        pytest.fail(f"{len(problems)} promises broken\n" + "\n".join(problems), pytrace=False)


@pytest.mark.filterwarnings("ignore:.*was not scored")  # an export says so, once for each reason
@pytest.mark.parametrize("trial", LOCAL, ids=trial_id)
def test_numbers_and_failures_are_as_promised(trial, folder):
    check(trial, PATHS[trial.path], folder)


@pytest.mark.parametrize("trial", SERVED, ids=trial_id)
def test_numbers_and_failures_are_as_promised_behind_a_server(trial, folder, servers):
    check(trial, servers[DEADLINES[trial.style.kind]], folder)


def test_every_style_meets_every_wrapper_and_path():
    tried = {(trial.style.name, trial.wrapper.name) for trial in TRIALS}
    assert tried == set(product(STYLES, WRAPPERS))
    assert {(trial.style.name, trial.path) for trial in TRIALS} == set(product(STYLES, PATH_NAMES))
    assert {(trial.wrapper.name, trial.path) for trial in TRIALS} == set(product(WRAPPERS, PATH_NAMES))
    assert {(trial.style.name, trial.is_async) for trial in TRIALS} == set(product(STYLES, (True, False)))


def test_every_fault_meets_every_style_and_every_path_with_processes():
    met = [(trial, fault) for trial in TRIALS for call in trial.calls for fault in call]
    usable = {(style, fault) for style in STYLES.values() for fault in FAULTS.values() if fault.suits(style)}
    passing = {(style.name, fault.name) for style, fault in usable if not fault.ends_worker}
    assert {(trial.style.name, fault.name) for trial, fault in met if not fault.ends_worker} == passing
    ending = {(style.kind, fault.name) for style, fault in usable if fault.ends_worker}
    assert {(trial.style.kind, fault.name) for trial, fault in met if fault.ends_worker} == ending
    assert {(trial.path, fault.name) for trial, fault in met if trial.path not in IN_PROCESS} == {
        (path, name) for path in PATH_NAMES if path not in IN_PROCESS for name in FAULTS
    }
