"""Process reward models: a value per step, what the steps make together, and which word earned it."""

import math

import pytest
import torch
import transformers

from plaudit import Status, Tokens, Trajectory, load, score, token_rewards_of
from plaudit.errors import InvalidSettings
from plaudit.models import ProcessRewardModel
from tests.models.small_models import save_llama

RESPONSE = "first we add\n\nthen we take\nthat is all"
STEPS = ["first we add", "then we take", "that is all"]
SAMPLE = Trajectory(prompt="Q?", response=RESPONSE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return str(save_llama(tmp_path_factory.mktemp("models") / "prm", "LlamaForTokenClassification", num_labels=2))


@pytest.fixture(scope="module")
def values(folder):
    """What the model says at the end of each step, without any code of ours."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForTokenClassification.from_pretrained(folder).eval()
    ids, ends = tokenizer("Q?\n", add_special_tokens=False)["input_ids"], []
    for step in STEPS:
        ids += tokenizer(f"{step}\n", add_special_tokens=False)["input_ids"]
        ends.append(len(ids) - 1)
    with torch.no_grad():
        return model(torch.tensor([ids])).logits[0].softmax(dim=-1)[ends, 1].tolist()


EXPECTED = {
    "min": min,
    "mean": lambda values: sum(values) / 3,
    "product": math.prod,
    "last": lambda values: values[-1],
}


@pytest.mark.parametrize("combine", EXPECTED)
def test_steps_are_combined_and_their_shares_add_up(folder, values, combine):
    [output, other] = score(ProcessRewardModel(folder, combine=combine), [SAMPLE, Trajectory(prompt="?", response="x")])
    assert output.reward == pytest.approx(EXPECTED[combine](values), abs=1e-5)
    assert output.metadata["step_values"] == pytest.approx(values, abs=1e-5)
    assert sum(output.token_rewards) == pytest.approx(output.reward)
    assert [place for place, value in enumerate(output.token_rewards) if value == 0.0] == [
        0,
        1,
        3,
        4,
        6,
        7,
    ] or combine == "min"
    assert len(output.token_rewards) == len(RESPONSE.split())
    assert len(other.token_rewards) == 1


def test_the_step_that_lowers_the_minimum_pays_for_it(folder, values):
    [output] = score(ProcessRewardModel(folder), [SAMPLE])
    earned = [output.token_rewards[place] for place in (2, 5, 8)]
    lowest = [min(values[: place + 1]) for place in range(3)]
    assert earned == pytest.approx([lowest[0], lowest[1] - lowest[0], lowest[2] - lowest[1]], abs=1e-5)


def test_values_reach_the_tokens_of_the_policy(folder):
    spans = [(place, place + 1) for place in range(len(RESPONSE))]
    sample = Trajectory(prompt="Q?", response=RESPONSE, tokens=Tokens(ids=[0] * len(spans), offsets=spans))
    [output] = score(load(f"process_reward_model(model='{folder}', combine='mean')"), [sample])
    tokens = token_rewards_of(output, sample)
    assert [place for place, value in enumerate(tokens) if value] == [11, 25, len(RESPONSE) - 1]
    assert sum(tokens) == pytest.approx(output.reward)


def test_a_causal_model_gives_its_verdict_by_a_token(tmp_path):
    folder = str(save_llama(tmp_path / "shepherd", "LlamaForCausalLM"))
    reward = ProcessRewardModel(folder, verdicts=("+", "-"), mark="|", combine="last")
    [good] = score(reward, [SAMPLE])
    [bad] = score(ProcessRewardModel(folder, verdicts=("-", "+"), mark="|", combine="last"), [SAMPLE])
    assert good.reward == pytest.approx(1 - bad.reward, abs=1e-5)
    assert good.metadata["step_values"] == pytest.approx([1 - v for v in bad.metadata["step_values"]], abs=1e-5)
    [refused] = score(ProcessRewardModel(folder, verdicts=("yes", "-")), [SAMPLE])
    assert "is 3 tokens" in refused.reason


def test_a_prompt_may_be_cut_but_no_step(folder):
    reward = ProcessRewardModel(folder, max_length=64)
    long_prompt, long_steps, empty = score(
        reward,
        [
            Trajectory(prompt="Q" * 100, response=RESPONSE),
            Trajectory(prompt="Q", response="a b\n" * 40),
            Trajectory(prompt="Q", response=" \n"),
        ],
    )
    assert long_prompt.ok
    assert long_prompt.metadata["tokens_cut"] == 101 + len("".join(STEPS)) + 3 - 64
    assert (long_steps.status, empty.status) == (Status.SKIPPED, Status.SKIPPED)
    assert "a step without its beginning" in long_steps.reason


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"combine": "average"}, "there are min, mean, product, last"),
        ({"separator": "Step"}, "white space"),
        ({"verdicts": ("+", "-")}, "ForCausalLM"),
        ({"label": "good"}, "has no label 'good'"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_settings_are_checked_when_the_reward_is_built(folder, settings, words):
    with pytest.raises(InvalidSettings) as raised:
        ProcessRewardModel(folder, **settings)
    assert words in str(raised.value)
