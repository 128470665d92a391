"""A supervised beginning: a model is shown correct responses, so that sampling meets a right one now and then.

Without it a model that knows nothing never earns a reward, and reinforcement has nothing to reinforce.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch

from plaudit.errors import DataError
from plaudit.training.config.learning_keys import OptimizerConfig
from plaudit.training.config.schema import ModelConfig
from plaudit.training.learning.optimizer import MasterAdamW
from plaudit.training.model.policy import Policy
from plaudit.trajectory import Trajectory

__all__ = ["imitate", "train_own_weights", "warm_start"]


LEARNING_RATE = 3e-3
"""Of the embedded model, where the settings have none."""


def warm_start(
    policy: Policy,
    demonstrations: Sequence[Trajectory],
    settings: ModelConfig,
    *,
    seed: int = 0,
    micro_batches: int = 1,
    on_step: Callable[[int, float], None] | None = None,
) -> float:
    """Teach the responses of `demonstrations` in `warm_start_steps`; returns the loss of the last step.

    A step is computed in `micro_batches` to save memory; `on_step` is called with the number and the loss of each step.
    """
    if not demonstrations:
        raise DataError("there are no demonstrations to learn from; give some, or set warm-start steps to 0")
    chance = torch.Generator().manual_seed(seed)
    lr = settings.warm_start_lr or LEARNING_RATE
    adamw = OptimizerConfig(lr=lr, betas=(0.9, 0.999), weight_decay=0.01)  # as torch has it
    optimizer = MasterAdamW(policy.parameters(), adamw)
    loss = float("nan")
    for step in range(settings.warm_start_steps or 0):
        picked = torch.randint(len(demonstrations), (settings.warm_start_batch,), generator=chance).tolist()
        optimizer.zero_grad()
        loss = imitate(policy, [demonstrations[index] for index in picked], micro_batches)
        optimizer.clip()
        optimizer.step()
        if on_step is not None:
            on_step(step, loss)
    return loss


def imitate(
    policy: Policy, demonstrations: Sequence[Trajectory], micro_batches: int = 1, *, weight: float = 1.0
) -> float:
    """Add the gradient of `weight` times the mean cross entropy of the demonstrations' tokens; that mean."""
    batch = policy.encode_demonstrations(demonstrations)
    count, total = batch.mask_B_T.sum(), 0.0
    for rows in batch.split(micro_batches):
        loss = -policy.logprobs(batch.pick(rows)).logprobs_B_T.sum() / count
        torch.autograd.backward(weight * loss)
        total += float(loss.detach())
    return total


@contextmanager
def train_own_weights(policy: Policy) -> Iterator[None]:
    """While entered, a LoRA policy trains the model's own weights: adapters could not teach an empty model to speak."""
    flags = [(parameter, parameter.requires_grad) for parameter in policy.model.parameters()]
    try:
        for parameter, trained in flags:
            parameter.requires_grad_(not trained if policy.is_lora else trained)
        yield
    finally:
        for parameter, trained in flags:
            parameter.requires_grad_(trained)
