"""Answers after words that announce them: "the answer is", "答案是", "la réponse est", "Antwort:", "la respuesta es".

A statement ends with its sentence, and its head, which is the answer proper, before any explanation ("4, since …").
"""

import re

from plaudit.verify.math.formulas import end_of_statement
from plaudit.verify.math.marks import Mark, Source, last_matches

__all__ = ["phrases_in"]

_NOUN = r"(?:\banswers?\b|\br[ée]ponse\b|\b(?:antwort|ergebnis|lösung)\b|\brespuesta\b|答案|答(?=[:：]))"
_DENIED = (
    r"(?P<denied>\b(?:is|are|was|were|would|can|could)\s?(?:n['’]t|not)\b|\bcannot\b|\bn['’]est\s+pas\b"
    r"|\b(?:ist|lautet)\s+nicht\b|\bno\s+es\b|不是|并非|不为)"
)
_VERB = r"\b(?:is|are|was|be|equals|est|ist|lautet|beträgt|es)\b|(?:应该|应当|就)?[是为為]|等于"
_PHRASE = re.compile(
    rf"{_NOUN}(?:[^\n.!?:;,=\d\\$()。：，]{{0,40}}?(?:{_DENIED}|[:：=]|\s[-–—]\s|{_VERB})"
    r"|[ \t*_]*(?=\$|\\+[(\[])|[ \t]?[*_]{1,2}[ \t]*\n)|故选[:：]?",
    re.IGNORECASE,
)
_LABEL = re.compile(r"^[ \t*_#>]{0,8}A[ \t]?:", re.MULTILINE)
_LEAD = re.compile(r"[\s:：=*_]*")
_CLAUSE_END = re.compile(
    r"\s*(?:;|,(?:\s|$)|[，；]|\s[(](?!\d+,)|\s[-–—]+\s"
    r"|\b(?:because|since|which|where|when|but|as|so|if|wait|actually|car|weil|da|porque|因为)\b)",
    re.IGNORECASE,
)
_LONGEST = 400


def phrases_in(text: str) -> list[Mark]:
    """What follows "the answer is"; lines that begin with "A:" only where nobody says so in words."""
    stated = [(found, found["denied"] is not None) for found in last_matches(_PHRASE, text)]
    stated = stated or [(found, False) for found in last_matches(_LABEL, text)]
    return [_phrase(found, denied, text) for found, denied in stated]


def _phrase(found: re.Match[str], denied: bool, text: str) -> Mark:
    lead = _LEAD.match(text, found.end())
    start = lead.end() if lead else found.end()
    whole = text[start : end_of_statement(text, start, start + _LONGEST)]
    clause = _CLAUSE_END.search(whole, 1)
    head = whole[: clause.start()] if clause else whole
    return Mark(head, Source.PHRASE, found.start(), start + len(head), whole=whole, denied=denied)
