"""The final answer of a response: in `<answer>`, in a box, after "the answer is", else all of it."""

import re
from typing import NamedTuple

from plaudit.verify.math.extraction.boxes import find_boxes
from plaudit.verify.patterns import compile_late
from plaudit.verify.tags import find_blocks

__all__ = ["FinalAnswer", "find_final_answer"]

_PHRASE = compile_late(r"\banswer(?:\s+(?:to|for)\s+[\w\s']{1,60}?)?\s*(?:\bis\b|:)[\s:*]*", re.IGNORECASE)
_SENTENCE_END = compile_late(r"[.!?]\s")
_EMPHASIS = compile_late(r"\*\*|__(?=\S)|(?<=\S)__|`")
_WRAPPED = compile_late(r"\\(?:text|textbf|mathrm|mathbf)\s?\{([^{}]*)\}")


class FinalAnswer(NamedTuple):
    """What a response gives as its answer: the readings to try, and where they are from; none if answers differ."""

    readings: tuple[str, ...]
    source: str


def find_final_answer(text: str) -> FinalAnswer:
    """The final answer of a text without thoughts."""
    if "<" in text and (blocks := find_blocks(text, "answer")):
        return _only([block.text for block in blocks], "<answer>")
    if boxes := find_boxes(text):
        return _only([_WRAPPED.sub(r"\1", box.text) for box in boxes], "box")
    plain = _EMPHASIS.sub("", text)
    position = plain.lower().rfind("answer")
    phrase = _PHRASE.match(plain, position) if position >= 0 else None
    if phrase is None:
        return FinalAnswer((plain.strip(),), "whole answer")
    line = plain[phrase.end() :].partition("\n")[0].strip()
    sentence = _SENTENCE_END.split(line, maxsplit=1)[0]
    return FinalAnswer(tuple(dict.fromkeys((line, sentence))), "phrase")


def _only(texts: list[str], source: str) -> FinalAnswer:
    stripped = list(dict.fromkeys(text.strip() for text in texts))
    return FinalAnswer(tuple(stripped) if len(stripped) == 1 else (), source)
