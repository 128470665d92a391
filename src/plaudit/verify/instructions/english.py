"""English words by spelling and use: function words, numbers of syllables, verbs at the start of a text.

Words whose spelling does not tell the number of syllables (the vowels of "ion", "area", "fire", the silent e of
"every") may have an odd or an even one. Compared with the CMU dictionary on the 3,000 words that English uses most,
the true number was among those allowed for 99.8 %, and 17 % were left open. A dictionary tells whether a word may be a
verb, the next word tells a verb from a noun.
"""

import functools

from plaudit.errors import require
from plaudit.verify.instructions.instruction import result
from plaudit.verify.instructions.parts import words_of
from plaudit.verify.patterns import compile_late
from plaudit.verify.verifier import Verdict

ARTICLES = frozenset({"a", "an", "the"})
CONJUNCTIONS = frozenset({"for", "and", "nor", "but", "or", "yet", "so"})
"""The coordinating conjunctions."""
_PERSONAL = frozenset({
    "i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves", "you", "your", "yours", "yourself",
    "yourselves", "he", "him", "his", "himself", "she", "her", "hers", "herself", "it", "its", "itself", "they",
    "them", "their", "theirs", "themselves",
})  # fmt: skip
PRONOUNS = _PERSONAL | frozenset({
    "themself", "oneself", "who", "whom", "whoever", "someone", "somebody", "something", "anyone", "anybody",
    "anything", "everyone", "everybody", "everything", "nobody", "nothing",
})  # fmt: skip
"""The words that are always pronouns; "this" and "which" may be something else."""
AUXILIARIES = frozenset({
    "am", "is", "are", "was", "were", "be", "been", "being", "have", "has", "had", "having", "do", "does", "did",
    "doing", "can", "could", "may", "might", "must", "shall", "should", "will", "would",
})  # fmt: skip
_PREPOSITIONS = frozenset({
    "of", "at", "by", "for", "with", "about", "against", "between", "into", "through", "during", "before", "after",
    "above", "below", "to", "from", "up", "down", "in", "out", "on", "off", "over", "under",
})  # fmt: skip
_OTHER_STOP_WORDS = frozenset({
    "what", "which", "who", "whom", "this", "that", "these", "those", "if", "because", "as", "until", "while",
    "again", "further", "then", "once", "here", "there", "when", "where", "why", "how", "all", "any", "both",
    "each", "few", "more", "most", "other", "some", "such", "no", "not", "only", "own", "same", "than", "too",
    "very", "just", "now", "s", "t", "d", "ll", "m", "o", "re", "ve", "y", "don", "ain", "aren", "couldn", "didn",
    "doesn", "hadn", "hasn", "haven", "isn", "ma", "mightn", "mustn", "needn", "shan", "shouldn", "wasn", "weren",
    "won", "wouldn",
})  # fmt: skip
STOP_WORDS = (
    ARTICLES | _PREPOSITIONS | _OTHER_STOP_WORDS | (_PERSONAL - {"mine", "us"}) | (CONJUNCTIONS - {"yet"})
    | (AUXILIARIES - {"could", "may", "might", "must", "shall", "would"})
)  # fmt: skip
"""The words that NLTK lists as English stop words, with the pieces that contractions leave."""
_OTHER_MINOR_WORDS = frozenset({
    "as", "if", "per", "via", "than", "vs", "v", "onto", "upon", "near", "like", "past", "since", "till", "until",
    "within", "without", "around", "across", "along", "among", "amid", "that", "once",
})  # fmt: skip
MINOR_WORDS = ARTICLES | CONJUNCTIONS | _PREPOSITIONS | _OTHER_MINOR_WORDS
"""The words that title case may leave in lower case: articles, conjunctions, prepositions."""


EITHER = frozenset({0, 1})
_POSSESSIVE = compile_late(r"['’]s$")
_VOWELS = compile_late(r"[aeiouy]+")
_COMPOUNDS = (
    "base", "come", "face", "fare", "force", "fore", "frame", "game", "gate", "grave", "guide", "here", "home",
    "house", "ice", "lake", "life", "like", "line", "live", "make", "more", "name", "note", "pipe", "safe", "share",
    "side", "some", "space", "state", "stone", "take", "there", "time", "trade", "ware", "wave", "where", "white",
    "whole", "wide",
)  # fmt: skip
"""Words that keep their silent e at the start of a longer word."""
_SILENT = compile_late(
    r"(?<=[^aeiouyl])e$|(?<=[aeiouyrl]l)e$"  # make, whole
    r"|(?<=[^aeiouytdrl])e(?=d$)|(?<=[aeiouyrl][rl])e(?=d$)|(?<=[aeiou]y)e(?=d$)"  # asked, called, played
    r"|(?<=[^aeiouyszxcgl])(?<![cs]h)e(?=s$)|(?<=[aeiouyr]l)e(?=s$)"  # makes, wholes
    r"|(?<=[^aeiouyl])e(?=(?:ly|less|ness|ful|fully)$)|(?<=[aeiou]l)e(?=(?:ly|less|ness|ful)$)"  # safely
    r"|(?<=[aeiouy][^aeiouyl])e(?=ments?$)|(?<=[lrdn][vg])e(?=ments?$)"  # movement
    r"|(?<=[gq]u)e(?=s?$)"  # unique
    rf"|(?:{'|'.join(f'(?<=^{word[:-1]})e' for word in _COMPOUNDS)})(?=[b-df-hj-mp-qtv-z][a-z])"  # something
)
_ADDED = compile_late(r"[sth]ms?$(?<!thms)|(?<=[aeiouy])(?=ing)|(?<=[^aeiouy][bt])re(?=s?$)")
_ONE_SOUND = compile_late(
    r"[aeo]i(?!ng|[sz][ei]|ty)|ee(?![irn])|ea(?=[dfkmpv][a-z]?|s[eityhk]|ch|[lnrt]$|t[sh]$|l[tmsk]|ns?$|nt|r[ntldcs])"
    r"|oo(?!r[dp])|[aeo]u(?!s$|m)|oa(?=[dtlrsfkcmn][a-z]?s?$)|(?<=[fvdhnpcy])ie(?=[fvlcdgz])|[aeo]y(?![aeiou])|oe(?=s$)"
    r"|(?<=[ctsx])io(?=n)|(?<=q)u[aeio](?![aeiou])|(?<=[ct])ia(?=l)|(?<=[ctx])iou(?=s)|^you|ie(?=[sd]$)|ue(?=s?$)"
    r"|(?<=g)u[aei](?=[a-z])"
)
_TWO_VOWELS = compile_late(r"[aeiouy]{2}|_[aeiouy]|[aeiouy]_")
_OPEN = compile_late(
    r"ever[^y]|every|fav|famil|camera|gener|sever|sep|choc|veget|comfort|differ|inter|ally|busi|natur|aver"
    r"|[dtvnp]er[aeio]|or[aiey]|ar[yi]|ed(?:ly|ness)|en(?:ing|er)|iron|colonel|wednes|catholic|[tb]re|[iy]r|our|[ao]wer"
    r"|eld|ole|ile|hood|ean|aya|rely|maybe|naked|wicked|recipe|genre|cafe|acre|quire|poem|element|cement|ruin|^co[aeio]|argu|else|isle|awe|ear$|ow[ae]"
)


@functools.lru_cache(maxsize=8192)
def parities(word: str) -> frozenset[int]:
    """The possible parities of the number of syllables.

    >>> sorted(parities("something")), sorted(parities("area"))
    ([0], [0, 1])
    """
    if word.isupper() and 1 < len(word) <= 4:  # an acronym may be spelled
        return EITHER
    parts = [_parity(part) for part in _POSSESSIVE.sub("", word.lower()).split("-")]
    return EITHER if None in parts else frozenset({sum(filter(None, parts)) % 2})


def _parity(word: str) -> int | None:
    """The number of syllables modulo 2; None where spelling leaves it open."""
    if not word.isalpha() or not _VOWELS.search(word) or _OPEN.search(word):
        return None
    if _TWO_VOWELS.search(_ONE_SOUND.sub("_", word)):
        return None
    number = len(_VOWELS.findall(word)) - len(_SILENT.findall(word)) + len(_ADDED.findall(word))
    return max(number, 1) % 2


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
