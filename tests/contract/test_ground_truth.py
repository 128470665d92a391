"""A reward that needs a ground truth is not run on samples without one: the error names the columns and the option."""

import pytest

from plaudit import RewardFunction, Trajectory, load, reward
from plaudit.contract.ground_truth import check_ground_truth, truth_parameter
from plaudit.errors import InvalidSettings
from plaudit.rewards import MathReward

WITHOUT = [Trajectory("p", "r", columns={"gold_sql": "select 1", "output": 2})]


@reward
def native(response, ground_truth):
    return float(response == ground_truth)


@reward
def named(completion, answer):
    return float(completion == answer)


@reward
def batched(responses, ground_truths):
    return [float(one == other) for one, other in zip(responses, ground_truths, strict=True)]


@reward
def optional(response, ground_truth=None):
    return 1.0


@reward
def none(response):
    return 1.0


class Declared(RewardFunction):
    needs_ground_truth = True

    def compute_reward(self, trajectory):
        return 1.0


@pytest.mark.parametrize(
    ("candidate", "parameter"),
    [
        (native, "ground_truth"), (named, "answer"), (batched, "ground_truths"), (optional, ""), (none, ""),
        (Declared(), "ground_truth"), (load("math"), "ground_truth"), (load("length"), ""),
    ],
)  # fmt: skip
def test_the_parameters_of_a_reward_say_whether_it_needs_a_ground_truth(candidate, parameter):
    assert truth_parameter(candidate) == parameter


OPENRLHF = {
    "used": ("[float(label) for query, label in zip(queries, labels)]", "labels"),
    "zipped, but not used": ("[1.0 for query, prompt, label in zip(queries, prompts, labels)]", ""),
    "never read": ("[float(len(query)) for query in queries]", ""),
    "indexed": ("[float(labels[0])] * len(queries)", "labels"),
}


@pytest.mark.parametrize(("code", "parameter"), OPENRLHF.values(), ids=OPENRLHF)
def test_a_parameter_that_the_convention_always_passes_counts_only_if_it_is_used(tmp_path, code, parameter):
    (tmp_path / "file.py").write_text(f"def reward_func(queries, prompts, labels):\n    return {code}\n")
    assert truth_parameter(load(f"{tmp_path}/file.py")) == parameter


def test_a_missing_ground_truth_is_an_error_with_the_columns_and_the_option():
    with pytest.raises(InvalidSettings) as caught:
        check_ground_truth(native + 0.1 * none, WITHOUT, "-c ground_truth=COLUMN")
    assert str(caught.value) == (
        "native needs a ground truth ('ground_truth'), and no sample has one; the other columns are: gold_sql, output; "
        "name the column that holds it: -c ground_truth=COLUMN"
    )


def test_a_stream_is_read_only_until_the_first_ground_truth_and_loses_no_sample():
    read = []

    def stream():
        for number in range(5):
            read.append(number)
            yield Trajectory("p", str(number), ground_truth=None if number == 0 else "4")

    samples = check_ground_truth(native, stream(), "")
    assert read == [0, 1]
    assert [sample.response for sample in samples] == ["0", "1", "2", "3", "4"]


def test_one_sample_with_a_ground_truth_or_a_column_of_that_name_is_enough():
    check_ground_truth(native, [*WITHOUT, Trajectory("p", "r", ground_truth=0)], "")
    check_ground_truth(none, WITHOUT, "")
    check_ground_truth(native, [], "")


def test_a_part_needs_the_ground_truth_of_the_samples_that_it_gets():
    rows = [{"prompt": "Write.", "response": "No", "instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}]
    samples = [Trajectory.from_dict(row) for row in rows]
    assert list(check_ground_truth(load("auto"), samples, "")) == samples  # math, a part of auto, gets none of them
    with pytest.raises(InvalidSettings, match="needs a ground truth"):
        check_ground_truth(load("auto"), [Trajectory("1 + 1?", "2", task="openai/gsm8k")], "")


def test_a_usual_name_beside_a_null_ground_truth_is_the_column_to_choose():
    sample = Trajectory("p", "r", columns={"level": 3, "answer": "4"})
    with pytest.raises(InvalidSettings, match=r"the other columns are: level, answer; .*: -c ground_truth=answer$"):
        check_ground_truth(MathReward(), [sample], "-c ground_truth=COLUMN")
