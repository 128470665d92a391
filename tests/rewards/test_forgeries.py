"""Programs that cheat earn nothing."""

import re

import pytest

from plaudit import Status, Trajectory
from plaudit.rewards import CodeReward
from tests.parts import part
from tests.rewards.forgery_list import ASSERTS, CALLS, FILE, FORGERIES, STREAM

HONEST = """
def total(numbers):
    return sum(n * n for n in numbers)

if __name__ == "__main__":
    print(total(map(int, input().split())))
"""


def sample(source, truth):
    language = truth.get("language", "python") if isinstance(truth, dict) else "python"
    return Trajectory(prompt="Sum the squares.", response=f"```{language}\n{source}```", ground_truth=truth)


REFUSED = {  # tests that use a name which nobody defines: not scored, whatever the program brings along
    forgery.name for forgery in FORGERIES if forgery.name.startswith("supplies_")
} | {"replaces_isclose", "replaces_deepcopy"}
COMPARED = {  # tests that compare objects of the program: not scored, before the program runs
    "brings_its_own_counter", "adaptive_copy_of_the_last_point", "class_that_equals_anything",
    "class_that_equals_any_number", "class_that_is_below_everything", "partial_order_liar",
}  # fmt: skip
BESIDE_THE_TESTS = {  # what cannot be scored follows from the tests alone
    **dict.fromkeys(
        [
            "undefined_constant_beside_an_import", "undefined_constant_beside_a_module", "undefined_table_of_cases",
            "undefined_constant_as_tolerance", "capitalised_constant_beside_an_import",
            "reference_that_nobody_defines", "reference_as_a_constant_in_a_helper",
            "unscored_by_a_list_for_an_iterator", "unscored_by_a_method_of_a_list", "unscored_by_an_array_of_objects",
            "grader_tested_by_a_truth_value", "grader_that_also_gets_what_is_expected",
        ],
        "which neither they nor",
    ),
    **dict.fromkeys(
        [
            "unscored_by_an_object_with_attributes", "unscored_by_an_object_for_a_dict",
            "answer_by_a_callback_of_a_thread_pool",
        ],
        "the tests give an answer something that is not plain data",
    ),
    **dict.fromkeys(
        ["test_class_only_if_defined", "test_function_only_if_defined", "third_test_defined_if_hasattr"],
        "a condition on the program around tests",
    ),
    **dict.fromkeys(
        [
            "unscored_by_a_module_that_is_not_there", "unscored_by_a_path", "unscored_by_a_long_sleep",
            "unscored_by_a_helper_that_opens",
        ],
        "that an answer names",
    ),
}  # fmt: skip
PAID = {  # not covered, as the guide says
    "nan_sum_of_differences", "nan_on_one_side_where_another_test_knows_nan", "yielded_results",
}  # fmt: skip
REASONS = {
    "decorator_of_the_program_drops_a_test": "timed is called with something that is not plain data",
    **BESIDE_THE_TESTS,
    **dict.fromkeys(REFUSED, "which neither they nor|not installed"),
    **dict.fromkeys(COMPARED, r"^line \d+: the tests compare"),
}


def test_no_forgery_earns_anything_but_those_that_the_guide_does_not_cover(monkeypatch):
    """All in one batch, so that the forgeries run once however many workers the tests are spread over."""
    monkeypatch.setattr("plaudit.rewards.code.WALL_LEAST_S", 2.0)  # one that stops itself would be waited for
    monkeypatch.setattr("plaudit.rewards.code.JUDGE_FACTOR", 2.0)  # as would tests that never come to an end
    tried = [forgery for forgery in FORGERIES if part([forgery.name], 4)]
    outputs = {}
    for flavour in ("plain", "numpy"):
        forgeries = [one for one in tried if ("import numpy" in one.source) == (flavour == "numpy")]
        scored = CodeReward(cpu_s=0.1, flavour=flavour).compute_rewards(
            [sample(one.source, one.truth) for one in forgeries]
        )
        outputs |= {forgery.name: output for forgery, output in zip(forgeries, scored, strict=True)}
    wrong = {
        name: (output.reward, output.reason) for name, output in outputs.items() if not _is_as_expected(name, output)
    }
    assert not wrong
    late = [name for name, output in outputs.items() if re.search("over the limit|did not end within", output.reason)]
    assert len(late) < 0.1 * len(tried), late


def _is_as_expected(name, output):
    if name in REASONS:
        return output.status is Status.UNPARSED and re.search(REASONS[name], output.reason)
    if name in PAID:
        return output.reward == 1.0
    return output.reward == 0.0 and output.score == 0.0


@pytest.mark.parametrize("truth", [ASSERTS, FILE, STREAM, CALLS], ids=["asserts", "test file", "streams", "calls"])
def test_an_honest_program_passes_the_tests_that_the_forgeries_fail(truth):
    [output] = CodeReward().compute_rewards([sample(HONEST, truth)])
    assert output.reward == 1.0, output.reason


def test_names_of_forgeries_are_unique_and_there_are_enough():
    names = [forgery.name for forgery in FORGERIES]
    assert len(set(names)) == len(names) >= 250
