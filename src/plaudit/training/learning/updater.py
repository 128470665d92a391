"""Policy updates: a scored batch in, better weights out.

Samples that were not scored count nowhere. Responses whose advantages are all 0 count in every average, but are not
computed unless a KL or an entropy bonus moves them: else they have no gradient.
"""

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from msgspec import structs
from torch import Tensor

from plaudit.errors import InvalidSettings
from plaudit.training.advantages.credit import BatchCredit, TaskScale
from plaudit.training.advantages.estimators import GAEAdvantage
from plaudit.training.collecting import Batch
from plaudit.training.config.schema import RunConfig
from plaudit.training.inputs import build_advantage
from plaudit.training.learning.critic import Critic
from plaudit.training.learning.losses import OtherLogprobs, kl_divergence, pad_advantages, policy_loss, token_weights
from plaudit.training.learning.optimizer import MasterAdamW, imitate, learning_rate
from plaudit.training.model.policy import Policy, TokenBatch
from plaudit.training.sampling.sampler import derive_seed
from plaudit.trajectory import Trajectory


@dataclass(frozen=True, slots=True)
class UpdateBatch:
    """One row per sample and one column per token of a response, (B, T); None where nothing needs it."""

    tokens: TokenBatch
    advantages: Tensor
    mask: Tensor
    """1 on tokens that count."""
    old: Tensor | None = None
    """Log-probabilities before the first update on the batch."""
    reference: Tensor | None = None
    """The log-probs of the reference policy, where a KL is in the loss."""
    sampler: Tensor | None = None
    """The log-probs of the sampling policy, where it is another one."""

    def pick(self, rows: Tensor) -> "UpdateBatch":
        """Some of the samples, cut to the longest response among them."""
        tokens = self.tokens.pick(rows)
        width = tokens.mask_B_T.shape[1]

        def cut(values: Tensor) -> Tensor:
            return values[rows][:, :width]

        optional = (None if each is None else cut(each) for each in (self.old, self.reference, self.sampler))
        return UpdateBatch(tokens, cut(self.advantages), cut(self.mask), *optional)

    def rows_with_gradient(self, *, without_advantage: bool) -> Tensor:
        """The rows of samples with a gradient: those with an advantage, or also those without one where something in
        the loss (a KL, an entropy bonus) moves them all the same."""
        counts = self.mask.bool() if without_advantage else self.mask.bool() & (self.advantages != 0)
        return counts.any(1).nonzero().squeeze(1)


def keep_top(values: Tensor, mask: Tensor, share: float) -> Tensor:
    """1 on the `share` of the tokens that count with the largest values, 0 on the others."""
    counted = values[mask.bool()]
    if not len(counted):
        return torch.ones_like(values)
    return (values >= torch.quantile(counted.float(), 1.0 - share)).float()


class Updater:
    """Updates a policy with the configured loss and optimizer; `state` and `restore` keep what must survive a restart.

    `demonstrations` are right responses, which `loss.sft_weight` mixes into the loss.
    """

    def __init__(
        self, policy: Policy, config: RunConfig, *, max_new_tokens: int, demonstrations: Sequence[Trajectory] = ()
    ) -> None:
        self.policy, self.config = policy, config
        self.advantage = build_advantage(config)
        self.loss = structs.replace(config.loss, max_tokens=config.loss.max_tokens or max_new_tokens)
        self.micro_batches = config.training.gradient_accumulation
        self.reference = policy.reference() if config.loss.kl_beta else None
        self.off_policy = config.training.async_train
        self.demonstrations = demonstrations if config.loss.sft_weight else ()
        self.optimizer = MasterAdamW(policy.parameters(), config.optimizer, fused=True)
        several = len(config.tasks) > 1
        wanted = config.training.normalize_tasks
        self.task_scale = TaskScale() if (several if wanted is None else wanted) else None
        self.critic = None
        if isinstance(self.advantage, GAEAdvantage):
            self.critic = Critic(
                policy, config.optimizer, passes=config.training.critic_passes, micro_batches=self.micro_batches
            )

    def update(self, batch: Batch) -> dict[str, float]:
        """Improve the policy on a batch and return the metrics."""
        rate = learning_rate(self.config, batch.step)
        self.optimizer.set_lr(rate)
        torch.manual_seed(derive_seed(self.config.seed, "update", batch.step))  # for models with dropout
        prepared, metrics = self._prepare(batch)
        stats = [
            self._optimize(part, f"{self.config.seed}/{batch.step}/{turn}")
            for turn, part in enumerate(self._parts(prepared, batch.step))
        ]
        return {"lr": rate, **_merge([each for each in stats if each]), **metrics}

    def state(self) -> dict[str, Any]:
        """Weights, optimizer and other changing values, for a checkpoint."""
        return {
            "weights": self.policy.state(),
            "optimizer": self.optimizer.state_dict(),
            "critic": None if self.critic is None else self.critic.state(),
            "task_scale": None if self.task_scale is None else self.task_scale.state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what `state` gave."""
        self.policy.restore(state["weights"])
        self.optimizer.load_state_dict(state["optimizer"])
        if self.critic is not None:
            self.critic.restore(state["critic"])
        if self.task_scale is not None:
            self.task_scale.restore(state["task_scale"])

    def _prepare(self, batch: Batch) -> tuple[UpdateBatch, dict[str, float]]:
        """The batch as tensors, and the metrics of its preparation."""
        tokens = self.policy.batch(batch.sampled)
        batch_credit = BatchCredit.of(
            zip(batch.sampled.trajectories, batch.outputs, strict=True), by=self.config.training.credit
        )
        metrics: dict[str, float] = {}
        if self.task_scale is not None:
            tasks = [trajectory.task for trajectory in batch.sampled.trajectories]
            batch_credit = self.task_scale.normalize(batch_credit, tasks)
            metrics |= self.task_scale.metrics()
        reference = None if self.reference is None else self._compute_logprobs(self.reference, tokens)
        needs_old = self.off_policy or self._optimizer_steps > 1 or self._kl_in_reward
        old = self._compute_logprobs(self.policy, tokens) if needs_old else None
        if self._kl_in_reward and old is not None and reference is not None:
            kl = kl_divergence(old, reference, self.config.loss.kl_estimator)
            paid = (kl * self.config.loss.kl_beta).tolist()
            lengths = tokens.lengths_B.tolist()
            batch_credit = batch_credit.minus([row[:length] for row, length in zip(paid, lengths, strict=True)])
            metrics["kl"] = float(kl[tokens.mask_B_T.bool()].mean()) if tokens.mask_B_T.any() else 0.0
            reference = None
        if self.critic is not None and isinstance(self.advantage, GAEAdvantage):
            batch_credit = self.critic.add_values(tokens, batch_credit)
            rate = learning_rate(self.config, batch.step) * self.config.training.critic_lr_factor
            metrics |= self.critic.learn(tokens, batch_credit, self.advantage, lr=rate)
        advantages, mask = pad_advantages(self.advantage.estimate(batch_credit), tokens.mask_B_T)
        if self.config.loss.mask_truncated:
            mask = mask * _mark_ended(batch).to(mask.device)[:, None]
        if self.config.loss.top_entropy < 1.0:
            advantages = advantages * self._mark_high_entropy(tokens, mask)
        sampler = _read_sampler_logprobs(batch, tokens) if self.off_policy else None
        return UpdateBatch(tokens, advantages, mask, old, reference, sampler), metrics

    @property
    def _kl_in_reward(self) -> bool:
        return self.reference is not None and self.config.loss.kl_in == "reward"

    @property
    def _optimizer_steps(self) -> int:
        return self.config.training.updates_per_batch * self.config.training.minibatches

    @torch.no_grad()
    def _compute_logprobs(self, policy: Policy, tokens: TokenBatch) -> Tensor:
        return tokens.compute(
            lambda part: policy.logprobs(part, temperature=self._temperature).logprobs_B_T, self.micro_batches
        )

    @torch.no_grad()
    def _mark_high_entropy(self, tokens: TokenBatch, mask: Tensor) -> Tensor:
        """1 on the share of tokens with the highest entropy (arXiv:2506.01939)."""
        entropy = tokens.compute(
            lambda part: self.policy.logprobs(part, temperature=self._temperature).entropy_B_T, self.micro_batches
        )
        return keep_top(entropy, mask, self.config.loss.top_entropy)

    @property
    def _temperature(self) -> float:
        return self.config.sampling.temperature

    def _parts(self, prepared: UpdateBatch, step: int) -> Iterator[UpdateBatch]:
        """The mini-batch of each optimizer step; every pass shuffles and splits the batch again."""
        count = self.config.training.minibatches
        for turn in range(self.config.training.updates_per_batch):
            if count == 1:
                yield prepared
                continue
            order = list(range(len(prepared.tokens)))
            random.Random(f"{self.config.seed}/{step}/{turn}").shuffle(order)
            yield from (prepared.pick(rows) for rows in torch.tensor(order).chunk(count))

    def _optimize(self, part: UpdateBatch, seed: str) -> dict[str, float]:
        """One optimizer step; none if no sample has a gradient."""
        weights = token_weights(part.mask, self.loss)
        moves_all = part.reference is not None or self.loss.entropy_bonus > 0
        rows = part.rows_with_gradient(without_advantage=moves_all)
        if not len(rows) and not self.demonstrations:
            return {}
        self.optimizer.zero_grad()
        stats = self._accumulate(part.pick(rows), weights[rows]) if len(rows) else {"loss": 0.0}
        if self.demonstrations:
            stats |= self._imitate(seed)
        norm = self.optimizer.clip()
        if not math.isfinite(norm):  # a gradient that is not finite would destroy the weights
            return {**stats, "update/skipped": 1.0}
        self.optimizer.step()
        return {**stats, "grad_norm": norm}

    def _accumulate(self, part: UpdateBatch, weights: Tensor) -> dict[str, float]:
        """The gradient of the loss on a part, one micro-batch after the other."""
        stats = [self._backward(part.pick(rows), weights[rows]) for rows in part.tokens.split(self.micro_batches)]
        return {**_merge(stats, by_tokens=True), "loss": sum(each["loss"] for each in stats)}

    def _backward(self, part: UpdateBatch, weights: Tensor) -> dict[str, float]:
        wants_entropy = self.loss.entropy_bonus > 0
        computed = self.policy.logprobs(part.tokens, temperature=self._temperature, entropy_gradient=wants_entropy)
        logprobs = computed.logprobs_B_T
        entropy = computed.entropy_B_T if wants_entropy else None
        loss = policy_loss(
            logprobs,
            logprobs.detach() if part.old is None else part.old,
            part.advantages,
            part.mask,
            settings=self.loss,
            other=OtherLogprobs(part.reference, part.sampler, entropy),
            weights=weights[:, : logprobs.shape[1]],
        )
        loss.value.backward()  # type: ignore[no-untyped-call]
        return {**loss.stats, "loss": float(loss.value.detach())}

    def _imitate(self, seed: str) -> dict[str, float]:
        """Add the gradient of some demonstrations, drawn again for every optimizer step."""
        shown = random.Random(f"{seed}/demonstrations").choices(self.demonstrations, k=self.config.loss.sft_batch)
        loss = imitate(self.policy, shown, self.micro_batches, weight=self.config.loss.sft_weight)
        return {"sft/loss": loss}


def _mark_ended(batch: Batch) -> Tensor:
    """1 for responses with an end token or stop text, 0 for those cut by the length limit (DAPO, arXiv:2503.14476)."""
    rows = batch.sampled.trajectories
    return torch.tensor([float(row.metadata.get("finish_reason") != "length") for row in rows])


def _read_sampler_logprobs(batch: Batch, tokens: TokenBatch) -> Tensor:
    """The log-probabilities with which the sampler drew each token, padded to the batch."""
    width = tokens.mask_B_T.shape[1]
    rows = [trajectory.tokens.logprobs if trajectory.tokens else None for trajectory in batch.sampled.trajectories]
    if any(row is None for row in rows):
        raise InvalidSettings("samples of another sampler or of older weights need its log-probs, and it gives none")
    padded = [[*row, *[0.0] * (width - len(row))] for row in rows if row is not None]
    return torch.tensor(padded, device=tokens.mask_B_T.device)


def _merge(stats: Sequence[dict[str, float]], *, by_tokens: bool = False) -> dict[str, float]:
    """Means over optimizer steps, or over micro-batches weighted by tokens; of `…/max`, the maximum."""
    merged = {}
    for name in dict.fromkeys(name for each in stats for name in each):
        values = [each[name] for each in stats if name in each]
        shares = [max(1.0, each["tokens"]) if by_tokens else 1.0 for each in stats if name in each]
        mean = math.fsum(map(float.__mul__, values, shares)) / math.fsum(shares)
        merged[name] = max(values) if name.endswith("/max") else mean
    return {**merged, "tokens": math.fsum(each["tokens"] for each in stats)} if by_tokens else merged
