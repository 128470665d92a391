"""What reward files import of `verifiers` (up to 0.1): parsers, and rubrics as lists of functions with weights.

Environments, data sets and judges need the package itself.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from plaudit.dialects.packages.braces import last_boxed
from plaudit.dialects.standins import Answers
from plaudit.trajectory import message_text

__all__ = ["ANSWERS", "Parser", "Rubric", "ThinkParser", "XMLParser", "extract_boxed_answer"]


def _same(text: str) -> Any:
    return text


class Parser:
    """Reads the last thing the assistant said, through `extract_fn`."""

    def __init__(self, extract_fn: Callable[[str], Any] = _same) -> None:
        self.extract_fn = extract_fn

    def parse(self, text: str) -> Any:
        return self.extract_fn(text)

    def parse_answer(self, completion: Any) -> Any:
        if isinstance(completion, str):
            return self.parse(completion)
        said = self.get_assistant_messages(completion)
        return self.parse(message_text(said[-1])) if said else None

    def get_assistant_messages(self, completion: Any) -> list[Any]:
        return _of_role("assistant", completion)

    def get_user_messages(self, completion: Any) -> list[Any]:
        return _of_role("user", completion)

    def get_system_messages(self, completion: Any) -> list[Any]:
        return _of_role("system", completion)

    def get_tool_messages(self, completion: Any) -> list[Any]:
        return _of_role("tool", completion)

    def get_format_reward_func(self) -> Callable[..., float]:
        def format_reward_func(completion: Any, **_: Any) -> float:
            return 1.0

        return format_reward_func


class ThinkParser(Parser):
    """Reads what follows the last `</think>`; nothing where there is none."""

    def parse(self, text: str) -> Any:
        _, closed, after = text.rpartition("</think>")
        return self.extract_fn(after.strip() if closed else "")

    def get_format_reward_func(self) -> Callable[..., float]:
        def format_reward_func(completion: Any, **_: Any) -> float:
            said = [message_text(message) for message in self.get_assistant_messages(completion)]
            return sum(map(_thinks_once, said)) / len(said) if said else 0.0

        return format_reward_func


class MaybeThinkParser(Parser):
    """Reads what follows the last `</think>`, or everything where there is none."""

    def parse(self, text: str) -> Any:
        return self.extract_fn(text.rpartition("</think>")[2].strip())


class XMLParser(Parser):
    """Reads fields in tags; a field may have several names, given as a tuple."""

    def __init__(
        self,
        fields: Sequence[str | tuple[str, ...]],
        answer_field: str = "answer",
        extract_fn: Callable[[str], Any] = _same,
    ) -> None:
        super().__init__(extract_fn)
        self.answer_field = answer_field
        self.names = [name for field in fields for name in ([field] if isinstance(field, str) else field)]

    def parse(self, text: str, strip: bool = True, last: bool = False) -> Any:
        found: dict[str, str | None] = {}
        for name in self.names:
            inside = re.findall(rf"<{name}>\s*(.*?)\s*</{name}>", text, re.DOTALL)
            value = inside[-1 if last else 0] if inside else None
            found[name] = value.strip() if strip and value is not None else value
        return SimpleNamespace(**found)

    def parse_answer(self, completion: Any) -> Any:
        if isinstance(completion, str):
            return getattr(self.parse(completion, last=True), self.answer_field, None)
        answers = (
            getattr(self.parse(message_text(message)), self.answer_field, None)
            for message in reversed(self.get_assistant_messages(completion))
        )
        return next((answer for answer in answers if answer is not None), None)


class Rubric:
    """Functions with weights; those of weight 0 are metrics."""

    def __init__(
        self, funcs: Sequence[Any] | None = None, weights: Sequence[float] | None = None, parser: Any = None
    ) -> None:
        self.funcs = list(funcs or [])
        self.weights = list(weights or [1.0] * len(self.funcs))
        self.parser = parser or Parser()
        self.class_objects: dict[str, Any] = {"parser": self.parser}
        if len(self.weights) != len(self.funcs):
            raise ValueError(f"{len(self.funcs)} functions, but {len(self.weights)} weights")

    def add_reward_func(self, func: Any, weight: float = 1.0) -> None:
        self.funcs.append(func)
        self.weights.append(weight)

    def add_metric(self, func: Any, weight: float = 0.0) -> None:
        self.add_reward_func(func, weight)

    def add_class_object(self, name: str, obj: Any) -> None:
        self.class_objects[name] = obj


class RubricGroup:
    """Several rubrics whose rewards are added."""

    def __init__(self, rubrics: Sequence[Rubric]) -> None:
        self.rubrics = list(rubrics)


def extract_boxed_answer(text: str, strict: bool = False) -> str:
    """What stands in the last `\\boxed{…}`; without one the text, or nothing where `strict`."""
    boxed = last_boxed(text)
    return boxed if boxed is not None else "" if strict else text


def _of_role(role: str, completion: Any) -> list[Any]:
    return [message for message in completion if isinstance(message, Mapping) and message.get("role") == role]


def _thinks_once(text: str) -> bool:
    once = text.count("<think>") == 1 and text.count("</think>") == 1
    return once and text.strip().startswith("<think>") and bool(text.partition("</think>")[2])


def _mark(function: Any = None, weight: float = 1.0, **_: Any) -> Any:
    """`@vf.reward`, with and without arguments: the function as it is."""
    return function if callable(function) else lambda decorated: decorated


_NAMES: dict[str, object] = {
    "Parser": Parser, "ThinkParser": ThinkParser, "MaybeThinkParser": MaybeThinkParser, "XMLParser": XMLParser,
    "Rubric": Rubric, "RubricGroup": RubricGroup, "extract_boxed_answer": extract_boxed_answer, "reward": _mark,
    "metric": _mark, "Messages": list, "State": dict, "Info": dict, "Trace": object, "TaskData": object,
}  # fmt: skip
ANSWERS: Answers = {
    "verifiers": _NAMES,
    "verifiers.types": _NAMES,
    "verifiers.v1": _NAMES,
    "verifiers.parsers.parser": _NAMES,
    "verifiers.parsers.xml_parser": _NAMES,
    "verifiers.parsers.think_parser": _NAMES,
    "verifiers.rubrics.rubric": _NAMES,
    "verifiers.utils.data_utils": _NAMES,
}
