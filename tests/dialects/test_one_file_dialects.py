"""Conventions of single systems that are only imported: EasyR1, Predibase, rLLM; spellings of AReaL's."""

import pytest

from plaudit import Trajectory, score
from plaudit.errors import InvalidSettings
from plaudit.loading import resolve

FILES = {
    "EasyR1 batch function": (
        "def compute_score(reward_inputs, weight=0.1):\n    return ["
        '{"overall": float(each["response"] == each["ground_truth"]), "length": each["response_length"]}'
        " for each in reward_inputs]\n"
    ),
    "EasyR1 function": (
        "def compute_score(reward_input):\n"
        '    return {"overall": float(reward_input["response"] == reward_input["ground_truth"])}\n'
    ),
    "Predibase function": (
        "def guess(prompt: str, completion: str, example: dict[str, str]) -> float:\n"
        '    return float(completion == example["answer"] and prompt == "2 + 2?" and example["level"] == 1)\n'
    ),
}
FILES["rLLM function"] = (
    "from rllm.rewards.reward_types import RewardOutput\n\n"
    "def guess(task_info: dict, action: str) -> RewardOutput:\n"
    '    return RewardOutput(reward=float(action == task_info["answer"] and task_info["level"]), is_correct=True)\n'
)
EARLIER = {
    "EasyR1 function": "def compute_score(predict_str, ground_truth):\n    return float(predict_str == ground_truth)\n",
    "EasyR1 batch function": (
        "def compute_score(predicts, ground_truths):\n"
        '    return [{"overall": float(a == b)} for a, b in zip(predicts, ground_truths)]\n'
    ),
    "verl function": "def compute_score(model_output, ground_truth):\n    return model_output == ground_truth, 'why'\n",
}
SAMPLES = [Trajectory("2 + 2?", each, ground_truth="4", columns={"level": 1}) for each in ("4", "5")]


AREAL = (
    "def score(prompts, completions, prompt_ids, completion_ids, answer, **kwargs) -> float:\n"
    "    return float(completions == answer and prompts == '2 + 2?')\n",
    "from areal.api import AsyncRewardWrapper\n\ndef score(completions: str, answer: str) -> float:\n"
    "    return float(completions == answer)\n",
)


@pytest.mark.parametrize(
    ("convention", "source"), [*FILES.items(), *EARLIER.items(), *(("AReaL function", each) for each in AREAL)]
)
def test_a_file_is_recognised_and_gives_its_numbers(convention, source, tmp_path):
    (tmp_path / "scoring.py").write_text(source)
    loaded = resolve(f"{tmp_path}/scoring.py")
    assert loaded.convention == convention
    assert [output.reward for output in score(loaded.reward, SAMPLES)] == [1.0, 0.0]


def test_a_result_without_the_reward_says_what_there_is(tmp_path):
    (tmp_path / "scoring.py").write_text('def compute_score(reward_input):\n    return {"overal": 1.0}\n')
    [output] = score(f"{tmp_path}/scoring.py", SAMPLES[:1])
    assert output.reason.endswith("it returned no 'overall' but overal; rename 'overal' to 'overall'")


def test_a_data_class_beside_a_reward_is_no_reward(tmp_path):
    (tmp_path / "grpo.py").write_text(
        "import trl\nfrom dataclasses import dataclass\n\n@dataclass\nclass Arguments:\n    path: str = ''\n\n"
        "def right(completions, **kwargs):\n    return [1.0 for _ in completions]\n"
    )
    assert resolve(f"{tmp_path}/grpo.py").reward.name == "right"


def test_settings_that_a_trainer_has_from_a_config_stand_behind_the_name(tmp_path):
    path = tmp_path / "scoring.py"
    path.write_text(
        "def compute_score(reward_inputs, limit, factor=1.0):\n"
        '    return [{"overall": factor * (len(each["response"]) < limit)} for each in reward_inputs]\n\n'
        "def of_verl(solution_str, ground_truth, factor):\n    return factor * (solution_str == ground_truth)\n"
    )
    loaded = resolve(f"{path}:compute_score(limit=2, factor=0.5)")
    assert (loaded.convention, loaded.reward.name) == ("EasyR1 batch function", "compute_score")
    assert [output.reward for output in score(loaded.reward, SAMPLES)] == [0.5, 0.5]
    assert [output.reward for output in score(f"{path}:of_verl(factor=3)", SAMPLES)] == [3.0, 0.0]
    with pytest.raises(InvalidSettings, match=r"give them behind its name: compute_score\(limit=…\)"):
        resolve(f"{path}:compute_score")
