"""Build a prompt from a row of data: a template with column names, and chat messages around it.

Values are inserted unchanged: braces in a question are text, not column names.
"""

import json
import string
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from plaudit.errors import DataError, InvalidSettings, did_you_mean
from plaudit.trajectory import Message, Prompt

__all__ = ["PromptTemplate", "set_template_arguments"]


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """`PromptTemplate("Question: {question}\\nAnswer:")`; without a text, the prompt is taken as it is.

    With `chat`, or with a `system` message, a text becomes a user's chat message, for the model's own chat template.
    """

    text: str | None = None
    system: str | None = None
    chat: bool = False

    def __post_init__(self) -> None:
        if self.text is None:
            return
        try:
            names = [name for _, name, _, _ in string.Formatter().parse(self.text) if name is not None]
        except ValueError as error:
            raise DataError(f"the template {self.text!r:.80} cannot be read: {error}; write {{{{ for a brace") from None
        if not names:
            raise DataError(f"the template {self.text!r:.80} names no column; write one in braces, such as {{prompt}}")
        for name in names:
            if not name or not name.replace(".", "_").replace("-", "_").isidentifier():
                raise DataError(f"the template {self.text!r:.80} has {{{name}}}; name a column there")

    def fill(self, columns: Mapping[str, Any], prompt: Prompt | None) -> Prompt:
        """The prompt of one row: `columns` under their own names, and `prompt` as it was found."""
        if self.text is None:
            if prompt is None:
                raise DataError(f"no prompt among {sorted(columns)}; say which column holds it, or give a template")
            return self._as_chat(prompt)
        known = dict(columns) if prompt is None else {"prompt": prompt, **columns}
        parts = [
            literal if name is None else literal + _value(known, name)
            for literal, name, _, _ in string.Formatter().parse(self.text)
        ]
        return self._as_chat("".join(parts))

    def _as_chat(self, prompt: Prompt) -> Prompt:
        if not self.chat and self.system is None:
            return prompt
        messages: list[Message] = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
        begins = [] if self.system is None else [{"role": "system", "content": self.system}]
        return [*begins, *messages]


def set_template_arguments(tokenizer: Any, arguments: Mapping[str, Any]) -> None:
    """Add arguments to the tokenizer's chat template, so that every use and every saved copy includes them."""
    if not arguments:
        return
    if not tokenizer.chat_template:
        raise InvalidSettings(
            f"data.chat_template_args={dict(arguments)}: the model's tokenizer has no chat template to tell them"
        )
    assignments = "".join(f"{{%- set {name} = {_literal(name, value)} -%}}" for name, value in arguments.items())
    template = tokenizer.chat_template
    named = isinstance(template, dict)
    tokenizer.chat_template = (
        {name: assignments + each for name, each in template.items()} if named else assignments + template
    )


def _literal(name: str, value: Any) -> str:
    """A plain value as Jinja writes it, which is as Python does."""
    if not name.isidentifier():
        raise InvalidSettings(f"data.chat_template_args: {name!r} cannot be the name of an argument")
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        raise InvalidSettings(f"data.chat_template_args: {name}={value!r:.60} is not a plain value") from None
    return repr(value)


def _value(columns: Mapping[str, Any], name: str) -> str:
    value: Any = columns.get(name, _ABSENT)
    for part in name.split(".") if value is _ABSENT else ():
        within = columns if value is _ABSENT else value
        if not isinstance(within, Mapping) or part not in within:
            raise DataError(
                f"the template asks for {{{name}}}, but there is no such column{did_you_mean(name, columns)} "
                f"(found {', '.join(columns) or 'none'})"
            )
        value = within[part]
    return value if isinstance(value, str) else str(value)


_ABSENT = object()
