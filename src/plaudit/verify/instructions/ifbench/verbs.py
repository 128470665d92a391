"""Does a text start with a verb? A dictionary knows the word, the next word tells a verb from a noun."""

import functools

from plaudit.errors import require
from plaudit.verify.instructions.ifbench.function_words import AUXILIARIES
from plaudit.verify.instructions.instruction import result
from plaudit.verify.instructions.parts import words_of
from plaudit.verify.patterns import compile_late
from plaudit.verify.verifier import Verdict

__all__ = ["start_verb"]

_CONTRACTED = compile_late(r"(?:n?['’](?:t|s|re|ve|ll|d|m))$")
_STARTS_OBJECT = frozenset({
    "a", "an", "the", "this", "that", "these", "those", "my", "your", "his", "her", "its", "our", "their", "me",
    "you", "him", "it", "us", "them", "myself", "yourself", "himself", "herself", "itself", "ourselves",
    "yourselves", "themselves", "each", "every", "all", "both", "some", "any", "no", "another", "how", "what",
    "why", "whether", "if",
})  # fmt: skip
"""Words that follow a verb and rarely a noun."""
_FOLLOWS_PARTICIPLE = frozenset({"by", "on", "in", "with", "from", "as", "at", "to", "that", "for", "of", "into"})
_MOSTLY_VERBS = frozenset({
    "ask", "begin", "bring", "build", "buy", "call", "care", "catch", "check", "choose", "click", "close", "come",
    "compare", "cook", "cut", "dance", "delve", "dig", "dive", "do", "draw", "drink", "drive", "eat", "embrace",
    "enter", "fall", "feel", "fight", "find", "fly", "get", "give", "go", "grow", "guess", "help", "hold", "hunt",
    "imagine", "jump", "keep", "know", "laugh", "lay", "lead", "lean", "learn", "leave", "let", "lie", "listen",
    "live", "look", "make", "mean", "meet", "move", "open", "pause", "pay", "pick", "play", "pull", "push", "put",
    "read", "reach", "rely", "remember", "rest", "ride", "rise", "roll", "run", "say", "see", "seek", "sell",
    "send", "set", "share", "show", "shut", "sing", "sit", "sleep", "smile", "speak", "spin", "stand", "start",
    "stay", "step", "stick", "stop", "swim", "take", "talk", "teach", "tell", "think", "throw", "touch", "travel",
    "try", "turn", "use", "wait", "wake", "walk", "wander", "watch", "wear", "win", "wonder", "worry", "write",
})  # fmt: skip
"""Verbs that are also in the dictionary as nouns, but start a text as verbs."""


def start_verb(text: str) -> Verdict:
    """The first word is a verb; not decided for a word that may be a noun here."""
    words = [word.casefold() for word in words_of(text[:400])]
    if not words:
        return result(False, "there is no word")
    first, following = _CONTRACTED.sub("", words[0]) or words[0], words[1] if len(words) > 1 else ""
    if first in AUXILIARIES:
        return result(True, f"{first!r} is a verb")
    kinds = _kinds_of(first)
    if "VERB" not in kinds:
        return result(False, f"{words[0]!r:.40} is no verb")
    if kinds == {"VERB"} or _is_verb_before(first, following, kinds):
        return result(True, f"{first!r:.40} is a verb")
    if following in AUXILIARIES or first.endswith("s"):
        return result(False, f"{first!r:.40} is a noun before {following!r:.40}")
    return Verdict.undecided(f"{first!r:.40} may be a noun or a verb")


def _is_verb_before(first: str, following: str, kinds: frozenset[str]) -> bool:
    """Whether a word that may be something else is a verb before the next word."""
    if following in _STARTS_OBJECT or (not following and "NOUN" not in kinds):
        return True
    if first.endswith(("ed", "en")):
        return following in _FOLLOWS_PARTICIPLE
    is_gerund = first.endswith("ing") and len(first) > 5
    return (is_gerund or first in _MOSTLY_VERBS) and following not in AUXILIARIES


@functools.lru_cache(maxsize=2048)
def _kinds_of(word: str) -> frozenset[str]:
    """The parts of speech that a word has in the dictionary."""
    dictionary = require("lemminflect", purpose="finding verbs", extra="verifiers")
    return frozenset("VERB" if kind == "AUX" else kind for kind in dictionary.getAllLemmas(word))
