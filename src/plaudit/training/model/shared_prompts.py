"""The states that predict each token of many responses, where prompts with several responses are read once.

In a group of eight, seven of eight readings of the prompt would give the same numbers. Gradients flow back through the
one reading that is left, so they are the same as without sharing.
"""

# ruff: noqa: N803, N806 - tensor names carry shapes

import torch
from torch import Tensor

from plaudit.training.model.decoder import Packing, hidden_states
from plaudit.training.model.decoder_weights import DecoderWeights

__all__ = ["response_states"]

MAX_MASK = 1 << 25
"""Places in the attention mask that sharing needs; longer batches are read row by row, which needs none."""


def response_states(weights: DecoderWeights, ids_B_L: Tensor, starts_B: Tensor, lengths_B: Tensor) -> Tensor:
    """The normed hidden states (N, d) from which the head predicts the tokens of all responses, row by row.

    Row b of `ids_B_L` is its prompt, of `starts_B[b]` tokens, then its response, of `lengths_B[b]`.
    """
    if not lengths_B.all():  # a response without tokens has no states
        some_B = lengths_B > 0
        ids_B_L, starts_B, lengths_B = ids_B_L[some_B], starts_B[some_B], lengths_B[some_B]
    prompts_P_L, owner_B = _different_prompts(ids_B_L, starts_B)
    grown = int(lengths_B.max()) - 1
    mask_size = len(ids_B_L) * grown * (prompts_P_L.shape[1] + grown)
    if 2 * len(prompts_P_L) > len(ids_B_L) or mask_size > MAX_MASK:
        return _row_by_row(weights, ids_B_L, starts_B, lengths_B)
    shared = _PromptKeys(owner_B)
    lengths_P = torch.zeros_like(starts_B[: len(prompts_P_L)]).index_copy(0, owner_B, starts_B)
    read = _read(weights, prompts_P_L, lengths_P, _places(prompts_P_L.shape[1], ids_B_L), cache=shared)
    first_B = read.index_select(0, lengths_P.cumsum(0)[owner_B] - 1)
    if not grown:
        return first_B
    places_B_T = (starts_B[:, None] + _places(grown, ids_B_L)).clamp(max=ids_B_L.shape[1] - 1)
    mask = _mask(starts_B, prompts_P_L.shape[1], grown)
    rest = _read(weights, ids_B_L.gather(1, places_B_T), lengths_B - 1, places_B_T, mask=mask, cache=shared)
    return _interleave(first_B, rest, lengths_B)


def _read(
    weights: DecoderWeights,
    ids_B_S: Tensor,
    lengths_B: Tensor,
    positions: Tensor,
    *,
    mask: Tensor | None = None,
    cache: "_PromptKeys | None" = None,
) -> Tensor:
    """The states (N, d) of the first `lengths_B` tokens of each row, one row after the other."""
    packing = Packing.of(lengths_B, ids_B_S.shape[1])
    if packing.pays:
        return hidden_states(weights, ids_B_S, positions, mask=mask, cache=cache, packing=packing)
    return packing.pack(hidden_states(weights, ids_B_S, positions, mask=mask, cache=cache))


def _interleave(first_B: Tensor, rest: Tensor, lengths_B: Tensor) -> Tensor:
    """The first state of each row before the others of that row."""
    begins_B = lengths_B.cumsum(0) - lengths_B
    is_first = torch.zeros(len(first_B) + len(rest), dtype=torch.bool, device=rest.device)
    is_first[begins_B] = True
    order = torch.where(is_first, is_first.cumsum(0) - 1, len(first_B) + (~is_first).cumsum(0) - 1)
    return torch.cat([first_B, rest]).index_select(0, order)


class _PromptKeys:
    """Keys and values of the prompts, kept when they are read and handed to the responses that go on from them."""

    def __init__(self, owner_B: Tensor) -> None:
        self._owner_B = owner_B
        self._kept: list[tuple[Tensor, Tensor]] = []
        self.filled = 0

    def extend(self, layer: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        if layer == len(self._kept):
            self._kept.append((key, value))
            return key, value
        before, seen = (each.index_select(0, self._owner_B) for each in self._kept[layer])
        return torch.cat([before, key], dim=2), torch.cat([seen, value], dim=2)


def _different_prompts(ids_B_L: Tensor, starts_B: Tensor) -> tuple[Tensor, Tensor]:
    """The prompts without repetitions, and which of them each row begins with."""
    length = int(starts_B.max())
    beyond = _places(length, ids_B_L) >= starts_B[:, None]
    prompts = ids_B_L[:, :length].masked_fill(beyond, -1)  # no token, so that lengths tell prompts apart too
    different, owner_B = torch.unique(prompts, return_inverse=True, dim=0)
    return different.clamp(min=0), owner_B


def _row_by_row(weights: DecoderWeights, ids_B_L: Tensor, starts_B: Tensor, lengths_B: Tensor) -> Tensor:
    needed_B = starts_B + lengths_B - 1  # the last token predicts nothing
    read = _read(weights, ids_B_L, needed_B, _places(ids_B_L.shape[1], ids_B_L))
    predicts = torch.arange(len(read), device=read.device) - (needed_B.cumsum(0) - needed_B).repeat_interleave(needed_B)
    return read[predicts >= starts_B.repeat_interleave(needed_B) - 1]


def _mask(starts_B: Tensor, length: int, grown: int) -> Tensor:
    """What each token of a response sees: all of its prompt, and of its response what came before it."""
    prompt_B_T_L = (_places(length, starts_B) < starts_B[:, None])[:, None].expand(-1, grown, -1)
    own_T_T = torch.ones(grown, grown, dtype=torch.bool, device=starts_B.device).tril()
    return torch.cat([prompt_B_T_L, own_T_T.expand(len(starts_B), -1, -1)], dim=2)[:, None]


def _places(count: int, like: Tensor) -> Tensor:
    return torch.arange(count, device=like.device)
