"""A part of the matrix on Ray: one style of each kind, with quick faults and one that stops the worker."""

from collections.abc import Iterator

import pytest
import ray

from tests.promises.faults import FAULTS
from tests.promises.matrix import Trial, problems_of
from tests.promises.misbehaviour import CALL_LOG
from tests.promises.paths import RAY
from tests.promises.styles import STYLES
from tests.promises.wrappers import WRAPPERS

ROWS = (
    ("function", False, "plain", "spin"),
    ("compute_reward", True, "normaliser", "await"),
    ("group_function", False, "sum", "segfault"),
    ("trl", True, "nested", "exit"),
)


def build_trial(style: str, is_async: bool, wrapper: str, stop: str) -> Trial:
    quick = [
        fault for fault in FAULTS.values() if not fault.ends_worker and fault.suits(STYLES[style], is_async=is_async)
    ]
    calls = [(fault,) for fault in quick[::9]] if STYLES[style].kind == "batch" else [tuple(quick)]
    return Trial(STYLES[style], is_async, WRAPPERS[wrapper], "ray", (*calls, (FAULTS[stop],)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Iterator:
    folder = tmp_path_factory.mktemp("promises_on_ray")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CALL_LOG, str(folder / "calls.log"))
        ray.init(num_cpus=2, include_dashboard=False, logging_level="error", log_to_driver=False)
        yield folder
        ray.shutdown()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}-{row[2]}-{row[3]}")
def test_numbers_and_failures_are_as_promised_on_ray(row, folder):
    trial = build_trial(*row)
    with RAY.open(trial.case(folder), folder) as session:
        problems = list(problems_of(trial, RAY, session))
    if problems:
        pytest.fail(f"{len(problems)} promises broken\n" + "\n".join(problems), pytrace=False)
