"""Whether a response commits to the answer that it declares: not where it denies it or offers another value beside it.

Only closed lists of words are looked for, in three places: the clause before the answer, the rest of its sentence, and
the beginnings of the sentences behind it. All other words are not interpreted, so a response is free in how it explains
itself. `benchmarks/math_trust.py` measures each rule on labelled responses.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from plaudit.verify.math.extraction.marks import DIGIT, INK, Mark, Rejection, Source
from plaudit.verify.math.parsing.commands import KNOWN_COMMANDS
from plaudit.verify.math.parsing.units import OPEN_WORDS
from plaudit.verify.number_words import NUMBER_WORDS, digits_for_words, find_number_words
from plaudit.verify.numbers import NUMBER
from plaudit.verify.patterns import compile_late

BEFORE = 300  # characters before an answer that are read
AFTER = 400  # characters of the rest of its sentence that are read
FOLLOWING = 4000  # characters behind its sentence that are read


class Statement(NamedTuple):
    """An answer, the clause before it, the rest of its sentence, what follows in parts, the commands of its line.

    The words around the answer are in lower case.
    """

    before: str
    inside: str
    after: str
    following: tuple[str, ...] = ()
    commands: frozenset[str] = frozenset()


class Rule(NamedTuple):
    """What a statement must not have."""

    name: str
    rejection: Rejection
    forbids: Callable[[Statement], bool]


_SENTENCE_END = compile_late(
    r"[.!?](?=[\s*_\"')$\\]|$)(?<!\bDr.)(?<!\bM[rs].)(?<!\bMrs.)(?<!\bvs.)(?<!\bSt.)(?<!\bapprox.)(?<!\be\.g.)(?<!\bi\.e.)"
    r"(?<!\b[Nn]o\.(?=\s\d))|[。！？\n]|(?:\\\]|\$\$)(?=\s+[A-Z])"
)
_MARKUP = compile_late(
    r"\\(?:text|mathrm|mathbf|mbox|textbf)\s?\{|\\(?:begin|end)\s?\{[^{}]*\}|</?\w+>|\\[\])(\[,;:!. \\]|\\q?quad\b"
    r"|[$*_`}{~\s&]+"
)
_CLAUSE = compile_late(
    r"[,;(，；]|\b(?:but(?<!nothing but)(?<!anything but)(?<!everything but)|yet|so|(?<!\d )and|because|since)\b"
)
_PART = compile_late(r",(?=\s*[^\W\d])|[;(]|\s[—–-]+\s(?=[^\W\d])")
_ITEM = compile_late(r"\n\s*(?:\d+[.)]|[-*•])\s")
_PLAIN = frozenset({"", "A:", "The answer is", "Answer:", "The final answer is", "Final Answer"})
"""What stands before most answers; no rule on words forbids it."""
_LETTERS = frozenset("ABCDEFGHIJ")
_OPENING = " \t\n$*\\[(`_"
_WORD = compile_late(r"(?<![^\W\d_])(?<!\\)[^\W\d_]{2}")  # no command
_COMMAND = compile_late(r"\\([a-zA-Z]+)")
# What denies or leaves open the clause in which it stands.
_NEGATION = (
    r"(?:n['’]t\b|\b(?:not(?! only\b)|(?:might|may|could)\s(?:\w+\s)?(?:think|say|guess|expect|believe)|never|no|nope"
    r"|neither|nor|none|nobody|nothing|anything|cannot|hardly|nicht|kein\w*|pas|jamais|nunca"
    r"|reject\w*|discard\w*|wrong\w*|incorrect\w*|false\w*|mistak\w+|impossible|unlikely|doubt|deny|suppose|pretend"
    r"|imagine|either|rule out|forget|guess\w*|(?<!second )thought"
    r"|(?:except|instead of|rather than|other than|different from)(?!\W*\d)"
    r"|(?:might|may|could) be(?=\W*$))\b|不|没|并非)"
)
_NEGATED = compile_late(_NEGATION)
# "The number of people who did not vote is 4": what is counted may be negated.
_QUANTITY = compile_late(
    rf"\W*(?:\w+\s)?(?:the|how)\s(?:(?!answer|{_NEGATION})\w+\s){{1,3}}?(?:of|that|who|which|with|many|much)\b.*"
    r"\b(?:is|are|was|were|equals|be)[^a-z]*"
)
_BAD = (
    r"(?:wrong|incorrect|false|untrue|mistaken|invalid|rejected|an? (?:\w+ )?(?:mistake|error|guess)"
    r"|(?:not|n['’]t|never) (?:correct|right|true|it|final|sure|the (?:\w+ )?answer|my (?:\w+ )?answer))"
)
_BE = r"(?:is|are|was|were|be|does|do|did|can|could|would|has|had)(?:n['’]t|\s(?:\w+ly\s)?(?:not|never|no)|not)\b"
# Right behind the answer "is not", "fails" or "is wrong"; later in its sentence only "which is wrong" and the like.
_DENIED = compile_late(
    rf"^(?:(?!\b(?:who|that|until|while|because|since|as|for|if|when)\b)[^,;:(\d])*?"
    rf"(?:\b{_BE}|\b(?:is|was|would be) {_BAD}\b)"
    rf"|^[^\d]*?\b(?:which|that|this|it|but)\b(?:\s\w+)?\s(?:(?:is|was|be|seems) )?{_BAD}\b"
    r"|^\W*(?:no|wrong)\W*$|^[^\w?]*\?|[❌✗👎]"
)
_AGAINST = r"(?:(?:wait|no|nope|actually|but|however|hmm+|oops|sorry|and)\W+)*"
_TAKEN_BACK = compile_late(
    rf"^\W*{_AGAINST}(?:(?:that|this|it|my answer|the (?:answer|above))(?:['’]s|\s(?:is|was|seems)?)\s?(?:\w+ly )?"
    rf"{_BAD}\b|scratch that|never ?mind|just kidding|disregard|(?:ignore|forget) (?:that|this|it)"
    r"|(?:i|we) (?:take (?:that|it) back|(?:was|am|were) (?:wrong|mistaken)|made an? (?:\w+ )?(?:mistake|error))"
    r"|(?:no|nope|wrong|false|incorrect)\W*$)"
)
_CORRECTION = compile_late(
    r"\b(?:wait|scratch that|never ?mind|actually|oops|sorry|on reflection|on second thought|hold on|nope|mistake"
    r"|correct(?:ion|ing|ed)|error|wrong|incorrect|not right|miss(?:es|ed)|misread|hmm+"
    r"|re-?(?:check|comput|calculat|do|consider|examin)\w*)\b|(?:^|[.!?\n])\s*no\b(?=[,.])|等等|不对|等一下",
    re.IGNORECASE,
)
# Operations in words right before or behind an answer make another value of it.
_OPERATION_BEFORE = compile_late(
    r"\b(?:half|twice|double|triple|times|minus|negative|plus|than|(?:square|root|reciprocal|complement)(?= of))\b"
    r"(?: of)?(?: the)?[^\w:=]*$"
)
_OPERATION_AFTER = compile_late(
    r"^[^\w±+]*(?:(?:and (?:a|one) half|point|plus|minus|give or take|or (?:so|more|less))\b|±|\+/-|\\pm(?![a-z]))"
)


def _is_negated(statement: Statement) -> bool:
    return bool(_NEGATED.search(statement.before)) and not _QUANTITY.fullmatch(statement.before)


def _is_denied(statement: Statement) -> bool:
    return bool(statement.after) and bool(_DENIED.search(statement.after))


def _is_taken_back(statement: Statement) -> bool:
    return any(map(_TAKEN_BACK.search, statement.following))


def _is_operand(statement: Statement) -> bool:
    return bool(_OPERATION_BEFORE.search(statement.before) or _OPERATION_AFTER.search(statement.after))


def _is_in_command(statement: Statement) -> bool:
    return not statement.commands <= KNOWN_COMMANDS


RULES: tuple[Rule, ...] = (
    Rule("negation before it", Rejection.DENIED, _is_negated),
    Rule("denial after it", Rejection.DENIED, _is_denied),
    Rule("retraction", Rejection.DENIED, _is_taken_back),
    Rule("operation in words", Rejection.QUALIFIED, _is_operand),
    Rule("open words inside it", Rejection.QUALIFIED, lambda statement: qualifies_itself(statement.inside)),
    Rule("unknown command", Rejection.QUALIFIED, _is_in_command),
)


class Offer(NamedTuple):
    """A form in which a response offers another value, in the field of a statement; `@` stands for the value."""

    name: str
    field: str
    number: re.Pattern[str]
    letter: re.Pattern[str]


def _offer(name: str, field: str, pattern: str) -> Offer:
    letter = r"(?:option |choice )?\(?([a-j])\)?(?![\w'’])"
    return Offer(
        name, field, compile_late(pattern.replace("@", f"({NUMBER})")), compile_late(pattern.replace("@", letter))
    )


_BETWEEN = r"(?:(?!\b(?:not|than|instead|would%s)\b|n['’]t)[^\d\n]){0,40}?"
_GAP = _BETWEEN % ""
_GAP_TO_OBJECT = _BETWEEN % "|with|for|in|of|if|when|step|part|page|problem|question|number"
_SIGNS = r"[^\w=+-]*"
_APART = r"(?:[^\w-]|-(?![\d.]))"  # what stands before a value, but for its sign
_IT = (
    r"(?:it(?:['’]s)?|this|that|(?:the |my )?(?:(?:correct|right|real|actual|true|intended|final)\s)*"
    r"(?:value|result|total|number|solution|answer|option|choice|one|submission)s?)"
)
_IS = r"(?:\W+(?:is|was|be|could|should|must|may|might|also|well|as|have|been|read|equals|in|fact|really))*"
OFFERS: tuple[Offer, ...] = (
    _offer("either", "before", rf"@{_SIGNS}\b(?:or|to|vs)\b\W*$|\bbetween{_APART}+@\W+and\W*$"),
    _offer(
        "or",
        "after",
        r"(?:^\D*?\b(?:or|unless|maybe|perhaps|possibly|wait|actually|i mean|make that"
        r"|(?:could|may|might)\s(?:\w+\s){0,2}be)"
        rf"|\b(?:alternatively|otherwise|else|if not|if that)\b)\b{_GAP}@",
    ),
    _offer(
        "beside",
        "after",
        rf"^{_SIGNS}(?:(?:to|till|through|vs|and also|no|should be){_APART}+)?@{_SIGNS}(?:$|\b(?:if|or|unless)\b)"
        rf"|^\D*,{_APART}*@\W*$",
    ),
    _offer(
        "correction",
        "following",
        r"^\W*(?:(?:or|alternatively|otherwise|actually|correction|edit|update|backup|maybe|perhaps|no|wait|hmm+"
        r"|oops|sorry|rather|really|final|if not|if that|on second thoughts?|on reflection|then again|in fact|i mean)"
        rf"\b{_APART}*)+{_GAP}@\W*$"
        r"|^\W*(?:i|please|let['’]s|let us|my|our|make|change|use|read|take|count)\b"
        rf"(?:{_GAP_TO_OBJECT}|[^\d\n]{{0,20}}\b(?:go with|settle for|opt for)){_APART}@\W*$"
        rf"|^\D*{_APART}@\W+instead\W*$",
    ),
    _offer(
        "statement",
        "following",
        rf"^\W*(?:(?:so|but|thus|and|though|although|second)\s)*{_IT}{_IS}{_APART}+@\W*$|^{_APART}*@\W*$"
        rf"|^{_APART}*(?:(?:but|though|although)\s)?@ (?:is|are|would be) (?:also|equally|another|just as|possible)\b",
    ),
)
"""How a response offers another value beside its answer."""


def find_objection(statement: Statement) -> Rejection | None:
    """Why a statement does not commit to its answer, by the first rule that says so."""
    return next((rule.rejection for rule in RULES if rule.forbids(statement)), None)


def find_offers(statement: Statement) -> list[str]:
    """The values that a response offers beside its answer."""
    if not (statement.before or statement.after or statement.following):
        return []
    is_choice = is_letter(statement.inside)
    offered: list[str] = []
    for offer in OFFERS:
        texts = getattr(statement, offer.field)
        pattern = offer.letter if is_choice else offer.number
        for text in texts if isinstance(texts, tuple) else (texts,):
            if text and (is_choice or DIGIT.search(text)) and (match := pattern.search(text)):
                offered += [value for value in match.groups() if value]
    return offered


def is_denied_at(text: str, start: int, end: int) -> bool:
    """Whether the words around a span of text deny it."""
    statement = read_statement(Mark(text[start:end], Source.PHRASE, start, end), text)
    return _is_negated(statement) or _is_denied(statement) or _is_in_command(statement)


def qualifies_itself(answer: str) -> bool:
    """Whether an answer with a number holds words that deny it or leave it open; "does not exist" is an answer."""
    if answer.isascii() and "?" not in answer and "!" not in answer and not _WORD.search(answer):
        return False
    return bool(DIGIT.search(answer[:AFTER]) or find_number_words(answer)) and bool(
        OPEN_WORDS.search(answer[:AFTER].lower())
    )


def read_statement(mark: Mark, text: str) -> Statement:
    """The statement of an answer, without markup."""
    if mark.source is Source.WHOLE:
        return Statement("", mark.text, "")
    start = max(mark.start, text.find(mark.text, mark.start, mark.end)) if mark.source is Source.PHRASE else mark.start
    before = "" if mark.source is Source.HASHES else _read_before(text, start)
    after, following = _read_after(text, mark.end)
    return Statement(before, mark.text, after, following, _find_commands(mark, text))


def _read_before(text: str, start: int) -> str:
    """The clause that leads up to an index; a line that ends in a word or a colon leads up to the next."""
    before = text[max(0, start - BEFORE) : start]
    stripped = before.rstrip(_OPENING)
    if "\n" in before[len(stripped) :] and not (stripped[-1:].isalpha() or stripped.endswith((":", "：", ","))):
        return ""
    line = stripped[stripped.rfind("\n") + 1 :]
    if line in _PLAIN:
        return ""
    return _CLAUSE.split(_in_lower_case(_MARKUP.sub(" ", _SENTENCE_END.split(line)[-1])))[-1]


def _read_after(text: str, end: int) -> tuple[str, tuple[str, ...]]:
    """The rest of the sentence and the sentences behind it."""
    if len(text) - end < 2 and not text.endswith("?"):  # most responses end with their answer
        return "", ()
    if not INK.search(text, end):
        return text[end : end + AFTER].strip(), ()
    stop = _SENTENCE_END.search(text, end)
    index = stop.start() if stop else len(text)
    question = "?" if text.startswith(("?", "？"), index) else ""
    after = _in_lower_case(_MARKUP.sub(" ", text[end : min(index, end + AFTER)]) + question).strip()
    sentences = _SENTENCE_END.split(_ITEM.sub("\n", text[index : index + FOLLOWING]))
    parts = [*_PART.split(after)[1:], *(_in_lower_case(_MARKUP.sub(" ", part)) for part in sentences)]
    return after, tuple(part for part in parts if INK.search(part))


def _find_commands(mark: Mark, text: str) -> frozenset[str]:
    if "\\" not in text:
        return frozenset()
    line = text[text.rfind("\n", 0, mark.start) + 1 : mark.start], text[mark.end : text.find("\n", mark.end)]
    return frozenset(command for part in line if "\\" in part for command in _COMMAND.findall(part))


def is_corrected(earlier: Mark, last: Mark, text: str) -> bool:
    """Whether the text takes an earlier answer back before it gives the last."""
    return _CORRECTION.search(text, earlier.end, last.start) is not None


def _in_lower_case(text: str) -> str:
    """The text as the patterns expect it, with numbers in words as digits."""
    text = text.lower()
    return digits_for_words(text) if not NUMBER_WORDS.isdisjoint(text.replace("-", " ").split()) else text


def is_letter(answer: str) -> bool:
    """Whether an answer is the letter of an option."""
    return answer.strip("() ") in _LETTERS
