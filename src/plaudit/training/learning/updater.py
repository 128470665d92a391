"""Policy updates: a scored batch in, better weights out.

Samples that were not scored count nowhere. Responses whose advantages are all 0 count in every average, but are not
computed unless a KL is: they have no gradient.
"""

import dataclasses
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from plaudit.errors import InvalidSettings
from plaudit.training.advantages.baseline import Advantage
from plaudit.training.advantages.credit import BatchCredit
from plaudit.training.advantages.estimators import GAEAdvantage, advantage
from plaudit.training.batches.collecting import Batch, derive_seed
from plaudit.training.config.schema import RunConfig
from plaudit.training.learning.critic import Critic, CriticSettings
from plaudit.training.learning.kl import kl_divergence
from plaudit.training.learning.losses import (
    Anchors,
    LossSettings,
    loss_settings,
    pad_advantages,
    policy_loss,
    token_weights,
)
from plaudit.training.learning.optimizer import AdamWSettings, MasterAdamW, learning_rate
from plaudit.training.model.policy import Policy, TokenBatch

__all__ = ["Updater", "build_advantage", "build_loss", "check_learning"]


class Updater:
    """Updates a policy as the config says; `state` and `restore` keep what must survive a restart."""

    def __init__(self, policy: Policy, config: RunConfig, *, max_new_tokens: int) -> None:
        self.policy, self.config = policy, config
        self.advantage = build_advantage(config)
        self.loss = build_loss(config, max_new_tokens)
        self.reference = policy.reference() if config.loss.kl_beta else None
        self.off_policy = config.training.async_train
        settings = config.optimizer
        adamw = AdamWSettings(
            settings.lr, settings.betas, settings.eps, settings.weight_decay, settings.max_grad_norm, fused=True
        )
        self.optimizer = MasterAdamW(policy.parameters(), adamw)
        self.critic = None
        if isinstance(self.advantage, GAEAdvantage):
            pieces = config.training.gradient_accumulation
            passes = config.training.critic_passes
            critic = CriticSettings(settings.lr, passes, max_grad_norm=settings.max_grad_norm, pieces=pieces)
            self.critic = Critic(policy, critic)

    def update(self, batch: Batch) -> dict[str, float]:
        """Improve the policy on a batch; what is worth logging about it."""
        rate = learning_rate(self.config, batch.step)
        self.optimizer.set_lr(rate)
        torch.manual_seed(derive_seed(self.config.seed, "update", batch.step))  # for models with dropout
        prepared = self._prepare(batch)
        stats = [self._optimize(part) for part in self._parts(prepared, batch.step)]
        return {"lr": rate, **_merge([each for each in stats if each]), **prepared.critic_stats}

    def state(self) -> dict[str, Any]:
        """Weights and optimizer, for a checkpoint."""
        critic = None if self.critic is None else self.critic.state()
        return {"weights": self.policy.state(), "optimizer": self.optimizer.state_dict(), "critic": critic}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what `state` gave."""
        self.policy.restore(state["weights"])
        self.optimizer.load_state_dict(state["optimizer"])
        if self.critic is not None:
            self.critic.restore(state["critic"])

    def _prepare(self, batch: Batch) -> "_PreparedBatch":
        tokens = self.policy.batch(batch.sampled)
        batch_credit = BatchCredit.of(
            zip(batch.sampled.trajectories, batch.outputs, strict=True), by=self.config.training.credit
        )
        reference = None if self.reference is None else self._frozen_logprobs(self.reference, tokens)
        needs_old = self.off_policy or self._optimizer_steps > 1 or self._kl_in_reward
        old = self._frozen_logprobs(self.policy, tokens) if needs_old else None
        if self._kl_in_reward and old is not None and reference is not None:
            kl = kl_divergence(old, reference, self.config.loss.kl_estimator) * self.config.loss.kl_beta
            batch_credit = batch_credit.minus(
                [row[:length] for row, length in zip(kl.tolist(), tokens.lengths_B.tolist(), strict=True)]
            )
            reference = None
        critic_stats: dict[str, float] = {}
        if self.critic is not None and isinstance(self.advantage, GAEAdvantage):
            batch_credit = self.critic.add_values(tokens, batch_credit)
            rate = learning_rate(self.config, batch.step) * self.config.training.critic_lr_factor
            critic_stats = self.critic.learn(tokens, batch_credit, self.advantage, lr=rate)
        advantages, mask = pad_advantages(self.advantage.estimate(batch_credit), tokens.mask_B_T)
        if self.config.loss.mask_truncated:
            mask = mask * _ended(batch).to(mask.device)[:, None]
        if self.config.loss.top_entropy < 1.0:
            advantages = advantages * self._most_undecided(tokens, mask)
        sampler = _sampled_logprobs(batch, tokens) if self.off_policy else None
        return _PreparedBatch(tokens, advantages, mask, old, reference, sampler, critic_stats)

    @property
    def _kl_in_reward(self) -> bool:
        return self.reference is not None and self.config.loss.kl_in == "reward"

    @property
    def _optimizer_steps(self) -> int:
        return self.config.training.updates_per_batch * self.config.training.minibatches

    @torch.no_grad()
    def _frozen_logprobs(self, policy: Policy, tokens: TokenBatch) -> Tensor:
        pieces = torch.arange(len(tokens)).chunk(self.config.training.gradient_accumulation)
        width = tokens.mask_B_T.shape[1]
        found = [policy.logprobs(tokens.pick(rows), temperature=self._temperature).logprobs_B_T for rows in pieces]
        return torch.cat([torch.nn.functional.pad(each, (0, width - each.shape[1])) for each in found])

    @torch.no_grad()
    def _most_undecided(self, tokens: TokenBatch, mask: Tensor) -> Tensor:
        """1 on the share of tokens at which the policy was most undecided: they decide what a response becomes
        (arXiv:2506.01939)."""
        pieces = torch.arange(len(tokens)).chunk(self.config.training.gradient_accumulation)
        width = tokens.mask_B_T.shape[1]
        found = [self.policy.logprobs(tokens.pick(rows), temperature=self._temperature).entropy_B_T for rows in pieces]
        entropy = torch.cat([torch.nn.functional.pad(each, (0, width - each.shape[1])) for each in found])
        return keep_top(entropy, mask, self.config.loss.top_entropy)

    @property
    def _temperature(self) -> float:
        return self.config.sampling.temperature

    def _parts(self, prepared: "_PreparedBatch", step: int) -> Iterator["_PreparedBatch"]:
        """What each optimizer step is computed on: every pass cuts the batch anew."""
        count = self.config.training.minibatches
        for turn in range(self.config.training.updates_per_batch):
            if count == 1:
                yield prepared
                continue
            order = list(range(len(prepared.tokens)))
            random.Random(f"{self.config.seed}/{step}/{turn}").shuffle(order)
            yield from (prepared.pick(rows) for rows in torch.tensor(order).chunk(count))

    def _optimize(self, part: "_PreparedBatch") -> dict[str, float]:
        """One optimizer step; nothing happens where nothing can be learnt."""
        weights = token_weights(part.mask, self.loss)
        rows = part.teaching_rows()
        if not len(rows):
            return {}
        self.optimizer.zero_grad()
        stats = [
            self._backward(part.pick(piece), weights[piece])
            for piece in rows.chunk(self.config.training.gradient_accumulation)
        ]
        norm = self.optimizer.clip()
        if not math.isfinite(norm):  # one bad batch must not spoil the weights
            return {**_merge(stats), "update/skipped": 1.0}
        self.optimizer.step()
        return {**_merge(stats), "loss": sum(each["loss"] for each in stats), "grad_norm": norm}

    def _backward(self, part: "_PreparedBatch", weights: Tensor) -> dict[str, float]:
        bonus = bool(self.loss.entropy_bonus)
        found = self.policy.logprobs(part.tokens, temperature=self._temperature, entropy_gradient=bonus)
        logprobs = found.logprobs_B_T
        loss = policy_loss(
            logprobs,
            logprobs.detach() if part.old is None else part.old,
            part.advantages,
            part.mask,
            settings=self.loss,
            anchors=Anchors(part.reference, part.sampler, found.entropy_B_T if bonus else None),
            weights=weights[:, : logprobs.shape[1]],
        )
        loss.value.backward()  # type: ignore[no-untyped-call]
        return {**loss.stats, "loss": float(loss.value.detach())}


@dataclass(frozen=True, slots=True)
class _PreparedBatch:
    """A batch as tensors of one row per sample; None where nothing needs it."""

    tokens: TokenBatch
    advantages: Tensor
    mask: Tensor
    old: Tensor | None
    reference: Tensor | None
    sampler: Tensor | None
    critic_stats: dict[str, float] = field(default_factory=dict)

    def pick(self, rows: Tensor) -> "_PreparedBatch":
        tokens = self.tokens.pick(rows)
        width = tokens.mask_B_T.shape[1]

        def cut(values: Tensor) -> Tensor:
            return values[rows][:, :width]

        old, reference, sampler = (
            None if each is None else cut(each) for each in (self.old, self.reference, self.sampler)
        )
        return _PreparedBatch(tokens, cut(self.advantages), cut(self.mask), old, reference, sampler)

    def teaching_rows(self) -> Tensor:
        """The samples with a gradient: those with an advantage, or all that count where a KL is in the loss."""
        counts = self.mask.bool() if self.reference is not None else self.mask.bool() & (self.advantages != 0)
        return counts.any(1).nonzero().squeeze(1)


def check_learning(config: RunConfig) -> None:
    """Raise InvalidSettings for an advantage or a loss that cannot be built; nothing is loaded for that."""
    build_advantage(config)
    build_loss(config, max_new_tokens=1)


def build_advantage(config: RunConfig) -> Advantage:
    """The advantage estimator that the config names, with what the config says of it."""
    found = advantage(config.advantage, gamma=config.training.gamma)
    wanted = {
        "lam": config.training.gae_lambda,
        "scale": config.training.advantage_scale,
        "k": config.training.pass_k,
        "weights": config.training.component_weights or None,
    }
    known = {field.name for field in dataclasses.fields(found)}  # type: ignore[arg-type]
    changes = {name: value for name, value in wanted.items() if name in known and value is not None}
    return dataclasses.replace(found, **changes)  # type: ignore[type-var]


def build_loss(config: RunConfig, max_new_tokens: int) -> LossSettings:
    """The loss preset that the config names, with what the config says of it."""
    loss = config.loss
    optional = ("clip_low", "clip_high", "dual_clip", "average", "ratio", "surrogate")
    changes = {name: getattr(loss, name) for name in optional}
    return dataclasses.replace(
        loss_settings(loss.name),
        **{name: value for name, value in changes.items() if value is not None},
        max_tokens=max_new_tokens,
        kl_beta=0.0 if loss.kl_in == "reward" else loss.kl_beta,
        kl_estimator=loss.kl_estimator,
        max_importance=loss.max_importance,
        importance_level=loss.importance_level,
        importance_mode=loss.importance_mode,
        off_policy_limit=loss.off_policy_limit,
        kl_correction=loss.kl_correction,
        entropy_bonus=loss.entropy_bonus,
    )


def keep_top(values: Tensor, mask: Tensor, share: float) -> Tensor:
    """1 on the `share` of the tokens that count with the largest values, 0 on the others."""
    counted = values[mask.bool()]
    if not len(counted):
        return torch.ones_like(values)
    return (values >= torch.quantile(counted.float(), 1.0 - share)).float()


def _ended(batch: Batch) -> Tensor:
    """1 for responses that ended by themselves, 0 for those that the length limit cut (DAPO, arXiv:2503.14476)."""
    rows = batch.sampled.trajectories
    return torch.tensor([float(row.metadata.get("finish_reason") != "length") for row in rows])


def _sampled_logprobs(batch: Batch, tokens: TokenBatch) -> Tensor:
    """What the sampler drew each token with, padded to the batch."""
    width = tokens.mask_B_T.shape[1]
    rows = [trajectory.tokens.logprobs if trajectory.tokens else None for trajectory in batch.sampled.trajectories]
    if any(row is None for row in rows):
        raise InvalidSettings("samples of another sampler or of older weights need its log-probs, and it gives none")
    padded = [[*row, *[0.0] * (width - len(row))] for row in rows if row is not None]
    return torch.tensor(padded, device=tokens.mask_B_T.device)


def _merge(stats: Sequence[dict[str, float]]) -> dict[str, float]:
    """The mean of each number over several optimizer steps; the largest of what is a maximum."""
    names = dict.fromkeys(name for each in stats for name in each)
    merged = {}
    for name in names:
        values = [each[name] for each in stats if name in each]
        merged[name] = max(values) if name.endswith("/max") else math.fsum(values) / len(values)
    return merged
