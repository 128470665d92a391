"""A batch as the tensors that an update is computed from."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from plaudit.training.model.policy import TokenBatch

__all__ = ["UpdateBatch", "compute_split", "keep_top", "split_rows"]


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
    """Those of the reference, where a KL is in the loss."""
    sampler: Tensor | None = None
    """Those that the tokens were drawn with, where another policy drew them."""

    def pick(self, rows: Tensor) -> "UpdateBatch":
        """Some of the samples, cut to the longest response among them."""
        tokens = self.tokens.pick(rows)
        width = tokens.mask_B_T.shape[1]

        def cut(values: Tensor) -> Tensor:
            return values[rows][:, :width]

        optional = (None if each is None else cut(each) for each in (self.old, self.reference, self.sampler))
        return UpdateBatch(tokens, cut(self.advantages), cut(self.mask), *optional)

    def find_teaching(self, *, without_advantage: bool) -> Tensor:
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


def split_rows(tokens: TokenBatch, count: int) -> Iterator[Tensor]:
    """The rows of each of `count` micro-batches."""
    return (rows for rows in torch.arange(len(tokens)).chunk(count) if len(rows))


def compute_split(function: Callable[[TokenBatch], Tensor], tokens: TokenBatch, count: int) -> Tensor:
    """One number per response token, (B, T), from a function that is called for each of `count` micro-batches."""
    result = torch.zeros_like(tokens.mask_B_T)
    for rows in split_rows(tokens, count):
        values = function(tokens.pick(rows))
        result[rows, : values.shape[1]] = values.to(result.dtype)
    return result
