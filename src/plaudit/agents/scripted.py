"""Episodes without a model: a tokenizer of characters, and a sampler that says what it is told."""

from collections.abc import Callable, Sequence
from typing import Any

from plaudit.agents.generation import Action, DrawnAction

__all__ = ["CharacterTokenizer", "ScriptedSampler"]


class CharacterTokenizer:
    """One token per character, for policies whose tokens nobody knows; the methods are those of Hugging Face."""

    bos_token = eos_token = eos_token_id = bos_token_id = chat_template = None
    all_special_ids: tuple[int, ...] = ()

    def __call__(
        self,
        text: str | Sequence[str],
        add_special_tokens: bool = True,
        **_: Any,
    ) -> dict[str, Any]:
        if isinstance(text, str):
            return {"input_ids": [ord(character) for character in text]}
        ids = [[ord(character) for character in each] for each in text]
        return {"input_ids": ids, "offset_mapping": [[(at, at + 1) for at in range(len(each))] for each in text]}

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str:
        return "".join(map(chr, ids))

    def batch_decode(self, ids: Sequence[Sequence[int]], **_: Any) -> list[str]:
        return [self.decode(each) for each in ids]


class ScriptedSampler:
    """Says what `answer` gives for the text so far, as an action of characters."""

    def __init__(self, answer: Callable[[str], str]) -> None:
        self.answer = answer

    async def generate(self, token_ids: list[int], sampling_params: Any, **_: Any) -> DrawnAction:
        """The answer; one without text is a space, since an action has at least one token."""
        text = self.answer("".join(map(chr, token_ids))) or " "
        return DrawnAction(Action([ord(each) for each in text], text, None, "stop"))
