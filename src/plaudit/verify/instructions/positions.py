"""Instructions about how a response starts and ends, and about copying the request."""

from plaudit.errors import InvalidTrajectory
from plaudit.verify.instructions.formats import SIX_ASTERISKS
from plaudit.verify.instructions.instruction import Instruction, N, compare, count, result, text_argument
from plaudit.verify.instructions.parts import has_word, is_word, same_text, words_of
from plaudit.verify.text import sentences_of
from plaudit.verify.verifier import Verdict


def end_phrase(text: str, end_phrase: str) -> Verdict:
    """The text ends with the phrase, in any case; quotes after it do not count."""
    written, phrase = _spaced(text.rstrip('"”')), _spaced(end_phrase.strip().strip('"“”'))
    before = written[: -len(phrase)]
    followed = written.endswith(phrase) and not (before[-1:].isalnum() and phrase[:1].isalnum())
    return result(followed, f"ends with {written[-60:]!r}")


def quotation(text: str) -> Verdict:
    """The text starts and ends with a double quotation mark and has a word between them."""
    followed = len(text) > 2 and text[0] == text[-1] == '"' and has_word(text)
    return result(followed, "wrapped in quotation marks" if followed else "not wrapped in quotation marks")


def repeat_prompt(text: str, prompt_to_repeat: str) -> Verdict:
    """The text starts with the request, word for word, and an answer follows."""
    written, request = _spaced(text), _spaced(prompt_to_repeat)
    if not written.startswith(request):
        return result(False, "does not start with the request")
    rest = written[len(request) :]
    while (rest := rest.lstrip()).startswith(request):
        rest = rest[len(request) :]
    return result(has_word(rest), "the request and an answer" if has_word(rest) else "no answer follows the request")


def same_as(text: str, prompt_to_repeat: str) -> Verdict:
    """The text is exactly the request."""
    followed = same_text(text, prompt_to_repeat)
    return result(followed, "the request" if followed else "not the request without change")


def repeated(text: str, prompt_to_repeat: str, number: int) -> Verdict:
    """The request so many times, separated by six asterisks."""
    parts = SIX_ASTERISKS.split(text)
    if len(parts) != number:
        return compare(len(parts), "exactly", number, "copies")
    return result(all(same_text(part, prompt_to_repeat) for part in parts), f"{number} copies of the request or not")


def character_span(text: str, prompt_to_repeat: str, n_start: int, n_end: int) -> Verdict:
    """The characters of the request from one index to another, both included."""
    span = prompt_to_repeat[n_start : n_end + 1]
    return result(same_text(text, span), f"expected {span!r:.60}")


def repeated_phrase(text: str, phrase: str, small_n: int) -> Verdict:
    """The phrase `small_n` times, each time with one other word between its first and its last word."""
    wanted, words = words_of(phrase.casefold()), words_of(text.casefold())
    changes, start = [], 0
    while start + len(wanted) <= len(words):
        changed = _changed_words(words, start, wanted)
        changes += [] if changed is None else [changed]
        start += 1 if changed is None else len(wanted)
    if 0 in changes:
        return result(False, "the phrase occurs unchanged")
    return compare(len(changes), "exactly", small_n, "times the phrase with one other word")


def _changed_words(words: list[str], start: int, wanted: list[str]) -> int | None:
    """The number of words (0 or 1) that differ from the phrase here; None where more differ."""
    end = start + len(wanted)
    if words[start] != wanted[0] or words[end - 1] != wanted[-1]:
        return None
    changed = sum(first != second for first, second in zip(words[start:end], wanted, strict=True))
    return changed if changed <= 1 else None


def first_word(text: str, first_word: str) -> Verdict:
    """The first word of the text is the word."""
    return _word_is(text, 0, first_word)


def last_word(text: str, last_word: str) -> Verdict:
    """The last word of the text is the word."""
    return _word_is(text, -1, last_word)


def first_words(text: str, first_word: str) -> Verdict:
    """The first word of every sentence is the word."""
    return _every_word_is(text, 0, first_word)


def last_words(text: str, last_word: str) -> Verdict:
    """The last word of every sentence is the word."""
    return _every_word_is(text, -1, last_word)


def start_and_end(text: str) -> Verdict:
    """The first word is also the last, with nothing after it."""
    words = words_of(text)
    followed = len(words) > 1 and is_word(words[0], words[-1]) and text[-1].isalnum()
    return result(
        followed, f"starts with {words[0]!r:.40} and ends with {text[-40:]!r}" if words else "there is no word"
    )


def _word_is(text: str, index: int, wanted: str) -> Verdict:
    words, expected = words_of(text), words_of(wanted)
    if not words or len(expected) != 1:
        return result(False, "there is no word" if not words else f"{wanted!r:.40} is not one word")
    return result(is_word(words[index], expected[0]), f"the word is {words[index]!r:.40}, expected {wanted!r:.40}")


def _every_word_is(text: str, index: int, wanted: str) -> Verdict:
    verdicts = [_word_is(sentence, index, wanted) for sentence in sentences_of(text)]
    wrong = next((verdict for verdict in verdicts if not verdict.passed), None)
    return wrong or result(bool(verdicts), f"{len(verdicts)} sentences")


def _has_span(prompt_to_repeat: str, n_start: int, n_end: int) -> None:
    if not n_start <= n_end < len(prompt_to_repeat):
        raise InvalidTrajectory(f"no span from {n_start} to {n_end} in {len(prompt_to_repeat)} characters")


def _has_middle(phrase: str, small_n: int) -> None:
    if len(words_of(phrase)) < 3:
        raise InvalidTrajectory(f"the phrase {phrase!r:.40} has no word between its first and its last one")


def _spaced(text: str) -> str:
    return " ".join(text.casefold().split())


_REQUEST = {"prompt_to_repeat": text_argument}
IFEVAL = {
    "startend:end_checker": Instruction(end_phrase, {"end_phrase": text_argument}),
    "startend:quotation": Instruction(quotation),
    "combination:repeat_prompt": Instruction(repeat_prompt, _REQUEST),
}
TRAINING = {
    "copy:repeat_phrase": Instruction(
        repeated_phrase, {"phrase": text_argument, "small_n": count}, consistent=_has_middle
    ),
    "copy:copy": Instruction(same_as, _REQUEST),
    "copy:copying_simple": Instruction(same_as, _REQUEST),
    "copy:copying_multiple": Instruction(repeated, {**_REQUEST, "number": N}),
    "new:copy_span_idx": Instruction(
        character_span, {**_REQUEST, "n_start": count, "n_end": count}, consistent=_has_span
    ),
    "first_word:first_word_sent": Instruction(first_words, {"first_word": text_argument}),
    "first_word:first_word_answer": Instruction(first_word, {"first_word": text_argument}),
    "last_word:last_word_sent": Instruction(last_words, {"last_word": text_argument}),
    "last_word:last_word_answer": Instruction(last_word, {"last_word": text_argument}),
    "keywords:start_end": Instruction(start_and_end),
}
FUNCTIONS = {
    "validate_repeat_prompt": Instruction(repeat_prompt, {"prompt_to_repeat": ("original_prompt", text_argument)}),
    "validate_end": Instruction(end_phrase, {"end_phrase": text_argument}),
    "validate_quotation": Instruction(quotation),
}
