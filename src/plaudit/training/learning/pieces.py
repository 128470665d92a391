"""A batch in pieces that fit into memory: a number of them, or as many as a budget of tokens asks for.

What is computed piece by piece adds up to what the whole batch gives; how it is cut shows in memory and speed alone.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from plaudit.training.model.policy import TokenBatch

__all__ = ["Pieces", "cut_by_tokens"]


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
        """One number per token of the responses, (B, T), from a function of a batch that is asked piece by piece."""
        found = torch.zeros_like(tokens.mask_B_T)
        for rows in self.cut(tokens):
            values = function(tokens.pick(rows))
            found[rows, : values.shape[1]] = values.to(found.dtype)
        return found


def cut_by_tokens(lengths: list[int], budget: int) -> list[list[int]]:
    """The places of sequences in pieces of at most `budget` tokens, where all of a piece are padded to its longest.

    Sequences of like length go together, so little is padded; one that is longer than the budget stands alone.

    >>> cut_by_tokens([3, 9, 2, 4], 9)
    [[2, 0], [3], [1]]
    """
    pieces: list[list[int]] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if pieces and (len(pieces[-1]) + 1) * lengths[place] <= budget:
            pieces[-1].append(place)
        else:
            pieces.append([place])
    return pieces
