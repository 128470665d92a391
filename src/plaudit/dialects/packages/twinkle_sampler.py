"""Twinkle's `vLLMSampler`: plaudit's sampler for vLLM, or for transformers where vLLM is not installed."""

import importlib.util
import warnings
from typing import Any

from plaudit.dialects.stub_packages import LazyStub

__all__ = ["vLLMSampler"]

_HUBS = ("ms://", "hf://")


class vLLMSampler:  # noqa: N801 - Twinkle's name
    """Samples responses of a model; the model is loaded by the first call of `sample`.

    `model_id` is a folder or a name on a hub, with or without Twinkle's prefix `ms://` or `hf://`. `engine_args` are
    arguments of `vllm.LLM`; `device_mesh` and `remote_group` have no effect, since plaudit samples in this process.
    Without vLLM, transformers samples on the CPU, and a warning says so.
    """

    def __init__(
        self,
        model_id: str,
        engine_args: dict[str, Any] | None = None,
        device_mesh: Any = None,
        remote_group: str | None = None,
    ) -> None:
        prefix = next((each for each in _HUBS if model_id.startswith(each)), "")
        self.model_id, self.model = model_id, model_id.removeprefix(prefix)
        self.engine_args = dict(engine_args or {})
        self._sampler: Any = None

    def sample(self, inputs: Any, num_samples: int = 1, **settings: Any) -> Any:
        """`num_samples` responses for each prompt; `settings` are those of `plaudit.training.SamplingSettings`."""
        self._sampler = self._sampler or self._load()
        chosen = LazyStub("plaudit.training", "SamplingSettings").get()(**settings) if settings else None  # type: ignore[operator]
        return self._sampler.sample(inputs, num_samples, settings=chosen)

    def _load(self) -> Any:
        training: Any = importlib.import_module("plaudit.training")
        if importlib.util.find_spec("vllm") is not None:
            return training.VLLMSampler(self.model, options=self.engine_args)
        warnings.warn(f"vLLM is not installed: {self.model} samples with transformers on the CPU", stacklevel=3)
        policy = training.load_policy(self.model)
        return training.TransformersSampler(policy.model, policy.tokenizer)
