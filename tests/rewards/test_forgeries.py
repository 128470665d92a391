"""Programs that cheat earn nothing."""

import re

import pytest

from plaudit import Status, Trajectory
from plaudit.rewards import CodeReward
from tests.rewards.forgery_list import ASSERTS, CALLS, FILE, FORGERIES, STREAM

HONEST = """
def total(numbers):
    return sum(n * n for n in numbers)

if __name__ == "__main__":
    print(total(map(int, input().split())))
"""


def sample(source, truth):
    return Trajectory(prompt="Sum the squares.", response=f"```python\n{source}```", ground_truth=truth)


@pytest.fixture(scope="module")
def outputs():
    samples = [sample(forgery.source, forgery.truth) for forgery in FORGERIES]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("plaudit.rewards.code.WALL_LEAST_S", 4.0)  # one that stops itself would be waited for
        patch.setattr("plaudit.rewards.code.JUDGE_FACTOR", 2.0)  # as would some that the tests never come to an end of
        scored = CodeReward(cpu_s=0.15).compute_rewards(samples)
    return {forgery.name: output for forgery, output in zip(FORGERIES, scored, strict=True)}


REFUSED = {  # tests that use a name which nobody defines: not scored, whatever the program brings along
    forgery.name for forgery in FORGERIES if forgery.name.startswith("supplies_")
} | {"replaces_isclose", "replaces_deepcopy"}
COMPARED = {  # tests that compare objects of the program: not scored, before the program runs
    "brings_its_own_counter", "adaptive_copy_of_the_last_point", "class_that_equals_anything",
    "class_that_equals_any_number", "class_that_is_below_everything", "partial_order_liar",
}  # fmt: skip


@pytest.mark.parametrize("name", [forgery.name for forgery in FORGERIES if forgery.name not in REFUSED | COMPARED])
def test_a_forgery_earns_nothing(outputs, name):
    assert outputs[name].reward == 0.0, outputs[name].reason
    assert outputs[name].score == 0.0


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_a_name_that_nobody_defines_is_not_taken_from_the_program(outputs, name):
    assert outputs[name].status is Status.UNPARSED
    assert re.search("which neither they nor|not installed", outputs[name].reason)


@pytest.mark.parametrize("name", sorted(COMPARED))
def test_tests_that_compare_objects_of_the_program_are_not_scored(outputs, name):
    assert outputs[name].status is Status.UNPARSED
    assert re.search(r"^line \d+: the tests compare", outputs[name].reason)


def test_nearly_all_forgeries_are_found_out_before_their_time_is_up(outputs):
    late = [name for name, output in outputs.items() if re.search("over the limit|did not end within", output.reason)]
    assert len(late) < 0.1 * len(FORGERIES), late


@pytest.mark.parametrize("truth", [ASSERTS, FILE, STREAM, CALLS], ids=["asserts", "test file", "streams", "calls"])
def test_an_honest_program_passes_the_tests_that_the_forgeries_fail(truth):
    [output] = CodeReward().compute_rewards([sample(HONEST, truth)])
    assert output.reward == 1.0, output.reason


def test_names_of_forgeries_are_unique_and_there_are_enough():
    names = [forgery.name for forgery in FORGERIES]
    assert len(set(names)) == len(names) >= 250
