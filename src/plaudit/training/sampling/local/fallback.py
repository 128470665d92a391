"""Sample from any causal language model with Hugging Face `generate`, and keep the log-probabilities.

`generate` can return the logits of all steps, which for a large vocabulary is gigabytes; a processor that looks at each
step's logits once keeps only the numbers that are wanted.
"""

# ruff: noqa: N803, N806 - tensor names carry shapes

from typing import Any

import torch
from torch import Tensor

from plaudit.errors import require
from plaudit.training.sampling.local.drawing import apply_temperature, use_generator
from plaudit.training.sampling.local.generating import Ending, Generated
from plaudit.training.sampling.sampler import SamplingSettings

transformers = require("transformers", extra="train", purpose="sampling from a model")

__all__ = ["generate_with_transformers"]


@torch.no_grad()
def generate_with_transformers(
    model: Any,
    tokenizer: Any,
    prompt_ids: list[list[int]],
    num_samples: int,
    *,
    settings: SamplingSettings,
    ending: Ending,
    generator: torch.Generator,
) -> list[Generated]:
    """`num_samples` responses for each prompt, prompt-major."""
    repeated = [ids for ids in prompt_ids for _ in range(num_samples)]  # generate repeats none when it is greedy
    ids, mask = _pad_left(repeated, model.device)
    recorder = _LogprobRecorder(ids.shape[1], settings)
    was_training = model.training
    model.eval()
    try:
        with use_generator(generator):
            sequences = model.generate(
                input_ids=ids,
                attention_mask=mask,
                generation_config=transformers.GenerationConfig(**_options(settings, ending)),
                logits_processor=[recorder],
                tokenizer=tokenizer,
            )
    finally:
        model.train(was_training)
    new_B_T = sequences[:, ids.shape[1] :]
    recorder.record(new_B_T)
    return _cut_all(new_B_T, torch.stack(recorder.logprobs, dim=1), ending, settings)


class _LogprobRecorder:
    """A logits processor that changes nothing and notes the log-probability of each token once it is drawn."""

    def __init__(self, prompt_length: int, settings: SamplingSettings) -> None:
        self.logprobs: list[Tensor] = []
        self._prompt_length, self._settings = prompt_length, settings
        self._last: Tensor | None = None

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        self.record(input_ids[:, self._prompt_length :])
        self._last = torch.log_softmax(apply_temperature(scores.float(), self._settings), dim=-1)
        return scores

    def record(self, new_B_T: Tensor) -> None:
        """Note the last token's log-probability."""
        if self._last is not None:
            self.logprobs.append(self._last.gather(1, new_B_T[:, -1:]).squeeze(1))


def _pad_left(prompt_ids: list[list[int]], device: torch.device) -> tuple[Tensor, Tensor]:
    length = max(map(len, prompt_ids))
    ids = torch.tensor([[0] * (length - len(row)) + row for row in prompt_ids], device=device)
    mask = torch.tensor([[0] * (length - len(row)) + [1] * len(row) for row in prompt_ids], device=device)
    return ids, mask


def _options(settings: SamplingSettings, ending: Ending) -> dict[str, Any]:
    options: dict[str, Any] = {
        "max_new_tokens": settings.max_new_tokens,
        "eos_token_id": list(ending.ids) or None,
        "pad_token_id": 0,
        "do_sample": settings.temperature > 0,
        "stop_strings": list(settings.stop) or None,
    }
    if settings.temperature > 0:
        options |= {"temperature": settings.temperature, "top_k": settings.top_k, "top_p": settings.top_p}
    return options


def _cut_all(new_B_T: Tensor, logprobs_B_T: Tensor, ending: Ending, settings: SamplingSettings) -> list[Generated]:
    return [
        _cut(ids, logprobs, ending, settings)
        for ids, logprobs in zip(new_B_T.tolist(), logprobs_B_T.tolist(), strict=True)
    ]


def _cut(ids: list[int], logprobs: list[float], ending: Ending, settings: SamplingSettings) -> Generated:
    """The response up to its end; what stands behind it is padding."""
    for length in range(1, len(ids) + 1):
        if ids[length - 1] in ending.ids or (ending.matches is not None and ending.matches(ids[:length])):
            return Generated(ids[:length], logprobs[:length], ended=True)
    return Generated(ids, logprobs, ended=False)
