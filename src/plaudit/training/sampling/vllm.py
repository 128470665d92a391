"""Sample with vLLM, on machines that have it.

The engine holds its own copy of the weights: it samples what `model` names, and does not follow a policy that is being
trained here. vLLM is imported when a sampler is made.
"""

from typing import Any

from plaudit.errors import InvalidSettings, require
from plaudit.training.config.schema import SamplingSettings
from plaudit.training.data.prompts import Prompts
from plaudit.training.sampling.encoding import encode_prompts, find_offsets
from plaudit.training.sampling.sampler import PromptSampler, Response, Samples, group_responses
from plaudit.trajectory import Tokens

__all__ = ["VLLMSampler"]


class VLLMSampler(PromptSampler):
    """Draws responses from a vLLM engine.

    `engine` is a `vllm.LLM`, or what its constructor takes is given in `options`. Log-probabilities are asked for at
    the sampling temperature (`logprobs_mode="processed_logprobs"`); with top-k, top-p or min-p
    these are those of another distribution, and are left out.
    """

    def __init__(
        self,
        model: str | None = None,
        settings: SamplingSettings | None = None,
        *,
        engine: Any = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        if (model is None) == (engine is None):
            raise InvalidSettings("give either the model that vLLM is to load, or an engine that has loaded one")
        self._vllm = require("vllm", package="vllm", purpose="sampling with vLLM")
        self.settings = settings or SamplingSettings()
        self.engine = engine or self._vllm.LLM(
            model=model, **{"logprobs_mode": "processed_logprobs", **(options or {})}
        )
        self.tokenizer = self.engine.get_tokenizer()

    def draw(self, prompts: Prompts, num_samples: int, settings: SamplingSettings) -> Samples:
        """`num_samples` responses for each prompt, with token ids and log-probabilities."""
        prompt_ids = encode_prompts(self.tokenizer, prompts.prompts)
        answers = self.engine.generate(
            [{"prompt_token_ids": ids} for ids in prompt_ids],
            self._vllm.SamplingParams(**_parameters(settings, num_samples)),
            use_tqdm=False,
        )
        responses = [[self._response(output, settings) for output in answer.outputs] for answer in answers]
        return group_responses(prompts, responses, prompt_ids)

    def _response(self, output: Any, settings: SamplingSettings) -> Response:
        ids = list(output.token_ids)
        logprobs = None
        if output.logprobs is not None and settings.draws_from_model:
            logprobs = [float(step[token].logprob) for token, step in zip(ids, output.logprobs, strict=True)]
        offsets = find_offsets(self.tokenizer, [ids], [output.text])[0]
        tokens = Tokens(ids=ids, offsets=offsets, logprobs=logprobs, mask=[1] * len(ids))
        return Response(output.text, tokens, output.finish_reason or "stop")


def _parameters(settings: SamplingSettings, num_samples: int) -> dict[str, Any]:
    return {
        "n": num_samples,
        "temperature": settings.temperature,
        "top_p": settings.top_p,
        "top_k": settings.top_k,
        "min_p": settings.min_p,
        "max_tokens": settings.max_new_tokens,
        "seed": settings.seed,
        "stop": list(settings.stop) or None,
        "include_stop_str_in_output": True,
        "logprobs": 0,
    }
