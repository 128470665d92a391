"""OpenRLHF's remote reward protocol: `{"query", "prompts", "labels"}` → `{"rewards", "scores", "extra_logs"}`.

A query is the prompt followed by the response, special tokens included: the response is the text after the prompt,
without the tokens that end a text. Where no prompts are sent, the whole query is the response. `scores` are the scores
of rewards that judge correctness, and the rewards of others, as in OpenRLHF itself. `extra_logs` holds the numbers that
every scored output has in its metadata (a reward file's own `extra_logs`) or components; those of unscored samples
follow `--on-unscored`, as their rewards do.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from plaudit.contract.output import RewardOutput, finite_numbers
from plaudit.serving.protocols.protocol import (
    About,
    RequestRefused,
    Samples,
    check_depth,
    decode_message,
    encode_numbers,
    fill_unscored,
    numbers_of,
)
from plaudit.trajectory import Trajectory

_ENDINGS = (
    "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end_of_text|>", "<|end|>", "<|eom_id|>", "<|return|>", "</s>",
    "<eos>", "<end_of_turn>", "<pad>", "<｜end▁of▁sentence｜>", "[EOS]",
)  # fmt: skip
_BEGINNINGS = ("<s>", "<bos>", "<|begin_of_text|>", "<｜begin▁of▁sentence｜>")
_LAST = frozenset(ending[-1] for ending in _ENDINGS)


class RewardRequest(msgspec.Struct):
    """{"query": [text], "prompts": [text], "labels": [any]}"""

    query: list[str] | str
    prompts: list[str] | str | None = None
    labels: Any = None


class RewardAnswer(msgspec.Struct):
    """One reward and one score for each query, and numbers to log."""

    rewards: list[float | None]
    scores: list[float | None]
    extra_logs: dict[str, list[float | None]]


class OpenRLHFProtocol:
    """Numbers for lists of texts."""

    path, packs, title = "get_reward", False, "OpenRLHF: --remote_rm_url"
    messages: tuple[Any, Any] = RewardRequest, RewardAnswer

    def __init__(self) -> None:
        self._decoder = msgspec.json.Decoder(RewardRequest)

    def read(self, body: bytes, *, packed: bool) -> Samples:
        try:
            request = self._decoder.decode(body)
            check_depth(request.labels)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            request = decode_message(body, RewardRequest)  # accepts lone surrogates; its errors name the invalid field
        queries = [request.query] if isinstance(request.query, str) else request.query
        prompts = _one_each("prompts", request.prompts, len(queries)) or [""] * len(queries)
        labels = _one_each("labels", request.labels, len(queries)) or [None] * len(queries)
        return Samples(list(map(Trajectory, prompts, map(_response, queries, prompts), labels)))

    def write(self, samples: Samples, outputs: Sequence[RewardOutput], about: About, *, packed: bool) -> bytes:
        rewards = numbers_of(outputs, about)
        scores = [
            reward if output.score is None else output.score for output, reward in zip(outputs, rewards, strict=True)
        ]
        return encode_numbers({"rewards": rewards, "scores": scores, "extra_logs": _logs(outputs, about)})


def _response(query: str, prompt: str) -> str:
    response = query.removeprefix(prompt) if query.startswith(prompt) else _behind_beginning(query, prompt)
    return _without_endings(response) if response.rstrip()[-1:] in _LAST else response


def _behind_beginning(query: str, prompt: str) -> str:
    """The response of a query that begins with a token that the prompt lacks; any other query unchanged."""
    begun = next((token for token in _BEGINNINGS if query.startswith(token + prompt)), None)
    return query if begun is None else query[len(begun) + len(prompt) :]


def _without_endings(text: str) -> str:
    """A text without the tokens at its end and the space around them; a text without such tokens is unchanged."""
    kept, end = len(text), _end_of_words(text, len(text))
    while (ending := next((each for each in _ENDINGS if text.endswith(each, 0, end)), None)) is not None:
        kept = end = _end_of_words(text, end - len(ending))
    return text[:kept]


def _end_of_words(text: str, end: int) -> int:
    """The index at which the space before `end` begins."""
    while end and text[end - 1].isspace():
        end -= 1
    return end


def _one_each(what: str, values: Any, count: int) -> list[Any] | None:
    if values is None:
        return None
    listed = values if type(values) is list else [values]
    if len(listed) != count:
        raise RequestRefused(422, f"{len(listed)} {what} for {count} queries; send one each")
    return listed


def _logs(outputs: Sequence[RewardOutput], about: About) -> dict[str, list[float | None]]:
    """The numbers of metadata and components that every scored sample has, one per sample under each name."""
    scored = [_numbers_in(output) for output in outputs if output.ok]
    names = [name for name in scored[0] if all(name in numbers for numbers in scored)] if scored else []
    each = [_numbers_in(output) if output.ok else {} for output in outputs]
    return {name: fill_unscored([numbers.get(name) for numbers in each], about) for name in names}


def _numbers_in(output: RewardOutput) -> dict[str, float]:
    if not output.metadata and not output.components:
        return {}
    parts = {name: part.reward for name, part in output.flat_components().items()}
    return finite_numbers({**output.metadata, **parts})
