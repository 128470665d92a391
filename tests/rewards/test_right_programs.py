"""Right programs of unusual style pass; where the tests cannot be split they are not scored, and never scored 0."""

from pathlib import Path

import pytest

from plaudit import Status, Trajectory
from plaudit.rewards import CodeReward
from plaudit.sandbox import shared_pool
from tests.rewards.forgery_list import with_tests

FILES = sorted((Path(__file__).parent / "right_programs").glob("*.txt"))
PROGRAMS = {program.name: program for path in FILES for program in with_tests(path, path.stem)}
NOT_SCORED = {"linked_list": "Node is not plain data"}  # the data set's helper makes objects that cannot travel


def sample(program):
    return Trajectory(prompt="?", response=f"```python\n{program.source}```", ground_truth=program.truth)


@pytest.fixture(scope="module")
def outputs():
    scored = {}
    for flavour in ("plain", "numpy"):
        some = [one for one in PROGRAMS.values() if (one.family == "numpy") == (flavour == "numpy")]
        results = CodeReward(flavour=flavour).compute_rewards([sample(one) for one in some])
        scored |= {one.name: output for one, output in zip(some, results, strict=True)}
    return scored


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in NOT_SCORED])
def test_a_right_program_passes(outputs, name):
    assert outputs[name].reward == 1.0, outputs[name].reason


@pytest.mark.parametrize("name", NOT_SCORED)
def test_tests_that_cannot_be_split_leave_a_right_program_unscored(outputs, name):
    assert outputs[name].status is Status.UNPARSED
    assert NOT_SCORED[name] in outputs[name].reason


def test_tests_that_import_what_every_judge_of_the_flavour_has_need_no_judge_of_their_own(outputs):
    assert any("import numpy" in str(program.truth) for program in PROGRAMS.values())
    assert not any("numpy" in judge.modules for judge in shared_pool("numpy")._idle)


def test_nearly_all_are_scored():
    assert len(NOT_SCORED) <= 0.05 * len(PROGRAMS)
    assert len(PROGRAMS) >= 120
