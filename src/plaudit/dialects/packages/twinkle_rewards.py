"""Twinkle's rewards, written from how `twinkle.reward` behaves.

`MathReward` compares what is boxed, or else the whole text, with sympy's parser as Twinkle does; where sympy cannot
read formulas, texts are compared.
"""

import importlib
import logging
import re
from collections.abc import Sequence
from typing import Any

from plaudit.dialects.packages.braces import last_boxed
from plaudit.dialects.packages.twinkle_data import (
    TwinkleMessage,
    TwinkleTrajectory,
    find_entry,
    pack_value,
    user_data_get,
)
from plaudit.dialects.stub_packages import LazyStub
from plaudit.errors import require

__all__ = ["STUBS"]


class Reward:
    """The base of Twinkle's rewards: define `__call__(trajectories, ground_truths)`."""


class FormatReward(Reward):
    """1.0 with `<think>…</think>` and `<answer>…</answer>` anywhere, else 0.0."""

    def __call__(self, trajectories: Sequence[Any], ground_truths: Any = None) -> list[float]:
        tags = (r"<think>.*?</think>", r"<answer>.*?</answer>")
        return [float(all(re.search(tag, _last_response(each), re.DOTALL) for tag in tags)) for each in trajectories]


class MathReward(Reward):
    """1.0 where the boxed answer, or else the whole text, is the same formula as the ground truth's."""

    def __init__(self, ground_truth_key: str = "solution") -> None:
        self.ground_truth_key = ground_truth_key

    def __call__(self, trajectories: Sequence[Any], ground_truths: Sequence[Any]) -> list[float]:
        pairs = zip(trajectories, ground_truths, strict=False)
        return [
            float(self.compare_consecutive(_answer(_last(said)), _answer(self._truth(truth)))) for said, truth in pairs
        ]

    def _truth(self, truth: Any) -> str:
        if not isinstance(truth, dict):
            return str(truth)
        named = find_entry(truth.get("user_data"), self.ground_truth_key)
        return _last(truth) if named is None else str(named[1])

    @staticmethod
    def check_terminate(answers: str | Sequence[str]) -> list[bool]:
        r"""Whether each answer has a \boxed."""
        return ["\\boxed" in answer for answer in ([answers] if isinstance(answers, str) else answers)]

    @staticmethod
    def extract_boxed_result(text: str) -> str:
        """What the last box holds, the whole text where there is none."""
        boxed = _last_box(text)
        return text if boxed is None else boxed

    @staticmethod
    def clean_latex(latex_str: str) -> str:
        """The formula without its math brackets and braces."""
        return re.sub(r"\\[()\[\]]|[{}]", "", latex_str).strip()

    @staticmethod
    def parse_expression(latex_str: str) -> Any:
        """What sympy makes of a formula, None where it cannot read it."""
        sympy = require("sympy", extra="train", purpose="Twinkle's MathReward")
        try:
            return sympy.simplify(importlib.import_module("sympy.parsing.latex").parse_latex(latex_str))
        except Exception:  # noqa: BLE001 - as Twinkle has it: what cannot be parsed is compared as text
            return None

    @staticmethod
    def compare_consecutive(first: str, second: str) -> bool:
        """Whether two answers are the same formula, or the same text where one of them cannot be read."""
        texts = [MathReward.clean_latex(each) for each in (first, second)]
        one, other = (MathReward.parse_expression(text) for text in texts)
        if one is None or other is None:
            return texts[0] == texts[1]
        return bool(one.equals(other) if hasattr(one, "equals") and hasattr(other, "equals") else one == other)


class GSM8KAccuracyReward(Reward):
    """1.0 where the last boxed answer, or else the last number after ####, is the ground truth in `user_data`."""

    def __call__(self, trajectories: Sequence[Any], **_: Any) -> list[float]:
        return [float(self._is_right(each)) for each in trajectories]

    def _is_right(self, trajectory: Any) -> bool:
        answer = self.extract_answer(_last_response(trajectory))
        entries = [value for key, value in trajectory.get("user_data") or [] if key == "ground_truth"]
        truth = entries[0] if entries else ""
        if not answer or not truth:
            return False
        try:
            return abs(float(answer) - float(truth)) < 1e-5
        except (ValueError, OverflowError):
            return bool(answer == truth)

    @staticmethod
    def extract_answer(completion: str) -> str:
        """The answer at the end of a completion, without commas and spaces; empty where there is none."""
        end = completion[-500:]
        marked = re.findall(r"####\s*([\-\d,\.\s]+)", end)
        answer = _last_box(end) or (marked[-1] if marked else "")
        return answer.replace(",", "").replace(" ", "").strip()


class GSM8KFormatReward(Reward):
    """1.0 where a boxed answer or a number after #### is there."""

    def __call__(self, trajectories: Sequence[Any], **_: Any) -> list[float]:
        said = [_last_response(each) for each in trajectories]
        return [float(bool(_last_box(text) or re.search(r"####\s*[\-\d,\.]+", text))) for text in said]


def _last_response(trajectory: Any) -> str:
    """What the assistant said last."""
    messages = reversed(trajectory.get("messages", []))
    return next((message.get("content", "") for message in messages if message.get("role") == "assistant"), "")


def _last(trajectory: Any) -> str:
    """What was said last, by whomever."""
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
    "twinkle.sampler": {"vLLMSampler": LazyStub("plaudit.training", "VLLMSampler")},
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
