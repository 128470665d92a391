"""What can be read from a rubric and from the reasons of a judge: compound criteria, reasons against their verdicts."""

import re
from collections.abc import Sequence

from plaudit.judges.rubric import Criterion

_JOINTS = re.compile(
    r"\s*(?:;|,?\s+(?:and(?:\s+also)?|as well as|but also|while also|plus)\s+|,?\s+also\s+)\s*", re.IGNORECASE
)
_SENTENCES = re.compile(r"(?<=[.?!])\s+(?=[A-Z])")
_FIXED = re.compile(
    r"\b(?:between\b[^.;?!]*?\band\b|(?:pros and cons|back and forth|question and answer|trial and error|terms and "
    r"conditions|cause and effect|black and white|first and foremost|again and again|and/or|and so on|and not)\b)",
    re.IGNORECASE,
)
_NAMES = re.compile(r"\b[A-Z]\w+ and [A-Z]\w+\b")
_DEMANDS = re.compile(
    r"(?:it |the (?:response|answer|reply|text) |also |must |should |does |do |is |are )*"
    r"(?:is|are|has|have|does|do|must|should|can|would|[a-z]+s|avoid|give|state|name|cite|use|explain|say|mention|"
    r"provide|include|show|describe|list|answer|end|begin|keep|write|identify|address|contain)\b",
    re.IGNORECASE,
)
_GOOD = (
    "correct|right|accurate|true|valid|met|satisfied|fulfilled|complete|excellent|good|great|clear|helpful|perfect|"
    "adequate|sound|appropriate|relevant|acceptable"
)
_BAD = (
    "incorrect|wrong|inaccurate|false|invalid|unmet|incomplete|poor|bad|unclear|unhelpful|inadequate|mistaken|"
    "inappropriate|irrelevant|unacceptable|missing"
)
_ADJECTIVE = rf"(?:\w+ly |very |quite |all |fully )*(?:(?P<good>{_GOOD})|(?P<bad>{_BAD}))\b"
_STATEMENTS = [
    re.compile(rf"\b(?:is|are|was|were|looks|seems)(?P<not>n't| not| never)? {_ADJECTIVE}", re.IGNORECASE),
    re.compile(rf"^\W*(?P<not>not )?{_ADJECTIVE}(?= (?:answer|response)|\W|$)", re.IGNORECASE),
    re.compile(
        r"(?P<not>\b(?:does not|doesn't|do not|did not|didn't|fails to|failed to|never|cannot) )?(?:\w+ly )?"
        r"\b(?:(?P<good>meets?|satisf(?:y|ies)|fulfil(?:l|ls|s)?)|(?P<bad>fails(?! to)|contradicts?|misses|lacks))\b",
        re.IGNORECASE,
    ),
]
"""Statements about a response; the words alone are ambiguous ("the right answer would be 42")."""


def split_demands(criterion: Criterion) -> list[str]:
    """The demands of a criterion; more than one means that a response can meet a part of it."""
    text = criterion.description or criterion.name
    masked = _NAMES.sub(_hide, _FIXED.sub(_hide, text))
    sentences = _SENTENCES.split(masked)
    kept = sentences[:1] + [each for each in sentences[1:] if each.endswith("?") or _DEMANDS.match(each)]
    parts = [part for sentence in kept for part in _JOINTS.split(sentence)]
    return [part.replace("\0", " ").strip(" .?!,") for part in parts if re.search(r"\w", part)]


def reason_polarity(reason: str) -> bool | None:
    """Whether a reason supports the response (True) or criticises it; None where it does neither or both."""
    matches = [match for pattern in _STATEMENTS for match in pattern.finditer(reason)]
    signs = {(match["good"] is not None) != (match["not"] is not None) for match in matches}
    return signs.pop() if len(signs) == 1 else None


def count_contradictions(reasons: Sequence[tuple[str, float]]) -> tuple[int, int, str]:
    """Of reasons with verdicts (0 to 1): how many contradict, how many say something, and a contradiction."""
    decided = contradictions = 0
    witness = ""
    for reason, verdict in reasons:
        polarity = reason_polarity(reason)
        if polarity is None or 0.25 < verdict < 0.75:
            continue
        decided += 1
        if polarity != (verdict > 0.5):
            contradictions += 1
            witness = witness or f"{verdict:.2f}: {reason[:200]}"
    return contradictions, decided, witness


def _hide(match: re.Match[str]) -> str:
    return match[0].replace(" ", "\0")
