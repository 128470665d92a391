"""Which number of a sentence is its answer: the one with the most evidence, by the kind of statement around it.

"There are 720 ways to seat all 3 girls" states 720; the 3 is given, as "all" says. `EVIDENCE` lists what is looked at
and what it weighs. Equal weights leave the last number, and a number that is only a bound answers nothing.
"""

import re
from typing import NamedTuple

from plaudit.verify.numbers import Number
from plaudit.verify.patterns import compile_late

__all__ = ["EVIDENCE", "Evidence", "find_answer_number", "weigh_number"]

WINDOW = 120  # characters before a number that are looked at
MAX_NUMBERS = 12  # of a sentence, counted from its end
BOUND = -10  # the weight of a bound, which nothing makes up for


class Evidence(NamedTuple):
    """Evidence for or against a number, by the words that end before it."""

    name: str
    weight: int
    before: re.Pattern[str]


def _before(name: str, weight: int, pattern: str) -> Evidence:
    return Evidence(name, weight, compile_late(rf"(?:{pattern})[\s$€£*(]*$", re.IGNORECASE))


_BE = r"(?:is|are|was|were|be|equals?|becomes?|makes?|totals?|gives?|est|sont|ist|sind|es|son)"
_ADVERBS = r"(?:\s+(?:only|exactly|just|about|approximately|around|therefore|thus|then|now|simply|a|an|equal to))*"

EVIDENCE: tuple[Evidence, ...] = (
    _before("complement of a verb of being", 4, rf"\b{_BE}{_ADVERBS}(?:\s+a total of)?"),
    _before("amount of something", 3, r"\b(?:an?|the) (?:\w+ ){0,2}"
            r"(?:total|sum|amount|average|speed|area|value|rate) of"),
    _before("what remains or comes of it", 6, r"(?:,|\band) (?:leaving|making|giving|resulting in|yielding)"
            r"(?: \w+ with)?(?: only| just)?(?: a total of)?|\bfor a (?:grand )?total of"),
    _before("given quantity", -3, r"\b(?:all|the|these|those|both|every|each|any|other|first|last|next|his|her"
            r"|their|its)"),
    _before(
        "circumstance",
        -2,
        r"\b(?:after|before|for|in|with|within|from|during|per|among|between|on|by|out of|of|over|until|into|across"
        r"|through|at|to|against)(?: about| around)?",
    ),
    _before("object of an infinitive or participle", -2, r"\b(?:to \w+|\w{2,}ing)(?: \w+)?"),
    _before("subordinate clause", -6, r"\b(?:since|because|when|while|if|where|who|which|given|so that)\b[^,;:]*"),
    _before("bound", BOUND, r"\bthan(?: or equal to)?|\bor equal to|\bat (?:least|most)|\bup to|\bbounded by"
            r"|\bexceeding|\b(?:answer|number|result) (?:has|contains|(?:starts?|begins?|ends?) (?:with|in))"),
    _before("opinion of others", BOUND, r"(?<!\bI )(?<!\bwe )(?<!\bwould )\b(?:says?|said|claims?|claimed|answered"
            r"|thinks?|suggests?|guessed)(?: that)?(?: it is| it was)?"),
    _before("operand", BOUND, r"\b(?:square|cube|root|double|twice|half|triple|reciprocal|inverse|opposite)"
            r"(?: of)?"),
)  # fmt: skip


def find_answer_number(sentence: str, numbers: list[Number]) -> Number | None:
    """The number that a sentence states, or None if all are mere bounds."""
    numbers = numbers[-MAX_NUMBERS:]
    weights = [weigh_number(sentence, number) for number in numbers]
    best = max(weights)
    return numbers[len(weights) - 1 - weights[::-1].index(best)] if best > BOUND // 2 else None


def weigh_number(sentence: str, number: Number) -> int:
    """The sum of the evidence for a number as the answer of its sentence."""
    before = sentence[max(0, number.start - WINDOW) : number.start]
    return sum(evidence.weight for evidence in EVIDENCE if evidence.before.search(before))
