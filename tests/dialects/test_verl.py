"""verl's functions, one solution a call or many; AReaL's and slime's, which are called with one sample too."""

import pytest

from plaudit import Status, Trajectory
from plaudit.contract.scoring import score_samples

BATCH = [
    Trajectory("2+2?", "4", ground_truth=4, task="gsm8k", columns={"level": 1}, group="a"),
    Trajectory("2+3?", "6", ground_truth="5", task="gsm8k", columns={"level": 2}, group="a"),
]

SAMPLE = """
    from verl.utils.reward_score import default_compute_score

    def compute_score(data_source, solution_str, ground_truth, extra_info=None, **kwargs):
        assert data_source == "gsm8k"
        return {"score": float(solution_str == ground_truth), "level": extra_info["level"]}
"""


def rewards(result, batch=BATCH):
    outputs = score_samples(result.reward, batch)
    assert all(output.ok for output in outputs), outputs[0].reason
    return [output.reward for output in outputs]


@pytest.mark.parametrize("source", [SAMPLE, SAMPLE.replace("    def", "    async def")], ids=["sync", "async"])
def test_the_score_of_a_dict_is_the_reward_and_the_rest_is_logged(loaded, source):
    result = loaded(source)
    assert result.convention == "verl function"
    assert rewards(result) == [1.0, 0.0]
    assert score_samples(result.reward, BATCH)[1].metadata == {"level": 2}


@pytest.mark.parametrize(
    "source",
    [
        "def compute_score(solution_str, ground_truth, method='strict'): return float(solution_str == ground_truth)",
        "def extract_solution(solution_str, method='strict'): return solution_str\n"
        "def compute_score(solution_str, ground_truth): return float(extract_solution(solution_str) == ground_truth)",
        "def batched(data_sources, solution_strs, ground_truths, extra_infos):\n"
        "    return [float(s == t) for s, t in zip(solution_strs, ground_truths)]",
    ],
    ids=["settings", "beside a helper", "batch"],
)
def test_the_usual_argument_lists_are_recognised(loaded, source):
    result = loaded(source)
    assert result.convention.startswith("verl")
    assert rewards(result) == [1.0, 0.0]


def test_a_dict_without_a_score_is_an_error_with_the_reason(loaded):
    result = loaded("def compute_score(solution_str, ground_truth): return {'scores': 1.0}")
    (output, _) = score_samples(result.reward, BATCH)
    assert output.status is Status.ERROR
    assert "no 'score' but scores; rename 'scores' to 'score'" in output.reason


def test_an_areal_function_gets_one_text_and_the_row(loaded):
    result = loaded("""
        from areal.utils import logging

        logger = logging.getLogger("Mine")

        def right(prompt, completions, prompt_ids, completion_ids, answer, **kwargs):
            assert kwargs["level"] in (1, 2)
            return float(completions == str(answer))
    """)
    assert result.convention == "AReaL function"
    assert rewards(result) == [1.0, 0.0]


def test_a_slime_function_gets_a_sample_of_its_class(loaded):
    result = loaded("""
        from slime.rollout.sglang_rollout import GenerateState
        from slime.utils.types import Sample

        async def reward_func(args, sample, **kwargs):
            if not isinstance(sample, Sample):
                raise TypeError("not a sample")
            return {"score": float(sample.response == str(sample.label)), "level": sample.metadata["level"]}

        async def best(args, samples):
            longest = max(len(sample.prompt + sample.response) for sample in samples)
            return [float(len(sample.prompt + sample.response) == longest) for sample in samples]
    """, "reward_func")  # fmt: skip
    assert result.convention == "slime function"
    assert rewards(result) == [1.0, 0.0]


def test_a_slime_group_function_gets_groups(loaded):
    source = "async def best(args, samples): return [float(len(samples))] * len(samples)"
    result = loaded(source)
    assert (result.convention, result.reward.scope) == ("slime group function", "group")
    assert rewards(result, [*BATCH, Trajectory("?", "!", group="b")]) == [2.0, 2.0, 1.0]
