"""Render chat prompts to the model's input text, for rewards that look for template tokens in the prompt.

A template is one of the names below, or a tokenizer's folder or name, whose own chat template is then applied.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from plaudit.contract.combination import CompoundReward
from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput
from plaudit.errors import RewardNotLoaded, did_you_mean, require
from plaudit.trajectory import Message, Trajectory, message_text


def _chatml(messages: Sequence[Message]) -> str:
    turns = [f"<|im_start|>{each['role']}\n{message_text(each)}<|im_end|>\n" for each in messages]
    return "".join([*turns, "<|im_start|>assistant\n"])


def _llama3(messages: Sequence[Message]) -> str:
    def begin(role: str) -> str:
        return f"<|start_header_id|>{role}<|end_header_id|>\n\n"

    turns = [f"{begin(each['role'])}{message_text(each).strip()}<|eot_id|>" for each in messages]
    return "".join(["<|begin_of_text|>", *turns, begin("assistant")])


def _gemma(messages: Sequence[Message]) -> str:
    system = "".join(f"{message_text(each)}\n\n" for each in messages if each["role"] == "system")
    spoken = [each for each in messages if each["role"] != "system"]
    turns = []
    for index, each in enumerate(spoken):
        role = "model" if each["role"] == "assistant" else each["role"]
        text = (system if not index else "") + message_text(each).strip()
        turns.append(f"<start_of_turn>{role}\n{text}<end_of_turn>\n")
    return "".join(["<bos>", *turns, "<start_of_turn>model\n"])


TEMPLATES: dict[str, Callable[[Sequence[Message]], str]] = {"chatml": _chatml, "llama3": _llama3, "gemma": _gemma}


class ChatTemplateReward(CompoundReward):
    """A reward that is given chat prompts as text, in the form of a chat template; text prompts stay as they are."""

    def __init__(self, reward: RewardFunction, template: str) -> None:
        self.reward, self.template = reward, template
        self.name, self.bounds = reward.name, reward.bounds
        self.set_parts([reward])
        _renderer(template)  # a template that does not exist fails now

    def samples_for(self, trajectory: Trajectory) -> list[tuple[RewardFunction, Trajectory | None]]:
        return [(self.reward, self._render(trajectory))]

    def merge_one(self, trajectory: Trajectory, outputs: Sequence[RewardOutput]) -> RewardOutput:
        return outputs[0]

    def _render(self, trajectory: Trajectory) -> Trajectory:
        if isinstance(trajectory.prompt, str):
            return trajectory
        return msgspec.structs.replace(trajectory, prompt=_renderer(self.template)(trajectory.prompt))

    def __repr__(self) -> str:
        return f"ChatTemplateReward({self.reward!r}, {self.template!r})"


@functools.lru_cache(maxsize=8)
def _renderer(template: str) -> Callable[[Sequence[Message]], str]:
    if template in TEMPLATES:
        return TEMPLATES[template]
    transformers = require("transformers", extra="train", purpose="the chat template of a tokenizer")
    try:
        tokenizer: Any = transformers.AutoTokenizer.from_pretrained(template)
    except (OSError, ValueError) as error:
        raise RewardNotLoaded(
            f"no chat template {template!r}{did_you_mean(template, TEMPLATES)}; give {', '.join(TEMPLATES)}, or a "
            f"tokenizer's folder or name ({type(error).__name__})"
        ) from error
    return lambda messages: str(
        tokenizer.apply_chat_template(list(messages), tokenize=False, add_generation_prompt=True)
    )
