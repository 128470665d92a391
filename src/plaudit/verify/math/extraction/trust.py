"""Whether a response commits to an answer: one table of rules for denials, retractions, guesses, hedges, conditions.

A rule is a list of cue words, a pattern around them, and where it is read: in the clause before an answer, inside it,
right after it, later, or around it. A rule is only tried on a text that holds one of its cue words, so the quick check
cannot disagree with the pattern. The rules match words, not meaning. `benchmarks/math_trust.py` measures the precision
of each on labelled responses.
"""

import re
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from plaudit.verify.math.extraction.marks import DIGIT, MARKED, Mark
from plaudit.verify.math.extraction.unmarked import find_closing
from plaudit.verify.math.policy import MathPolicy
from plaudit.verify.number_words import NUMBER_WORDS, digits_for_words, find_number_words
from plaudit.verify.numbers import NUMBER, find_numbers
from plaudit.verify.patterns import compile_late

__all__ = [
    "RULES", "Rejection", "CompetingAnswer", "Rule", "denies_itself", "find_condition", "find_objection",
    "find_competing_answers", "is_corrected", "is_denied_at", "is_letter",
]  # fmt: skip


class Rejection(StrEnum):
    """Why a stated answer is no answer."""

    NONE_FOUND = "no answer found"
    CONDITIONAL = "the response gives its answer under a condition"
    CONTRADICTED = "the response gives different final answers"
    GUESSED = "the response does not stand behind its answer"
    HEDGED = "the response leaves a choice of answers"
    NEGATED = "the response says what the answer is not"
    RETRACTED = "the response takes its answer back"


class Rule(NamedTuple):
    """One reason to reject an answer; `cues` are the words of which a text must hold one for the pattern to match."""

    name: str
    rejection: Rejection
    zone: str
    cues: frozenset[str]
    signs: tuple[str, ...]
    pattern: re.Pattern[str]

    def may_match(self, words: frozenset[str], text: str) -> bool:
        return not self.cues.isdisjoint(words) or any(sign in text for sign in self.signs)


class CompetingAnswer(NamedTuple):
    """Another answer that the response offers, and what it makes of the answer if it differs.

    `whole` is the statement that the text begins, "2, 3" where the text is "2".
    """

    text: str
    why: Rejection
    whole: str = ""


BEFORE = 120  # characters before an answer that are read
AFTER = 160  # characters after an answer in which it is denied
LATER = 400  # characters after an answer in which it is taken back or another is offered
FOLLOWING = 2_000  # characters after an answer in which the response thinks again
AROUND = 250  # characters around an unmarked number in which its author may disown it

_NOT = "not|never|cannot|neither|nor|hardly|n't|nicht|kein|keine|n'est pas|no es|不是|并非|不为"
_WRONG = (
    "wrong|off by|incorrect|false|mistaken|untrue|invalid|a lie|a mistake|an error|a typo|a bug|nonsense|ruled out"
    "|rejected|excluded|discarded|extraneous|impossible|placeholder|guess|decoy|trap|joke|only a test|just a test"
    "|a red herring|a distractor|fails|violates|contradicts|misses|overcounts|undercounts|leads to a contradiction"
    "|cannot happen|thrown out|comes from a|results from|looks|seems|appears|would be right|would be correct"
    "|isnt|aint|ain't|👎|🚫|falsch|faux|incorrecto|不对|错|❌|✗"
)
_RIGHT = (
    r"(?:right|correct|true|valid|(?:the|an?) (?:\w+ )?(?:case|answer|solution|root|value|result)|it(?!['’])|so"
    r"|possible|acceptable)\b"
)
# Verbs whose subject is a marked answer, and what may follow them.
_SAID_OF_IT = (
    "is|isn't|wasn't|was|cannot|can't|can not|could not|couldn't|does|doesn't|did|didn't|est|n'est|ist|es|no es"
)
_CONFIRMED = (
    r"\s+(?:(?:\w+ly|also|then|thus|indeed|just|still|about|around|approx\.?)\s+)*"
    r"(?:(?:the|our|my|your|its|his|her|their|\w+ed|left|right|correct|true|it|possible|how|\d|\\|\$)(?!\w)"
    r"|an?\s+(?:\w+\s+)?(?:solution|root|answer|value|prime|number|integer|multiple|factor|divisor)\b"
    r"|(?:not\s+)?(?:divisible|even|odd|prime|equal|greater|less|larger|smaller|between|in|at|on|of|positive|negative|more)\b)"
)
_VERB = r"(?:is|are|was|were|equals|gives|has|had|numbers?|makes|est|ist|es|lautet|totals|=|:)"
_IS = r"(?:is|was|are|were|would be|can be|has to be|must be|should be|seems|looks|est|ist|es)"
_SENTENCE = r"(?:^|(?<=[.!?\n*)\]}>$。]))[\s*$\\)\]}]*"
_OPENING = (
    r"(?:(?:wait|no|nope|actually|hmm+|oops|sorry|but|however|hold on|well|oh|in fact|unfortunately)\b[\s,.!…—-]*)*"
)
_ANSWER = r"\b(?:this|that|it|the above|(?:(?:my|the|this|that)\s+)?(?:\w+\s+)?answer|the box)\b"
_CONDITION = r"[^.!?\n]{0,40}?(?<![a-zA-Z\\])([a-zA-Z]\s?(?:=|<|>|≤|≥|≠|\\(?:le|ge|ne)q?\b)\s?[^\s,;$]+)"
_HYPOTHETICAL = (
    r"\b(?:if|would|were|wrong|incorrect|false|mistaken|mistake|other|common|not|never|suppose|when)\b|n['’]t\b"
)
_SUBJECT = (
    rf"(?:\b(?:it|(?:the|my|our|a)\s+(?:(?!{_HYPOTHETICAL})\w+\s+){{0,2}}(?:answer|result|value|total|sum|count|solution|submission|attempt)\**"
    r"|(?:true|real|actual|correct|right|final|proper)(?:\s+\w+)?|(?<![\w ])(?:answer|result|value|total|solution)\**)"
    r"(?:\s*[:=]|['’]s|\s+(?:is|was|equals|gives|gave|comes\s+to|(?:should|must|has to|ought to)\s+be))"
    r"(?:\s+\w+ly|\s+in fact)?|\bI(?:['’]ll|\s+will)?\s+(?:submit|answer|say|choose)|\bgrade|\bsettle\s+on)"
)
_VALUE = rf"({NUMBER}|\(?(?-i:[A-HJ])\)?(?![\w'’]|\s+(?!or\b|and\b|is\b)\w))"  # a number, or the letter of an option


def _rule(name: str, rejection: Rejection, zone: str, cues: str, pattern: str) -> Rule:
    """A rule from cues separated by bars, for which `<cues>` stands in the pattern; without any it is always tried."""
    phrases = cues.split("|")
    words, signs = set(), []
    for phrase in phrases:
        if phrase.isascii() and any(character.isalpha() for character in phrase):
            words.add("t" if phrase == "n't" else max(re.findall(r"[a-z]+", phrase), key=len))
        else:
            signs.append(phrase)
    spelled = "|".join(_spell(phrase) for phrase in sorted(filter(None, phrases), key=len, reverse=True))
    pattern = pattern.replace("<cues>", f"(?:{spelled})")
    anchored = rf"\A(?:{pattern})" if zone in ("after", "beside", "next", "provided") else pattern
    return Rule(name, rejection, zone, frozenset(words), tuple(signs), compile_late(anchored, re.IGNORECASE))


def _spell(phrase: str) -> str:
    text = re.escape(phrase).replace("'", "['’]").replace(r"\ ", r"\s+")
    if phrase == "n't":
        return r"n['’]t\b"
    opening = r"\b" if phrase[0].isascii() and phrase[0].isalnum() else ""
    return f"{opening}{text}" + (r"\b" if phrase[-1].isascii() and phrase[-1].isalnum() else "")


_NEGATED, _RETRACTED, _HEDGED = Rejection.NEGATED, Rejection.RETRACTED, Rejection.HEDGED

RULES: tuple[Rule, ...] = (
    # "not 4", "isn't exactly 4"; but "those who did not vote are 4" says something of those
    _rule("negation", _NEGATED, "before", _NOT,
          rf"<cues>(?!\s+only\b)(?!.*\bbut\b)(?:\s+(?!{_VERB}(?:\s|$))[^\W\d][\w'’]*){{0,3}}[^\w\n]*$"),
    _rule("disbelief", _NEGATED, "before", _NOT,
          rf"<cues>\s+(?:\w+\s+)?(?:{_RIGHT}|think|believe|say|claim)\b[^.!?\n]*$"),
    _rule("denied claim", _NEGATED, "before", "false|wrong|untrue|incorrect|impossible|mistake|lie",
          r"<cues>\s+(?:that|to|if)\b[^.!?\n]*$"),
    _rule("refusal", _NEGATED, "before", "doubt|deny|denies|disagree|refute|nobody|no one|no-one|unlikely|never said"
          "|refuse to|silly to|by no means|under no circumstances|contrary to|except me|would have written"
          "|would have answered|would have said", r"(?<!no )<cues>[^.!?\n]*$"),
    _rule("opinion of others", _NEGATED, "before", "think|say|guess|believe|expect|assume|write",
          r"\b(?:might|may|could|would|often|commonly|wrongly|mistakenly) (?:\w+ )?<cues>[^.!?\n\d]*$"),
    _rule("former opinion", _NEGATED, "before", "first|initial|initially|original|originally|previously|earlier",
          r"<cues> (?:\w+ )?(?:thought|got|found|said|guessed|believed|assumed|(?:guess|answer|idea) was)\b"
          r"[^.!?\n\d]*$"),
    _rule("other than", _NEGATED, "before", "but|except|other than|besides|instead of|rather than|as opposed to"
          "|different from",
          r"(?:\b(?:anything|everything|nothing|any (?:number|value)|all)\s+<cues>(?:\s+\w+){0,2}"
          r"|(?!\bbut\b|\bbesides\b)<cues>(?:\s+\w+)?)\W*$"),
    _rule("rejection", _NEGATED, "before", "reject|rejects|rejected|rejecting|discard|discards|discarded|discarding"
          "|exclude|excludes|excluded|excluding|eliminate|eliminates|eliminated|eliminating|dismiss|dismissed"
          "|rule out|ruled out|ruling out|rules out", r"<cues>\s+(?:\w+\s+){0,2}\W*$"),
    _rule("wrong answer", _NEGATED, "before", "wrong|incorrect|false|mistaken|bogus",
          r"<cues>\s+(?:\w+\s)?(?:(?:answer|result|value|guess|solution)s?\b[^.!?\n]*)?$"),
    _rule("supposition", _NEGATED, "before", "if|suppose|assume|assuming|whether|imagine|pretend",
          r"<cues>\s+(?:that\s+|only\s+)*(?:(?:the|my|our|your)\s+)?"
          r"(?:(?:\w+\s)?(?:answer|it|result)(?:['’]s|\s+(?:is|was|were|be|would be))?)?\W*$"),
    _rule("example", _HEDGED, "before", "e.g|for example|for instance|such as", r"<cues>\W*$"),
    _rule("other amount", _HEDGED, "before", "least|most|than|up to|exceeds|exceed|exceeding|below|above|under|over"
          "|beyond|almost|nearly|close to|short of|shy of|far from|minus|negative|twice|thrice|double|triple|times|half"
          "|negative of|reciprocal of|inverse of|opposite of|square of|cube of|root of|half of|third of|quarter of"
          "|multiple of",
          r"(?:(?!\bleast|\bmost)<cues>|\bat\s+<cues>)[^\w:;,.]*$"),
    _rule("open number after", _HEDGED, "after", "ish|or so|or more|or less|or fewer|or greater|or above|or below"
          "|or higher|or lower|or thereabouts|give or take|at least|at most|and a half|and a quarter",
          r"[\s,$*)}\]\\-]*(?:\w+\s)?<cues>"),
    _rule("question", _HEDGED, "after", "?", r"[\s$*\\)\]}]*<cues>"),
    _rule("said of it", _NEGATED, "after", _SAID_OF_IT,
          rf"[^\w\n.!?,;(]*(?:\w+ly\s+)?<cues>(?!{_CONFIRMED})"),
    _rule("is wrong", _NEGATED, "after", _WRONG,
          rf"[^\w\n.!?]*(?:(?:that|this|it|which|but it|and)(?:['’]s)?\s+)?(?:{_IS}\s+)?"
          r"(?:(?:a|an|the|completely|clearly|obviously|definitely|simply|just|only|still|random|wild)\s+)*<cues>"),
    _rule("wrong remark", _NEGATED, "after", f"{_WRONG}|not",
          rf"[^.!?\n\d]{{0,40}}?(?:[(,;–—-]|\bbut)\s*(?:that|this|it|which|he|she)(?:['’]s)?\s+(?:{_IS}\s+)?"
          rf"(?:(?:always|an?|just|\w+ly)\s+)*<cues>(?:(?<!not)|\s+(?:\w+ly\s+)?{_RIGHT})"),
    _rule("denial inside", _NEGATED, "inside", f"{_NOT}|wrong|incorrect|false|untrue|nonsense|isnt|maybe|perhaps"
          "|possibly|unsure|guess|with probability|❌|✗|?|!", r"(?![?!])<cues>|\?\W*$|\A[^\w\\]*[?!]"),
    _rule("open number inside", _HEDGED, "inside", "ish|or so|or more|or less|or fewer|or greater|give or take|at least"
          "|at most|e.g|for example|for instance|such as|i think|under|above|below|twice",
          r"<cues>|\dish\b"),
    _rule("condition inside", Rejection.CONDITIONAL, "inside", "if|unless|when|provided|for",
          rf"\A\W*{NUMBER}[\W_]*(?:text\W*)?<cues>(?:(?<!for)|\W*[a-zA-Z]\s?[=<>])"),
    _rule("taken back", _RETRACTED, "later", "scratch that|i was wrong|i am lying|i lied|opposite is true|i made"
          "|take that back|take it back|never mind|kidding|joking",
          r"<cues>(?:(?<!made)|\s+(?:a|an)\s+(?:\w+\s+)?(?:mistake|error)\b)"),
    _rule("withdrawal", _RETRACTED, "later", "retract|withdraw|revoke|disregard|ignore|discard|strike|abandon|disown",
          rf"<cues>\s+{_ANSWER}"),
    _rule("distrust", _RETRACTED, "later", "trust|believe|count|accept|use|grade|submit|stand by|rely on",
          rf"(?:\bnot|n['’]t|\bnever|\bno longer)\s+(?:\w+ly\s+)?<cues>\s+{_ANSWER}"),
    _rule("to be ignored", _RETRACTED, "later", "discarded|ignored|disregarded|rejected|replaced|deleted|corrected",
          rf"{_ANSWER}\s+(?:should|must|has to|needs to|ought to)\s+be\s+<cues>"),
    _rule("called wrong", _RETRACTED, "later", "wrong|incorrect|false|mistaken|untrue|invalid|a lie|a mistake"
          "|an error|a typo|nonsense|not|n't",
          rf"{_SENTENCE}{_OPENING}(?:that|this|it|they|(?:my|the|this) (?:\w+ )?answer|the above)"
          r"(?:['’]s|\s+(?:is|are|was|were|seems|must be))(?:\s+(?:\w+ly|an?|just))*?\s*<cues>"
          r"(?:(?<!not)(?<!n['’]t)(?!\s+to\b)|\s+(?:\w+ly\s+)?(?:right|correct|true)\b)"),
    _rule("no", _RETRACTED, "later", "no|nope",
          rf"{_SENTENCE}(?:(?:actually|wait|oh|well|hmm)\b[\s,.]*)?<cues>\s*"
          r"(?:[.!]|,\s*(?:that|this|it|wait|sorry)\b)"),
    _rule("second thought", _RETRACTED, "rethink", "wait|actually|oops|sorry|correction|correcting|corrected|i mean"
          "|second thought|on reflection|thinking again|never mind|hold on|edit|update|hmm|no|nope|kidding|joking|warte"
          "|moment|changed my mind|attends|en fait|espera|perdón|等等|不对|等一下",
          rf"(?!\bno\b)<cues>(?:(?<!edit)(?<!update)|(?=:))|{_SENTENCE}\bno\b(?=[,.])"),
    _rule("next value", _HEDGED, "beside", "",
          r"(?:[^\w.!?\n=(\\]|\.\.|\\(?!cdot|times|[pb]?mod)(?:[a-z]*box(?:\[[^\]]*\]|\{[a-z]+\})?|[a-z]*)){1,12}?"
          r"(?:(?:or|and|to|vs|no|should be|but|through|till|until|plus|minus|plus or minus|point)\b[\s,:.$*]*)?"
          rf"(?:(?!(?:not|as|since|because|while)\b)[^\W\d_]+\s)?{_VALUE}(?!\s*(?:[-+/=×\w]|\*(?!\*)))"),
    _rule("choice", _HEDGED, "beside", "or|alternatively|maybe|perhaps|possibly|oder|vielleicht|ou|peut-être|o|quizá"
          "|quizás|或|或者|也许|可能",
          r"(?:(?!\bnot\b|n['’]t\b|\bneither\b).)*?<cues>"
          r"(?!\s*(?:about|approximately|approx|roughly|around|≈|\\approx|~|equivalently|in ))(?P<rest>.*)"),
    _rule("second case", _HEDGED, "beside", "if|otherwise|when",
          rf".*?(?:,|\band|\bor|;)\s+{_VALUE}\s+<cues>"),
    _rule("choice before", _HEDGED, "choice", "or|oder|ou|或", rf"{_VALUE}[\s$*)}}\\]*<cues>[\s$*({{\\\[]*$"),
    _rule("one of", _HEDGED, "choice", "one of|either of|any of|either|between",
          rf"<cues>\s+{_VALUE}[\d\s,.$*]*(?:or|and)[\s$*\\(]*$"),
    _rule("value alone", _HEDGED, "next", "", rf"[\s$*\\()\[\]]*{_VALUE}[\s$*.!\\()\[\]]*\Z"),
    _rule("choice opens a sentence", _HEDGED, "next", "or|alternatively|maybe|perhaps|possibly|otherwise|oder|ou|或",
          rf"\W*<cues>\W*(?:\w+\W+){{0,3}}?{_VALUE}"),
    _rule("could be", _HEDGED, "near", "could|may|might|can",
          rf"<cues>\s+(?:\w+\s+){{0,2}}?be\s+{_VALUE}(?!\s+[^\W\d_]{{3}})"),
    _rule("also possible", _HEDGED, "near", "possible|likely|plausible|valid|good|answer|solution|right|correct|true"
          "|better|what",
          rf"{_VALUE}\s+(?:is|are|would be|seems?)\s+"
          r"(?:(?:also|equally|just as|as|another|still|an?)\s+){0,3}<cues>"),
    _rule("replacement", _RETRACTED, "near", "instead|really|actually|after all|in fact|replace|replaced|read",
          rf"{_VALUE},?\s+<cues>(?<!replace)(?<!replaced)(?<!read)|\breplaced?\b.{{0,20}}?\b(?:by|with)\s+{_VALUE}"),
    _rule("another statement", Rejection.CONTRADICTED, "stated", "is|was|equals|be|'s|:|=|gives|gave|comes to"
          "|settle on|answer|say|submit|choose|grade",
          rf"(?:^|(?<=[.!?\n;,)}}$]))\s*(?:(?!{_HYPOTHETICAL})[^.!?\n]){{0,60}}?{_SUBJECT}[\s$*]*"
          rf"{_VALUE}(?=[\s$*)]*(?:[.;!?]|,(?!\s?[\d$])|$|\n))"),
    _rule("otherwise", _HEDGED, "near", "otherwise|unless|else|if not|then again|if that is not|if that is wrong"
          "|if this is wrong|if wrong|second choice|second guess|second option|backup|maybe|perhaps|alternatively",
          rf"<cues>\W*(?:\w+\W+){{0,3}}?{_VALUE}"),
    _rule("does not know", Rejection.GUESSED, "around", "know|understand|solve|determine|answer|find|tell|compute|say"
          "|calculate|figure|work|have|do|help",
          r"\bI\s+(?:\w+ly\s+|just\s+)?(?:can\s?not|can['’]t|could\s?n['’]t|could not|(?:am|was) (?:unable|not able) to"
          r"|do not|don['’]t)\s+(?:\w+\s+)?<cues>"),
    _rule("guess", Rejection.GUESSED, "around", "guess|guessing|no idea|no clue|i give up|i gave up|i doubt"
          "|not enough information|refuse|need more|my lucky|my favorite|my favourite|pretend|placeholder|pick a random"
          "|unknown|unclear|maybe not|perhaps not|not known|impossible to tell|impossible to say|impossible to know"
          "|unable to",
          r"(?:(?!\bguess)<cues>|\b(?:my|wild|just(?: an?)?|I(?:['’](?:m|ll|d))?|am|had to|will|random)\s+<cues>)"),
    _rule("condition", Rejection.CONDITIONAL, "condition", "if|provided", rf"<cues>{_CONDITION}"),
    _rule("condition after", Rejection.CONDITIONAL, "provided", "if|provided|when|for", rf"[\s$,]*<cues>{_CONDITION}"),
)  # fmt: skip
_ZONES: dict[str, tuple[Rule, ...]] = {
    zone: tuple(rule for rule in RULES if rule.zone == zone) for zone in dict.fromkeys(rule.zone for rule in RULES)
}
_CUES = {zone: frozenset().union(*(rule.cues for rule in rules)) for zone, rules in _ZONES.items()}
_SIGNS = {zone: tuple(sign for rule in rules for sign in rule.signs) for zone, rules in _ZONES.items()}
_ASCII_SIGNS = {zone: tuple(filter(str.isascii, signs)) for zone, signs in _SIGNS.items()}
_TO_SPACES = {code: " " for code in (*range(128), ord("’")) if not chr(code).isalpha()}
# "You may think it is 15, but it is 14"; in "nothing but 14" the word denies.
_CLAUSE_START = compile_late(
    r"[.!?](?=\s|$)|[。！？\n]"
    r"|,?\sbut\b(?<!nothing but)(?<!anything but)(?<!everything but)(?<!\ball but)(?<!number but)(?<!value but)",
    re.IGNORECASE,
)
_SENTENCE_END = compile_late(r"(?:[.!?](?=\s|$)|[。！？\n])\s*")
_LETTERS = frozenset("ABCDEFGHIJ")
_OPTION_LETTER = compile_late(r"(?<![\w'’])\(?([A-HJ])\)?(?![\w'’]|\s+(?!or\b|and\b|is\b)\w)")
_WORD = compile_late(r"[^\x00-\x7f]|\?|(?<![\\a-zA-Z])[a-zA-Z]{2}")  # words, beside commands


def find_objection(mark: Mark, text: str) -> Rejection | None:
    """Why a response does not stand behind an answer, by the first rule that says so."""
    if mark.denied:
        return Rejection.NEGATED
    return (
        denies_itself(mark.text)
        or is_denied_at(text, mark.start, mark.end)
        or _find("later", text[mark.end : mark.end + LATER])
        or _find_guess(mark, text)
    )


def denies_itself(answer: str) -> Rejection | None:
    """Why an answer with a number in it denies that number; "does not exist" is an answer."""
    if not _WORD.search(answer) or not (DIGIT.search(answer[:LATER]) or find_number_words(answer)):
        return None
    return _find("inside", answer[:LATER])


def is_denied_at(text: str, start: int, end: int) -> Rejection | None:
    """Why the words around a span of text deny it."""
    return _find("after", text[end : end + AFTER]) or _find("before", _clause_before(text, start))


def _clause_before(text: str, start: int) -> str:
    """The clause that ends at an index; a low line is a space, as in `wrong_answer: 4`."""
    line = text[max(text.rfind("\n", 0, start) + 1, start - BEFORE) : start]
    return _CLAUSE_START.split(line)[-1].replace("_", " ") if line.strip() else ""


def is_corrected(earlier: Mark, last: Mark, text: str) -> bool:
    """Whether the text takes an earlier answer back before it gives the last."""
    between = text[earlier.end : min(last.start, earlier.end + FOLLOWING)]
    return bool(_find("later", between) or _find("rethink", between))


def find_condition(mark: Mark, text: str) -> str:
    """The condition that the clause of an answer sets, "x = 2" of "if x = 2, the answer is 14"; empty for none."""
    before, after = _clause_before(text, mark.start), text[mark.end : mark.end + AFTER]
    return next((match[1] for _, match in (*_match("condition", before), *_match("provided", after))), "")


def find_competing_answers(mark: Mark, text: str, policy: MathPolicy) -> list[CompetingAnswer]:
    """Other values that the text offers as a choice or a correction of an answer; number words count as numbers."""
    before = _with_digits(_clause_before(text, mark.start))
    after = _with_digits(text[mark.end : mark.end + FOLLOWING])
    find_values = _find_letters if is_letter(mark.text) else _find_numbers
    zones = {"choice": before}
    if find_values(after):
        sentence, *rest = _SENTENCE_END.split(after[:LATER], maxsplit=2)
        zones |= {"beside": sentence, "next": rest[0] if rest else "", "near": " ".join([sentence, *rest[:1]])}
        zones["stated"] = after[:LATER]
    competing_answers = []
    for _, cue in _match("rethink", after if "stated" in zones else ""):
        rest_of_text = after[cue.end() :]
        closing = find_closing(rest_of_text, policy) if find_values is _find_numbers else None
        values = find_values(closing.text if closing else rest_of_text)
        competing_answers += [CompetingAnswer(closing.text if closing else values[-1], _RETRACTED)] if values else []
    for rule, match in [matched for zone, part in zones.items() for matched in _match(zone, part)]:
        competing_answers += [
            CompetingAnswer(value, rule.rejection) for value in find_values(match[match.lastindex or 0] or "")
        ]
    return competing_answers


def _with_digits(text: str) -> str:
    return digits_for_words(text) if text and not NUMBER_WORDS.isdisjoint(_read_words(text)[1]) else text


def is_letter(answer: str) -> bool:
    """Whether an answer is the letter of an option."""
    return answer.strip("() ") in _LETTERS


def _find_numbers(text: str) -> list[str]:
    return [number.text for number in find_numbers(text)] if DIGIT.search(text) else []


def _find_letters(text: str) -> list[str]:
    return _OPTION_LETTER.findall(text)


def _find_guess(mark: Mark, text: str) -> Rejection | None:
    """Why the author of an unmarked number does not stand behind it."""
    if mark.source in MARKED or not DIGIT.search(mark.text):
        return None
    return _find("around", text[max(0, mark.start - AROUND) : mark.end + AROUND])


def _find(zone: str, text: str) -> Rejection | None:
    matching = _match(zone, text)
    return matching[0][0].rejection if matching else None


@lru_cache(maxsize=16)  # several zones are read in the same text
def _read_words(text: str) -> tuple[str, frozenset[str]]:
    lowered = text.lower()
    return lowered, frozenset(lowered.translate(_TO_SPACES).split())


def _match(zone: str, text: str) -> list[tuple[Rule, re.Match[str]]]:
    """The rules of a zone that match a text; patterns are only tried where one of their cues stands in it."""
    if not text:
        return []
    lowered, words = _read_words(text)
    signs = (_ASCII_SIGNS if lowered.isascii() else _SIGNS)[zone]
    if _CUES[zone].isdisjoint(words) and not (signs and any(sign in lowered for sign in signs)):
        return []
    tried = [rule for rule in _ZONES[zone] if rule.may_match(words, lowered)]
    return [(rule, match) for rule in tried for match in rule.pattern.finditer(text)]
