"""The policy: a language model and its tokenizer, and the log-probability it gives to each token of a response.

A sequence is the prompt followed by the response, padded on the right, so causal attention needs no mask.
Log-probabilities are at the sampling temperature and 0 where there is no token.
"""

# ruff: noqa: N803, N806, N815 - tensor names carry shapes

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers.modeling_layers import GradientCheckpointingLayer

from plaudit.errors import PolicyError
from plaudit.models.loading import silence_transformers
from plaudit.training.config.schema import SamplingSettings
from plaudit.training.model.decoder import response_states
from plaudit.training.model.decoder_weights import DecoderWeights, why_unsupported
from plaudit.training.model.transformers_sampler import TransformersSampler
from plaudit.training.sampling.encoding import encode_prompts, encode_texts
from plaudit.training.sampling.sampler import Samples
from plaudit.trajectory import Trajectory


@dataclass(frozen=True, slots=True)
class TokenBatch:
    """Token sequences to update on: B sequences of at most L tokens, their responses of at most T."""

    ids_B_L: Tensor
    starts_B: Tensor
    """The start of each response, which is the length of its prompt."""
    lengths_B: Tensor
    """The number of tokens of each response."""
    mask_B_T: Tensor
    """1.0 on tokens that the model chose; 0.0 on feedback and padding."""

    def __len__(self) -> int:
        return len(self.starts_B)

    @property
    def attention_mask(self) -> Tensor:
        """1 on the tokens of prompts and responses, 0 on padding."""
        indices_L = torch.arange(self.ids_B_L.shape[1], device=self.ids_B_L.device)
        return (indices_L < (self.starts_B + self.lengths_B)[:, None]).long()

    def pick(self, rows: Tensor | slice) -> "TokenBatch":
        """Some of the sequences, cut to the longest of them."""
        starts, lengths = self.starts_B[rows], self.lengths_B[rows]
        longest = int((starts + lengths).max())
        ids = self.ids_B_L[rows][:, :longest]
        width = int(lengths.max())
        return TokenBatch(ids, starts, lengths, self.mask_B_T[rows][:, :width])

    def split(self, count: int) -> Iterator[Tensor]:
        """The rows of each of `count` micro-batches."""
        return (rows for rows in torch.arange(len(self)).chunk(count) if len(rows))

    def compute(self, function: "Callable[[TokenBatch], Tensor]", micro_batches: int) -> Tensor:
        """One number per response token, (B, T), from a function that is called for each micro-batch."""
        result = torch.zeros_like(self.mask_B_T)
        for rows in self.split(micro_batches):
            values = function(self.pick(rows))
            result[rows, : values.shape[1]] = values.to(result.dtype)
        return result


@dataclass(frozen=True, slots=True)
class TokenLogprobs:
    """Log-probability and entropy of every token of the responses."""

    logprobs_B_T: Tensor
    entropy_B_T: Tensor


class Policy:
    """A causal language model with its tokenizer.

    The model is kept without dropout, in training too: with it, the log-probabilities that a ratio compares would
    differ by chance.
    """

    def __init__(self, model: Any, tokenizer: Any) -> None:
        if tokenizer.pad_token_id is None:
            tokenizer.pad_token = tokenizer.eos_token
        self.model, self.tokenizer = model.eval(), tokenizer

    @property
    def device(self) -> torch.device:
        return torch.device(self.model.device)

    @property
    def is_lora(self) -> bool:
        """Whether only adapters are trained."""
        return hasattr(self.model, "peft_config")

    def parameters(self) -> Iterator[torch.nn.Parameter]:
        """The parameters that are trained."""
        return (parameter for parameter in self.model.parameters() if parameter.requires_grad)

    def sampler(
        self, settings: SamplingSettings | None = None, *, generator: torch.Generator | None = None
    ) -> TransformersSampler:
        """A sampler of this policy, which follows its updates."""
        return TransformersSampler(self.model, self.tokenizer, settings, generator=generator)

    def batch(self, sampled: Samples | Sequence[Trajectory]) -> TokenBatch:
        """Sampled trajectories as tensors; tokens are taken as they were drawn.

        Where a sampler does not know the tokens (some endpoints), the response's text is encoded instead.
        """
        trajectories = sampled.trajectories if isinstance(sampled, Samples) else list(sampled)
        known = sampled.prompt_ids if isinstance(sampled, Samples) else None
        prompts = known or encode_prompts(self.tokenizer, [each.prompt for each in trajectories])
        responses = [self._response_ids(each) for each in trajectories]
        masks = [each.tokens.mask if each.tokens is not None else None for each in trajectories]
        return self.pack(prompts, responses, masks)

    def encode_demonstrations(self, demonstrations: Sequence[Trajectory]) -> TokenBatch:
        """Prompts with responses that are to be learned, each closed by the end token."""
        prompts = encode_prompts(self.tokenizer, [each.prompt for each in demonstrations])
        texts = encode_texts(self.tokenizer, [each.response for each in demonstrations], special=False)
        responses = [[*ids, self.tokenizer.eos_token_id] for ids in texts]
        return self.pack(prompts, responses)

    def pack(
        self,
        prompts: Sequence[Sequence[int]],
        responses: Sequence[Sequence[int]],
        masks: Sequence[Sequence[int] | None] | None = None,
    ) -> TokenBatch:
        """Token ids as tensors on the policy's device; without a mask, the model chose every token of a response."""
        masks = masks or [None] * len(responses)
        rows = [[*prompt, *response] for prompt, response in zip(prompts, responses, strict=True)]
        chosen = [mask or [1] * len(response) for mask, response in zip(masks, responses, strict=True)]
        return TokenBatch(
            ids_B_L=_pad(rows, self.tokenizer.pad_token_id).to(self.device),
            starts_B=torch.tensor([len(prompt) for prompt in prompts], device=self.device),
            lengths_B=torch.tensor([len(response) for response in responses], device=self.device),
            mask_B_T=_pad(chosen, 0).float().to(self.device),
        )

    def logprobs(self, batch: TokenBatch, *, temperature: float = 1.0, entropy_gradient: bool = False) -> TokenLogprobs:
        """Log-probability (with gradient) and entropy (without, unless `entropy_gradient`) of every token of the
        responses.
        """
        width = batch.mask_B_T.shape[1]
        indices_B_T = torch.arange(width, device=batch.ids_B_L.device)[None]
        rows, columns = (indices_B_T < batch.lengths_B[:, None]).nonzero(as_tuple=True)
        at = batch.starts_B[rows] + columns
        logits_N_V = self._logits(batch, rows, columns)
        if temperature not in (0.0, 1.0):
            logits_N_V = logits_N_V / temperature
        ids_N = batch.ids_B_L[rows, at]
        chosen_N, entropy_N = (token_logprobs_with_entropy if entropy_gradient else token_logprobs)(logits_N_V, ids_N)
        empty = chosen_N.new_zeros(len(batch), width)
        return TokenLogprobs(empty.index_put((rows, columns), chosen_N), empty.index_put((rows, columns), entropy_N))

    def reference(self) -> "Policy":
        """A frozen copy of the current policy, the reference of a KL penalty.

        With LoRA it shares the model and runs it without the adapters; otherwise it is a copy.
        """
        if self.is_lora:
            return _WithoutAdapters(self.model, self.tokenizer)
        model = copy.deepcopy(self.model).eval().requires_grad_(False)
        return Policy(model, self.tokenizer)

    def copy(self) -> "Policy":
        """A policy with weights and a tokenizer of its own, for another thread."""
        return Policy(copy.deepcopy(self.model), copy.deepcopy(self.tokenizer))

    def state(self) -> dict[str, Tensor]:
        """A copy of the trained parameters, by name: what a checkpoint must keep."""
        return {
            name: parameter.detach().clone()
            for name, parameter in self.model.named_parameters()
            if parameter.requires_grad
        }

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Load trained parameters from `state`."""
        trained = {name: parameter for name, parameter in self.model.named_parameters() if parameter.requires_grad}
        if trained.keys() != state.keys():
            odd = sorted(trained.keys() ^ state.keys())
            raise PolicyError(f"the saved parameters are those of another model: {len(odd)} differ, such as {odd[0]!r}")
        with torch.no_grad():
            for name, parameter in trained.items():
                if parameter.shape != state[name].shape:
                    raise PolicyError(
                        f"{name} has the shape {tuple(parameter.shape)}, the saved one {tuple(state[name].shape)}"
                    )
                parameter.copy_(state[name])

    def save(self, folder: str | Path) -> None:
        """Write model (safetensors) and tokenizer as a folder that transformers loads; LoRA writes its adapter."""
        # Adapters never resize the vocabulary; without this option, peft would check that on the Hugging Face hub.
        options = {"save_embedding_layers": False} if self.is_lora else {}
        with silence_transformers():
            self.model.save_pretrained(str(folder), safe_serialization=True, **options)
            self.tokenizer.save_pretrained(str(folder))

    def recompute_layers(self) -> None:
        """Enable gradient checkpointing (arXiv:1604.06174): layers recompute their activations."""
        try:
            self.model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        except ValueError as error:
            raise PolicyError(f"model.gradient_checkpointing: {error}") from error

    def merge_adapters(self) -> "Policy":
        """The policy with its adapters built into the weights, as a model of its own; a copy without LoRA."""
        model = copy.deepcopy(self.model)
        return Policy(model.merge_and_unload() if self.is_lora else model, self.tokenizer)

    def _logits(self, batch: TokenBatch, rows: Tensor, columns: Tensor) -> Tensor:
        """Logits of every token of the responses, row by row, in float32."""
        with self._adapter_state():
            if why_unsupported(self.model) is None and not self.model.is_gradient_checkpointing:
                weights = DecoderWeights.of(self.model, batch.ids_B_L.shape[1])
                return weights.head(response_states(weights, batch.ids_B_L, batch.starts_B, batch.lengths_B)).float()
            mask_B_L = batch.attention_mask
            with _recompute(self.model):
                logits: Tensor = self.model(input_ids=batch.ids_B_L, attention_mask=mask_B_L, use_cache=False).logits
            return logits[rows, batch.starts_B[rows] + columns - 1].float()

    def _adapter_state(self) -> AbstractContextManager[Any]:
        return nullcontext()

    def _response_ids(self, trajectory: Trajectory) -> list[int]:
        if trajectory.tokens is not None:
            return trajectory.tokens.ids
        return [*self._encode(trajectory.response), self.tokenizer.eos_token_id]

    def _encode(self, text: str) -> list[int]:
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])


class _WithoutAdapters(Policy):
    """The model of a LoRA policy before training: its forward passes disable the adapters."""

    def _adapter_state(self) -> AbstractContextManager[Any]:
        context: AbstractContextManager[Any] = self.model.disable_adapter()
        return context

    def parameters(self) -> Iterator[torch.nn.Parameter]:
        return iter(())


@contextmanager
def _recompute(model: Any) -> Iterator[None]:
    """While entered, layers recompute their activations. In transformers only layers in training mode do; their
    submodules stay in evaluation mode, without dropout."""
    layers = [each for each in model.modules() if isinstance(each, GradientCheckpointingLayer)]
    for layer in layers:
        layer.training = layer.gradient_checkpointing
    try:
        yield
    finally:
        for layer in layers:
            layer.training = False


def _pad(rows: Sequence[Sequence[int]], filler: int) -> Tensor:
    width = max(map(len, rows))
    return torch.tensor([[*row, *[filler] * (width - len(row))] for row in rows])


def token_logprobs(logits_N_V: Tensor, ids_N: Tensor) -> tuple[Tensor, Tensor]:
    """The log-probability of each token, with its gradient, and the entropy there, without."""
    rated: tuple[Tensor, Tensor] = _TokenLogprobs.apply(logits_N_V, ids_N)  # type: ignore[no-untyped-call]
    return rated


def token_logprobs_with_entropy(logits_N_V: Tensor, ids_N: Tensor) -> tuple[Tensor, Tensor]:
    """The same with the gradient of the entropy too, as a bonus for it needs."""
    every_N_V = torch.log_softmax(logits_N_V, dim=-1)
    chosen_N = every_N_V.gather(1, ids_N[:, None]).squeeze(1)
    return chosen_N, -(every_N_V.exp() * every_N_V).sum(dim=-1)


class _TokenLogprobs(torch.autograd.Function):
    """d log p(token) / d logits = one-hot(token) − p, so that p is all that must be kept."""

    @staticmethod
    def forward(ctx: Any, logits_N_V: Tensor, ids_N: Tensor) -> tuple[Tensor, Tensor]:
        p_N_V = torch.softmax(logits_N_V, dim=-1)
        total_N = logits_N_V.amax(dim=-1) - p_N_V.amax(dim=-1).log()  # logsumexp, which would need another tensor
        chosen_N = logits_N_V.gather(1, ids_N[:, None]).squeeze(1) - total_N
        entropy_N = total_N - torch.linalg.vecdot(p_N_V, logits_N_V)
        ctx.save_for_backward(p_N_V, ids_N)
        ctx.mark_non_differentiable(entropy_N)
        return chosen_N, entropy_N

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        p_N_V, ids_N = ctx.saved_tensors
        gradient_N = gradients[0]
        return (p_N_V * -gradient_N[:, None]).scatter_add_(1, ids_N[:, None], gradient_N[:, None]), None
