"""The words around an option or an answer in a text: is it stated, denied, asked about, or taken back?"""

import re
from collections.abc import Iterator

from plaudit.verify.patterns import compile_late
from plaudit.verify.text import MARK  # where a box or an <answer> element begins

LONGEST_CLAUSE = 300
LONGEST_LEAD = 30  # characters before a letter that may present it
MOST_POSITIONS = 200
ANSWER_NOUNS = (
    "answer", "antwort", "respuesta", "réponse", "risposta", "resposta", "antwoord", "ответ", "答案", "答え", "正解",
    "정답",
)  # fmt: skip
"""The nouns for an answer, in lower case."""
IS = r"\b(?:is|ist|lautet|es|est|è|é)\b|是|为|為|は|은|는"
"""The words between that noun and the answer, unless a colon is used."""
_SECOND_THOUGHT = "wait|actually|correction|sorry|mistake|oops|scratch|hmm|instead|rather|kidding|second thoughts?"
RETRACTION = f"no|on second thoughts?|{_SECOND_THOUGHT}"
"""Words that retract the text before them."""
CORRECTION = compile_late(
    rf"\b(?:{_SECOND_THOUGHT}|however|but|so|therefore|thus|hence|finally?|conclusion|overall)\b|\bno[,.:]",
    re.IGNORECASE,
)
"""Words between two statements, of which the later one counts."""
BE = rf"{IS}|['’]s\b|\s[-–—](?=\s)|\b(?:are|was|would\s+be|should\s+be|must\s+be|will\s+be)\b"
NOUN_PHRASE = compile_late(
    rf"(?<!\w)\w+(?:\s+(?:to|for|of)\s+[\w\s']{{1,60}}?)?[\"')\]]*\s*(?:{BE}|:|=|→|->)[\s:,\"'(\[{MARK}]*",
    re.IGNORECASE,
)
_VERB_PHRASE = compile_late(r"(?<!\w)\w+(?:\s+(?:us|me))?(?:\s+(?:with|for))?\b\s*", re.IGNORECASE)
_PRONOUN_PHRASE = compile_late(
    r"(?<!\w)(?:it|this|that)(?:\s+is|['’]s|\s+must\s+be|\s+has\s+to\s+be)\s+(?=[(\[]?[A-Z0-9][)\]]?(?:[\s.,;!]|$))",
    re.IGNORECASE,
)
_UNSPACED_PHRASE = compile_late(rf"(?:答案|选项|選項|答え|正解|정답)\s*(?:应该)?(?:{IS}|:)[\s:]*")
_UNSPACED_NOUNS = ("答案", "选项", "選項", "答え", "正解", "정답")
_NOUNS = (
    *(noun for noun in ANSWER_NOUNS if noun[0] < "\u2e80"),
    "option", "choice", "label", "class", "sentiment", "relation", "verdict", "decision", "prediction",
    "category", "conclusion", "solution",
)  # fmt: skip
PHRASES: dict[str, re.Pattern[str]] = {
    MARK: compile_late(rf"{MARK}[\s:]*"),
    **dict.fromkeys(_NOUNS, NOUN_PHRASE),
    **dict.fromkeys(
        (
            "choose",
            "chose",
            "pick",
            "select",
            "go with",
            "going with",
            "opt for",
            "left with",
            "leaves",
            "leaving",
            "say",
        ),
        _VERB_PHRASE,
    ),
    **dict.fromkeys(("it is", "it's", "it’s", "it must", "it has", "this is", "that is"), _PRONOUN_PHRASE),
    **dict.fromkeys(_UNSPACED_NOUNS, _UNSPACED_PHRASE),
}
"""The patterns of statements by their first words; finding these words is quicker than a pattern of all."""
ABSTENTION = compile_late(
    r"\b(?:i\s+(?:do\s+not|don['’]t)\s+know|not\s+sure|i\s+abstain"
    r"|no\s+(?:idea|clue|information|context|way\s+to|(?:image|picture|photo)\s+(?:is|was|has))|(?:can\s?not|can['’]t|unable\s+to)"
    r"\s+(?:answer|determine|decide|say|tell)|not\s+certain|unsure)\b",
    re.IGNORECASE,
)
DOUBT = compile_late(r"\b(?:might|could|may|maybe|perhaps|possibly|or)\b")
CONDITION = compile_late(r"\s+(?:if|when|once|until|unless|or)\b")
_CLAUSE_END = compile_late(
    r"[.!?\n,;:]|(?<!thing )(?<!all )\bbut\b|\b(?:rather|instead|so|therefore|thus|hence|because|since|and)\b"
)
NEGATION = compile_late(
    r"\b(?:not|never|cannot|neither|nor|without|\w+n['’]t|except|excluding|but|rul\w+ out|eliminat\w+"
    r"|nicht|kein\w*|niet|não|не|no es|non è|n['’]est)\b|不|ではな|ではあり|じゃな|아니"
)
_WRONG_AFTER = compile_late(
    r"\W{0,3}(?:is|are|was|seems?)\s+(?:not|wrong|incorrect|false|out|n['’]t)\b|n['’]t\b|(?:では|じゃ)(?:な|あり)"
    r"|\s*[-–—:(]?\s*(?:wrong|incorrect|false|not (?:correct|right|true))\b"
)
_NO_BEFORE = compile_late(r"\bno\s+\Z")
_ALL_WRONG_AFTER = compile_late(r"\W{0,3}(?:(?:are|were)\s+(?:not|wrong|incorrect|false|out)|(?:are|were)n['’]t)\b")
_BEFORE_LETTER = compile_late(
    rf"(?:\A|[\n,;:=>–—|#]|{BE}|\b(?:so|thus|hence|therefore|be|to|with|for|leaves|la|el|die))\s*[\"'(\[]?\Z",
    re.IGNORECASE,
)


def is_denied(text: str, start: int, end: int) -> bool:
    """Whether the text denies or questions the option or answer in this span."""
    clause = clause_before(text, start)
    denied_before = NEGATION.search(clause) is not None or _NO_BEFORE.search(clause) is not None
    return denied_before or is_denied_after(text, end) or is_question(text, end)


def is_denied_after(text: str, end: int) -> bool:
    """Whether the text after this position calls the option or answer before it wrong."""
    return _WRONG_AFTER.match(text, end) is not None


def are_denied_after(text: str, end: int) -> bool:
    """Whether the text after this position calls all of the list before it wrong."""
    return _ALL_WRONG_AFTER.match(text, end) is not None


def clause_before(text: str, position: int) -> str:
    """The part of a clause before a position; marks are found first, since the pattern is slow on long texts."""
    if position == 0:
        return ""
    first = max(0, position - LONGEST_CLAUSE)
    start = max(first, *(text.rfind(mark, first, position) + 1 for mark in ".!?\n,;:"))
    return _CLAUSE_END.split(text[start:position])[-1].casefold()


def is_question(text: str, position: int) -> bool:
    """Whether the sentence at a position ends in a question mark."""
    ends = [index for mark in (". ", "!", "\n", "?") if (index := text.find(mark, position, position + 200)) >= 0]
    return bool(ends) and text[min(ends)] == "?"


def is_presented(text: str, start: int, end: int) -> bool:
    """Whether an option is named by more than a letter, or by a letter that a word such as "so" or a mark presents."""
    return end - start > 1 or _BEFORE_LETTER.search(text, max(0, start - LONGEST_LEAD), start) is not None


def positions(text: str, words: str) -> Iterator[int]:
    """Where words are in a text; the first ones if there are very many."""
    start = text.find(words)
    for _ in range(MOST_POSITIONS):
        if start < 0:
            return
        yield start
        start = text.find(words, start + len(words))
