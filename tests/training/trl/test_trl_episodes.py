"""Environments of ours in TRL's own trainer, and TRL's environments in ours."""

import textwrap

import pytest

from plaudit import Trajectory
from plaudit.agents import EpisodeLimits
from plaudit.errors import DataError
from plaudit.loading import load_agent
from plaudit.training import (
    EpisodeSampler,
    EpisodeScorer,
    SamplingSettings,
    TextPolicySampler,
    episode_reward,
    tiny_policy,
    trl_rollout_func,
)

ROWS = [{"prompt": f"doors {number}: ", "answer": None} for number in range(2)]


@pytest.fixture
def arguments(tmp_path):
    from trl import GRPOConfig

    return GRPOConfig(
        output_dir=str(tmp_path), per_device_train_batch_size=4, num_generations=4, max_completion_length=3,
        max_steps=1, report_to=[], use_cpu=True, save_strategy="no", logging_steps=1, disable_tqdm=True, bf16=False,
    )  # fmt: skip


@pytest.mark.filterwarnings("ignore")
def test_trl_trains_on_our_episodes_with_feedback_masked(arguments):
    from datasets import Dataset
    from trl import GRPOTrainer

    seen = {}
    policy = tiny_policy(seed=1)
    roll_out = trl_rollout_func(load_agent("treasure_hunt"), ROWS, EpisodeLimits(max_steps=2, max_length=100))

    def watch(prompts, trainer):
        seen.update(roll_out(prompts, trainer))
        return dict(seen)

    trainer = GRPOTrainer(
        model=policy.model, reward_funcs=episode_reward, args=arguments, rollout_func=watch,
        train_dataset=Dataset.from_list(ROWS), processing_class=policy.tokenizer,
    )  # fmt: skip
    trainer.train()
    assert len(seen["completion_ids"]) == 4
    for ids, mask, logprobs in zip(seen["completion_ids"], seen["env_mask"], seen["logprobs"], strict=True):
        assert len(ids) == len(mask) == len(logprobs)
        given = policy.tokenizer.decode([token for token, own in zip(ids, mask, strict=True) if not own])
        assert given.startswith(" nothing, go to ")
    assert set(seen["episode_reward"]) <= {0.0, 1.0}
    [logged] = [entry for entry in trainer.state.log_history if "completions/mean_length" in entry]
    assert logged["completions/mean_length"] == sum(map(sum, seen["env_mask"])) / 4  # feedback is not counted


def test_a_prompt_that_trl_was_not_given_is_an_error():
    from trl import GRPOConfig

    roll_out = trl_rollout_func(load_agent("treasure_hunt"), ROWS, EpisodeLimits(2))
    policy = tiny_policy(seed=1)

    class Trainer:
        model, processing_class = policy.model, policy.tokenizer
        args = GRPOConfig(output_dir="unused", bf16=False, use_cpu=True)
        state = type("State", (), {"global_step": 0})
        accelerator = type("Accelerator", (), {"process_index": 0, "unwrap_model": staticmethod(lambda model: model)})

    with pytest.raises(Exception, match="not among the rows"):
        roll_out(["elsewhere"], Trainer)


def test_two_rows_with_one_prompt_and_different_ground_truths_are_an_error():
    rows = [{"prompt": "Guess.", "answer": 1}, {"prompt": "Guess.", "answer": 2}]
    with pytest.raises(DataError, match="the ground truths 1 and 2"):
        trl_rollout_func(load_agent("treasure_hunt"), rows, EpisodeLimits(2))


COUNTER = """
    class Counter:
        def reset(self, **row):
            self.value = int(row["ground_truth"])
            return f"It is {self.value}."

        def increment(self, step: int) -> str:
            '''Add to the counter.

            Args:
                step: How much.
            '''
            self.value += step
            return str(self.value)

        def get_reward(self):
            return float(self.value)
"""


def test_an_environment_written_for_trl_is_played_here(tmp_path):
    (tmp_path / "counter.py").write_text(textwrap.dedent(COUNTER))
    said = iter(["```python\nincrement(step=2)\n```", "<tool_call>{</tool_call>", "I am done."])
    sampler = TextPolicySampler(lambda text, settings: next(said), SamplingSettings(64))
    player = EpisodeSampler(sampler, load_agent(tmp_path / "counter.py"), EpisodeLimits(5))
    [played] = player.sample([Trajectory("Count. ", "", ground_truth="5")]).trajectories
    [output] = EpisodeScorer().score([played])
    assert output.reward == 7.0
    assert played.steps[0].observation == "Count. It is 5."
    assert played.steps[0].metadata["feedback"] == "7"
    assert "malformed tool call" in played.steps[1].metadata["feedback"]
