"""Advantages and losses against verl's, on random batches with padding and tokens that the policy was given.

verl's dependencies do not fit beside TRL's, so it is installed without them into a folder of its own, which is gone
afterwards; Ray must be there. Where a definition differs by design the line says how: what is left after that is
compared too, and a difference that has gone is a disagreement as well.
"""

import argparse
import importlib
import itertools
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import torch
from msgspec import structs
from torch import Tensor

from plaudit.training.advantages.baseline import Advantage
from plaudit.training.advantages.credit import BatchCredit, Credit
from plaudit.training.advantages.estimators import (
    DrGRPOAdvantage,
    GAEAdvantage,
    GDPOAdvantage,
    GRPOAdvantage,
    OPOAdvantage,
    ReinforceAdvantage,
    ReinforceBaselineAdvantage,
    RLOOAdvantage,
)
from plaudit.training.config.learning_keys import LOSSES, Average, KLEstimator, LossSettings
from plaudit.training.learning.losses import OtherLogprobs, kl_divergence, policy_loss, value_loss

PINNED = ("verl==0.9.1", "tensordict==0.15.3", "pyvers==0.2.3", "codetiming==1.4.0", "omegaconf==2.4.0",
          "orjson==3.13.0")  # fmt: skip
GROUPS, SAMPLES, TOKENS = 5, 4, 12
NOISE = 5e-6
"""What float32 leaves of a difference, relative to the largest number."""
AVERAGES: dict[Average, str] = {
    "token": "token-mean",
    "sequence": "seq-mean-token-mean",
    "constant": "seq-mean-token-sum-norm",
}
WEIGHTS = {"right": 1.0, "short": 0.5}


@dataclass(frozen=True, slots=True)
class Batch:
    """Samples of several prompts; tensors have one row per sample and one column per token."""

    rewards: Tensor
    others: Tensor
    """Rewards of a second component."""
    token_rewards: Tensor
    mask: Tensor
    values: Tensor
    now: Tensor
    old: Tensor
    sampler: Tensor
    advantages: Tensor
    groups: np.ndarray[Any, Any]

    @property
    def ends(self) -> Tensor:
        """The place of the last token of each sample that counts."""
        return (self.mask * torch.arange(1, TOKENS + 1)).argmax(1)

    def at_ends(self, rewards: Tensor) -> Tensor:
        """The rewards where verl takes them: at the last token."""
        placed = torch.zeros_like(self.mask)
        placed[torch.arange(len(rewards)), self.ends] = rewards
        return placed

    def batch_credit(self, token_rewards: Tensor | None = None) -> BatchCredit:
        """The same in plaudit's words."""
        return BatchCredit(
            self._credits(self.rewards, token_rewards),
            self.groups.tolist(),
            components={"right": self._credits(self.rewards, None), "short": self._credits(self.others, None)},
            values=self.values.tolist(),
        )

    def _credits(self, rewards: Tensor, token_rewards: Tensor | None) -> list[Credit]:
        tokens = torch.zeros_like(self.mask) if token_rewards is None else token_rewards
        rows = zip(rewards.tolist(), tokens.tolist(), self.mask.int().tolist(), strict=True)
        return [Credit(*row) for row in rows]


def drawn(seed: int) -> Batch:
    """A random batch: half of the groups earn right or wrong, the others any number; some tokens were given."""
    chance = torch.Generator().manual_seed(seed)
    count, shape = GROUPS * SAMPLES, (GROUPS * SAMPLES, TOKENS)

    def normal(scale: float = 1.0) -> Tensor:
        return scale * torch.randn(shape, generator=chance)

    groups = torch.arange(count) // SAMPLES
    lengths = torch.randint(1, TOKENS + 1, (count, 1), generator=chance)
    places = torch.arange(TOKENS)
    given = (torch.rand(shape, generator=chance) < 0.2) & (places > 0) & (places < lengths - 1)
    rewards = torch.randn(count, generator=chance)
    rewards = torch.where(groups % 2 == 0, (rewards > 0).float(), rewards)
    mask = ((places < lengths) & ~given).float()
    old = -normal().abs()
    return Batch(
        rewards, torch.randn(count, generator=chance), normal() * mask, mask, normal(),
        now=old + normal(0.6), old=old, sampler=old + normal(0.6), advantages=normal(), groups=groups.numpy(),
    )  # fmt: skip


Side: TypeAlias = Callable[[Batch], Tensor]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two ways to the same numbers; `differs` says why they are other numbers, where that is meant."""

    name: str
    ours: Side
    theirs: Side
    differs: str = ""

    def largest(self, batch: Batch) -> float:
        """The largest difference, relative to the largest number."""
        theirs = self.theirs(batch)
        return float((self.ours(batch) - theirs).abs().max() / theirs.abs().max())

    def told(self, seeds: int) -> bool:
        """Print what was found; whether that is what was expected."""
        found = max(self.largest(drawn(seed)) for seed in range(seeds))
        expected = (found > NOISE) == bool(self.differs)
        told = f"by design: {self.differs}" if self.differs else "agrees"
        print(f"{self.name:46} {found:.1e}  {told if expected else 'UNEXPECTED, ' + told}", flush=True)
        return expected


def estimated(estimator: Advantage, of: Callable[[Batch], BatchCredit] = Batch.batch_credit) -> Side:
    """Our advantages, as a tensor that is 0 where verl's is."""
    return lambda batch: torch.tensor(estimator.estimate(of(batch))) * batch.mask


def unbiased(side: Side) -> Side:
    """Whitened advantages as if by the unbiased deviation, over n − 1 tokens."""

    def scaled(batch: Batch) -> Tensor:
        count = batch.mask.sum()
        return side(batch) * ((count - 1) / count).sqrt()

    return scaled


def advantages(algos: Any) -> Iterator[Comparison]:
    """One advantage for the whole sample, from its reward."""

    def theirs(name: str, **options: Any) -> Side:
        estimate = algos.get_adv_estimator_fn(name)
        return lambda batch: estimate(batch.at_ends(batch.rewards), batch.mask, index=batch.groups, **options)[0]

    plain: dict[str, tuple[Advantage, Side]] = {
        "grpo": (GRPOAdvantage(), theirs("grpo")),
        "grpo, its vectorised form": (GRPOAdvantage(), theirs("grpo_vectorized")),
        "dr_grpo": (DrGRPOAdvantage(), theirs("grpo", norm_adv_by_std_in_grpo=False)),
        "rloo": (RLOOAdvantage(), theirs("rloo")),
        "rloo, its vectorised form": (RLOOAdvantage(), theirs("rloo_vectorized")),
        "opo": (OPOAdvantage(), theirs("opo")),
    }
    for name, (estimator, their) in plain.items():
        yield Comparison(f"advantage {name}", estimated(estimator), their)
    why = "a reward per token counts up to its token here; verl adds them up to one outcome for all tokens"
    summed = theirs("rloo")
    yield Comparison(
        "advantage rloo, rewards per token",
        estimated(RLOOAdvantage(), lambda batch: batch.batch_credit(batch.token_rewards)),
        lambda batch: summed(replace(batch, rewards=batch.rewards + batch.token_rewards.sum(1))),
        why,
    )
    why = "a sample that is alone has nothing to be compared with and gets 0 here; verl gives it its whole reward"
    ours, their = estimated(GRPOAdvantage()), theirs("grpo")
    yield Comparison(
        "advantage grpo, a sample alone",
        lambda batch: ours(one_alone(batch)),
        lambda batch: their(one_alone(batch)),
        why,
    )


def one_alone(batch: Batch) -> Batch:
    """The batch with its first sample in a group of its own."""
    groups = batch.groups.copy()
    groups[0] = GROUPS
    return replace(batch, groups=groups, rewards=batch.rewards + 1.0)


def whitened(algos: Any) -> Iterator[Comparison]:
    """Advantages whitened over the tokens of the batch."""
    ours_gae = estimated(GAEAdvantage(gamma=0.97, lam=0.9), by_token)
    pairs: dict[str, tuple[Side, Side]] = {
        "reinforce++": (estimated(ReinforceAdvantage(), by_token), their_reinforce(algos, 1.0)),
        "reinforce++, gamma 0.9": (estimated(ReinforceAdvantage(gamma=0.9), by_token), their_reinforce(algos, 0.9)),
        "reinforce++_baseline": (estimated(ReinforceBaselineAdvantage()), their_baseline(algos)),
        "gdpo": (estimated(GDPOAdvantage(WEIGHTS)), their_gdpo(algos)),
        "gae": (ours_gae, their_gae(algos)),
    }
    for name, (ours, theirs) in pairs.items():
        yield Comparison(f"advantage {name}, n − 1", unbiased(ours), theirs)
    why = "whitening divides by the deviation over n tokens here, by that over n − 1 in verl"
    yield Comparison("advantage reinforce++", *pairs["reinforce++"], why)
    why = "a reward on a token that was given counts for the chosen token before it here; verl drops it"
    ours, theirs = unbiased(ours_gae), their_gae(algos)
    yield Comparison(
        "advantage gae, rewards on given tokens, n − 1",
        lambda batch: ours(on_given(batch)),
        lambda batch: theirs(on_given(batch)),
        why,
    )


def by_token(batch: Batch) -> BatchCredit:
    return batch.batch_credit(batch.token_rewards)


def on_given(batch: Batch) -> Batch:
    """The batch with rewards on the tokens that the policy was given."""
    given = (1.0 - batch.mask) * (torch.arange(TOKENS) < batch.ends[:, None])
    return replace(batch, token_rewards=given)


def their_reinforce(algos: Any, gamma: float) -> Side:
    config = importlib.import_module("verl.trainer.config").AlgoConfig(gamma=gamma)
    estimate = algos.get_adv_estimator_fn("reinforce_plus_plus")
    return lambda batch: estimate(batch.at_ends(batch.rewards) + batch.token_rewards, batch.mask, config=config)[0]


def their_baseline(algos: Any) -> Side:
    estimate = algos.get_adv_estimator_fn("reinforce_plus_plus_baseline")
    return lambda batch: estimate(batch.at_ends(batch.rewards), batch.mask, index=batch.groups)[0]


def their_gae(algos: Any) -> Side:
    estimate = algos.get_adv_estimator_fn("gae")

    def found(batch: Batch) -> Tensor:
        rewards = batch.at_ends(batch.rewards) + batch.token_rewards
        return torch.as_tensor(estimate(rewards, batch.values, batch.mask, gamma=0.97, lam=0.9)[0] * batch.mask)

    return found


def their_gdpo(algos: Any) -> Side:
    estimate = algos.get_adv_estimator_fn("gdpo")

    def found(batch: Batch) -> Tensor:
        prompts = torch.ones_like(batch.mask).long()
        read = torch.arange(TOKENS) <= batch.ends[:, None]
        advantages = estimate(
            batch.at_ends(batch.rewards), batch.mask, batch.groups,
            config={"gdpo_reward_keys": list(WEIGHTS), "gdpo_reward_weights": list(WEIGHTS.values())},
            non_tensor_batch={"right": batch.rewards.numpy(), "short": batch.others.numpy()},
            batch={"prompts": prompts, "attention_mask": torch.cat([prompts, read.long()], 1)},
        )[0]  # fmt: skip
        return torch.as_tensor(advantages)

    return found


def gradient(loss: Callable[[Tensor], Tensor], at: Tensor) -> Tensor:
    """The loss and its gradient in one row."""
    point = at.clone().requires_grad_()
    value = loss(point)
    slope = torch.autograd.grad(value, point)[0]
    return torch.cat([value.detach().reshape(1), slope.flatten()])


def unscored(batch: Batch) -> Batch:
    """The batch with a sample that counts nowhere."""
    mask = batch.mask.clone()
    mask[3] = 0.0
    return replace(batch, mask=mask)


def our_loss(settings: LossSettings, *, corrected: bool = False) -> Side:
    def found(given: Batch) -> Tensor:
        batch = unscored(given)
        other = OtherLogprobs(sampler=batch.sampler if corrected else None)
        rest = (batch.old, batch.advantages, batch.mask)
        return gradient(lambda now: policy_loss(now, *rest, settings=settings, other=other).value, batch.now)

    return found


def their_loss(algos: Any, name: str, settings: LossSettings, *, corrected: bool = False) -> Side:
    config = importlib.import_module("verl.workers.config").ActorConfig(
        strategy="fsdp", rollout_n=SAMPLES, use_dynamic_bsz=True, clip_ratio_low=settings.clip_low,
        clip_ratio_high=settings.clip_high, clip_ratio_c=settings.dual_clip or 1e9,
        global_batch_info={"loss_scale_factor": settings.max_tokens},
    )  # fmt: skip
    loss = algos.get_policy_loss_fn(name)
    correction = importlib.import_module("verl.trainer.ppo.rollout_corr_helper").compute_rollout_correction_weights

    def found(given: Batch) -> Tensor:
        batch = unscored(given)
        weights = None
        if corrected:
            weights = correction(batch.old - batch.sampler, batch.mask, "token", settings.max_importance)[0]
        rest = (batch.advantages, batch.mask, AVERAGES[settings.average], config, weights)
        return gradient(lambda now: torch.as_tensor(loss(batch.old, now, *rest)[0]), batch.now)

    return found


def losses(algos: Any) -> Iterator[Comparison]:
    """Policy losses with their gradients, under every average; `dr_grpo` is `grpo` under the constant one."""
    names = {"grpo": "vanilla", "dapo": "vanilla", "ppo": "vanilla", "gspo": "gspo", "cispo": "cispo",
             "reinforce": "gpg"}  # fmt: skip
    for (name, their), average in itertools.product(names.items(), AVERAGES):
        settings = structs.replace(LOSSES[name], average=average, max_tokens=20)
        yield Comparison(f"loss {name}, {average}", our_loss(settings), their_loss(algos, their, settings))
    for name in ("dapo", "gspo", "cispo"):
        settings = LOSSES[name]
        yield Comparison(
            f"loss {name}, sampler corrected",
            our_loss(settings, corrected=True),
            their_loss(algos, names[name], settings, corrected=True),
        )
    why = "the ratio has a bound where the advantage is negative in `ppo` only here; in verl always"
    unbound, bound = LOSSES["grpo"], structs.replace(LOSSES["grpo"], dual_clip=3.0)
    yield Comparison("loss grpo, dual clip", our_loss(unbound), their_loss(algos, "vanilla", bound), why)


def divergences(algos: Any) -> Iterator[Comparison]:
    """KL estimators with their gradients."""

    def ours(estimator: KLEstimator, apart: float = 0.0) -> Side:
        return lambda batch: gradient(lambda now: kl_divergence(now, batch.old, estimator).sum(), batch.now - apart)

    def theirs(estimator: KLEstimator, apart: float = 0.0) -> Side:
        return lambda batch: gradient(
            lambda now: torch.as_tensor(algos.kl_penalty(now, batch.old, estimator).sum()), batch.now - apart
        )

    estimators: tuple[KLEstimator, ...] = ("k1", "k2", "k3")
    for estimator in estimators:
        yield Comparison(f"kl {estimator}", ours(estimator), theirs(estimator))
    yield Comparison("kl k3, far apart", ours("k3", 4.0), theirs("k3", 4.0), "verl cuts k3 off at 10; here it is whole")


def critics(algos: Any) -> Iterator[Comparison]:
    """The loss of a critic, with its gradient."""

    def ours(batch: Batch) -> Tensor:
        rest = (batch.values, batch.advantages, batch.mask)
        return gradient(lambda now: value_loss(now, *rest, clip=0.2).value, batch.values + batch.now / 3)

    def theirs(batch: Batch) -> Tensor:
        rest = (batch.advantages, batch.values, batch.mask, 0.2)
        return gradient(
            lambda now: torch.as_tensor(algos.compute_value_loss(now, *rest)[0]), batch.values + batch.now / 3
        )

    yield Comparison("loss of a critic", ours, theirs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    given = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        install = [sys.executable, "-m", "pip", "install", "-qq", "--no-deps", "--target", folder, *PINNED]
        subprocess.run(install, check=True)
        sys.path.append(folder)
        algos = importlib.import_module("verl.trainer.ppo.core_algos")
        families = (advantages, whitened, losses, divergences, critics)
        comparisons = itertools.chain.from_iterable(family(algos) for family in families)
        expected = [comparison.told(given.seeds) for comparison in comparisons]
    print(f"{sum(expected)} of {len(expected)} comparisons as expected, {given.seeds} batches each")
    return 0 if all(expected) else 1


if __name__ == "__main__":
    sys.exit(main())
