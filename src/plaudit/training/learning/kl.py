"""How far the policy is from its reference, token by token, estimated from the tokens that were drawn.

The same numbers serve as a penalty in the reward (then they are constants: detach them) and as a term of the loss.
"""

from collections.abc import Callable
from typing import Literal, TypeAlias

import torch
from torch import Tensor

from plaudit.errors import InvalidSettings, did_you_mean

__all__ = ["KL_ESTIMATORS", "KLEstimator", "kl_divergence"]

KLEstimator: TypeAlias = Literal["k1", "k2", "k3"]


def kl_divergence(logprobs: Tensor, reference: Tensor, estimator: KLEstimator = "k3") -> Tensor:
    """KL(policy ‖ reference) per token, estimated from the tokens drawn (joschu.net/blog/kl-approx.html).

    With d = log π − log π_ref: k1 = d, unbiased; k2 = d²/2, whose gradient is the right one in a loss; k3 = e^(−d) − 1
    + d, unbiased and never negative.
    """
    if estimator not in KL_ESTIMATORS:
        hint = did_you_mean(str(estimator), KL_ESTIMATORS)
        raise InvalidSettings(f"no KL estimator {estimator!r}{hint} (there is {', '.join(KL_ESTIMATORS)})")
    return KL_ESTIMATORS[estimator](logprobs - reference)


def _k1(d: Tensor) -> Tensor:
    return d


def _k2(d: Tensor) -> Tensor:
    return d.square() / 2


def _k3(d: Tensor) -> Tensor:
    return torch.expm1(-d) + d


KL_ESTIMATORS: dict[str, Callable[[Tensor], Tensor]] = {"k1": _k1, "k2": _k2, "k3": _k3}
