"""Text to token ids and back, for any Hugging Face tokenizer.

Sampled ids are never re-encoded: the text is decoded from them, and offsets map each id to its characters.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from plaudit.errors import DataError
from plaudit.training.data.prompts import Prompts
from plaudit.trajectory import Prompt, message_text


def encode_prompts(tokenizer: Any, prompts: Sequence[Prompt]) -> list[list[int]]:
    """The ids of each prompt; chat messages go through the tokenizer's chat template, if it has one."""
    texts = iter(encode_texts(tokenizer, [prompt for prompt in prompts if isinstance(prompt, str)]))
    ids = [next(texts) if isinstance(prompt, str) else _chat_ids(tokenizer, prompt) for prompt in prompts]
    _check_not_empty(prompts, map(len, ids))
    return ids


def encode_texts(tokenizer: Any, texts: Sequence[str], *, special: bool = True) -> list[list[int]]:
    """The ids of each text, all encoded in one call; with `special` the tokenizer may add its own tokens."""
    if not texts:
        return []
    bare = {"return_attention_mask": False, "return_token_type_ids": False}  # a third of the time goes into these
    return list(map(list, tokenizer(list(texts), add_special_tokens=special, **bare)["input_ids"]))


def count_tokens(tokenizer: Any, prompts: Sequence[Prompt]) -> list[int]:
    """The number of ids that `encode_prompts` would give for each prompt.

    Building lists of ids takes four fifths of its time; a tokenizer written in Rust counts the tokens of texts without
    them.
    """
    backend = getattr(tokenizer, "backend_tokenizer", None)
    texts = [prompt for prompt in prompts if isinstance(prompt, str)]
    if backend is None or not texts or len(texts) < len(prompts):
        return list(map(len, encode_prompts(tokenizer, prompts)))
    tokenizer(texts[:1])  # this call switches off truncation and padding in the backend
    lengths = list(map(len, backend.encode_batch(texts)))
    _check_not_empty(prompts, lengths)
    return lengths


def _check_not_empty(prompts: Sequence[Prompt], lengths: Iterable[int]) -> None:
    for index, (prompt, length) in enumerate(zip(prompts, lengths, strict=True)):
        if not length:
            raise DataError(f"prompt {index} has no tokens: {prompt!r:.60}; give it some text")


def keep_fitting(prompts: Prompts, tokenizer: Any, longest: int, *, drop: bool = False) -> Prompts:
    """The prompts of at most `longest` tokens; a longer one raises DataError, or is dropped."""
    lengths = count_tokens(tokenizer, prompts.prompts)
    long = [index for index, length in enumerate(lengths) if length > longest]
    if not long:
        return prompts
    first = long[0]
    problem = (
        f"{len(long)} of {len(prompts)} prompts are longer than {longest} tokens; the first is "
        f"{prompts[first].label(first)} with {lengths[first]}: {prompts[first].prompt_text!r:.60}"
    )
    if not drop:
        raise DataError(f"{problem}; shorten them, raise the limit as far as the model's context goes, or drop them")
    if len(long) == len(prompts):
        raise DataError(f"{problem}; none would be left")
    return prompts.pick(index for index, length in enumerate(lengths) if length <= longest)


def prompt_text(tokenizer: Any, prompt: Prompt) -> str:
    """A prompt as the model's input text: chat messages go through the tokenizer's chat template, if it has one."""
    if isinstance(prompt, str):
        return prompt
    if tokenizer.chat_template:
        return str(tokenizer.apply_chat_template(prompt, add_generation_prompt=True, tokenize=False))
    return "\n\n".join(message_text(message) for message in prompt)


def check_lengths(prompt_ids: Sequence[Sequence[int]], max_new_tokens: int, context: int | None) -> None:
    """Raise DataError when a prompt and the response to it would not fit into the model's context."""
    for index, ids in enumerate(prompt_ids):
        if context is not None and len(ids) + max_new_tokens > context:
            raise DataError(
                f"prompt {index} is too long: {len(ids)} tokens and {max_new_tokens} new ones make "
                f"{len(ids) + max_new_tokens}, but the model's context is {context}; shorten the prompt, "
                "lower max_new_tokens, or leave such prompts out"
            )


def find_end_ids(model: Any, tokenizer: Any) -> list[int]:
    """The tokens that end a response: the tokenizer's, and those the model's generation config names."""
    configured = getattr(getattr(model, "generation_config", None), "eos_token_id", None)
    named = configured if isinstance(configured, list) else [configured]
    return sorted({token for token in [*named, tokenizer.eos_token_id] if token is not None})


def decode_responses(tokenizer: Any, ids: Sequence[Sequence[int]]) -> list[str]:
    """The text of each response, without special tokens."""
    return list(tokenizer.batch_decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False))


def find_offsets(tokenizer: Any, ids: Sequence[Sequence[int]], texts: Sequence[str]) -> list[list[tuple[int, int]]]:
    """The character span of every token in the text decoded from them; special tokens have an empty one.

    Encoding the text again gives the spans of nearly all responses. If it gives other ids (a model may split
    a word into tokens that the tokenizer would merge), the spans come from decoding prefixes of the response.
    """
    if not ids:
        return []
    again = tokenizer(list(texts), add_special_tokens=False, return_offsets_mapping=True)
    special = set(tokenizer.all_special_ids)
    return [
        _match_spans(list(sampled), encoded, spans, special) or _offsets_by_prefixes(tokenizer, sampled, text)
        for sampled, text, encoded, spans in zip(ids, texts, again["input_ids"], again["offset_mapping"], strict=True)
    ]


def _match_spans(
    sampled: list[int], encoded: list[int], spans: list[tuple[int, int]], special: set[int]
) -> list[tuple[int, int]] | None:
    rest = sampled[len(encoded) :]
    if sampled[: len(encoded)] != list(encoded) or not special.issuperset(rest):
        return None
    end = spans[-1][1] if spans else 0
    return [*((begin, stop) for begin, stop in spans), *((end, end) for _ in rest)]


def _offsets_by_prefixes(tokenizer: Any, ids: Sequence[int], text: str) -> list[tuple[int, int]]:
    beginnings = decode_responses(tokenizer, [ids[: index + 1] for index in range(len(ids))])
    ends: list[int] = []
    for beginning in beginnings:  # half a character decodes to a replacement sign, which may be too long
        ends.append(max(ends[-1] if ends else 0, min(len(beginning), len(text))))
    return list(zip([0, *ends[:-1]], ends, strict=True))


def _chat_ids(tokenizer: Any, messages: Any) -> list[int]:
    if tokenizer.chat_template:
        ids = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=True, return_dict=True)
        return list(ids["input_ids"])
    return list(tokenizer(prompt_text(tokenizer, messages))["input_ids"])
