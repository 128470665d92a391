"""The weights of a Llama-style decoder, laid out for speed: one matrix for q, k and v, one for gate and up.

They are read from the Hugging Face model for each use, so they include every update of the model. Gradients flow
back to the model's own parameters. LoRA adapters stay apart from the weights they are added to: a merged copy would
need memory for all weights again, and its gradient the full product that LoRA avoids.
"""

# ruff: noqa: N815 - tensor names carry shapes

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

FAMILIES = ("llama", "qwen2", "qwen3")
ROPES = ("default", "linear", "llama3")
JOINED_BELOW = 50_000_000
"""Models with more parameters keep their matrices apart: a copy costs memory, and larger products gain nothing."""


@dataclass(frozen=True, slots=True)
class Adapter:
    """A LoRA adapter of a product: a projection down to its rank and up again, times a scale."""

    down: Tensor
    up: Tensor
    scale: float


@dataclass(frozen=True, slots=True)
class Linear:
    """A matrix product with an optional bias and LoRA adapters."""

    weight: Tensor
    bias: Tensor | None = None
    adapters: tuple[Adapter, ...] = ()

    def __call__(self, x: Tensor) -> Tensor:
        y = torch.nn.functional.linear(x, self.weight, self.bias)
        for adapter in self.adapters:
            low = torch.nn.functional.linear(x, adapter.down)
            y = y.add_(torch.nn.functional.linear(low, adapter.up), alpha=adapter.scale)
        return y


@dataclass(frozen=True, slots=True)
class LayerWeights:
    """One block; `qkv` and `gate_up` hold one joined product or the separate ones."""

    attention_norm: Tensor
    qkv: tuple[Linear, ...]
    q_norm: Tensor | None
    k_norm: Tensor | None
    attention_out: Linear
    mlp_norm: Tensor
    gate_up: tuple[Linear, ...]
    down: Linear


@dataclass(frozen=True, slots=True)
class DecoderWeights:
    """Everything a forward pass needs."""

    embedding: Tensor
    layers: tuple[LayerWeights, ...]
    norm: Tensor
    head: Linear
    cos_L_D: Tensor
    sin_L_D: Tensor
    heads: int
    kv_heads: int
    epsilon: float

    @classmethod
    def of(cls, model: Any, length: int) -> "DecoderWeights":
        """The weights of a supported model, with rotary tables for `length` positions."""
        causal = _causal(model)
        inner, config = causal.model, causal.config
        join = sum(parameter.numel() for parameter in causal.parameters()) < JOINED_BELOW
        cos, sin = _rotary_tables(inner, length)
        return cls(
            embedding=inner.embed_tokens.weight,
            layers=tuple(_layer(layer, join) for layer in inner.layers),
            norm=inner.norm.weight,
            head=_linear(causal.lm_head),
            cos_L_D=cos,
            sin_L_D=sin,
            heads=config.num_attention_heads,
            kv_heads=config.num_key_value_heads,
            epsilon=config.rms_norm_eps,
        )


def why_unsupported(model: Any) -> str | None:
    """The reason why our own decoder cannot run the model; None when it can."""
    causal = _causal(model)
    config = getattr(causal, "config", None)
    family = getattr(config, "model_type", None)
    if family not in FAMILIES or not hasattr(causal, "lm_head"):
        return f"model type {family!r} is not one of {', '.join(FAMILIES)}"
    assert config is not None
    if config.hidden_act != "silu":
        return f"activation {config.hidden_act!r} is not 'silu'"
    if set(getattr(config, "layer_types", None) or ["full_attention"]) != {"full_attention"}:
        return "it has sliding-window attention"
    rope = getattr(causal.model.rotary_emb, "rope_type", "default")
    if rope not in ROPES:
        return f"rotary embedding {rope!r} is not one of {', '.join(ROPES)}"
    if type(causal.model.embed_tokens) is not torch.nn.Embedding:
        return f"its embedding is a {type(causal.model.embed_tokens).__name__}"
    reasons = map(_why_no_product, [*_projections(causal), causal.lm_head])
    return next((reason for reason in reasons if reason is not None), None)


def _why_no_product(module: Any) -> str | None:
    """The reason why a module is not a plain matrix with or without additive LoRA adapters; None if it is."""
    base = _base_layer(module)
    if type(base) is not torch.nn.Linear:
        return f"its projections are {type(base).__name__}, not plain matrices"
    if base is module or module.disable_adapters or module.merged:
        return None
    if not hasattr(module, "lora_A"):
        return f"its adapters are {type(module).__name__}, not LoRA"
    for name in module.active_adapters:
        variant = getattr(module, "lora_variant", {}).get(name)
        if variant is not None or getattr(module, "lora_bias", {}).get(name):
            return f"its adapter {name!r} is a variant of LoRA"
    return None


def _causal(model: Any) -> Any:
    """The causal language model itself, out of a peft wrapper."""
    return model.get_base_model() if hasattr(model, "get_base_model") else model


def _projections(causal: Any) -> list[Any]:
    return [module for layer in causal.model.layers for module in (*_attention_parts(layer), *_mlp_parts(layer))]


def _attention_parts(layer: Any) -> tuple[Any, ...]:
    attention = layer.self_attn
    return attention.q_proj, attention.k_proj, attention.v_proj, attention.o_proj


def _mlp_parts(layer: Any) -> tuple[Any, ...]:
    return layer.mlp.gate_proj, layer.mlp.up_proj, layer.mlp.down_proj


def _layer(layer: Any, join: bool) -> LayerWeights:
    *qkv, out = map(_linear, _attention_parts(layer))
    *gate_up, down = map(_linear, _mlp_parts(layer))
    return LayerWeights(
        attention_norm=layer.input_layernorm.weight,
        qkv=_join(qkv) if join else tuple(qkv),
        q_norm=_norm(layer.self_attn, "q_norm"),
        k_norm=_norm(layer.self_attn, "k_norm"),
        attention_out=out,
        mlp_norm=layer.post_attention_layernorm.weight,
        gate_up=_join(gate_up) if join else tuple(gate_up),
        down=down,
    )


def _norm(attention: Any, name: str) -> Tensor | None:
    norm = getattr(attention, name, None)
    return None if norm is None else norm.weight


def _join(parts: list[Linear]) -> tuple[Linear, ...]:
    biases = [part.bias for part in parts if part.bias is not None]
    if (biases and len(biases) != len(parts)) or any(part.adapters for part in parts):
        return tuple(parts)
    return (Linear(torch.cat([part.weight for part in parts]), torch.cat(biases) if biases else None),)


def _base_layer(module: Any) -> Any:
    """The plain module inside a LoRA layer."""
    return module.get_base_layer() if hasattr(module, "get_base_layer") else module


def _linear(module: Any) -> Linear:
    """The product of a module, with the adapters of a LoRA layer that are switched on."""
    base = _base_layer(module)
    if base is module or module.disable_adapters or module.merged:
        return Linear(base.weight, base.bias)
    active = [name for name in module.active_adapters if name in module.lora_A]
    adapters = [Adapter(module.lora_A[n].weight, module.lora_B[n].weight, module.scaling[n]) for n in active]
    return Linear(base.weight, base.bias, tuple(adapters))


def _rotary_tables(inner: Any, length: int) -> tuple[Tensor, Tensor]:
    """Cosines, and sines that carry the sign of the rotation, so that half of a head is only rolled, not negated."""
    positions = torch.arange(length, device=inner.embed_tokens.weight.device)[None]
    with torch.no_grad():
        cos, sin = inner.rotary_emb(inner.embed_tokens.weight, positions)
    half = sin.shape[-1] // 2
    return cos[0], torch.cat((-sin[0, :, :half], sin[0, :, half:]), dim=-1)
