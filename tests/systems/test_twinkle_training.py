"""Document 002: the training loop, written with plaudit's names, trains."""

import statistics

import torch

from plaudit import RewardFunction, Trajectory
from plaudit.training import GRPOAdvantage, SamplingSettings, TransformersSampler, find_task, policy_loss, tiny_policy
from plaudit.training.config.schema import ModelConfig
from plaudit.training.learning.optimizer import warm_start


class SortReward(RewardFunction):
    """The share of digits in their place."""

    def compute_reward(self, trajectory: Trajectory) -> float:
        pairs = zip(trajectory.response, trajectory.ground_truth, strict=False)
        return sum(said == right for said, right in pairs) / 4


def test_the_loop_of_the_document_trains():
    torch.set_num_threads(1)
    task = find_task("sort_digits")
    policy = tiny_policy(seed=1)
    warm_start(policy, task.demonstrations[:2000], ModelConfig(warm_start_steps=15), seed=1)
    optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3, betas=(0.9, 0.99))
    dataloader = [task.prompts[start : start + 24] for start in range(0, 30 * 24, 24)]

    sampler = TransformersSampler(policy.model, policy.tokenizer, SamplingSettings(max_new_tokens=6, seed=1))
    reward_fn = SortReward()
    advantage_fn = GRPOAdvantage()
    means = []
    for batch in dataloader:
        # 1. Sample and generate multiple candidate answers
        response = sampler.sample(batch, num_samples=4)
        # 2. Evaluate quality using the reward function
        rewards = reward_fn(response.trajectories, batch.ground_truths)
        # 3. Calculate advantages
        advantages = advantage_fn(rewards, num_generations=4)
        # 4. Update the policy using advantage values
        tokens = policy.batch(response)
        logprobs = policy.logprobs(tokens).logprobs_B_T
        spread = torch.tensor(advantages)[:, None].expand_as(logprobs)
        optimizer.zero_grad()
        policy_loss(logprobs, logprobs.detach(), spread, tokens.mask_B_T).value.backward()
        optimizer.step()
        means.append(statistics.fmean(rewards))
    assert statistics.fmean(means[-5:]) > statistics.fmean(means[:5]) + 0.1


def test_ground_truths_may_be_given_once_per_prompt():
    responses = [Trajectory(prompt="2143=", response=said, group=0) for said in ("1234", "1243")]
    responses += [Trajectory(prompt="8765=", response=said, group=1) for said in ("5678", "8765")]
    assert SortReward()(responses, ["1234", "5678"]) == [1.0, 0.5, 1.0, 0.0]
