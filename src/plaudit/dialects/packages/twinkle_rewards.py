"""Twinkle's rewards, written from how `twinkle.reward` behaves, and its `vLLMSampler`.

`MathReward` reads the answer as Twinkle does and compares it with plaudit's verifier. Twinkle's own comparison depends
on the installed version of antlr4: with another one than sympy's parser needs, it compares formulas as text. The
sampler is plaudit's for vLLM, or for transformers where vLLM is not installed.
"""

import importlib.util
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from plaudit.dialects.packages.braces import last_boxed
from plaudit.dialects.packages.twinkle_data import (
    TwinkleMessage,
    TwinkleTrajectory,
    as_twinkle,
    find_entry,
    one_truth_each,
    pack_value,
    user_data_get,
)
from plaudit.dialects.stub_packages import LazyStub
from plaudit.trajectory import Trajectory
from plaudit.verify.math import MathPolicy, decide

_HUBS = ("ms://", "hf://")


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


_POLICY = MathPolicy(rounding=False)


class Reward:
    """The base of Twinkle's rewards: define `__call__(trajectories, ground_truths)`."""


class FormatReward(Reward):
    """1.0 with `<think>…</think>` and `<answer>…</answer>` anywhere, else 0.0."""

    def __call__(self, trajectories: Sequence[Any], ground_truths: Any = None) -> list[float]:
        tags = (r"<think>.*?</think>", r"<answer>.*?</answer>")
        return [float(all(re.search(tag, _last_response(each), re.DOTALL) for tag in tags)) for each in trajectories]


class MathReward(Reward):
    r"""1.0 if the last `\boxed{…}`, or else the whole text, equals the ground truth; None without a ground truth."""

    def __init__(self, ground_truth_key: str = "solution") -> None:
        self.ground_truth_key = ground_truth_key

    def __call__(self, trajectories: Sequence[Any], ground_truths: Sequence[Any]) -> list[float | None]:
        samples = [as_twinkle(each) for each in trajectories]
        truths = map(self._truth, one_truth_each(samples, ground_truths))
        return [
            None if truth is None else float(self.compare_consecutive(_answer(_last(sample)), _answer(truth)))
            for sample, truth in zip(samples, truths, strict=True)
        ]

    def _truth(self, truth: Any) -> str | None:
        if isinstance(truth, Trajectory):
            truth = as_twinkle(truth)
        if not isinstance(truth, dict):
            return None if truth is None else str(truth)
        named = find_entry(truth.get("user_data"), self.ground_truth_key)
        return _last(truth) if named is None else str(named[1])

    @staticmethod
    def check_terminate(answers: str | Sequence[str]) -> list[bool]:
        r"""Whether each answer has a \boxed."""
        return ["\\boxed" in answer for answer in ([answers] if isinstance(answers, str) else answers)]

    @staticmethod
    def extract_boxed_result(text: str) -> str:
        """The content of the last box, or the whole text if there is none."""
        boxed = _last_box(text)
        return text if boxed is None else boxed

    @staticmethod
    def clean_latex(latex_str: str) -> str:
        """The formula without its math brackets and braces."""
        return re.sub(r"\\[()\[\]]|[{}]", "", latex_str).strip()

    @staticmethod
    def compare_consecutive(first: str, second: str) -> bool:
        """Whether two answers are equal by plaudit's verifier, or the same text where it cannot read one of them."""
        if MathReward.clean_latex(first) == MathReward.clean_latex(second):
            return True
        return decide(second, first, _POLICY).equal is True


class GSM8KAccuracyReward(Reward):
    """1.0 where the last boxed answer, or else the last number after ####, is the ground truth in `user_data`.

    None without a ground truth.
    """

    def __call__(self, trajectories: Sequence[Any], **_: Any) -> list[float | None]:
        return [self._score(as_twinkle(each)) for each in trajectories]

    def _score(self, trajectory: Any) -> float | None:
        answer, truth = self.extract_answer(_last_response(trajectory)), _truth_of(trajectory)
        if not truth or not answer:
            return 0.0 if truth else None
        try:
            return float(abs(float(answer) - float(truth)) < 1e-5)
        except (ValueError, OverflowError):
            return float(answer == truth)

    @staticmethod
    def extract_answer(completion: str) -> str:
        """The answer at the end of a completion, without commas and spaces; empty if there is none."""
        end = completion[-500:]
        marked = re.findall(r"####\s*([\-\d,\.\s]+)", end)
        answer = _last_box(end) or (marked[-1] if marked else "")
        return answer.replace(",", "").replace(" ", "").strip()


class GSM8KFormatReward(Reward):
    """1.0 where a boxed answer or a number after #### is there."""

    def __call__(self, trajectories: Sequence[Any], **_: Any) -> list[float]:
        responses = [_last_response(each) for each in trajectories]
        return [float(bool(_last_box(text) or re.search(r"####\s*[\-\d,\.]+", text))) for text in responses]


def _last_response(trajectory: Any) -> str:
    """The text of the last assistant message."""
    messages = reversed(as_twinkle(trajectory).get("messages", []))
    return next((message.get("content", "") for message in messages if message.get("role") == "assistant"), "")


def _truth_of(trajectory: Any) -> Any:
    """The ground truth in `user_data`; None if there is none."""
    entry = find_entry(trajectory.get("user_data"), "ground_truth")
    return None if entry is None else entry[1]


def _last(trajectory: Any) -> str:
    """The text of the last message of any role."""
    return str(trajectory["messages"][-1]["content"])


def _answer(text: str) -> str:
    marked = text.split("# Answer")[1] if "# Answer" in text else text
    return MathReward.extract_boxed_result(marked.strip())


def _last_box(text: str) -> str | None:
    boxed = last_boxed(text)
    return None if boxed is None else boxed.strip()


_MESSAGES: dict[str, object] = {"Message": TwinkleMessage}
_TRAJECTORY: dict[str, object] = {
    "Trajectory": TwinkleTrajectory, "pack_value": pack_value, "user_data_get": user_data_get,
}  # fmt: skip
_REWARDS: dict[str, type[Reward]] = {
    each.__name__: each for each in (FormatReward, GSM8KAccuracyReward, GSM8KFormatReward, MathReward, Reward)
}
STUBS: dict[str, dict[str, object]] = {
    "twinkle": {"get_logger": logging.getLogger},
    "twinkle.advantage": {
        "GRPOAdvantage": LazyStub("plaudit.training", "GRPOAdvantage"),
        "RLOOAdvantage": LazyStub("plaudit.training", "RLOOAdvantage"),
    },
    "twinkle.sampler": {"vLLMSampler": vLLMSampler},
    "twinkle.data_format": {**_MESSAGES, **_TRAJECTORY},
    "twinkle.data_format.message": _MESSAGES,
    "twinkle.data_format.trajectory": _TRAJECTORY,
    "twinkle.reward": dict(_REWARDS),
    "twinkle.reward.base": {"Reward": Reward},
    "twinkle.reward.format_reward": {"FormatReward": FormatReward},
    "twinkle.reward.gsm8k": {
        "GSM8KAccuracyReward": GSM8KAccuracyReward, "GSM8KFormatReward": GSM8KFormatReward,
    },
    "twinkle.reward.math_reward": {"MathReward": MathReward},
}  # fmt: skip
