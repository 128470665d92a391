"""Right programs of unusual style pass; where the tests cannot be split they are not scored, and never scored 0."""

from pathlib import Path

import pytest

from plaudit import Status, Trajectory
from plaudit.rewards import CodeReward
from plaudit.sandbox import shared_pool
from tests.rewards.forgery_list import with_tests

FILES = sorted((Path(__file__).parent / "right_programs").glob("*.txt"))
PROGRAMS = {program.name: program for path in FILES for program in with_tests(path, path.stem)}
COMPARED = [  # the tests compare, order or compute with objects of the program's classes
    "vector_addition", "vector_scaled_from_the_left", "ordering_of_versions", "deleting_a_key", "instances_in_sets",
    "dataclass_equals_instance_of_the_test", "frozen_dataclass", "enum_iteration", "equality_with_a_plain_value",
    "operators_of_a_matrix", "in_place_addition", "typed_named_tuple", "polynomials", "iterable_class_sum",
    "matrix_matmul", "inplace_operators", "hashable_in_dict", "sorted_by_lt", "dataclass_frozen_equal",
    "operator_overloads_reverse", "del_and_setitem",
]  # fmt: skip
NOT_SCORED = {
    "linked_list": "Node is not plain data",  # the data set's helper makes objects that cannot be sent
    "names_of_the_library_without_import": "which neither they nor",
    **dict.fromkeys(COMPARED, "the tests compare, order or compute with objects of the program"),
}


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


@pytest.fixture(scope="module")
def trusted():
    results = CodeReward(objects="trust").compute_rewards([sample(PROGRAMS[name]) for name in COMPARED])
    return dict(zip(COMPARED, results, strict=True))


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


def test_all_are_scored_but_for_those_whose_tests_compare_objects():
    assert len(NOT_SCORED) - len(COMPARED) <= 0.02 * len(PROGRAMS)
    assert len(PROGRAMS) >= 120


@pytest.mark.parametrize("name", COMPARED)
def test_objects_that_are_trusted_answer_for_themselves_and_the_output_says_so(trusted, name):
    assert trusted[name].reward == 1.0, trusted[name].reason
    assert trusted[name].metadata["judged"] == "objects trusted"
