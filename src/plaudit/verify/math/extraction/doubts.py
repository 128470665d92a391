"""Why a stated answer does not count: it is denied, taken back, hedged or contradicted.

Reads cue words around an answer, no meaning: `CUES` says which words and where they must stand. What is offered beside
an answer is found in `rivals`. It errs towards distrust: who wavers loses an answer, none gains one by luck.
"""

import re
from enum import StrEnum
from typing import NamedTuple

from plaudit.verify.math.extraction.marks import Mark
from plaudit.verify.numbers import Number
from plaudit.verify.patterns import compile_late

__all__ = [
    "CUES",
    "Cue",
    "Rejection",
    "denial_of_number",
    "denies_itself",
    "find_condition",
    "find_second_thought",
    "is_corrected",
    "is_denied",
    "is_retracted",
]

FOLLOWING = 20_000  # characters after an answer in which it may be taken back
BEFORE = 120  # characters before an answer in which it may be denied
AFTER = 160  # characters after an answer in which it may be denied


class Rejection(StrEnum):
    """Why a stated answer is no answer."""

    NONE_FOUND = "no answer found"
    CONDITIONAL = "the response gives its answer under a condition"
    CONTRADICTED = "the response gives different final answers"
    GUESSED = "the response does not stand behind its answer"
    HEDGED = "the response leaves a choice of answers"
    NEGATED = "the response says what the answer is not"
    RETRACTED = "the response takes its answer back"


class Cue(NamedTuple):
    """Words that deny an answer, and where they stand: in the clause before it, inside it, or right after it."""

    name: str
    where: str
    pattern: re.Pattern[str]


_NOT = r"(?:\b(?:not|never|cannot|nicht|keine?|n['’]est pas|no es|neither|nor)\b|n['’]t\b|不是|并非|不为)"
_WRONG = (
    r"(?:wrong|incorrect|false|mistaken|untrue|invalid|a lie|a mistake|an error|a typo|nonsense|ruled out|rejected"
    r"|excluded|discarded|extraneous|impossible|(?:a )?placeholder|(?:(?:just|only|merely) )?a (?:wild |random )?guess"
    r"|falsch|faux|incorrecto?)\b"
    r"|不对|错"
)
_RIGHT = (
    r"(?:right|correct|true|valid|(?:the|an?) (?:\w+ )?(?:case|answer|solution|root|value|result)|it(?!['’])|so"
    r"|possible|acceptable)\b"
)
_VERB = r"(?:is|are|was|were|equals|gives|has|had|numbers?|makes|est|ist|es|lautet|totals|=|:)"
_IS = r"(?:is|was|are|were|would be|seems|looks|est|ist|es)"


def _cue(name: str, where: str, pattern: str) -> Cue:
    return Cue(name, where, compile_late(pattern, re.IGNORECASE))


CUES: tuple[Cue, ...] = (
    # "not 4", "isn't exactly 4"; but "those who did not vote are 4" says something of those
    _cue(
        "negation before",
        "before",
        rf"{_NOT}(?!\s+only\b)(?!.*\bbut\b)(?:\s+(?!{_VERB}(?:\s|$))[^\W\d][\w'’]*){{0,3}}[^\w\n]*$",
    ),
    _cue(
        "denied claim",
        "before",
        rf"(?:{_NOT}\s+(?:\w+\s+)?(?:{_RIGHT}|think|believe|say|claim)"
        r"|\b(?:false|wrong|untrue|incorrect|impossible|mistake|lie)\s+(?:that|to|if)"
        r"|\b(?:might|may|could|would|often|commonly|wrongly|mistakenly) (?:\w+ )?"
        r"(?:think|say|guess|believe|expect|assume)"
        r"|\b(?:first|initially|originally|previously) (?:\w+ )?(?:thought|got|found|said|guessed|believed|assumed)"
        r"|\b(?:doubt|deny|denies|disagree|refute|nobody|no one|no-one|hardly|unlikely|never said))\b[^.!?\n]*$",
    ),
    _cue(
        "other than",
        "before",
        r"\b(?:anything|everything|nothing|any (?:number|value)|all) (?:but|except|other than|besides)"
        r"(?:\s+\w+){0,2}\W*$"
        r"|\b(?:instead of|rather than|other than|except|as opposed to|different from)(?:\s+\w+)?\W*$",
    ),
    _cue("rejected", "before", r"\b(?:reject|discard|exclude|eliminate|dismiss|rule out|ruling out)(?:s|ed|ing)?\s+"
         r"(?:\w+\s+){0,2}\W*$"),
    _cue(
        "wrong answer",
        "before",
        r"\b(?:wrong|incorrect|false|mistaken|bogus)\s+(?:\w+\s)?(?:(?:answer|result|value|guess|solution)s?\b[^.!?\n]*)?$",
    ),
    _cue(
        "supposed",
        "before",
        r"\b(?:if|suppose|assume|assuming|whether|were)\s+(?:that\s+)?(?:(?:the|my|our|your)\s+)?(?:\w+\s)?"
        r"(?:answer|it|result)(?:['’]s|\s+(?:is|was|were|be|would be))?\W*$",
    ),
    _cue("negation after", "after", rf"[^\w\n.!?]*{_IS}\s?(?:not|n['’]t)(?:\s+(?:\w+\s+){{0,2}}?{_RIGHT}|\W*(?:$|\n))"),
    _cue("does not work", "after", r"[^\w\n.!?]*(?:does|do|did|will|would)\s?(?:not|n['’]t)\s+"
         r"(?:work|hold|satisfy|fit|count|apply|solve|qualify|help)\b"),
    _cue("cannot be after", "after", rf"[^\w\n.!?]*(?:can\s?not|can['’]t|could\s?n['’]t)\s+be\s+{_RIGHT}"),
    _cue("wrong after", "after", rf"[^\w\n]*(?:(?:(?:that|this|it|which|but it)(?:['’]s)?|and)\s+)?(?:{_IS}\s+)?"
         rf"(?:(?:a|an|the|completely|clearly|obviously|definitely|simply|just|still)\s+)?(?:{_WRONG})"),
    _cue("wrong remark", "after", rf"[^.!?\n]{{0,40}}?(?:[(,;–—-]|\bbut)\s*"
         rf"(?:(?:that|this|it|which|he|she)(?:['’]s)?\s+)(?:{_IS}\s+)?(?:(?:always|\w+ly)\s+)?(?:{_WRONG}|not\s+(?:\w+ly\s+)?{_RIGHT})"),
    _cue("answered with no", "after", r"[^\w\n.!]*\?+[^\w]*(?:no|nope|nah|wrong|not|never|nein|non)\b"),
    _cue("foreign negation after", "after",
         r"[^\w\n.!?]*(?:ist|est|es|ne)?\s?(?:nicht|pas|不对|不是|错)(?:\b|(?=\W|$))"),
    _cue("crossed out", "after", r"[^\w\n]*?[❌✗]"),
    _cue("denial inside", "inside", rf"{_NOT}|[❌✗]|\b(?:wrong|incorrect|false|untrue|nonsense)\b|\bisn['’]?t\b"),
    _cue("doubt inside", "inside", r"\b(?:maybe|perhaps|possibly|probably|unsure|guess|with probability)\b|\?\W*$"),
)  # fmt: skip
_BEFORE = tuple(cue.pattern for cue in CUES if cue.where == "before")
_INSIDE = tuple(cue.pattern for cue in CUES if cue.where == "inside")
_AFTER = tuple(cue.pattern for cue in CUES if cue.where == "after")

_SECOND_THOUGHT = compile_late(
    r"\b(?:wait|actually|oops|sorry|correction|correcting|corrected|i mean|on second thought|on reflection"
    r"|thinking again|hold on|(?:edit|update)(?=:)|hmm+|no(?=[,.]|\s*$)|nope|(?:just )?(?:kidding|joking)|warte"
    r"|moment|attends|en fait|espera|perdón)\b|等等|不对|等一下",
    re.IGNORECASE,
)
_TAKEN_BACK = compile_late(
    r"\b(?:scratch that|i was wrong|i am lying|i lied|the opposite is true|i made (?:a mistake|an error)"
    r"|ignore (?:that|this)|(?:just )?(?:kidding|joking)"
    r"|(?:that|this|it|which|they|my answer|the answer|the above)(?:['’]s| is| are| was| were| seems| must be)?"
    rf"(?: \w+ly| a| an)? (?:{_WRONG}|not (?:right|correct|true)\b|n['’]t (?:right|correct|true)\b))|\W*\bno\b\s*[.!]",
    re.IGNORECASE,
)
_RESTATED = compile_late(r"\b(?:it|answer|that|this)(?:['’]s| is| should| must)\b", re.IGNORECASE)
# Searching for plain words is many times faster than the patterns, and mostly says that there is nothing to look for.
_WORDS = """
    not never nor neither nobody no cannot kein keine nicht pas wrong false incorrect untrue impossible mistaken mistake
    bogus doubt deny denies disagree refute hardly unlikely but except besides instead rather other opposed different if
    suppose assume assuming whether were might may could would often commonly wrongly mistakenly lie reject rejects
    rejected rejecting discard discards discarded discarding exclude excludes excluded excluding eliminate eliminates
    eliminated eliminating dismiss dismisses dismissed dismissing rule rules ruled ruling invalid error nonsense
    extraneous falsch faux incorrecto placeholder guess typo initially originally previously
"""
_CUE_WORDS = frozenset(
    f"{opening}{word}{closing}"
    for word in _WORDS.split()
    for opening in ("", "(", "[", "{", "**")
    for closing in ("", ".", ",", ":", ";", "!", "?", ")", "]", "}", "**", "$", ").", "},")
)
_WORDLESS = ("n’t", "不", "并非", "错", "❌", "✗")  # denials that are no words of their own
_SAYING = compile_late(r"[^\x00-\x7f]|\?|\\no|(?<![\\a-zA-Z])[a-zA-Z]{2}")  # words, beside commands
_INSIDE_CUES = (
    "not", "n't", "n’t", "never", "kein", "nicht", "n'est", "n’est", "no es", "不是", "并非", "不为", "nor", "neither",
    "wrong", "false", "incorrect", "untrue", "nonsense", "isnt", "maybe", "perhaps", "possibly", "probably", "unsure",
    "guess", "?", "with prob", "❌", "✗",
)  # fmt: skip
_BACK_CUES = (
    "scratch", "wrong", "mistake", "incorrect", "not right", "not correct", "not true", "false", "error", "untrue",
    "n't right", "n’t right", "n't correct", "n't true", "kidding", "joking", "ignore th", "nonsense", "a lie", "no.",
    "no!", "invalid", "lying", "i lied", "opposite",
)  # fmt: skip
_THOUGHT_CUES = (
    "wait", "actually", "oops", "sorry", "correcti", "corrected",
    "i mean", "second thought", "reflection", "thinking again", "edit:", "update:",
    "hold on", "hmm", "no,", "no.", "nope", "kidding", "joking", "warte", "moment", "attends", "en fait", "espera",
    "perdón", "等", "不对",
)  # fmt: skip
# "You may think it is 15, but it is 14"; in "nothing but 14" the word denies.
_CLAUSE_START = compile_late(
    r"[.!?](?=\s|$)|[。！？\n]|(?<!nothing)(?<!anything)(?<!everything)(?<!\ball)(?<!number)(?<!value),?\s+but\b",
    re.IGNORECASE,
)
_CONDITION_CUES = ("if ", "If ", "rovided")
_CONDITION = compile_late(
    r"\b(?:if|provided)\b[^.!?\n]{0,40}?(?<![a-zA-Z\\])"
    r"([a-zA-Z]\s?(?:=|<|>|≤|≥|≠|\\(?:le|ge|ne)q?\b)\s?[^\s,;$]+)",
    re.IGNORECASE,
)
_DIGIT = compile_late(r"\d")
_BACK_WINDOW = 400


def is_denied(mark: Mark, text: str) -> bool:
    """Whether the text says that what is marked is not the answer."""
    return mark.denied or denies_itself(mark.text) or _is_denied_at(text, mark.start, mark.end)


def find_condition(mark: Mark, text: str) -> str:
    """The condition that the clause of an answer sets, "x = 2" of "if x = 2, the answer is 14"; empty for none."""
    before = text[max(0, mark.start - BEFORE) : mark.start]
    if not any(cue in before for cue in _CONDITION_CUES):
        return ""
    found = _CONDITION.search(_CLAUSE_START.split(before)[-1])
    return found[1] if found else ""


def denies_itself(answer: str) -> bool:
    """Whether an answer with a number in it says "not" or "wrong" of it; "does not exist" is an answer."""
    if not _SAYING.search(answer) or not _has(answer[:400].lower(), _INSIDE_CUES) or not _DIGIT.search(answer[:400]):
        return False
    return any(pattern.search(answer[:400]) for pattern in _INSIDE)


def is_retracted(mark: Mark, text: str) -> bool:
    """Whether the text after an answer withdraws it, with or without another in its place."""
    after = text[mark.end : mark.end + FOLLOWING]
    lowered = after.lower()
    if _has(lowered, _BACK_CUES) and _TAKEN_BACK.search(after, 0, _BACK_WINDOW):
        return True
    if _DIGIT.search(mark.text):
        return False
    cue = find_second_thought(after)
    return cue is not None and _RESTATED.search(after, cue.end()) is not None


def find_second_thought(after: str) -> re.Match[str] | None:
    """The words of a text with which its author thinks again."""
    return _SECOND_THOUGHT.search(after) if _has(after.lower(), _THOUGHT_CUES) else None


def is_corrected(earlier: Mark, last: Mark, text: str) -> bool:
    """Whether the text takes an earlier answer back before it gives the last."""
    start, end = earlier.end, min(last.start, earlier.end + FOLLOWING)
    return bool(_SECOND_THOUGHT.search(text, start, end) or _TAKEN_BACK.search(text, start, end))


def denial_of_number(text: str, number: Number) -> bool:
    """Whether the text says "not" of this number."""
    return _is_denied_at(text, number.start, number.end)


def _is_denied_at(text: str, start: int, end: int) -> bool:
    """Whether the words around a place deny what stands there."""
    before, after = text[max(0, start - BEFORE) : start], text[end : end + AFTER]
    if not _has_cue(before, after):
        return False
    if any(pattern.match(after) for pattern in _AFTER):
        return True
    clause = _CLAUSE_START.split(before)[-1]
    return any(pattern.search(clause) for pattern in _BEFORE)


def _has(lowered: str, cues: tuple[str, ...]) -> bool:
    for cue in cues:  # noqa: SIM110 - run several times on every response, and `any` takes longer
        if cue in lowered:
            return True
    return False


def _has_cue(before: str, after: str) -> bool:
    """Whether any word of denial stands around an answer, which is quick to see and mostly not so."""
    lowered = f"{before} {after}".lower()
    if "n't" in lowered or "?" in after[:4] or not _CUE_WORDS.isdisjoint(lowered.split()):
        return True
    return not lowered.isascii() and _has(lowered, _WORDLESS)
