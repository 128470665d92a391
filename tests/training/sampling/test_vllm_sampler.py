"""What we say to vLLM, held against the parameters that vLLM 0.10 and later name; the engine itself needs a GPU.

The stand-in refuses every parameter that the real classes do not have, and answers as `RequestOutput` does.
"""

import sys
from dataclasses import dataclass
from types import ModuleType

import pytest

from plaudit.errors import InvalidSettings, MissingPackage
from plaudit.training import SamplingSettings, VLLMSampler


@dataclass
class SamplingParams:
    """The fields of `vllm.SamplingParams` that exist under these names."""

    n: int = 1
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    seed: int | None = None
    stop: str | list[str] | None = None
    stop_token_ids: list[int] | None = None
    max_tokens: int | None = 16
    logprobs: int | None = None
    skip_special_tokens: bool = True
    include_stop_str_in_output: bool = False


@dataclass
class Logprob:
    logprob: float


@dataclass
class CompletionOutput:
    index: int
    text: str
    token_ids: list[int]
    logprobs: list[dict[int, Logprob]] | None
    finish_reason: str | None


@dataclass
class RequestOutput:
    prompt_token_ids: list[int]
    outputs: list[CompletionOutput]


@pytest.fixture
def vllm(monkeypatch, warm_policy):
    module = ModuleType("vllm")

    class LLM:
        def __init__(
            self, model: str, *, tokenizer: str | None = None, seed: int | None = None, **engine: object
        ) -> None:
            module.made = {"model": model, **engine}

        def get_tokenizer(self):
            return warm_policy.tokenizer

        def generate(self, prompts, sampling_params=None, *, use_tqdm=True):
            module.asked = sampling_params
            settings = SamplingSettings(max_new_tokens=sampling_params.max_tokens, seed=1)
            answers = []
            for prompt in prompts:
                text = warm_policy.tokenizer.decode(prompt["prompt_token_ids"])
                drawn = warm_policy.sampler(settings).sample(text, sampling_params.n).trajectories
                answers.append(
                    RequestOutput(prompt["prompt_token_ids"], [self._output(*each) for each in enumerate(drawn)])
                )
            return answers

        def _output(self, index, drawn):
            steps = [
                {token: Logprob(value), 0: Logprob(-9.0)}
                for token, value in zip(drawn.tokens.ids, drawn.tokens.logprobs, strict=True)
            ]
            return CompletionOutput(index, drawn.response, drawn.tokens.ids, steps, drawn.metadata["finish_reason"])

    module.LLM, module.SamplingParams = LLM, SamplingParams
    monkeypatch.setitem(sys.modules, "vllm", module)
    return module


def test_samples_come_as_from_any_sampler(vllm, warm_policy):
    settings = SamplingSettings(max_new_tokens=6, seed=1)
    sampled = VLLMSampler("some/model", settings).sample(["4321=", "98="], 3)
    here = [warm_policy.sampler(settings).sample(prompt, 3) for prompt in ("4321=", "98=")]
    assert sampled.texts == [text for each in here for text in each.texts]
    assert [each.group for each in sampled.trajectories] == [0, 0, 0, 1, 1, 1]
    own = here[0].trajectories[0].tokens
    assert sampled.trajectories[0].tokens == own
    assert vllm.made == {"model": "some/model", "logprobs_mode": "processed_logprobs"}


def test_the_settings_reach_vllm_under_its_names(vllm):
    VLLMSampler("m", SamplingSettings(max_new_tokens=5, temperature=0.5, top_p=0.9, top_k=7, stop=("x",))).sample(
        "1=", 2
    )
    wanted = SamplingParams(
        n=2, temperature=0.5, top_p=0.9, top_k=7, stop=["x"], max_tokens=5, logprobs=0, include_stop_str_in_output=True
    )
    assert vllm.asked == wanted


def test_log_probabilities_of_a_cut_distribution_are_not_kept(vllm):
    sampled = VLLMSampler("m").sample("1=", settings=SamplingSettings(max_new_tokens=5, top_k=3))
    assert sampled.trajectories[0].tokens.logprobs is None


def test_an_engine_that_exists_is_used(vllm):
    assert len(VLLMSampler(engine=vllm.LLM("mine")).sample("1=")) == 1
    assert vllm.made == {"model": "mine"}


def test_a_model_and_an_engine_cannot_both_be_given(vllm):
    with pytest.raises(InvalidSettings, match="give either"):
        VLLMSampler("m", engine=object())


def test_without_vllm_the_error_names_the_package_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(MissingPackage, match=r"sampling with vLLM needs 'vllm': pip install 'vllm'"):
        VLLMSampler("m")
