"""Texts and conversations as a model reads them: token ids, cut from the left where they are too long.

What a response says stays text. The names of a tokenizer's special tokens in it are broken up, so that it cannot end
its own turn and go on as somebody who praises it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from plaudit.errors import InvalidTrajectory, require
from plaudit.models.shared_models import LoadedModel
from plaudit.trajectory import Trajectory

__all__ = ["FORMATS", "Encoded", "Reading", "Text", "encode_texts", "pad_inputs", "write_inert"]

Text: TypeAlias = str | tuple[str, str]
"""What is tokenized: a text, or two that the model reads as a pair."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """The tokens of one sample, and how many there were before it was cut."""

    features: Mapping[str, list[int]]
    full_length: int

    def __len__(self) -> int:
        return len(self.features["input_ids"])

    @property
    def notes(self) -> dict[str, Any]:
        """What the metadata says of it."""
        dropped = self.full_length - len(self)
        return {"tokens": len(self), "tokens_cut": dropped} if dropped > 0 else {"tokens": len(self)}


@dataclass(frozen=True, slots=True)
class Reading:
    """How samples become text: `write` gives the text of one, `whole` where it carries its special tokens already."""

    write: Callable[[Any, Trajectory], Text]
    whole: bool = False


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
    long = [place for place, length in enumerate(lengths) if room is not None and length > room]
    if long:
        cut = _tokenize(tokenizer, [texts[place] for place in long], whole=whole, limit=room)
        for place, each in zip(long, cut, strict=True):
            features[place] = each
    if end:
        features = [_add_end(tokenizer, each) for each in features]
    return [Encoded(each, max(length, len(each["input_ids"]))) for each, length in zip(features, lengths, strict=True)]


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
    return [{name: list(encoded[name][place]) for name in names} for place in range(len(texts))]


def _add_end(tokenizer: Any, features: dict[str, Any]) -> dict[str, Any]:
    ids = features["input_ids"]
    end = tokenizer.eos_token_id
    if end is None or (ids and ids[-1] in (end, tokenizer.sep_token_id)):
        return features
    fill = {"input_ids": end, "attention_mask": 1, "token_type_ids": 0}
    return {name: [*values, fill.get(name, 0)] for name, values in features.items()}


def pad_inputs(loaded: LoadedModel, encoded: Sequence[Encoded]) -> dict[str, Any]:
    """Several samples as tensors on the model's device, filled up on the right."""
    loaded.tokenizer.padding_side = "right"
    padded = loaded.tokenizer.pad([dict(each.features) for each in encoded], return_tensors="pt", verbose=False)
    return {name: values.to(loaded.device) for name, values in padded.items()}


def write_inert(tokenizer: Any, text: str) -> str:
    """The text without anything that a tokenizer would take for more than text."""
    text = text.encode("utf-8", "replace").decode()
    for token in tokenizer.all_special_tokens:
        if len(token) > 1 and token in text:
            text = text.replace(token, f"{token[0]} {token[1:]}")
    return text


def _write_chat(tokenizer: Any, trajectory: Trajectory) -> str:
    *asked, answered = trajectory.messages
    answer = {**answered, "content": write_inert(tokenizer, trajectory.response)}
    refused: Any = require("jinja2", extra="models", purpose="a chat template").TemplateError
    try:
        return str(tokenizer.apply_chat_template([*asked, answer], tokenize=False))
    except (refused, ValueError, TypeError, LookupError, AttributeError) as error:
        raise InvalidTrajectory(f"the chat template refuses the conversation: {error}") from error


def _write_text(tokenizer: Any, trajectory: Trajectory) -> str:
    return _clean(trajectory.prompt_text) + write_inert(tokenizer, trajectory.response)


def _write_pair(tokenizer: Any, trajectory: Trajectory) -> tuple[str, str]:
    return _clean(trajectory.prompt_text), write_inert(tokenizer, trajectory.response)


def _write_response(tokenizer: Any, trajectory: Trajectory) -> str:
    return write_inert(tokenizer, trajectory.response)


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


FORMATS: dict[str, Reading] = {
    "chat": Reading(_write_chat, whole=True),
    "text": Reading(_write_text),
    "pair": Reading(_write_pair),
    "response": Reading(_write_response),
}
"""How a model may be given a sample: as its chat template writes it, as one text, as a pair, or the response alone."""
