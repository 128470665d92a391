"""A sampler without a model, for players of episodes in tests."""

from collections.abc import Callable
from typing import Any

from plaudit.agents import Action


class AnsweringSampler:
    """The action is what `answer` returns for the text so far; an empty one becomes a space."""

    def __init__(self, answer: Callable[[str], str]) -> None:
        self.answer = answer

    async def generate(self, token_ids: list[int], sampling_params: Any, **_: Any) -> Action:
        text = self.answer("".join(map(chr, token_ids))) or " "
        return Action([ord(each) for each in text], text, None, "stop")
