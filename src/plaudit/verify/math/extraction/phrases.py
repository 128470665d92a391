"""Answers after words that announce them: "the answer is", "答案是", "la réponse est", "Antwort:", "la respuesta es".

A statement ends with its sentence, and its head, which is the answer proper, before any explanation ("4, since …").
"""

import re
from itertools import pairwise

from plaudit.verify.math.extraction.marks import (
    Mark,
    Source,
    end_of_statement,
    find_last,
    without_formulas,
)
from plaudit.verify.patterns import compile_late

_NOUN = (
    r"(?:(?<![^\W_])answers?\b|\b(?:correct|right) (?:option|choice)\b|\br[ée]ponse\b|\b(?:antwort|ergebnis|lösung)\b"
    r"|\brespuesta\b|答案|答(?=[:：]))"
)
_DENIED = (
    r"(?P<denied>\b(?:is|are|was|were|would|can|could)\s?(?:n['’]t|not)\b|\bcannot\b|\bn['’]est\s+pas\b"
    r"|\b(?:might|may|could)\s+(?:\w+\s+)?be\b(?=\s+[-\d\\$])|\b(?:ist|lautet)\s+nicht\b|\bno\s+es\b|不是|并非|不为)"
)
_VERB = r"\b(?:is|are|was|be|equals|est|ist|lautet|beträgt|es)\b|(?:应该|应当|就)?[是为為]|等于"
_PHRASE = compile_late(
    rf"{_NOUN}(?: ?\(\w\)(?=[:：]))?(?:[^\n.!?:;,=\d\\$()<>。：，]{{0,40}}?(?:{_DENIED}|[:：=]|\s[-–—]\s|{_VERB})"
    r"|[ \t*_]*(?=\$|\\+[(\[]|\\begin\{(?:equation|align|gather))|[ \t]?[*_]{1,2}[ \t]*\n"
    r"|(?<=final answer)[ \t]*\n|(?<=\# answer)[ \t]*\n)|故选[:：]?|^A(?:ns[.:]|:)"
    r"|\b(?:I|we)(?:['’]d|['’]ll| would| will)? (?:choose|pick|select|go with|opt for)\b"
    r"(?=\s+(?:(?:option|choice|answer)\s+)?\(?[A-J]\)?(?:[.;!]|,?\s*$))"
    r"|\b(?:it|that|this)(?:['’]s| is| must be)\b(?=\s+(?:(?:option|choice)\s+)?\(?[A-J]\)?[.!]?\s*\Z)",
    re.IGNORECASE | re.MULTILINE,
)
_CLOSING_LETTER = compile_late(r"(?<![^\s(])[A-J]\)?[.,;!]?\s*\Z")  # "I choose B", "it's (B)."
_LETTERS = tuple("ABCDEFGHIJ")
_LONGEST_CHOICE = 80
_NUMBER_ALONE = compile_late(r"-?\$?\d[\d,]*(?:\.\d+)?")
_LEAD = compile_late(
    r"(?:[\s:：=*_}\"'“]"
    r"|\b(?:therefore|thus|hence|then|simply|just|indeed|clearly|for sure|certainly|definitely|surely|exactly"
    r"|equal to|given by|donc|also|daher|somit|entonces|approximately|approx\.?|about|roughly|around|probably"
    r"|likely)\b[\s,:]*)*",
    re.IGNORECASE,
)
_CLAUSE_END = compile_late(
    r"\s*(?:;|,(?:\s|$)|[，；]|\s[(]|\s[-–—]+\s"
    r"|\s(?<=xx\s)(?=[^\W\d]+\s\w+\s\w+[^\d]*\Z)"  # three words after a formula, which is masked
    r"|\b(?:because|since|which|where|when|but|as|(?<!or )so|if|rather than|instead of|and not|in total|wait|actually"
    r"|car|weil|da|porque|因为)\b)",
    re.IGNORECASE,
)
# "The final answer is: the number of points is 19" says its answer behind the last verb.
_COPULA = compile_late(
    r".*(?:\b(?:is|are|was|equals|est|vaut|ist|lautet|beträgt|es)\b|[是为])[\s:：]*", re.IGNORECASE | re.DOTALL
)
# A statement without words, or with words that join values, is the answer as a whole.
_PROSE = compile_late(r"(?<![\\a-zA-Z])(?!(?:and|or|und|oder|et|ou)\b)[^\W\d_]{3}|i\.e|\(\D|\s[–—]+\s")
_TURN = compile_late(r",?\s+(?:but(?: rather)?|it is|it['’]s)\s+(?=[-*$\\]*\d)", re.IGNORECASE)
_BRACKETED = compile_late(r"\{[^{}]*\}|(?:^|(?<=\W))[(\[](?!\s*[^\W\d_]{2}|[^()\[\]]*\s[^\W\d_]{3})[^()\[\]]*[)\]]")
_ASCII_NOUNS = ("answer", "\na:", "\nans", "option", "choice", "reponse", "antwort", "ergebnis", "respuesta")
_NOUNS = (*_ASCII_NOUNS, "réponse", "lösung", "答", "故选")
_PAIRED = {"}": ("}", "{"), ")": (")]", "(["), "]": (")]", "([")}  # `[2, 5)` is closed
_LONGEST = 400


def find_phrases(text: str) -> list[Mark]:
    """The answers after "the answer is"."""
    marks = [_read_phrase(match, text) for match in _find_statements(text)]
    # "Final answer: the answer is 4" is one statement.
    return [mark for mark, following in pairwise([*marks, None]) if mark and _is_before(mark, following)]


def _is_before(mark: Mark, following: Mark | None) -> bool:
    return following is None or following.start >= mark.end


def _find_statements(text: str) -> list[re.Match[str]]:
    lowered = f"\n{text.lower()}"
    nouns = _ASCII_NOUNS if text.isascii() else _NOUNS
    # "\n" was put before the text; "correct" may stand before a noun that does not begin a line
    before = len("\n"), len("\ncorrect ")
    starts = [index - before[noun[0] != "\n"] for noun in nouns if (index := lowered.find(noun)) >= 0]
    if text.rstrip(" \n\t\r.,;!)").endswith(_LETTERS) and _CLOSING_LETTER.search(text[-12:]):
        starts.append(len(text) - _LONGEST_CHOICE - before[1])
    return find_last(_PHRASE, text, max(0, min(starts))) if starts else []


def _read_phrase(match: re.Match[str], text: str) -> Mark:
    lead = _LEAD.match(text, match.end())
    start = lead.end() if lead else match.end()
    whole = text[start : end_of_statement(text, start, start + _LONGEST)]
    denied = match["denied"] is not None
    if not denied and _NUMBER_ALONE.fullmatch(whole):  # most are
        return Mark(whole, Source.PHRASE, match.start(), start + len(whole), whole=whole)
    if denied and (turn := _TURN.search(whole)):  # "not 5 but 4" states 4
        start, whole, denied = start + turn.end(), whole[turn.end() :], False
    if not _PROSE.search(whole):
        return Mark(_unquote(whole), Source.PHRASE, match.start(), start + len(whole), whole=whole, denied=denied)
    covered = _BRACKETED.sub(lambda match: "y" * len(match[0]), without_formulas(whole))
    clause = _CLAUSE_END.search(covered, 1)
    end = clause.start() if clause else len(whole)
    copula = _COPULA.match(covered, 0, end)
    head = _unquote(whole[copula.end() if copula and copula.end() < end else 0 : end])
    return Mark(head, Source.PHRASE, match.start(), start + end, whole=_unquote(whole), denied=denied)


def _unquote(head: str) -> str:
    """An answer without the quotes and closing brackets of what it stands in, as in `{"answer": "4"}`."""
    head = head.rstrip(" \"'”")
    while head and head[-1] in _PAIRED and _count(head, _PAIRED[head[-1]]) > 0:
        head = head[:-1].rstrip(" \"'”")
    return head


def _count(text: str, pair: tuple[str, str]) -> int:
    """How many more brackets of a kind are closed than opened."""
    closing, opening = (sum(map(text.count, brackets)) for brackets in pair)
    return closing - opening
