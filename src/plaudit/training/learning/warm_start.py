"""A supervised beginning: a model is shown correct responses, so that sampling meets a right one now and then.

Without it a model that knows nothing never earns a reward, and reinforcement has nothing to reinforce.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from plaudit.errors import DataError
from plaudit.training.learning.optimizer import AdamWSettings, MasterAdamW
from plaudit.training.model.policy import Policy, TokenBatch
from plaudit.trajectory import Trajectory

__all__ = ["WarmStart", "train_own_weights", "warm_start"]


@dataclass(frozen=True, slots=True)
class WarmStart:
    """How the supervised beginning runs."""

    steps: int = 60
    batch_size: int = 64
    learning_rate: float = 3e-3
    seed: int = 0


def warm_start(
    policy: Policy,
    demonstrations: Sequence[Trajectory],
    settings: WarmStart | None = None,
    *,
    on_step: Callable[[int, float], None] | None = None,
) -> float:
    """Teach the responses of `demonstrations`, and give the loss of the last step; `on_step` hears each of them."""
    settings = settings or WarmStart()
    if not demonstrations:
        raise DataError("there are no demonstrations to learn from; give some, or set warm-start steps to 0")
    chance = torch.Generator().manual_seed(settings.seed)
    optimizer = MasterAdamW(policy.parameters(), AdamWSettings(settings.learning_rate))
    loss = float("nan")
    for step in range(settings.steps):
        picked = torch.randint(len(demonstrations), (settings.batch_size,), generator=chance).tolist()
        loss = _learn(policy, policy.encode_demonstrations([demonstrations[place] for place in picked]), optimizer)
        if on_step is not None:
            on_step(step, loss)
    return loss


def _learn(policy: Policy, batch: TokenBatch, optimizer: MasterAdamW) -> float:
    optimizer.zero_grad()
    loss = -policy.logprobs(batch).logprobs_B_T.sum() / batch.mask_B_T.sum()
    torch.autograd.backward(loss)
    optimizer.clip()
    optimizer.step()
    return float(loss.detach())


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
