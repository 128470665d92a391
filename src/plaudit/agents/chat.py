"""Feedback inside a chat: what a tokenizer's template puts between an action and the next one.

The template is asked once, with stand-ins for the texts; actions are never rendered again, since they would be encoded
anew. Where an action was cut before the model ended its turn, the end of the turn is given.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, get_type_hints

from plaudit.errors import AgentError

__all__ = ["ChatTurns", "describe_tool"]

_ACTION, _FEEDBACK = "plaudit-action", "plaudit-feedback"
_TYPES = {int: "integer", float: "number", str: "string", bool: "boolean", list: "array", dict: "object"}


class ChatTurns:
    """The turns of a chat with one tokenizer."""

    def __init__(self, tokenizer: Any, tools: Sequence[Callable[..., Any]] = ()) -> None:
        self._tokenizer, self._tools = tokenizer, [describe_tool(tool) for tool in tools]

    def begin(self, messages: Sequence[Mapping[str, Any]], observation: str | None) -> str:
        """The first observation as the model sees it; text takes the place of what the user said last."""
        given = [dict(message) for message in messages]
        if observation is not None:
            given[-1]["content"] = observation
        return self._render(given, generate=True)

    def wrap(self, feedback: str, role: str, *, action_ended: bool) -> str:
        """What stands between an action and the next one."""
        turn_end, before, after = self._parts(role)
        return f"{'' if action_ended else turn_end}{before}{feedback}{after}"

    @lru_cache(maxsize=4)  # noqa: B019 - it lives as long as one batch
    def _parts(self, role: str) -> tuple[str, str, str]:
        """What ends an action's turn, what stands between that and a feedback, and what follows the feedback."""
        asked = [{"role": "user", "content": "?"}, {"role": "assistant", "content": _ACTION}]
        whole = self._render([*asked, {"role": role, "content": _FEEDBACK}], generate=True)
        if whole.count(_ACTION) != 1 or whole.count(_FEEDBACK) != 1 or whole.index(_ACTION) > whole.index(_FEEDBACK):
            raise AgentError(
                f"the tokenizer's chat template does not show a {role!r} message after the assistant's; "
                "give prompts as text, or set another template"
            )
        between = whole[whole.index(_ACTION) + len(_ACTION) : whole.index(_FEEDBACK)]
        end = getattr(self._tokenizer, "eos_token", None) or ""
        turn_end = end if end and between.startswith(end) else ""
        return turn_end, between.removeprefix(turn_end), whole[whole.index(_FEEDBACK) + len(_FEEDBACK) :]

    def _render(self, messages: list[dict[str, Any]], *, generate: bool) -> str:
        template = getattr(self._tokenizer, "chat_template", None)
        if not template:
            return "\n\n".join(str(message["content"]) for message in messages) + "\n\n"
        more = {"tools": self._tools} if self._tools else {}
        return str(
            self._tokenizer.apply_chat_template(messages, add_generation_prompt=generate, tokenize=False, **more)
        )


def describe_tool(tool: Callable[..., Any]) -> dict[str, Any]:
    """A function as the JSON schema that chat templates show: its name, what it does, and its parameters."""
    hints = get_type_hints(tool)
    parameters = {
        name: parameter
        for name, parameter in inspect.signature(tool).parameters.items()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY) and name != "self"
    }
    properties = {name: {"type": _TYPES.get(hints.get(name, str), "string")} for name in parameters}
    required = [name for name, parameter in parameters.items() if parameter.default is parameter.empty]
    described = {"type": "object", "properties": properties, "required": required}
    about = inspect.cleandoc(tool.__doc__ or "")
    return {"type": "function", "function": {"name": tool.__name__, "description": about, "parameters": described}}
