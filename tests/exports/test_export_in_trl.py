"""An exported reward inside a real GRPOTrainer."""

import pytest

import plaudit
from plaudit import reward
from plaudit.training import tiny_policy


@pytest.mark.filterwarnings("ignore:.* was not scored:UserWarning")
def test_trl_trains_on_the_numbers_of_the_reward_and_goes_on_without_some(tmp_path):
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    calls = []

    @reward(deterministic=False)
    def sometimes(prompt, response, answer):
        calls.append((prompt, response, answer))
        return None if len(calls) % 4 == 0 else len(calls) / 10

    function = plaudit.export(sometimes, "trl", backend="inline")
    policy = tiny_policy(seed=0)
    trainer = GRPOTrainer(
        model=policy.model,
        processing_class=policy.tokenizer,
        reward_funcs=[function],
        train_dataset=Dataset.from_list([{"prompt": "12", "answer": "12"}, {"prompt": "34", "answer": "34"}]),
        args=GRPOConfig(
            output_dir=str(tmp_path), max_steps=1, per_device_train_batch_size=4, num_generations=2,
            max_completion_length=4, use_cpu=True, bf16=False, report_to="none", logging_steps=1, save_strategy="no",
        ),
    )  # fmt: skip
    trainer.train()
    logged = trainer.state.log_history[0]
    assert len(calls) == 4
    assert all(prompt == answer for prompt, _, answer in calls)
    assert logged["rewards/sometimes/mean"] == pytest.approx((0.1 + 0.2 + 0.3) / 3)
    assert logged["sometimes/unscored"] == pytest.approx(0.25)
