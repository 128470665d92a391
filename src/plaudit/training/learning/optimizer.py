"""AdamW with float32 weights and moments, the learning rate over a run, and a supervised beginning.

A bfloat16 weight has three decimal digits: an update of lr 1e-6 rounds to nothing on nearly all of them. Parameters of
lower precision therefore get a float32 copy which is what learns; the model sees it rounded. A warm start shows the
model correct responses: a model that never gets a reward has nothing to learn from.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.nn import Parameter

from plaudit.errors import DataError
from plaudit.schedules import CosineSchedule, LinearSchedule, PiecewiseSchedule, Schedule
from plaudit.training.config.learning_keys import OptimizerConfig
from plaudit.training.config.schema import ModelConfig, RunConfig
from plaudit.training.model.policy import Policy
from plaudit.trajectory import Trajectory

FUSED = ("cpu", "cuda", "mps")
"""The devices for which torch has AdamW as one kernel."""


class MasterAdamW:
    """Updates parameters in place from their gradients, in float32."""

    def __init__(self, parameters: Iterable[Parameter], settings: OptimizerConfig, *, fused: bool = False) -> None:
        self._parameters, self._settings = list(parameters), settings
        self._masters = [_master(parameter) for parameter in self._parameters]
        on = {parameter.device.type for parameter in self._parameters}
        self._optimizer = torch.optim.AdamW(
            self._masters,
            lr=settings.lr,
            betas=settings.betas,
            eps=settings.eps,
            weight_decay=settings.weight_decay,
            fused=(fused and on <= set(FUSED)) or None,
        )

    def set_lr(self, lr: float) -> None:
        """Set the learning rate of the next steps."""
        for group in self._optimizer.param_groups:
            group["lr"] = lr

    def zero_grad(self) -> None:
        """Forget all gradients."""
        for parameter in [*self._parameters, *self._masters]:
            parameter.grad = None

    def clip(self) -> float:
        """Clip the gradients to the norm of the settings; the norm they had."""
        for parameter, master in self._pairs():
            master.grad = None if parameter.grad is None else parameter.grad.float()
        return float(torch.nn.utils.clip_grad_norm_(self._masters, self._settings.max_grad_norm))

    @torch.no_grad()
    def step(self) -> None:
        """Update the parameters; `clip` must be called first."""
        self._optimizer.step()
        for parameter, master in self._pairs():
            parameter.copy_(master)

    def state_dict(self) -> dict[str, Any]:
        """Moments, and the float32 weights where the model's are of lower precision."""
        return {"adamw": self._optimizer.state_dict(), "masters": [master.detach() for _, master in self._pairs()]}

    @torch.no_grad()
    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from what `state_dict` gave; the model's weights must be those of that moment."""
        self._optimizer.load_state_dict(state["adamw"])
        for (_, master), saved in zip(self._pairs(), state["masters"], strict=True):
            master.copy_(saved)

    def _pairs(self) -> list[tuple[Parameter, Tensor]]:
        """The parameters that have a master of their own, with it."""
        both = zip(self._parameters, self._masters, strict=True)
        return [(parameter, master) for parameter, master in both if master is not parameter]


def learning_rate(config: RunConfig, step: int) -> float:
    """The learning rate of a step, counted from 1."""
    settings = config.optimizer
    warmup = min(1.0, step / (settings.warmup_steps + 1))
    return settings.lr * warmup * _SCHEDULES[settings.schedule](max(1, config.steps)).at(step - 1)


_SCHEDULES: dict[str, Callable[[int], Schedule]] = {
    "linear": lambda steps: LinearSchedule(1.0, 0.0, steps),
    "cosine": lambda steps: CosineSchedule(1.0, 0.0, steps),
    "constant": lambda steps: PiecewiseSchedule(((0, 1.0),)),
}


def _master(parameter: Parameter) -> Parameter:
    return parameter if parameter.dtype == torch.float32 else Parameter(parameter.detach().float())


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
    generator = torch.Generator().manual_seed(seed)
    lr = settings.warm_start_lr or LEARNING_RATE
    adamw = OptimizerConfig(lr=lr, betas=(0.9, 0.999), weight_decay=0.01)  # as torch has it
    optimizer = MasterAdamW(policy.parameters(), adamw)
    loss = float("nan")
    for step in range(settings.warm_start_steps or 0):
        picked = torch.randint(len(demonstrations), (settings.warm_start_batch,), generator=generator).tolist()
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
    """While entered, a LoRA policy trains the model's own weights: adapters on random weights would not learn."""
    flags = [(parameter, parameter.requires_grad) for parameter in policy.model.parameters()]
    try:
        for parameter, trained in flags:
            parameter.requires_grad_(not trained if policy.is_lora else trained)
        yield
    finally:
        for parameter, trained in flags:
            parameter.requires_grad_(trained)
