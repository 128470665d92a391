"""Chat messages of a sample, for the terminal and the page: roles, texts, tool calls, images."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from plaudit.columns import KEPT_MESSAGES
from plaudit.trajectory import Trajectory

MAX_ADDRESS = 60


def response_messages(trajectory: Trajectory) -> list[Mapping[str, Any]] | None:
    """The messages of a response that has more than one text; None if the response contains everything."""
    messages = trajectory.columns.get(KEPT_MESSAGES)
    is_chat = isinstance(messages, list) and all(isinstance(each, Mapping) for each in messages)
    return messages if is_chat and messages else None


def prompt_as_text(trajectory: Trajectory) -> str:
    """The prompt; of several chat messages, each with its role."""
    prompt = trajectory.prompt
    return prompt if isinstance(prompt, str) else messages_as_text(prompt)


def response_as_text(trajectory: Trajectory) -> str:
    """The response; of several chat messages, each with its role."""
    messages = response_messages(trajectory)
    return trajectory.response if messages is None else messages_as_text(messages)


def messages_as_text(messages: Sequence[Mapping[str, Any]]) -> str:
    """Each message on lines of its own, after its role; a single user message without it."""
    if len(messages) == 1 and messages[0].get("role") == "user":
        return _content(messages[0].get("content"))
    return "\n".join(f"{message.get('role')}: {_message(message)}" for message in messages)


def _message(message: Mapping[str, Any]) -> str:
    calls = message.get("tool_calls")
    lines = [_content(message.get("content")), *(map(_call, calls) if isinstance(calls, list) else ())]
    return "\n".join(filter(None, lines))


def _content(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(map(_part, content))
    return "" if content is None else str(content)


def _part(part: Any) -> str:
    if isinstance(part, Mapping) and isinstance(part.get("text"), str):
        return str(part["text"])
    image = (
        next((part[key] for key in ("image_url", "image", "source") if part.get(key)), None)
        if isinstance(part, Mapping)
        else None
    )
    if image is None:
        return str(part)
    address = (
        next((str(image[key]) for key in ("url", "data") if key in image), "")
        if isinstance(image, Mapping)
        else str(image)
    )
    return f"[image: {address:.{MAX_ADDRESS}}{'…' if len(address) > MAX_ADDRESS else ''}]"


def _call(call: Any) -> str:
    function = call.get("function", call) if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping) or "name" not in function:
        return f"[tool call: {call}]"
    arguments = function.get("arguments", "")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return f"[calls {function['name']}: {text}]"
