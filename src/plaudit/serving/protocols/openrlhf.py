"""OpenRLHF's remote reward protocol: `{"query", "prompts", "labels"}` → `{"rewards", "scores", "extra_logs"}`.

A query is the prompt followed by the response, special tokens included: the response is what stands behind the prompt,
without the tokens that end a text. Where no prompts are sent, all of the query is the response. `scores` are the scores
of rewards that judge correctness, and the rewards of others, as OpenRLHF itself has them by default.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from plaudit.contract.plain_samples import PlainSamples
from plaudit.serving.protocols.protocol import (
    About,
    RequestRefused,
    Samples,
    Scored,
    check_depth,
    decode_plain,
    encode_numbers,
    numbers_of,
)

__all__ = ["OpenRLHFProtocol"]

_ENDINGS = (
    "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end_of_text|>", "<|end|>", "<|eom_id|>", "<|return|>", "</s>",
    "<eos>", "<end_of_turn>", "<pad>", "<｜end▁of▁sentence｜>", "[EOS]",
)  # fmt: skip
_BEGINNINGS = ("<s>", "<bos>", "<|begin_of_text|>", "<｜begin▁of▁sentence｜>")
_LAST = frozenset(ending[-1] for ending in _ENDINGS)


class _Request(msgspec.Struct):
    query: list[str] | str
    prompts: list[str] | str | None = None
    labels: Any = None


class OpenRLHFProtocol:
    """Numbers for lists of texts."""

    path, packs, plain = "get_reward", False, True

    def __init__(self) -> None:
        self._decoder = msgspec.json.Decoder(_Request)

    def read(self, body: bytes, *, packed: bool) -> Samples:
        try:
            asked = self._decode(body)
        except RecursionError:
            raise RequestRefused(422, "the body is nested too deeply") from None
        except msgspec.ValidationError as error:
            raise RequestRefused(422, f"{error}; expected {{query: [text], prompts: [text], labels: [any]}}") from None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise RequestRefused(400, f"the body is not JSON: {error}") from None
        queries = [asked.query] if isinstance(asked.query, str) else asked.query
        prompts = _one_each("prompts", asked.prompts, len(queries)) or [""] * len(queries)
        labels = _one_each("labels", asked.labels, len(queries)) or [None] * len(queries)
        check_depth(labels)
        return Samples(PlainSamples(prompts, _responses(queries, prompts), labels))

    def _decode(self, body: bytes) -> _Request:
        try:
            return self._decoder.decode(body)
        except msgspec.ValidationError:
            raise
        except msgspec.DecodeError:
            if b"\\ud" not in body.lower():
                raise
            return msgspec.convert(decode_plain(body), _Request)  # half a character, which Python may send

    def write(self, samples: Samples, outputs: Sequence[Scored], about: About, *, packed: bool) -> bytes:
        rewards = numbers_of(outputs, about)
        if rewards is outputs:  # bare numbers, which are rewards and scores and nothing else
            return b'{"rewards":%b,"scores":%b,"extra_logs":{}}' % ((msgspec.json.encode(rewards),) * 2)
        scores = [
            reward if isinstance(output, float) or output.score is None else output.score
            for output, reward in zip(outputs, rewards, strict=True)
        ]
        return encode_numbers({"rewards": rewards, "scores": scores, "extra_logs": _logs(outputs)})


def _responses(queries: list[str], prompts: list[str]) -> list[str]:
    return [
        rest if len(rest) < len(query) and rest.rstrip()[-1:] not in _LAST else _response(query, prompt)
        for query, prompt, rest in zip(queries, prompts, map(str.removeprefix, queries, prompts), strict=True)
    ]


def _response(query: str, prompt: str) -> str:
    response = query.removeprefix(prompt) if query.startswith(prompt) else _behind_beginning(query, prompt)
    return _without_endings(response) if response.rstrip()[-1:] in _LAST else response


def _behind_beginning(query: str, prompt: str) -> str:
    """The response where a token begins the query that the prompt lacks; all of the query where it is another text."""
    begun = next((token for token in _BEGINNINGS if query.startswith(token + prompt)), None)
    return query if begun is None else query[len(begun) + len(prompt) :]


def _without_endings(text: str) -> str:
    """A text without the tokens that end it and the space around them; as it is where there are none."""
    kept, end = len(text), _end_of_words(text, len(text))
    while (ending := next((each for each in _ENDINGS if text.endswith(each, 0, end)), None)) is not None:
        kept = end = _end_of_words(text, end - len(ending))
    return text[:kept]


def _end_of_words(text: str, end: int) -> int:
    """Where the space before `end` begins."""
    while end and text[end - 1].isspace():
        end -= 1
    return end


def _one_each(what: str, given: Any, count: int) -> list[Any] | None:
    if given is None:
        return None
    listed = given if type(given) is list else [given]
    if len(listed) != count:
        raise RequestRefused(422, f"{len(listed)} {what} for {count} queries; send one each")
    return listed


def _logs(outputs: Sequence[Scored]) -> dict[str, list[float]]:
    """The components that every sample has, as one number per sample."""
    flat = [{} if isinstance(output, float) else output.flat_components() for output in outputs]
    logs: dict[str, list[float]] = {}
    for name in flat[0] if flat and all(flat) else ():
        values = [part[name].reward if name in part else None for part in flat]
        if None not in values:
            logs[name] = values  # type: ignore[assignment]  # no None among them
    return logs
