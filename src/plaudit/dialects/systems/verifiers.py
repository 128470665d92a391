"""verifiers rewards: functions of any of prompt, completion, answer, state, info, task, parser (up to 0.1, legacy), or
of `(task, trace)` (v1).

A completion is a list of messages, as in a chat environment; the form `verifiers:text` gives text, as environments of
`message_type="completion"` do. A rubric, or an environment that has one, is the weighted sum of its functions. prime-rl
trains on such environments.
"""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

from plaudit.contract.binding import Convention, Lookup, own_values
from plaudit.contract.combination import CompositeReward
from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput
from plaudit.dialects.dialect import Dialect, ForeignReward, System, truth_as_text
from plaudit.dialects.packages.braces import last_boxed
from plaudit.dialects.signatures import parameters
from plaudit.dialects.stub_packages import StubTable
from plaudit.trajectory import Trajectory, message_text

_OF_RUBRIC = "; its rubric knows it: name that, or an environment, or put a `parser` into the file"
_OWN = {"completion", "state", "parser"}
_NOTE = "completions are lists of messages; dialect='verifiers:text' (--dialect) gives the function text"


def verifiers_reward(foreign: Any, parser: Any = None, form: str = "") -> ForeignReward:
    """A reward of a function of a rubric; `parser` is the rubric's, or else the one in the function's file."""
    known = parser or getattr(foreign, "__globals__", {}).get("parser")
    names: dict[str, Lookup] = {
        "prompt": attrgetter("prompt_text") if form == "text" else lambda trajectory: trajectory.messages[:-1],
        "completion": attrgetter("response") if form == "text" else lambda trajectory: trajectory.messages[-1:],
        "answer": _answer,
        "info": own_values,
        "task": lambda trajectory: trajectory.task or "default",
    }
    sample = dict(names)
    names["state"] = partial(_state, sample)
    if known is not None:
        names["parser"] = lambda trajectory: known
    convention = Convention(
        names,
        rest=lambda trajectory: {**own_values(trajectory), **{name: read(trajectory) for name, read in names.items()}},
        remedies={"parser": _OF_RUBRIC},
    )
    return ForeignReward(foreign, convention, note="" if form else _NOTE)


def _answer(trajectory: Trajectory) -> Any:
    return "" if trajectory.ground_truth is None else truth_as_text(trajectory)


def _state(sample: Mapping[str, Lookup], trajectory: Trajectory) -> dict[str, Any]:
    values = {name: lookup(trajectory) for name, lookup in sample.items()}
    rollout = {"responses": [], "turn": 1, "trajectory": [], "metrics": {}, "reward": None}
    return {**own_values(trajectory), **values, **rollout}


def trace_reward(foreign: Any) -> ForeignReward:
    """A reward of a coroutine function of the task's data and the trace of the messages."""
    convention = Convention(
        names={"task": _task, "trace": _trace},
        fills_columns=False,
        remedies={"runtime": ", the runtime of a rollout, which a finished sample does not have"},
    )
    return ForeignReward(foreign, convention, _sum_of_parts)


def _sum_of_parts(returned: Any) -> Any:
    if not isinstance(returned, Mapping):
        return returned
    parts = {str(name): RewardOutput(each) for name, each in returned.items()}
    return RewardOutput(sum(part.reward or 0.0 for part in parts.values()), components=parts)


def _task(trajectory: Trajectory) -> SimpleNamespace:
    columns = own_values(trajectory)
    fields = {"prompt": trajectory.prompt, "prompt_text": trajectory.prompt_text, "name": trajectory.task}
    return SimpleNamespace(**{"answer": trajectory.ground_truth, **columns, **fields})


def _trace(trajectory: Trajectory) -> SimpleNamespace:
    messages = [SimpleNamespace(**{**each, "content": message_text(each)}) for each in trajectory.messages]
    assistant = [message for message in messages if message.role == "assistant"]
    return SimpleNamespace(
        last_reply=trajectory.response.strip(),
        messages=messages,
        assistant_messages=assistant,
        num_turns=len(assistant),
        metrics={},
        rewards={},
        info=own_values(trajectory),
    )


def _rubric_reward(candidate: Any) -> RewardFunction:
    """The weighted sum of a rubric's functions; a function of weight 0 is a metric and left out."""
    rubric = getattr(candidate, "rubric", candidate)
    parts = [
        (verifiers_reward(function, getattr(rubric, "parser", None)), weight)
        for each in getattr(rubric, "rubrics", None) or [rubric]
        for function, weight in zip(_functions(each), _weights(each), strict=True)
        if weight
    ]
    return CompositeReward(parts)


def _functions(rubric: Any) -> list[Any]:
    return list(getattr(rubric, "funcs", None) or getattr(rubric, "reward_funcs", None) or [])


def _weights(rubric: Any) -> list[float]:
    weights = getattr(rubric, "weights", None) or getattr(rubric, "reward_weights", None)
    return list(weights or [1.0] * len(_functions(rubric)))


def _is_rubric(candidate: Any) -> bool:
    rubric = getattr(candidate, "rubric", candidate)
    if isinstance(candidate, type) or inspect.isroutine(candidate) or isinstance(candidate, RewardFunction):
        return False
    return any(_functions(each) for each in getattr(rubric, "rubrics", None) or [rubric])


def _matches(candidate: Any) -> bool:
    names = set(parameters(candidate))
    return "completion" in names and bool(names & {"state", "parser"})


def _matches_if_imported(candidate: Any) -> bool:
    return inspect.isroutine(candidate) and bool(_OWN & set(parameters(candidate)))


def _matches_trace(candidate: Any) -> bool:
    names = set(parameters(candidate))
    return inspect.isroutine(candidate) and "trace" in names <= {"task", "trace", "runtime"}


def _same(text: str) -> Any:
    return text


class Parser:
    """Reads the assistant's last message, through `extract_fn`."""

    def __init__(self, extract_fn: Callable[[str], Any] = _same) -> None:
        self.extract_fn = extract_fn

    def parse(self, text: str) -> Any:
        return self.extract_fn(text)

    def parse_answer(self, completion: Any) -> Any:
        if isinstance(completion, str):
            return self.parse(completion)
        messages = self.get_assistant_messages(completion)
        return self.parse(message_text(messages[-1])) if messages else None

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
    """Reads what follows the last `</think>`; nothing if there is none."""

    def parse(self, text: str) -> Any:
        _, closed, after = text.rpartition("</think>")
        return self.extract_fn(after.strip() if closed else "")

    def get_format_reward_func(self) -> Callable[..., float]:
        def format_reward_func(completion: Any, **_: Any) -> float:
            texts = [message_text(message) for message in self.get_assistant_messages(completion)]
            return sum(map(_thinks_once, texts)) / len(texts) if texts else 0.0

        return format_reward_func


class MaybeThinkParser(Parser):
    """Reads what follows the last `</think>`, or everything if there is none."""

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
        fields: dict[str, str | None] = {}
        for name in self.names:
            inside = re.findall(rf"<{name}>\s*(.*?)\s*</{name}>", text, re.DOTALL)
            value = inside[-1 if last else 0] if inside else None
            fields[name] = value.strip() if strip and value is not None else value
        return SimpleNamespace(**fields)

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
    """The content of the last `\\boxed{…}`; without one the text, or nothing if `strict`."""
    boxed = last_boxed(text)
    return boxed if boxed is not None else "" if strict else text


def _of_role(role: str, completion: Any) -> list[Any]:
    return [message for message in completion if isinstance(message, Mapping) and message.get("role") == role]


def _thinks_once(text: str) -> bool:
    once = text.count("<think>") == 1 and text.count("</think>") == 1
    return once and text.strip().startswith("<think>") and bool(text.partition("</think>")[2])


def _mark(function: Any = None, weight: float = 1.0, **_: Any) -> Any:
    """`@vf.reward`, with and without arguments: returns the function unchanged."""
    return function if callable(function) else lambda decorated: decorated


_NAMES: dict[str, object] = {
    "Parser": Parser, "ThinkParser": ThinkParser, "MaybeThinkParser": MaybeThinkParser, "XMLParser": XMLParser,
    "Rubric": Rubric, "RubricGroup": RubricGroup, "extract_boxed_answer": extract_boxed_answer, "reward": _mark,
    "metric": _mark, "Messages": list, "State": dict, "Info": dict, "Trace": object, "TaskData": object,
}  # fmt: skip
_STUBS: StubTable = {
    "verifiers": _NAMES,
    "verifiers.types": _NAMES,
    "verifiers.v1": _NAMES,
    "verifiers.parsers.parser": _NAMES,
    "verifiers.parsers.xml_parser": _NAMES,
    "verifiers.parsers.think_parser": _NAMES,
    "verifiers.rubrics.rubric": _NAMES,
    "verifiers.utils.data_utils": _NAMES,
}
SYSTEM = System(
    "verifiers",
    "verifiers",
    dialects=(
        *(
            Dialect(
                "verifiers function", partial(verifiers_reward, form=form), _matches, _matches_if_imported, form=form
            )
            for form in ("", "text")
        ),
        Dialect("verifiers v1 function", trace_reward, _matches_trace),
        Dialect("verifiers rubric", _rubric_reward, matches_if_imported=_is_rubric),
    ),
    stubs={"verifiers": _STUBS},
)
