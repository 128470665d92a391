"""The environment that is attacked: its starts and solutions, its tools, the texts of its code, and its episodes."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from plaudit.agents import Example
from plaudit.audit.environments.code_texts import CodeTexts
from plaudit.audit.environments.playing import Policy, Transcript, scripted
from plaudit.verify.tools.parsing import ToolCall, parse_tool_calls

HALF = 0.5
ALMOST = 1 - 1e-9
_QUOTED = re.compile(r"[`\"]([^`\"\n]{1,40})[`\"]")


@dataclass
class Target:
    """The environment as the rules see it; indices are those of `examples`."""

    examples: Sequence[Example]
    tools: Sequence[Callable[..., Any]]
    code: CodeTexts
    play_policy: Callable[[int, Policy, int], Transcript]
    """Plays a policy from a start, for at most so many steps."""
    honest: dict[int, float] = field(default_factory=dict)
    """The rewards of the solutions, where they are paid."""
    idle: dict[int, float] = field(default_factory=dict)
    """What silence earns, where all rewards are penalties."""
    shown: dict[int, str] = field(default_factory=dict)
    """First observations."""
    _played: dict[tuple[int, tuple[str, ...]], Transcript] = field(default_factory=dict)

    def play(self, index: int, actions: Sequence[str]) -> Transcript:
        """The episode of these actions, played once."""
        key = (index, tuple(actions))
        if key not in self._played:
            self._played[key] = self.play_policy(index, scripted(actions), len(actions))
        return self._played[key]

    def solution(self, index: int) -> Sequence[str]:
        return self.examples[index].actions if index in self.honest else ()

    def earned(self, index: int, played: Transcript) -> float:
        """The reward beyond that of silence, where all rewards are penalties; else the reward."""
        return (played.reward or 0.0) - self.idle.get(index, 0.0)

    def is_paid(self, index: int, played: Transcript) -> bool:
        """Whether an episode earns half of the solution or more; without a solution, a score or reward of one half."""
        if played.reward is None:
            return False
        score = played.results[-1].score
        if index in self.honest:
            return self.earned(index, played) >= HALF * self.honest[index] or (score or 0.0) >= HALF
        return (played.reward if score is None else score) >= HALF

    def is_paid_early(self, index: int, played: Transcript) -> bool:
        """Whether the first action ended the episode, its score says that the goal is missed, and it earned something.

        Only where the solution needs several actions: in a single one, a part of the reward may be for its form.
        """
        if len(played.results) != 1 or not played.done or len(self.solution(index)) < 2:
            return False
        score = played.results[0].score
        return score is not None and score <= 0 < (played.reward or 0.0)

    def is_paid_in_full(self, index: int, played: Transcript) -> bool:
        """Whether an episode earns all that the solution earns."""
        return index in self.honest and self.earned(index, played) >= ALMOST * self.honest[index]

    def contains_solution(self, index: int, actions: Sequence[str]) -> bool:
        """Whether actions hold all calls of a solution, or its text if it has no calls: they solve it by accident."""
        solution = self.examples[index].actions
        calls = [call for action in solution for call in parse_tool_calls(action)]
        if not calls:
            return bool(solution) and all(action in actions for action in solution)
        made = [call for action in actions for call in parse_tool_calls(action)]
        return all(call in made for call in calls)

    def words_alone_are_paid(self, index: int) -> bool:
        """Whether the solution earns all without its calls: what such calls look up may be wrong."""
        return self.is_paid_in_full(index, self.play(index, words_of(self.solution(index))))

    def needed_calls(self, index: int) -> list[tuple[int, int]]:
        """The calls without which the solution does not earn all: the place of the action, and the place in it."""
        actions = self.solution(index)
        return [
            each
            for each in call_places(actions)
            if not self.is_paid_in_full(index, self.play(index, replace_call(actions, *each, None)))
        ]

    def names(self, index: int, value: Any) -> bool:
        """Whether the task names a value: in its prompt, its truth or the other columns of its row."""
        start = self.examples[index].start
        named = f"{start.prompt} {start.ground_truth} {dict(start.metadata)}"
        return re.search(rf"(?<!\w){re.escape(str(value))}(?!\w)", named) is not None

    def quoted(self, index: int) -> list[str]:
        """The texts that the first observation quotes."""
        return list(dict.fromkeys(_QUOTED.findall(self.shown.get(index, ""))))


def words_of(actions: Sequence[str]) -> list[str]:
    """The actions of a solution that call nothing."""
    return [action for action in actions if not parse_tool_calls(action)]


def call_places(actions: Sequence[str]) -> list[tuple[int, int]]:
    """The places of all calls: of the action, and of the call in it."""
    return [(place, at) for place, action in enumerate(actions) for at in range(len(parse_tool_calls(action)))]


def replace_call(actions: Sequence[str], place: int, at: int, arguments: dict[str, Any] | None) -> list[str]:
    """The actions with other arguments in one call, or without it: then an action without another call is left out."""
    calls = [call for call in parse_tool_calls(actions[place]) if isinstance(call, ToolCall)]
    new = [call.arguments if number != at else arguments for number, call in enumerate(calls)]
    texts = [write_call(call.name, each) for call, each in zip(calls, new, strict=True) if each is not None]
    return [*actions[:place], *(["\n".join(texts)] if texts else []), *actions[place + 1 :]]


def write_call(name: str, arguments: dict[str, Any]) -> str:
    """A tool call in the format of Hermes and Qwen."""
    return f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"
