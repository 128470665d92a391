"""The answer of a response without marks: the whole of a bare one, bold text, or the end of its last sentence.

Only the end of a long response is read. A number inside an unevaluated expression is not an answer. The answer of a
sentence is its last number behind a verb of being, else its last; numbers that are given do not count: "There are 720
ways to seat all 3 girls" states 720.
"""

import re
from collections import deque
from itertools import takewhile

from plaudit.verify.math.extraction.marks import INK, Mark, Source, find_formulas, find_last, split_statements
from plaudit.verify.math.parsing.tokens import GREEK
from plaudit.verify.math.policy import MathPolicy
from plaudit.verify.numbers import NUMBER, Number, find_numbers
from plaudit.verify.patterns import compile_late

CLOSING = 20_000  # characters at the end of a response in which an unmarked answer is looked for
MAX_EQUATIONS = 1000  # counted from the end of a text
LONGEST_BARE = 3000

_COMMAND = compile_late(r"(?<!\\)\\++(?:(?:text|mathrm|mbox|textbf|operatorname|begin|end)\s?\{[^{}]*\}|[a-zA-Z]+)")
_WORD = compile_late(r"[^\W\d_]{3,}(?![\w.]*[(\[])")  # before a bracket stands the name of a function
_FUNCTIONS = frozenset({
    "sin", "cos", "tan", "cot", "sec", "csc", "log", "exp", "sqrt", "frac", "and", "mod", "gcd", "lcm", "max", "min",
    "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "sup", "inf", "infty", "infinity", "oder", "und", "for",
})  # fmt: skip
_KNOWN = _FUNCTIONS | GREEK.keys()
_TELLING = compile_late(r"(?<![\\\w])(?:is|are|it|we|so|thus|hence|he|she)\b", re.IGNORECASE)
_EMPTY_BOX = compile_late(r"(?<!\\)\\++(?:boxed|fbox)\s?\{\s*\}")
_LEADING = compile_late(
    r"(?:(?:so|thus|hence|therefore|then|that is|i\.e\.|we (?:get|have|find|obtain|see|conclude)(?: that)?"
    r"|it follows that|this (?:gives|means|yields)(?: that)?)\b[\s,:]*)+",
    re.IGNORECASE,
)
_LABEL = compile_late(
    r"\b(?:(?:the|my|our|final|correct|end)\s)*[^\W\d_]{3,}(?:\s\d+)?\s?:(?=\s*[-\d\\$])",
    re.IGNORECASE,
)
_REFERENCE = compile_late(
    r"\b(?:problem|question|exercise|chapter|section|figure|equation|step|example|table|page|theorem|lemma|line|confidence|difficulty"
    r"|certainty)s?\W{0,3}(?:number |level |no\.? |is )?$",
    re.IGNORECASE,
)
# "14 is even" says something of a number, and answers nothing.
_PROPERTY = compile_late(
    r"\W*\s(?:is|are)\s+(?:(?:an?|also|not|itself|always|clearly|indeed|perfect|whole|natural)\s+)*"
    r"(?:even|odd|prime|composite|positive|negative|divisible|squares?|cubes?|multiples?|factors?|divisors?|integers?"
    r"|rational|irrational|real|greater|less|larger|smaller|bigger|numbers?)\b(?!\s+of\s+(?:the|all|ways|such|those))",
    re.IGNORECASE,
)
_CLAUSE_END = compile_late(r"[,;]\s")
_CONDITION = compile_late(r"\W*(?:[a-z]+ed\s)?(?:at|when|where|if|for|since|because)\b(?!.*(?:,|\band)\s)", re.DOTALL)
_BOLD = compile_late(r"(?<![\w)}\]])\*\*(?P<bold>[^*\n]{1,60})\*\*(?!\s*:)|\\textbf\s?\{(?P<latex>[^{}\n]{1,60})\}")
_LABELLING = compile_late(r":\s*$|^(?:step|case|part|final|answer|solution|note|given|problem|method)\b", re.IGNORECASE)
_DIGIT_OR_MATH = compile_late(r"[\d\\$=]|^\(?[A-Z]\)?$")
_SENTENCE_END = compile_late(r"[.!?](?=\s|$)|\n")
_EQUALS = compile_late(r"=|≈|\bequals\b|\bis equal to\b", re.IGNORECASE)
_AFTER_OPERATOR = compile_late(r"[\w)\]}%]\s*(?:[-+/^×÷·]|\*|\\times|\\cdot)\s*$")
_COMPARED = compile_late(r"[=<>≤≥≠]\s*\$?$")
_RESULT = compile_late(rf"[^\w\n.+/^({{<>-]{{0,20}}?({NUMBER})(?!\s*(?:[-+/×÷·*]\s*[\d($\\]|\^|\\times|\\cdot))")
_OPERATOR = compile_late(r"[-+*/^×÷]|\d[a-zA-Z](?![a-zA-Z])")
_UNKNOWN = compile_late(r"(?<![a-zA-Z\\])[a-zA-Z](?![a-zA-Z'’])")
_ROUGHLY = compile_late(r"\W*(?:which is |that is |or )?(?:approx|about|roughly|around|≈|\\approx|~)", re.IGNORECASE)
_SYMBOL = (
    r"(?:[-+−*/^=<>≤≥≠±√∛π∞∪∩°%()\[\]{},|!·×⋅²³⁴⁵¹⁰\d\s.]|(?<![a-zA-Z])[a-zA-Z](?![a-zA-Z])"
    r"|\b(?:and|or|sqrt|pi|sin|cos|tan|log|ln|exp)\b)"
)
# The words of a sentence up to its last verb of being, then signs and letters to its end, but for a unit.
_SAID = compile_late(
    rf"[^=]*\b(?:is|are|was|equals|becomes|to|at)[:\s]+({_SYMBOL}++)"
    r"(?:\b(?:cm|mm|km|m|kg|g|units?|square units?)\b)?\W*$"
)
_MORE_THAN_A_NUMBER = compile_late(r"[(\[{√∛^=<>≤≥≠±π∞]|\d\s+(?:and|or)\s+[-\d]|\d\s?[a-zA-Z]\b|\b[a-zA-Z]\s?[-+*/]")
MAX_NUMBERS = 12  # of a sentence, counted from its end
WINDOW = 120  # characters before a number that are looked at
_SAYS = compile_late(
    r"(?:(?:\b(?:is|are|was|were|be|equals?|becomes?|makes?|totals?|gives?|has|have|est|sont|ist|sind|es|son"
    r"|(?:total|sum|amount|average|speed|area|value|rate) of)|(?:,|\band)\s(?:leaving|making|giving|yielding))"
    r"(?:\s(?:only|exactly|just|about|approximately|around|therefore|thus|then|now|simply|an?|equal to|a total of))*)$",
    re.IGNORECASE,
)
# Numbers that are given: after a word such as "all", in a clause of reason or time, after an infinitive or participle.
_GIVEN = compile_late(
    r"\b(?:(?:all|the|these|those|both|every|each|any|other|first|last|next|his|her|their|its|after|before|for|in|with"
    r"|within|from|per|on|by|(?<!total )(?<!sum )(?<!amount )(?<!average )(?<!speed )(?<!area )(?<!value )(?<!rate )of"
    r"|into|to|at|over|against)(?: about| around)?|(?:to \w+|(?<!, )(?<!and )\b\w{2,}ing)"
    r"|(?:since|because|when|while|if|where|who|which|given|so that)\b[^,;:]*)$",
    re.IGNORECASE,
)
_BOUND = compile_late(
    r"(?:\bthan(?: or equal to)?|\bor equal to|\bat (?:least|most)|\bup to|\bbounded by|\bexceeding"
    r"|\b(?:answer|number|result) (?:has|contains|(?:starts?|begins?|ends?) (?:with|in))"
    r"|(?<!\bI )(?<!\bwe )(?<!\bwould )\b(?:says?|said|claims?|claimed|answered|thinks?|suggests?|guessed)"
    r"(?: that)?(?: it is| it was)?"
    r"|\b(?:square|cube|root|double|twice|half|triple|reciprocal|inverse|opposite)(?: of)?)$",
    re.IGNORECASE,
)
_JOINT = compile_late(r"(?:\s|,|;|\b(?:and|or|und|oder|et|ou|y|o)\b|和|或|与|、)*")
_EXPLANATION = compile_late(r"\n\s*+[#*_> ]*(?:check|verification|explanation|notes?|why)\b[*_ ]*[:?]", re.IGNORECASE)
_ITEM = compile_late(rf"\s*(?:[-*•]|\d+[.)])\s+[*_$]*({NUMBER})[*_$.,;]*\s*")


def find_unmarked_answer(text: str, policy: MathPolicy) -> Mark | None:
    """The answer that a text gives without saying so, or None if it says nothing."""
    bare = _EMPTY_BOX.sub("", text).strip() if "box" in text else text.strip()
    if not _has_ink(bare):
        return Mark(bare, Source.WHOLE, 0, len(text), whole=bare) if bare.strip("$") in ("{}", "\\{\\}") else None
    if len(bare) <= LONGEST_BARE and is_bare(bare):
        return Mark(_LABEL.sub("", _strip_lead(bare)), Source.WHOLE, 0, len(text), whole=bare)
    end = text[-CLOSING:]
    paragraph = max(0, end.rstrip().rfind("\n\n"))
    stating = end[:paragraph] if _EXPLANATION.match(end, paragraph) else ""
    mark = _find_listed(end) or _find_in_prose(stating, policy) or _find_in_prose(end, policy)
    if mark is None:
        return Mark(bare[:LONGEST_BARE], Source.WHOLE, 0, len(text), whole=bare)
    skipped = len(text) - len(end)
    return mark._replace(start=mark.start + skipped, end=mark.end + skipped)


def is_bare(text: str) -> bool:
    """Whether a text is an answer and nothing else: a formula, or hardly a word beside numbers and signs."""
    formulas = find_formulas(text)
    if formulas and len(formulas) == 1 and formulas[0].span() == (0, len(text)):
        return True
    plain = _COMMAND.sub(" ", _LABEL.sub("", text))
    if "\n\n" in text or ("**" in text and _BOLD.search(text)) or text.count("$") > 2 or _TELLING.search(plain):
        return False
    return len([word for word in _WORD.findall(plain) if word.casefold() not in _KNOWN]) <= 1


def find_equated_numbers(text: str) -> list[Number]:
    """The numbers right after an equals sign that no operator follows; equations in unknowns do not count."""
    equated, end = [], 0
    for equals in deque(_EQUALS.finditer(text), maxlen=MAX_EQUATIONS):
        side = _SENTENCE_END.split(text[max(end, equals.start() - 100) : equals.start()])[-1]
        end = equals.end()
        ahead = _RESULT.match(text, end)
        numbers = find_numbers(ahead[1]) if ahead and not _is_unsolved(side) else []
        if ahead and numbers:
            equated.append(Number(numbers[0].value, numbers[0].text, ahead.start(1), ahead.end(1), numbers[0].percent))
    return equated


def _has_ink(text: str) -> bool:
    return any(character.isalnum() or character in "∞∅√" for character in text)


def _is_unsolved(side: str) -> bool:
    """Whether one side of an equation still calculates with unknowns, as in "3x + 2 = 14"."""
    return _OPERATOR.search(side) is not None and _UNKNOWN.search(side) is not None


def _find_bold(text: str) -> Mark | None:
    """The last words in bold that look like an answer and not like a label, in the last paragraph."""
    if "**" not in text and "\\textbf" not in text:
        return None
    start = text.rstrip().rfind("\n\n") + 1
    group: list[re.Match[str]] = []
    for match in reversed(find_last(_BOLD, text[start:])):
        inside = match["bold"] or match["latex"]
        if group and not _JOINT.fullmatch(text, start + match.end(), start + group[0].start()):
            break
        closes = not INK.search(text, start + match.end()) and _is_said(text, start + match.start())
        if (closes or _DIGIT_OR_MATH.search(inside)) and not _LABELLING.search(inside):
            group.insert(0, match)
    if not group:
        return None
    contents = dict.fromkeys((match["bold"] or match["latex"]).strip() for match in group)
    return Mark(", ".join(contents), Source.BOLD, start + group[0].start(), start + group[-1].end())


def _find_listed(text: str) -> Mark | None:
    """The numbers of the list with which a text ends, if its items are nothing else."""
    stripped = text.rstrip()
    items = [item for item in takewhile(bool, map(_ITEM.fullmatch, reversed(stripped.split("\n")))) if item]
    if len(items) < 2:
        return None
    contents = ", ".join(item[1] for item in reversed(items))
    start = len(stripped) - sum(len(item[0]) + 1 for item in items)
    return Mark(contents, Source.NUMBER, max(0, start), len(text))


def _find_in_prose(text: str, policy: MathPolicy) -> Mark | None:
    return _find_bold(text) or find_closing(text, policy)


def find_closing(text: str, policy: MathPolicy) -> Mark | None:
    """The end of the last sentence with a formula or a number."""
    for start, end in reversed(list(split_statements(text))):
        sentence = text[start:end]
        if text.startswith(("?", "？"), end):  # asks, and states nothing
            continue
        if mark := _find_ending(sentence, policy):
            return Mark(mark.text, mark.source, start + mark.start, start + mark.end, whole=sentence.strip())
    return None


def _find_ending(sentence: str, policy: MathPolicy) -> Mark | None:
    formula = _find_last_formula(sentence)
    if formula and _PROPERTY.match(sentence, formula.end):
        return None
    if formula and not _has_number(sentence[formula.end :]):
        return formula
    if formula and (_ROUGHLY.match(sentence, formula.end) or _CONDITION.match(sentence, formula.end)):
        return formula
    if not policy.last_number:
        return None
    numbers = _drop_mentioned(sentence, find_numbers(sentence))
    if not numbers:
        return None
    if equated := find_equated_numbers(sentence):
        return Mark(equated[-1].text, Source.EQUATION, equated[-1].start, equated[-1].end)
    if expression := _find_expression(sentence):
        return expression
    number = find_answer_number(sentence, numbers)
    if number is None or _is_operand(sentence, number):
        return Mark(_strip_lead(sentence.strip()), Source.WHOLE, 0, len(sentence))
    return Mark(number.text, Source.NUMBER, number.start, number.end)


def _drop_mentioned(sentence: str, numbers: list[Number]) -> list[Number]:
    """The numbers without step numbers, confidence values and subjects of properties ("14 is even")."""
    kept, resume = [], 0
    for number in numbers:
        if match := _PROPERTY.match(sentence, number.end):
            clause = _CLAUSE_END.search(sentence, match.end())
            resume = clause.start() if clause else len(sentence)
        elif number.start >= resume and not _REFERENCE.search(sentence, max(0, number.start - 40), number.start):
            kept.append(number)
    return kept


def _find_expression(sentence: str) -> Mark | None:
    """The value that a sentence states, if it is more than a number and not marked: "(3, 4)"."""
    match = _SAID.match(sentence)
    if match is None or not _MORE_THAN_A_NUMBER.search(match[1]):
        return None
    return Mark(match[1], Source.MATH, match.start(1), match.end(1))


def _strip_lead(sentence: str) -> str:
    """A sentence without the words that lead up to what it says."""
    leading = _LEADING.match(sentence)
    return sentence[leading.end() :] if leading else sentence


def _find_last_formula(sentence: str) -> Mark | None:
    """The last formula outside a condition; formulas side by side ("$1$ and $2$") are one answer, a list."""
    groups: list[list[re.Match[str]]] = []
    for formula in find_formulas(sentence):
        if groups and _JOINT.fullmatch(sentence, groups[-1][-1].end(), formula.start()):
            groups[-1].append(formula)
        else:
            groups.append([formula])
    if not groups:
        return None
    stated = [group for group in groups if _is_said(sentence, group[0].start())]
    group = next((group for group in stated if _CONDITION.match(sentence, group[-1].end())), groups[-1])
    contents = ", ".join(str(formula[formula.lastgroup or 0]).strip() for formula in group)
    return Mark(contents, Source.MATH, group[0].start(), group[-1].end()) if _has_ink(contents) else None


def _has_number(text: str) -> bool:
    return any(character.isdecimal() for character in text)


def _is_operand(sentence: str, number: Number) -> bool:
    """Whether the number is only a part of something not worked out: of "5 * 2", "x^2 > 2" or a LaTeX argument."""
    before, after = sentence[max(0, number.start - 20) : number.start], sentence[number.end : number.end + 1]
    return bool(_AFTER_OPERATOR.search(before) or _COMPARED.search(before)) or (bool(after) and after in "}&^")


def find_answer_number(sentence: str, numbers: list[Number]) -> Number | None:
    """The number that a sentence states: the last behind a verb of being, else the last; None if all are bounds."""
    numbers = [number for number in numbers[-MAX_NUMBERS:] if not _BOUND.search(_words_before(sentence, number.start))]
    stated = [number for number in numbers if not _GIVEN.search(_words_before(sentence, number.start))] or numbers
    answers = [number for number in stated if _is_said(sentence, number.start)] or stated
    return answers[-1] if answers else None


def _is_said(text: str, start: int) -> bool:
    """Whether a verb of being or having stands right before an index."""
    return _SAYS.search(_words_before(text, start)) is not None


def _words_before(text: str, start: int) -> str:
    return text[max(0, start - WINDOW) : start].rstrip(" $€£*(")
