"""A batch as the tensors that an update is computed from."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from plaudit.training.model.policy import TokenBatch

__all__ = ["Pieces", "UpdateBatch", "cut_by_tokens", "keep_top"]


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
    picked: Tensor | None = None
    """Tokens that the loss singles out by their covariance, found in all pieces of the batch together."""

    def pick(self, rows: Tensor) -> "UpdateBatch":
        """Some of the samples, cut to the longest response among them."""
        tokens = self.tokens.pick(rows)
        width = tokens.mask_B_T.shape[1]

        def cut(values: Tensor) -> Tensor:
            return values[rows][:, :width]

        optional = (
            None if each is None else cut(each) for each in (self.old, self.reference, self.sampler, self.picked)
        )
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


@dataclass(frozen=True, slots=True)
class Pieces:
    """How a batch is cut: into `count` pieces, or so that none holds more than `max_tokens`, padding included."""

    count: int = 1
    max_tokens: int | None = None

    def cut(self, tokens: TokenBatch) -> Iterator[Tensor]:
        """The rows of each piece."""
        if self.max_tokens is None:
            yield from (rows for rows in torch.arange(len(tokens)).chunk(self.count) if len(rows))
            return
        yield from map(torch.tensor, cut_by_tokens((tokens.starts_B + tokens.lengths_B).tolist(), self.max_tokens))

    def compute(self, function: Callable[[TokenBatch], Tensor], tokens: TokenBatch) -> Tensor:
        """One number per response token, (B, T), from a function of a batch that is called for each piece."""
        result = torch.zeros_like(tokens.mask_B_T)
        for rows in self.cut(tokens):
            values = function(tokens.pick(rows))
            result[rows, : values.shape[1]] = values.to(result.dtype)
        return result


def cut_by_tokens(lengths: list[int], budget: int) -> list[list[int]]:
    """The places of sequences in pieces of at most `budget` tokens, where all of a piece are padded to its longest.

    Sequences of like length go together, so little is padded; one that is longer than the budget stands alone.

    >>> cut_by_tokens([3, 9, 2, 4], 9)
    [[2, 0], [3], [1]]
    """
    pieces: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if pieces and (len(pieces[-1]) + 1) * lengths[index] <= budget:
            pieces[-1].append(index)
        else:
            pieces.append([index])
    return pieces
