"""A critic for `gae`: a second model that learns the return from each token on.

It begins as a copy of the policy with a head that outputs 0, and learns from the same batches. The value of a token is
the output at the token before it.
"""

# ruff: noqa: N806 - tensor names carry shapes

import copy
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from plaudit.errors import PolicyError
from plaudit.training.advantages.credit import BatchCredit, gae
from plaudit.training.advantages.estimators import GAEAdvantage
from plaudit.training.config.learning_keys import OptimizerConfig
from plaudit.training.learning.losses import Loss, token_weights, value_loss
from plaudit.training.learning.optimizer import MasterAdamW
from plaudit.training.model.policy import Policy, TokenBatch


class Critic:
    """Values for the tokens of responses, learnt in `passes` over each batch that move a value by at most `clip`."""

    def __init__(
        self,
        policy: Policy,
        optimizer: OptimizerConfig | None = None,
        *,
        passes: int = 2,
        clip: float = 0.2,
        micro_batches: int = 1,
    ) -> None:
        model = policy.merge_adapters().model if policy.is_lora else copy.deepcopy(policy.model)
        self.passes, self.clip, self.micro_batches = passes, clip, micro_batches
        self._trunk = model.base_model.requires_grad_(True)
        self._head = torch.nn.Linear(model.config.hidden_size, 1).to(policy.device)
        torch.nn.init.zeros_(self._head.weight)
        torch.nn.init.zeros_(self._head.bias)
        self._optimizer = MasterAdamW(self._parameters(), optimizer or OptimizerConfig())

    def values(self, batch: TokenBatch) -> Tensor:
        """The expected return from each token of the responses on, before that token is known: (B, T)."""
        mask_B_L = batch.attention_mask
        hidden_B_L_D = self._trunk(input_ids=batch.ids_B_L, attention_mask=mask_B_L, use_cache=False).last_hidden_state
        values_B_L = self._head(hidden_B_L_D.float()).squeeze(-1)
        columns_B_T = batch.starts_B[:, None] - 1 + torch.arange(batch.mask_B_T.shape[1], device=values_B_L.device)
        values: Tensor = values_B_L.gather(1, columns_B_T.clamp(0, values_B_L.shape[1] - 1))
        return values

    def add_values(self, batch: TokenBatch, batch_credit: BatchCredit) -> BatchCredit:
        """The batch_credit with this critic's values, as `gae` needs them."""
        with torch.no_grad():
            values = batch.compute(self.values, self.micro_batches).tolist()
        lengths = batch.lengths_B.tolist()
        return replace(batch_credit, values=[row[:length] for row, length in zip(values, lengths, strict=True)])

    def learn(
        self, batch: TokenBatch, batch_credit: BatchCredit, advantage: GAEAdvantage, *, lr: float | None = None
    ) -> dict[str, float]:
        """Train the critic towards the returns; `batch_credit` is the result of `add_values` for the batch.

        `lr` replaces the current learning rate, which is initially that of the settings.
        """
        if lr is not None:
            self._optimizer.set_lr(lr)
        targets_B_T, old_B_T, mask_B_T = self._targets(batch, batch_credit, advantage)
        if not mask_B_T.any():
            return {}
        weights_B_T = token_weights(mask_B_T)
        stats: dict[str, float] = {}
        for _ in range(self.passes):
            self._optimizer.zero_grad()
            losses = []
            for rows in batch.split(self.micro_batches):
                part = batch.pick(rows)
                width = part.mask_B_T.shape[1]
                cut = [each[rows][:, :width] for each in (old_B_T, targets_B_T, mask_B_T, weights_B_T)]
                loss = value_loss(self.values(part), *cut[:3], clip=self.clip, weights=cut[3])
                loss.value.backward()  # type: ignore[no-untyped-call]
                losses.append(loss)
            if not math.isfinite(self._optimizer.clip()):  # squares of huge rewards are infinite: weights would be lost
                return {**stats, "value/skipped": 1.0}
            self._optimizer.step()
            stats = _add_up(losses)
        return stats

    def state(self) -> dict[str, Any]:
        """A copy of weights and optimizer, for a checkpoint."""
        parts = {"trunk": self._trunk, "head": self._head, "optimizer": self._optimizer}
        return {name: copy.deepcopy(part.state_dict()) for name, part in parts.items()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from what `state` gave."""
        try:
            self._trunk.load_state_dict(state["trunk"])
            self._head.load_state_dict(state["head"])
        except (KeyError, RuntimeError) as error:
            raise PolicyError(f"the saved critic is that of another model: {error}") from error
        self._optimizer.load_state_dict(state["optimizer"])

    def _targets(
        self, batch: TokenBatch, batch_credit: BatchCredit, advantage: GAEAdvantage
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Advantage plus value, the values they were made with, and which tokens count."""
        if batch_credit.values is None:
            raise PolicyError("the critic learns from batch_credit with its own values; call `add_values` first")
        width = batch.mask_B_T.shape[1]
        targets, olds = [], []
        for credit, values in zip(batch_credit.penalized_credits, batch_credit.values, strict=True):
            padding = [0.0] * (width - len(values))
            ahead = [0.0] * len(values)
            if credit is not None:
                ahead = gae(credit, values, gamma=advantage.gamma, lam=advantage.lam)
            targets.append([*(a + value for a, value in zip(ahead, values, strict=True)), *padding])
            olds.append([*values, *padding])
        device = batch.mask_B_T.device
        scored = torch.tensor([credit is not None for credit in batch_credit.credits], device=device)
        return torch.tensor(targets, device=device), torch.tensor(olds, device=device), batch.mask_B_T * scored[:, None]

    def _parameters(self) -> list[torch.nn.Parameter]:
        return [*self._trunk.parameters(), *self._head.parameters()]


def _add_up(losses: list[Loss]) -> dict[str, float]:
    """The stats of a pass from those of its pieces: losses add up, the others are means."""
    means = {name: sum(loss.stats[name] for loss in losses) / len(losses) for name in losses[0].stats}
    return {**means, "value/loss": sum(float(loss.value.detach()) for loss in losses)}
