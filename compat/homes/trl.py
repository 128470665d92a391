"""TRL: a real GRPOTrainer, its step and what its own reward phase makes of given completions; its own rewards."""

import tempfile

from datasets import Dataset
from suite import Shipped, load_shim
from trl import GRPOConfig, GRPOTrainer
from trl.rewards import think_format_reward

from plaudit.training import tiny_policy

SYSTEM, DISTRIBUTION = "trl", "trl"
RAN = "a step of GRPOTrainer, and its reward phase over the rollouts"


def trainer_with(function, folder):
    policy = tiny_policy(seed=0)
    return GRPOTrainer(
        model=policy.model,
        processing_class=policy.tokenizer,
        reward_funcs=[function],
        train_dataset=Dataset.from_list([{"prompt": "12", "answer": "12"}, {"prompt": "34", "answer": "34"}]),
        args=GRPOConfig(
            output_dir=folder, max_steps=1, per_device_train_batch_size=6, num_generations=3, report_to="none",
            max_completion_length=4, use_cpu=True, bf16=False, logging_steps=1, save_strategy="no",
        ),
    )  # fmt: skip


def step_and_phase(function, rollouts):
    with tempfile.TemporaryDirectory() as folder:
        trainer = trainer_with(function, folder)
        trainer.train()
        inputs = [{"prompt": each.prompt, "answer": each.truth} for each in rollouts]
        prompts, completions = [each.prompt for each in rollouts], [each.response for each in rollouts]
        return trainer._calculate_rewards(inputs, prompts, completions, [[1]] * len(rollouts))[:, 0].tolist()


FORMS = {"trl": lambda shim, rollouts: step_and_phase(load_shim(shim).reward, rollouts)}


def shipped():
    def home(rollouts):
        chats = [[{"role": "assistant", "content": each.response}] for each in rollouts]
        return think_format_reward(chats)

    yield Shipped("trl.rewards:think_format_reward", home, dialect="trl:messages")
