"""Encode texts and conversations for a model: token ids, truncated on the left if they are too long.

Special tokens in a response are split, so it cannot inject chat turns.
"""

import re
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from plaudit.errors import InvalidTrajectory, require
from plaudit.models.loading import LoadedModel
from plaudit.trajectory import Message, Trajectory

Text: TypeAlias = str | tuple[str, str]
"""Input of a tokenizer: a text, or two texts that the model reads as a pair."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """The tokens of one sample, how many there were before it was cut, and the text that they encode."""

    features: Mapping[str, list[int]]
    full_length: int
    text: Text = ""

    def __len__(self) -> int:
        return len(self.features["input_ids"])

    @property
    def notes(self) -> dict[str, Any]:
        """Entries for the metadata of the output."""
        dropped = self.full_length - len(self)
        return {"tokens": len(self), "tokens_cut": dropped} if dropped > 0 else {"tokens": len(self)}


def encode_texts(
    loaded: LoadedModel, texts: Sequence[Text], limit: int | None, *, whole: bool = False, end: bool = False
) -> list[Encoded]:
    """Tokens of texts, at most `limit` each: the end is kept.

    `whole` texts get no special tokens; with `end`, a text ends with the token that ends texts.
    """
    tokenizer = loaded.tokenizer
    tokenizer.truncation_side = "left"
    room = None if limit is None else limit - int(end)
    features = _tokenize(tokenizer, texts, whole=whole)
    lengths = [len(each["input_ids"]) for each in features]
    long = [index for index, length in enumerate(lengths) if room is not None and length > room]
    if long:
        cut = _tokenize(tokenizer, [texts[index] for index in long], whole=whole, limit=room)
        for index, each in zip(long, cut, strict=True):
            features[index] = each
    if end:
        features = [_add_end(tokenizer, each) for each in features]
    return [
        Encoded(each, max(length, len(each["input_ids"])), text)
        for each, length, text in zip(features, lengths, texts, strict=True)
    ]


def _tokenize(tokenizer: Any, texts: Sequence[Text], *, whole: bool, limit: int | None = None) -> list[dict[str, Any]]:
    if not texts:
        return []
    firsts = [text if isinstance(text, str) else text[0] for text in texts]
    seconds = [text[1] for text in texts if isinstance(text, tuple)]
    cutting = {} if limit is None else {"truncation": True, "max_length": limit}
    encoded = tokenizer(
        firsts, *([seconds] if seconds else []), add_special_tokens=not whole, verbose=False, padding=False, **cutting
    )
    names = list(encoded.keys())
    return [{name: list(encoded[name][index]) for name in names} for index in range(len(texts))]


def _add_end(tokenizer: Any, features: dict[str, Any]) -> dict[str, Any]:
    ids = features["input_ids"]
    end = tokenizer.eos_token_id
    if end is None or (ids and ids[-1] in (end, tokenizer.sep_token_id)):
        return features
    fill = {"input_ids": end, "attention_mask": 1, "token_type_ids": 0}
    return {name: [*values, fill.get(name, 0)] for name, values in features.items()}


def pad_inputs(loaded: LoadedModel, encoded: Sequence[Encoded]) -> dict[str, Any]:
    """Several samples as tensors on the model's device, padded on the right."""
    loaded.tokenizer.padding_side = "right"
    padded = loaded.tokenizer.pad([dict(each.features) for each in encoded], return_tensors="pt", verbose=False)
    return {name: values.to(loaded.device) for name, values in padded.items()}


def write_inert(tokenizer: Any, text: str) -> str:
    """The text with every special token of the tokenizer split, so that it stays text."""
    return _special_names(tokenizer).sub(lambda name: f"{name[0][0]} {name[0][1:]}", _clean(text))


def _special_names(tokenizer: Any) -> re.Pattern[str]:
    """The names of all special tokens, including those without an attribute, such as most of a chat template's."""
    if tokenizer not in _NAMES:
        added = [str(each) for each in tokenizer.added_tokens_decoder.values() if each.special]
        names = sorted({*added, *tokenizer.all_special_tokens}, key=len, reverse=True)
        _NAMES[tokenizer] = re.compile("|".join(re.escape(name) for name in names if len(name) > 1) or r"(?!)")
    return _NAMES[tokenizer]


_NAMES: weakref.WeakKeyDictionary[Any, re.Pattern[str]] = weakref.WeakKeyDictionary()


def write_messages(tokenizer: Any, messages: Sequence[Message], **settings: Any) -> str:
    """Messages as the chat template renders them; special tokens in their contents stay text."""
    refused: Any = require("jinja2", extra="models", purpose="a chat template").TemplateError
    try:
        inert = [_inert(tokenizer, message) for message in messages]
        return str(tokenizer.apply_chat_template(inert, tokenize=False, **settings))
    except (refused, ValueError, TypeError, LookupError, AttributeError) as error:
        raise InvalidTrajectory(f"the chat template refuses the conversation: {error}") from error


def _inert(tokenizer: Any, value: Any) -> Any:
    if isinstance(value, str):
        return write_inert(tokenizer, value)
    if isinstance(value, Mapping):
        return {name: _inert(tokenizer, each) for name, each in value.items()}
    return [_inert(tokenizer, each) for each in value] if isinstance(value, list | tuple) else value


def _write_chat(tokenizer: Any, trajectory: Trajectory) -> str:
    return write_messages(tokenizer, trajectory.messages)


def _write_text(tokenizer: Any, trajectory: Trajectory) -> str:
    return _clean(trajectory.prompt_text) + write_inert(tokenizer, trajectory.response)


def _write_pair(tokenizer: Any, trajectory: Trajectory) -> tuple[str, str]:
    return _clean(trajectory.prompt_text), write_inert(tokenizer, trajectory.response)


def _write_response(tokenizer: Any, trajectory: Trajectory) -> str:
    return write_inert(tokenizer, trajectory.response)


def encode_text(tokenizer: Any, text: str, *, special: bool = False) -> list[int]:
    """The token ids of a text; with `special` the tokenizer may add its own tokens."""
    return list(tokenizer(_clean(text), add_special_tokens=special, verbose=False)["input_ids"])


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


FORMATS: dict[str, Callable[[Any, Trajectory], Text]] = {
    "chat": _write_chat,
    "text": _write_text,
    "pair": _write_pair,
    "response": _write_response,
}
"""The forms of a sample for a model: a chat (with its special tokens), one text, a pair of texts, or the response."""
