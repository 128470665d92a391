"""Whether a response states an answer as its final one: a few rules on the form of the statement around the answer.

A response is free in how it gets to its answer. The statement that gives it has to have one of few forms, and after it
the response may only say the same again. So a remark that nobody has foreseen rejects an answer instead of passing. The
words that are looked for are in `wording`.
`benchmarks/math_trust.py` measures each rule on labelled responses.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from plaudit.verify.arithmetic import SUM, false_sums
from plaudit.verify.math.extraction import wording
from plaudit.verify.math.extraction.marks import DIGIT, INK, Mark, Source
from plaudit.verify.math.extraction.phrases import find_phrases
from plaudit.verify.math.extraction.unmarked import find_closing
from plaudit.verify.math.parsing.commands import KNOWN_COMMANDS
from plaudit.verify.math.parsing.units import is_unit, unit_of
from plaudit.verify.math.policy import MathPolicy
from plaudit.verify.number_words import NUMBER_WORDS, digits_for_words, find_number_words
from plaudit.verify.numbers import find_numbers
from plaudit.verify.patterns import compile_late

__all__ = [
    "RULES", "CompetingAnswer", "Rejection", "Rule", "Statement", "find_competing_answers", "find_objection",
    "holds_prose", "is_corrected", "is_denied_at", "is_letter", "qualifies_itself",
]  # fmt: skip


class Rejection(StrEnum):
    """Why a stated answer does not count."""

    NONE_FOUND = "no answer found"
    CONDITIONAL = "the response gives its answer under a condition"
    CONTRADICTED = "the response gives different final answers"
    DENIED = "the response denies or doubts its answer"
    GUESSED = "the response does not mark its answer and speaks of its author"
    NOT_FINAL = "the response does not end with its answer"
    QUALIFIED = "the response says more of its answer than what it is"


class CompetingAnswer(NamedTuple):
    """Another answer that the response gives, which must be the same; `whole` is the statement that the text begins."""

    text: str
    why: Rejection
    whole: str = ""


class Statement(NamedTuple):
    """An answer, the sentence and the clause before it, the rest of the sentence, the LaTeX commands of its line, and
    the prompt in lower case."""

    sentence: str
    before: str
    inside: str
    after: str
    source: Source
    commands: frozenset[str] = frozenset()
    prompt: str = ""


class Rule(NamedTuple):
    """One form that a statement must not have; `is_around` if only the words around the answer are read."""

    name: str
    rejection: Rejection
    forbids: Callable[[Statement], bool]
    is_around: bool = True


BEFORE = 300  # characters before an answer that are read
AFTER = 400  # characters after an answer that are read
REST = 20_000  # characters at the end of a response in which the answer is stated again
AROUND = 250  # characters around an unmarked number in which the response may speak of its author

_CLAUSE = compile_late(r"[,;:(]|\b(?:and|so|but)\b")
_PLAIN = frozenset({"", "A:", "The answer is", "Answer:", "The final answer is", "Final Answer"})
"""What stands before most answers; no rule on words forbids it."""
_LETTERS = frozenset("ABCDEFGHIJ")
_OPTION_LETTER = compile_late(r"(?<![\w'’])\(?([A-HJ])\)?(?![\w'’]|\s+(?!or\b|and\b|is\b)\w)")
_OPENING = " \t\n$*\\[(`_"
_WORD = compile_late(r"[^\W\d_]{2,}")
_LONG_WORD = compile_late(r"(?<![^\W\d_])[^\W\d_]{3,}")
_TIMES = compile_late(r"\\(?:times|cdot)\b")
_COMMAND = compile_late(r"\\([a-zA-Z]+)")


def _is_denied(statement: Statement) -> bool:
    return (
        statement.before not in _PLAIN
        and bool(wording.DENIAL.search(statement.before))
        and not wording.QUANTITY.fullmatch(statement.before)
    )


def _is_conditional(statement: Statement) -> bool:
    condition = wording.CONDITION.search(statement.sentence)
    return condition is not None and "".join(condition[1].lower().split()) not in "".join(statement.prompt.split())


def _is_led_up_to(statement: Statement) -> bool:
    """Whether the words before an answer that ends its sentence, or a colon, are those that lead up to one."""
    before = statement.before
    if statement.source in (Source.PHRASE, Source.MATH) or (
        statement.after and not before.rstrip().endswith((":", "："))
    ):
        return True
    return wording.LEADS_UP.search(before) is not None


def _is_other_than_answer(statement: Statement) -> bool:
    """Whether a sentence that speaks of the answer says something else than what it is: "half the answer is 4"."""
    match = wording.OF_ANSWER.search(statement.before) or wording.LABEL.search(statement.before)
    if match is None:
        return False
    pre, post = (part.lower().replace("-", " ").split() for part in match.groups())
    return not wording.BEFORE_ANSWER.issuperset(pre) or not wording.BEHIND_ANSWER.issuperset(post[:1])


def _is_related(statement: Statement) -> bool:
    return (
        statement.before not in _PLAIN
        and bool(wording.RELATED.search(statement.before))
        and not wording.AMOUNTS_TO.search(statement.before)
    )


def _is_remarked(statement: Statement) -> bool:
    after = _strip_closing(_with_digits(statement.after)) if statement.after else ""
    if not after or wording.AGAIN.fullmatch(after) or wording.IN_BRACKETS.fullmatch(after):
        return False
    if _is_subject(statement):
        first = _WORD.match(after)
        is_counted = first is not None and (unit_of(after) is not None or first[0].lower() in statement.prompt)
        if not is_counted:
            return not wording.IS_THE_ANSWER.fullmatch(after) or bool(wording.DENIAL.search(after))
    head = wording.NOUN_CLAUSE.split(after)[0]
    return bool(
        wording.REMARK.search(head)
        or wording.SIGN.search(after)
        or wording.JOINED.match(after)
        or wording.DENIAL.search(head)
    )


def _is_subject(statement: Statement) -> bool:
    """Whether a sentence begins with its answer, so that it may say anything of it."""
    return statement.source is not Source.PHRASE and wording.LEAD.fullmatch(statement.before) is not None


def _is_open_inside(statement: Statement) -> bool:
    return qualifies_itself(statement.inside) or (
        statement.source is Source.BOXED and holds_prose(statement.inside, statement.prompt)
    )


def holds_prose(answer: str, prompt: str = "") -> bool:
    """Whether an answer with a number holds several words that name neither a unit nor a thing of the prompt."""
    if not DIGIT.search(answer) or "=" in answer:
        return False
    words = [word.lower() for word in _LONG_WORD.findall(_COMMAND.sub(" ", answer)) if not is_unit(word)]
    others = [word for word in words if word not in prompt and word not in wording.UNIT_WORDS]
    return len(others) > (1 if prompt else 2)


def _is_in_command(statement: Statement) -> bool:
    return not statement.commands <= KNOWN_COMMANDS


RULES: tuple[Rule, ...] = (
    Rule("denial before it", Rejection.DENIED, _is_denied),
    Rule("condition before it", Rejection.CONDITIONAL, _is_conditional),
    Rule("no words that lead up to it", Rejection.QUALIFIED, lambda statement: not _is_led_up_to(statement)),
    Rule("something else of the answer", Rejection.QUALIFIED, _is_other_than_answer),
    Rule("part of an expression in words", Rejection.QUALIFIED, _is_related),
    Rule("remark after it", Rejection.QUALIFIED, _is_remarked),
    Rule("remark inside it", Rejection.QUALIFIED, _is_open_inside, is_around=False),
    Rule("unknown command", Rejection.QUALIFIED, _is_in_command, is_around=False),
)


def find_objection(mark: Mark, text: str, prompt: str = "") -> Rejection | None:
    """Why the sentence of an answer does not state it, by the first rule that says so."""
    if mark.denied:
        return Rejection.DENIED
    if mark.source in (Source.NUMBER, Source.EQUATION, Source.MATH) and wording.AUTHOR.search(
        text, max(0, mark.start - AROUND), _end_of_sentence(text, mark.end)
    ):
        return Rejection.GUESSED
    return _apply(_read_statement(mark, text, prompt))


def _apply(statement: Statement) -> Rejection | None:
    is_plain = statement.before in _PLAIN and not statement.after
    for rule in RULES:
        if not (is_plain and rule.is_around) and rule.forbids(statement):
            return rule.rejection
    return None


def is_denied_at(text: str, start: int, end: int) -> bool:
    """Whether the words around a span of text deny it."""
    statement = _read_statement(Mark(text[start:end], Source.PHRASE, start, end), text, "")
    remark = _CLAUSE.split(statement.after)[0]
    return _is_denied(statement) or _is_in_command(statement) or bool(wording.DENIAL.search(remark))


def qualifies_itself(answer: str) -> bool:
    """Whether an answer with a number holds words that deny it or leave it open; "does not exist" is an answer."""
    if answer.isascii() and "?" not in answer and "!" not in answer and not _WORD.search(answer):
        return False
    return bool(DIGIT.search(answer[:AFTER]) or find_number_words(answer)) and bool(
        wording.INSIDE.search(answer[:AFTER])
    )


def _read_statement(mark: Mark, text: str, prompt: str) -> Statement:
    start = max(mark.start, text.find(mark.text, mark.start, mark.end)) if mark.source is Source.PHRASE else mark.start
    if mark.source is Source.WHOLE:
        return Statement("", "", mark.text, "", mark.source)
    sentence = "" if mark.source is Source.HASHES else _sentence_before(text, start)
    before = sentence if sentence in _PLAIN else wording.TURN.split(sentence)[-1]
    plain = _read_after(mark, text)
    return Statement(sentence, before, mark.text, plain, mark.source, _find_commands(mark, text), prompt.lower())


def _read_after(mark: Mark, text: str) -> str:
    """The rest of the sentence behind an answer, without markup."""
    if len(text) - mark.end < 2 and text[mark.end :] in ("", ".", "\n"):  # most responses end with their answer
        return ""
    end = min(_end_of_sentence(text, mark.end), mark.end + AFTER)
    question = "?" if text.startswith(("?", "？"), end) else ""
    return (wording.MARKUP.sub(" ", text[mark.end : end]) + question).strip()


def _find_commands(mark: Mark, text: str) -> frozenset[str]:
    if "\\" not in text:
        return frozenset()
    line = text[text.rfind("\n", 0, mark.start) + 1 : mark.start], text[mark.end : text.find("\n", mark.end)]
    return frozenset(command for part in line for command in _COMMAND.findall(part))


def _end_of_sentence(text: str, start: int) -> int:
    end = wording.SENTENCE_END.search(text, start)
    return end.start() if end else len(text)


def _sentence_before(text: str, start: int) -> str:
    """The sentence that leads up to an index; a line that ends in a word or a colon leads up to the next."""
    before = text[max(0, start - BEFORE) : start]
    stripped = before.rstrip(_OPENING)
    if "\n" in before[len(stripped) :] and not (stripped[-1:].isalpha() or stripped.endswith((":", "：", ","))):
        return ""
    line = stripped[stripped.rfind("\n") + 1 :]
    if line in _PLAIN:
        return line
    return wording.MARKUP.sub(" ", wording.SENTENCE_END.split(line)[-1])


def is_corrected(earlier: Mark, last: Mark, text: str) -> bool:
    """Whether the text takes an earlier answer back before it gives the last."""
    return wording.CORRECTION.search(text, earlier.end, last.start) is not None


def find_competing_answers(mark: Mark, text: str, policy: MathPolicy) -> list[CompetingAnswer] | Rejection:
    """The values with which a response goes on after its answer, which must be the same; or why it is not final."""
    if not INK.search(text, mark.end):
        return []
    after = _strip_closing(_with_digits(_read_after(mark, text)))
    values = [
        match[1] for pattern in (wording.AGAIN, wording.IN_BRACKETS) if (match := pattern.fullmatch(after)) and match[1]
    ]
    last = _find_last_statement(text[_end_of_sentence(text, mark.end) :][-REST:], mark.text)
    if last:
        restated = _find_value(_with_digits(last), mark, policy)
        if restated is None:
            return Rejection.NOT_FINAL
        values.append(restated)
    return [CompetingAnswer(value, Rejection.CONTRADICTED) for value in values]


def _find_last_statement(rest: str, answer: str) -> str:
    """The last sentence of the rest of a response that does more than leave the answer as it is."""
    if not INK.search(rest):
        return ""
    for sentence in reversed(wording.SENTENCE_END.split(rest)):
        plain = wording.MARKUP.sub(" ", sentence)
        if INK.search(plain) and not _is_aside(plain, answer) and not _is_check(sentence, answer):
            return sentence
    return ""


def _is_aside(plain: str, answer: str) -> bool:
    """Whether a sentence has a form that leaves the answer as it is; the values of such a sentence are other ones."""
    digits = _with_digits(plain)
    return bool(wording.ASIDE.fullmatch(digits)) and answer.strip() not in [
        value.text for value in find_numbers(digits)
    ]


def _is_check(sentence: str, answer: str) -> bool:
    """Whether a sentence begins as a check, and all its numbers stand in true sums with the answer in one of them."""
    if not wording.CHECK.match(sentence):
        return False
    plain = _TIMES.sub("*", sentence).replace("$", "").replace("\\", "").replace("**", "")
    used = [number.text for match in SUM.finditer(plain) for number in find_numbers(match[1])]
    words = SUM.sub(" ", plain)
    is_open = not words.isascii() or DIGIT.search(words) or wording.REMARK.search(words) or wording.DENIAL.search(words)
    return answer.strip() in used and not is_open and not any(false_sums(plain))


def _find_value(sentence: str, mark: Mark, policy: MathPolicy) -> str | None:
    """The value that a sentence states, if its form is that of a statement."""
    if is_letter(mark.text):
        letters = _OPTION_LETTER.findall(sentence)
        return letters[-1] if letters else None
    if not DIGIT.search(mark.text):
        return mark.text if mark.text.strip() in sentence else None
    stated = next(iter(reversed(find_phrases(sentence))), None) or find_closing(sentence, policy)
    if stated is None or not DIGIT.search(stated.text) or _apply(_read_statement(stated, sentence, "")):
        return None
    return stated.text


def _strip_closing(after: str) -> str:
    if not after or wording.ASIDE.fullmatch(after):
        return ""
    closing = wording.CLOSING.search(after)
    return after[: closing.start()] if closing else after


def _with_digits(text: str) -> str:
    words = text.lower().replace("-", " ").split()
    return digits_for_words(text) if not NUMBER_WORDS.isdisjoint(words) else text


def is_letter(answer: str) -> bool:
    """Whether an answer is the letter of an option."""
    return answer.strip("() ") in _LETTERS
