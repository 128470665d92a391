"""Usage is summed once for each call, whatever the endpoint told of it."""

import pytest

from plaudit import RewardOutput, Status
from plaudit.engine import Usage


def told(usage: object = None, **metadata: object) -> RewardOutput:
    return RewardOutput(1.0, metadata={**({} if usage is None else {"usage": usage}), **metadata})


def test_tokens_cost_and_attempts_are_summed():
    outputs = [
        told({"prompt_tokens": 10, "completion_tokens": 2, "cost": 0.5}, attempts=1, waited_s=0.0),
        told({"prompt_tokens": 20, "completion_tokens": 3, "cost": 0.25}, attempts=3, waited_s=1.5),
    ]
    assert Usage.of(outputs) == Usage(
        attempts=4, waited_s=1.5, reported=2, prompt_tokens=30, response_tokens=5, total_tokens=35, cost=0.75
    )


def test_other_words_for_tokens_are_understood():
    usage = Usage.of([told({"input_tokens": 10, "output_tokens": 2})])
    assert (usage.prompt_tokens, usage.response_tokens, usage.total_tokens) == (10, 2, 12)


def test_a_reported_total_is_used():
    assert Usage.of([told({"prompt_tokens": 10, "total_tokens": 17})]).total_tokens == 17


@pytest.mark.parametrize(
    "usage",
    [{"prompt_tokens": None}, {"prompt_tokens": "10"}, {"prompt_tokens": float("nan")}, {"prompt_tokens": True}],
    ids=["none", "text", "nan", "truth value"],
)
def test_garbled_numbers_count_as_nothing(usage):
    assert Usage.of([told(usage)]) == Usage(reported=1)


@pytest.mark.parametrize("usage", ["10 tokens", 10, [10], {}], ids=["text", "number", "list", "empty"])
def test_empty_usage_is_not_reported(usage):
    assert Usage.of([told(usage)]) == Usage()


def test_attempts_of_samples_that_failed_count_too():
    failed = RewardOutput.unscored(Status.ERROR, "gave up", metadata={"attempts": 4, "waited_s": 2.0})
    assert Usage.of([failed]) == Usage(attempts=4, waited_s=2.0)


def test_components_count_and_nested_ones_too():
    judge = told({"cost": 0.5}, attempts=1)
    inner = RewardOutput(1.0, components={"judge": judge, "length": RewardOutput(1.0)})
    assert Usage.of([RewardOutput(1.0, components={"inner": inner, "other": judge})]).cost == 1.0


def test_a_call_reported_by_an_output_and_its_component_counts_once():
    raw = told({"cost": 0.5}, attempts=1)
    normalised = RewardOutput(0.0, metadata=raw.metadata, components={"raw": raw})
    assert (Usage.of([normalised]).cost, Usage.of([normalised]).attempts) == (0.5, 1)


def test_usage_survives_the_rollouts_file():
    output = told({"prompt_tokens": 10, "cost": 0.5}, attempts=2, waited_s=0.5)
    assert Usage.of([RewardOutput.from_dict(output.to_dict())]) == Usage.of([output])


def test_parts_of_a_run_can_be_added():
    outputs = [told({"cost": 0.5}, attempts=number) for number in range(4)]
    assert Usage.of(outputs[:2]) + Usage.of(outputs[2:]) == Usage.of(outputs)
