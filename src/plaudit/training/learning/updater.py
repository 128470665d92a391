"""Policy updates: a scored batch in, better weights out.

Samples that were not scored count nowhere. Responses whose advantages are all 0 count in every average, but are not
computed unless a KL or an entropy bonus moves them: else they have no gradient.
"""

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch
from msgspec import structs
from torch import Tensor

from plaudit.errors import InvalidSettings
from plaudit.training.advantages.credit import BatchCredit, TaskScale
from plaudit.training.advantages.estimators import GAEAdvantage
from plaudit.training.batches.collecting import Batch
from plaudit.training.config.schema import RunConfig
from plaudit.training.learning.critic import Critic
from plaudit.training.learning.from_config import (
    build_advantage,
    build_entropy_controller,
    build_kl_controller,
    build_pieces,
)
from plaudit.training.learning.log_ratios import kl_divergence
from plaudit.training.learning.losses import Anchors, pad_advantages, pick_covariant, policy_loss, token_weights
from plaudit.training.learning.optimizer import MasterAdamW, learning_rate
from plaudit.training.learning.update_batch import UpdateBatch, keep_top
from plaudit.training.learning.warm_start import imitate
from plaudit.training.model.policy import Policy, TokenBatch
from plaudit.training.sampling.sampler import derive_seed
from plaudit.trajectory import Trajectory

__all__ = ["Updater"]


class Updater:
    """Updates a policy as the config says; `state` and `restore` keep what must survive a restart.

    `demonstrations` are right responses, which `loss.sft_weight` mixes into the loss.
    """

    def __init__(
        self, policy: Policy, config: RunConfig, *, max_new_tokens: int, demonstrations: Sequence[Trajectory] = ()
    ) -> None:
        self.policy, self.config = policy, config
        self.advantage = build_advantage(config)
        self.loss = structs.replace(config.loss, max_tokens=config.loss.max_tokens or max_new_tokens)
        self.kl_controller = build_kl_controller(config)
        self.entropy_controller = build_entropy_controller(config)
        self.pieces = build_pieces(config)
        self.reference = policy.reference() if config.loss.kl_beta else None
        self.off_policy = config.training.async_train
        self.demonstrations = demonstrations if config.loss.sft_weight else ()
        self.optimizer = MasterAdamW(policy.parameters(), config.optimizer, fused=True)
        several = len(config.tasks) > 1
        wanted = config.training.normalize_tasks
        self.task_scale = TaskScale() if (several if wanted is None else wanted) else None
        self.critic = None
        if isinstance(self.advantage, GAEAdvantage):
            self.critic = Critic(policy, config.optimizer, passes=config.training.critic_passes, pieces=self.pieces)

    def update(self, batch: Batch) -> dict[str, float]:
        """Improve the policy on a batch and return the metrics."""
        rate = learning_rate(self.config, batch.step)
        self.optimizer.set_lr(rate)
        torch.manual_seed(derive_seed(self.config.seed, "update", batch.step))  # for models with dropout, and Clip-Cov
        self.loss = structs.replace(
            self.loss,
            kl_beta=0.0 if self._kl_in_reward else self.kl_controller.weight,
            entropy_bonus=self.entropy_controller.bonus,
        )
        prepared, metrics = self._prepare(batch)
        stats = [
            self._optimize(part, f"{self.config.seed}/{batch.step}/{turn}")
            for turn, part in enumerate(self._parts(prepared, batch.step))
        ]
        merged = {"lr": rate, **_merge([each for each in stats if each]), **metrics}
        return {**merged, **self._control(merged, batch)}

    def state(self) -> dict[str, Any]:
        """Weights, optimizer and all else that changes, for a checkpoint."""
        moves = self.reference is not None and self.config.loss.reference_every
        return {
            "weights": self.policy.state(),
            "optimizer": self.optimizer.state_dict(),
            "critic": None if self.critic is None else self.critic.state(),
            "reference": _weights(self.reference) if moves and self.reference else None,
            "task_scale": None if self.task_scale is None else self.task_scale.state(),
            "controllers": {"kl": self.kl_controller.state(), "entropy": self.entropy_controller.state()},
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what `state` gave."""
        self.policy.restore(state["weights"])
        self.optimizer.load_state_dict(state["optimizer"])
        if self.critic is not None:
            self.critic.restore(state["critic"])
        if self.reference is not None and state.get("reference") is not None:
            self.reference.model.load_state_dict(state["reference"], strict=False)
        if self.task_scale is not None and state.get("task_scale") is not None:
            self.task_scale.restore(state["task_scale"])
        for name, controller in (("kl", self.kl_controller), ("entropy", self.entropy_controller)):
            if name in state.get("controllers", {}):
                controller.restore(state["controllers"][name])

    def _prepare(self, batch: Batch) -> tuple[UpdateBatch, dict[str, float]]:
        """The batch as tensors, and the metrics of its preparation."""
        tokens = self.policy.batch(batch.sampled)
        batch_credit = BatchCredit.of(
            zip(batch.sampled.trajectories, batch.outputs, strict=True), by=self.config.training.credit
        )
        batch_credit = replace(batch_credit, baselines=batch.baselines)
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
            paid = (kl * self.kl_controller.weight).tolist()
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
            advantages = advantages * self._mark_undecided(tokens, mask)
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
        return self.pieces.compute(
            lambda part: policy.logprobs(part, temperature=self._temperature).logprobs_B_T, tokens
        )

    @torch.no_grad()
    def _mark_undecided(self, tokens: TokenBatch, mask: Tensor) -> Tensor:
        """1 on the share of tokens at which the policy was most undecided: they decide what a response becomes
        (arXiv:2506.01939)."""
        entropy = self.pieces.compute(
            lambda part: self.policy.logprobs(part, temperature=self._temperature).entropy_B_T, tokens
        )
        return keep_top(entropy, mask, self.config.loss.top_entropy)

    @property
    def _temperature(self) -> float:
        return self.config.sampling.temperature

    def _parts(self, prepared: UpdateBatch, step: int) -> Iterator[UpdateBatch]:
        """What each optimizer step is computed on: every pass cuts the batch anew."""
        count = self.config.training.minibatches
        for turn in range(self.config.training.updates_per_batch):
            if count == 1:
                yield prepared
                continue
            order = list(range(len(prepared.tokens)))
            random.Random(f"{self.config.seed}/{step}/{turn}").shuffle(order)
            yield from (prepared.pick(rows) for rows in torch.tensor(order).chunk(count))

    def _optimize(self, part: UpdateBatch, seed: str) -> dict[str, float]:
        """One optimizer step; nothing happens where nothing can be learnt."""
        weights = token_weights(part.mask, self.loss)
        rows = part.find_teaching(without_advantage=self._moves_all(part))
        if not len(rows) and not self.demonstrations:
            return {}
        self.optimizer.zero_grad()
        stats = self._accumulate(part.pick(rows), weights[rows]) if len(rows) else {"loss": 0.0}
        if self.demonstrations:
            stats |= self._imitate(seed)
        norm = self.optimizer.clip()
        if not math.isfinite(norm):  # one bad batch must not spoil the weights
            return {**stats, "update/skipped": 1.0}
        self.optimizer.step()
        return {**stats, "grad_norm": norm}

    def _moves_all(self, part: UpdateBatch) -> bool:
        """Whether samples without an advantage have a gradient too."""
        entropy = self.entropy_controller.active
        return part.reference is not None or entropy or self.loss.covariance is not None

    def _accumulate(self, part: UpdateBatch, weights: Tensor) -> dict[str, float]:
        """The gradient of the loss on a part, piece by piece."""
        pieces = list(self.pieces.cut(part.tokens))
        if self.loss.covariance is not None and len(pieces) > 1:
            now = self._compute_logprobs(self.policy, part.tokens)
            old = now if part.old is None else part.old
            part = replace(part, picked=pick_covariant(now, old, part.advantages, part.mask, self.loss))
        stats = [self._backward(part.pick(piece), weights[piece]) for piece in pieces]
        return {**_merge(stats, by_tokens=True), "loss": sum(each["loss"] for each in stats)}

    def _backward(self, part: UpdateBatch, weights: Tensor) -> dict[str, float]:
        wants_entropy = self.entropy_controller.active
        computed = self.policy.logprobs(part.tokens, temperature=self._temperature, entropy_gradient=wants_entropy)
        logprobs = computed.logprobs_B_T
        entropy = computed.entropy_B_T if wants_entropy else None
        loss = policy_loss(
            logprobs,
            logprobs.detach() if part.old is None else part.old,
            part.advantages,
            part.mask,
            settings=self.loss,
            anchors=Anchors(part.reference, part.sampler, entropy, part.picked),
            weights=weights[:, : logprobs.shape[1]],
        )
        loss.value.backward()  # type: ignore[no-untyped-call]
        return {**loss.stats, "loss": float(loss.value.detach())}

    def _imitate(self, seed: str) -> dict[str, float]:
        """Add the gradient of some demonstrations, drawn anew for every optimizer step."""
        shown = random.Random(f"{seed}/demonstrations").choices(self.demonstrations, k=self.config.loss.sft_batch)
        loss = imitate(self.policy, shown, self.pieces, weight=self.config.loss.sft_weight)
        return {"sft/loss": loss}

    def _control(self, measured: dict[str, float], batch: Batch) -> dict[str, float]:
        """Update the controllers and the reference after a step; returns the weights that the step used."""
        weights = {}
        loss = self.config.loss
        if loss.kl_target is not None and "kl" in measured:
            weights["kl/weight"] = self.kl_controller.weight
            self.kl_controller.observe(measured["kl"], len(batch.outputs))
        if loss.entropy_target is not None and "entropy/exact" in measured:
            weights["entropy/weight"] = self.entropy_controller.bonus
            self.entropy_controller.observe(measured["entropy/exact"])
        if self.reference is not None and loss.reference_every and batch.step % loss.reference_every == 0:
            _follow(self.reference, self.policy, loss.reference_mix)
        return weights


@torch.no_grad()
def _follow(reference: Policy, policy: Policy, mix: float) -> None:
    """Move the reference towards the policy, all the way where `mix` is 1 (TR-DPO, arXiv:2404.09656)."""
    for old, new in zip(reference.model.parameters(), policy.model.parameters(), strict=True):
        old.copy_(new if mix == 1.0 else old + mix * (new - old))


def _weights(policy: Policy) -> dict[str, Tensor]:
    return {name: parameter.detach().clone() for name, parameter in policy.model.named_parameters()}


def _mark_ended(batch: Batch) -> Tensor:
    """1 for responses that ended by themselves, 0 for those that the length limit cut (DAPO, arXiv:2503.14476)."""
    rows = batch.sampled.trajectories
    return torch.tensor([float(row.metadata.get("finish_reason") != "length") for row in rows])


def _read_sampler_logprobs(batch: Batch, tokens: TokenBatch) -> Tensor:
    """What the sampler drew each token with, padded to the batch."""
    width = tokens.mask_B_T.shape[1]
    rows = [trajectory.tokens.logprobs if trajectory.tokens else None for trajectory in batch.sampled.trajectories]
    if any(row is None for row in rows):
        raise InvalidSettings("samples of another sampler or of older weights need its log-probs, and it gives none")
    padded = [[*row, *[0.0] * (width - len(row))] for row in rows if row is not None]
    return torch.tensor(padded, device=tokens.mask_B_T.device)


def _merge(stats: Sequence[dict[str, float]], *, by_tokens: bool = False) -> dict[str, float]:
    """The mean of each number over several optimizer steps, or over pieces by their tokens; the largest of maxima."""
    merged = {}
    for name in dict.fromkeys(name for each in stats for name in each):
        values = [each[name] for each in stats if name in each]
        shares = [max(1.0, each["tokens"]) if by_tokens else 1.0 for each in stats if name in each]
        mean = math.fsum(map(float.__mul__, values, shares)) / math.fsum(shares)
        merged[name] = max(values) if name.endswith("/max") else mean
    return {**merged, "tokens": math.fsum(each["tokens"] for each in stats)} if by_tokens else merged
