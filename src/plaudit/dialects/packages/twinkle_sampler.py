"""Twinkle's `vLLMSampler`: plaudit's sampler for vLLM, or for transformers where vLLM is not installed."""

import importlib.util
import logging
from dataclasses import dataclass, field
from typing import Any

from plaudit.dialects.packages.twinkle_data import TwinkleTrajectory

__all__ = ["SampleResponse", "vLLMSampler"]

_HUBS = ("ms://", "hf://")
_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SampleResponse:
    """The sampled trajectories as Twinkle's rewards read them, and as plaudit's `Samples` for an update."""

    trajectories: list[TwinkleTrajectory]
    samples: Any = field(repr=False)


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

    def sample(self, inputs: Any, num_samples: int = 1, **settings: Any) -> SampleResponse:
        """`num_samples` responses for each prompt; `settings` are those of `plaudit.training.SamplingSettings`."""
        self._sampler = self._sampler or self._load()
        training: Any = importlib.import_module("plaudit.training")
        chosen = training.SamplingSettings(**settings) if settings else None
        samples = self._sampler.sample(inputs, num_samples, settings=chosen)
        return SampleResponse([TwinkleTrajectory.of(each) for each in samples.trajectories], samples)

    def _load(self) -> Any:
        training: Any = importlib.import_module("plaudit.training")
        if importlib.util.find_spec("vllm") is not None:
            return training.VLLMSampler(self.model, options=self.engine_args)
        logging.getLogger(__name__).warning(
            "vLLM is not installed: %s samples with transformers on the CPU", self.model
        )
        policy = training.load_policy(self.model)
        return training.TransformersSampler(policy.model, policy.tokenizer)
