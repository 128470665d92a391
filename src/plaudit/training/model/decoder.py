"""The forward pass of a Llama-style decoder, with and without a cache of keys and values.

One function serves prompts, single new tokens and training; it holds no state but the cache it is given. Dropout is
left out: the models it runs have none by default, and sampling must not have any.
"""

# ruff: noqa: N803, N806, N815 - tensor names carry shapes

from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

from plaudit.training.model.decoder_weights import DecoderWeights, LayerWeights, Linear

WORTH_PACKING = 0.9
"""Above this share of real tokens, packing and unpacking costs more than computing on the padding."""


KeyValues: TypeAlias = "Cache | _PromptKeys | None"
"""Keys and values of earlier tokens, to which new tokens attend, if there are some; `extend` adds those of a layer."""


class Cache:
    """Keys and values of all layers for the tokens so far, in buffers as long as the longest sequence."""

    def __init__(self, weights: DecoderWeights, rows: int, length: int) -> None:
        shape = (rows, weights.kv_heads, length, weights.cos_L_D.shape[-1])
        self.keys = [weights.embedding.new_empty(shape) for _ in weights.layers]
        self.values = [weights.embedding.new_empty(shape) for _ in weights.layers]
        self.filled = 0

    def extend(self, layer: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Add new tokens of one layer; its keys and values so far."""
        end = self.filled + key.shape[2]
        self.keys[layer][:, :, self.filled : end] = key
        self.values[layer][:, :, self.filled : end] = value
        return self.keys[layer][:, :, :end], self.values[layer][:, :, :end]

    def pick(self, rows: Tensor) -> "Cache":
        """A cache of these rows; a row may be picked several times."""
        picked = object.__new__(Cache)
        picked.keys = [key.index_select(0, rows) for key in self.keys]
        picked.values = [value.index_select(0, rows) for value in self.values]
        picked.filled = self.filled
        return picked


@dataclass(frozen=True, slots=True)
class Packing:
    """The indices of the real tokens in rows that are padded to one length.

    Attention needs rows; everything else, which is nearly all of the work, is computed on the real tokens alone.
    """

    indices_N: Tensor
    """The index of each real token among all B × S, row by row."""
    rows: int
    width: int

    @classmethod
    def of(cls, lengths_B: Tensor, width: int) -> "Packing":
        """The packing of rows whose first `lengths_B` tokens are real."""
        real_B_S = torch.arange(width, device=lengths_B.device) < lengths_B[:, None]
        return cls(real_B_S.flatten().nonzero().squeeze(1), len(lengths_B), width)

    @property
    def saves_time(self) -> bool:
        """Whether there is enough padding for packing to be faster."""
        return len(self.indices_N) < WORTH_PACKING * self.rows * self.width

    def pack(self, x_B_S: Tensor) -> Tensor:
        """The real tokens (N, …)."""
        return x_B_S.flatten(0, 1).index_select(0, self.indices_N)

    def spread(self, x_N: Tensor) -> Tensor:
        """The rows (B, S, …) again, with zeros for padding."""
        padded = x_N.new_zeros(self.rows * self.width, *x_N.shape[1:])
        return padded.index_copy(0, self.indices_N, x_N).view(self.rows, self.width, *x_N.shape[1:])


@dataclass(frozen=True, slots=True)
class _Rotation:
    """The rotary tables at the positions of this pass, ready to be multiplied with all heads."""

    cos: Tensor
    sin: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        return torch.addcmul(x * self.cos, x.roll(x.shape[-1] // 2, -1), self.sin)


def hidden_states(
    weights: DecoderWeights,
    ids_B_S: Tensor,
    positions: Tensor,
    *,
    mask: Tensor | None = None,
    cache: KeyValues = None,
    packing: Packing | None = None,
) -> Tensor:
    """The normed hidden states (B, S, d) that the head turns into logits; of the packed tokens (N, d), if some are.

    `positions` is (S,) or (B, S). Without `mask` attention is causal, so a new token sees all of the cache.
    """
    rotate = _Rotation(weights.cos_L_D[positions].unsqueeze(-3), weights.sin_L_D[positions].unsqueeze(-3))
    x = F.embedding(ids_B_S if packing is None else packing.pack(ids_B_S), weights.embedding)
    for index, layer in enumerate(weights.layers):
        qkv = _join(layer.qkv, _rms(x, layer.attention_norm, weights.epsilon))
        seen = _attention(weights, index, qkv if packing is None else packing.spread(qkv), rotate, mask, cache)
        x = x + layer.attention_out(seen if packing is None else packing.pack(seen))
        x = x + _mlp(layer, _rms(x, layer.mlp_norm, weights.epsilon))
    if cache is not None:
        cache.filled += ids_B_S.shape[1]
    return _rms(x, weights.norm, weights.epsilon)


def _attention(
    weights: DecoderWeights,
    index: int,
    qkv_B_S: Tensor,
    rotate: _Rotation,
    mask: Tensor | None,
    cache: KeyValues,
) -> Tensor:
    layer, heads, kv_heads = weights.layers[index], weights.heads, weights.kv_heads
    rows, new, _ = qkv_B_S.shape
    qkv = qkv_B_S.view(rows, new, heads + 2 * kv_heads, -1).transpose(1, 2)
    rotated, value = qkv.split_with_sizes((heads + kv_heads, kv_heads), dim=1)
    query, key = rotate(_norm_heads(layer, rotated, weights)).split_with_sizes((heads, kv_heads), dim=1)
    if cache is not None:
        key, value = cache.extend(index, key, value)
    seen = F.scaled_dot_product_attention(
        query, key, value, attn_mask=mask, is_causal=mask is None and new > 1, enable_gqa=heads != kv_heads
    )
    return seen.transpose(1, 2).reshape(rows, new, -1)


def _norm_heads(layer: LayerWeights, rotated: Tensor, weights: DecoderWeights) -> Tensor:
    """Queries and keys, normed per head where the family does that (Qwen3)."""
    if layer.q_norm is None or layer.k_norm is None:
        return rotated
    query, key = rotated.split_with_sizes((weights.heads, weights.kv_heads), dim=1)
    normed = (_rms(query, layer.q_norm, weights.epsilon), _rms(key, layer.k_norm, weights.epsilon))
    return torch.cat(normed, dim=1)


def _mlp(layer: LayerWeights, x: Tensor) -> Tensor:
    gate, up = (part(x) for part in layer.gate_up) if len(layer.gate_up) == 2 else layer.gate_up[0](x).chunk(2, dim=-1)
    return layer.down(F.silu(gate) * up)


def _join(parts: tuple[Linear, ...], x: Tensor) -> Tensor:
    return parts[0](x) if len(parts) == 1 else torch.cat([part(x) for part in parts], dim=-1)


def _rms(x: Tensor, weight: Tensor, epsilon: float) -> Tensor:
    return F.rms_norm(x, weight.shape, weight, epsilon)


MAX_MASK = 1 << 25
"""The largest attention mask, in elements, for shared prompts; larger batches are computed row by row, without a mask.
"""


def response_states(weights: DecoderWeights, ids_B_L: Tensor, starts_B: Tensor, lengths_B: Tensor) -> Tensor:
    """The normed hidden states (N, d) from which the head predicts the tokens of all responses, row by row.

    Row b of `ids_B_L` is its prompt, of `starts_B[b]` tokens, then its response, of `lengths_B[b]`.
    """
    if not lengths_B.all():  # a response without tokens has no states
        some_B = lengths_B > 0
        ids_B_L, starts_B, lengths_B = ids_B_L[some_B], starts_B[some_B], lengths_B[some_B]
    prompts_P_L, owner_B = _distinct_prompts(ids_B_L, starts_B)
    grown = int(lengths_B.max()) - 1
    mask_size = len(ids_B_L) * grown * (prompts_P_L.shape[1] + grown)
    if 2 * len(prompts_P_L) > len(ids_B_L) or mask_size > MAX_MASK:
        return _row_by_row(weights, ids_B_L, starts_B, lengths_B)
    shared = _PromptKeys(owner_B)
    lengths_P = torch.zeros_like(starts_B[: len(prompts_P_L)]).index_copy(0, owner_B, starts_B)
    read = _read(weights, prompts_P_L, lengths_P, _positions(prompts_P_L.shape[1], ids_B_L), cache=shared)
    first_B = read.index_select(0, lengths_P.cumsum(0)[owner_B] - 1)
    if not grown:
        return first_B
    positions_B_T = (starts_B[:, None] + _positions(grown, ids_B_L)).clamp(max=ids_B_L.shape[1] - 1)
    mask = _mask(starts_B, prompts_P_L.shape[1], grown)
    rest = _read(weights, ids_B_L.gather(1, positions_B_T), lengths_B - 1, positions_B_T, mask=mask, cache=shared)
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
    if packing.saves_time:
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
    """Keys and values of the prompts, kept in the first pass and used by the responses in the second."""

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


def _distinct_prompts(ids_B_L: Tensor, starts_B: Tensor) -> tuple[Tensor, Tensor]:
    """The distinct prompts, and the index of the prompt of each row."""
    length = int(starts_B.max())
    beyond = _positions(length, ids_B_L) >= starts_B[:, None]
    prompts = ids_B_L[:, :length].masked_fill(beyond, -1)  # not a token id, so that prompts of different lengths differ
    different, owner_B = torch.unique(prompts, return_inverse=True, dim=0)
    return different.clamp(min=0), owner_B


def _row_by_row(weights: DecoderWeights, ids_B_L: Tensor, starts_B: Tensor, lengths_B: Tensor) -> Tensor:
    needed_B = starts_B + lengths_B - 1  # the last token predicts nothing
    read = _read(weights, ids_B_L, needed_B, _positions(ids_B_L.shape[1], ids_B_L))
    predicts = torch.arange(len(read), device=read.device) - (needed_B.cumsum(0) - needed_B).repeat_interleave(needed_B)
    return read[predicts >= starts_B.repeat_interleave(needed_B) - 1]


def _mask(starts_B: Tensor, length: int, grown: int) -> Tensor:
    """The attention mask: a token of a response sees the whole prompt, and the tokens of the response before it."""
    prompt_B_T_L = (_positions(length, starts_B) < starts_B[:, None])[:, None].expand(-1, grown, -1)
    causal_T_T = torch.ones(grown, grown, dtype=torch.bool, device=starts_B.device).tril()
    return torch.cat([prompt_B_T_L, causal_T_T.expand(len(starts_B), -1, -1)], dim=2)[:, None]


def _positions(count: int, like: Tensor) -> Tensor:
    return torch.arange(count, device=like.device)
