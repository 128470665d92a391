r"""Which options does an answer commit to?

Boxes, `<answer>` tags, phrases and lines that are only an option are statements; without any statement, an answer that
names exactly one option commits to it. The ground truth plays no part here. Every reading is linear in the answer.
"""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from plaudit.verify.answers.clauses import (
    ABSTENTION,
    CONDITION,
    CORRECTION,
    DOUBT,
    NEGATION,
    NOUN_PHRASE,
    PHRASES,
    RETRACTION,
    are_denied_after,
    clause_before,
    is_denied,
    is_denied_after,
    is_presented,
    is_question,
    positions,
)
from plaudit.verify.answers.options import Options, Question, fold
from plaudit.verify.math.extraction.boxes import find_boxes
from plaudit.verify.patterns import compile_late
from plaudit.verify.text import MARK, canonical, replace_spans

_TAG = compile_late(r"</?answer>", re.IGNORECASE)
_MARKUP = compile_late(r"[*`$]+|\\(?:text|textbf|textrm|mathrm|mathbf|mbox)\s?\{|(?<![\w.])[{}]|[{}](?!\w)")
_HAS_MARKUP = compile_late(r"[*`$\\{}]")
_ANSWER_MARK = compile_late(r"A:\s+(?=\w+[\s'’])")
_LEADING_WORDS = compile_late(
    r"(?:(?:definitely|clearly|therefore|thus|indeed|that|simply|just|option|choice|answer|letter|number|label)\b[\s:]*)+",
    re.IGNORECASE,
)
_IS_BEFORE = compile_late(
    r"(?:\s+(?:is|are)\s+(?:clearly\s+|definitely\s+|also\s+)?(?:the\s+)?|(?P<mark>\s*[-–—:()]\s*))\Z", re.IGNORECASE
)
_LABEL = compile_late(
    r"[(\[\"']?(?P<label>[A-Za-z]|\d{1,2})(?![^\W\u2e80-\uffdc]|%|[.,]\d|['’]\w)[)\]\"']?(?P<mark>[.:)\]]*)"
)
_LIST_SEPARATOR = compile_late(
    r"[\"')\]]*\s*(?:,\s*and|,\s*or|[,;/&|、和与と]|\b(?:and|or|und|oder|et|ou|y|o|и|или)\b)\s*(?:options?\s+)?"
)
_ALTERNATIVE = compile_late(r"/|\b(?:or|oder|ou|o|или)\b", re.IGNORECASE)
_JOINED = compile_late(r"[A-Z]{2,10}(?=[.\s]*\Z)")
_POSITION = compile_late(r"\b(?:option|choice)\s+(?:number\s+)?#?(\d{1,2})\b(?![.,]\d)", re.IGNORECASE)
_HEDGE = compile_late(r"\W*(?:if|unless|assuming|provided)\b|[^.!?\n]{0,200}\botherwise\b", re.IGNORECASE)
_OR = compile_late(r",?\s+or\s+\w", re.IGNORECASE)
_DENIAL = compile_late(r"\s*(?:not|n['’]t|never|neither)\b|\s*n['’]t\b", re.IGNORECASE)
_RETRACTION = compile_late(rf"\b(?:{RETRACTION})\b", re.IGNORECASE)
_FREE_LABEL = compile_late(
    r"\((?P<in>[A-Za-z]|\d{1,2})\)|\b(?i:option|choice|answer)\s+(?P<named>[A-Z])\b|\b(?P<bare>[A-Z])\b"
)
_OTHERS = compile_late(r"\b(?:others?|remaining|incorrect|wrong)\b", re.IGNORECASE)
_BEFORE_STATEMENT = f" \t\"'{MARK}"
_BULLETS = " \t-–•"
_SENTENCE_END = compile_late(r"[.!?\n]")
_LABEL_END = compile_late(r"\s*(?:[,.;/)]|or\b|and\b|$)")
_SENTENCE = compile_late(r"(?<=[.!?])\s+")
MOST_STATEMENTS = 200
MOST_LINES = 40  # in which a list of options is looked for
LONGEST_STATEMENT = 600
FEW_WORDS = 3  # of an answer that is none of the options
LONGEST_COPULA = 30  # characters of "is clearly the" before "correct"


class Commitment(NamedTuple):
    """The options that an answer commits to, empty where it commits to none; and why."""

    selection: frozenset[int]
    reason: str
    abstained: bool = False


class Statement(NamedTuple):
    """A part of an answer that names options, and where it is."""

    selection: frozenset[int]
    start: int
    end: int
    hedged: bool = False


def find_commitment(question: Question, answer: str, *, leads: bool = False) -> Commitment:
    """The options that an answer commits to; `leads`: an answer may begin with the text of an option and a comma."""
    label = question.options.by_label.get(answer.strip("()[].* ").lower()) if len(answer) < 8 else None
    if label is not None:
        return Commitment(frozenset({label}), f"commits to {question.describe(frozenset({label}))}")
    text = _plain(canonical(answer))
    reader = _Reader(question.options)
    statements = sorted({*reader.phrases(text), *reader.lines(text, leads)}, key=lambda each: each.start)
    if len(statements) > 1 and reader.begins_with_mark(text):
        statements = [statement for statement in statements if statement.start > 0]
    if reader.has_foreign_answer(text, statements[-1].start if statements else -1):
        return Commitment(frozenset(), "the answer is none of the options")
    if not statements:
        named = reader.named(text)
        if len(named) == 1 and not _is_list(text):
            return Commitment(named, f"names only {question.describe(named)}")
        if not named and ABSTENTION.search(text[:LONGEST_STATEMENT]):
            return Commitment(frozenset(), "abstains", abstained=True)
        return Commitment(frozenset(), "commits to none of several options" if named else "names no option")
    current = statements[0]
    for statement in statements[1:]:
        is_part = current.start < statement.start and statement.end <= current.end and not statement.hedged
        if is_part or (statement.selection == current.selection and statement.hedged == current.hedged):
            continue
        if not CORRECTION.search(text, current.end, max(current.end, statement.start)):
            both = question.describe(current.selection | statement.selection)
            return Commitment(frozenset(), f"commits to different options: {both}")
        current = statement
    if reader.takes_back(text, current):
        return Commitment(frozenset(), f"takes back {question.describe(current.selection)}")
    if current.hedged:
        return Commitment(frozenset(), f"leaves open which: {question.describe(current.selection)}")
    return Commitment(current.selection, f"commits to {question.describe(current.selection)}")


def _plain(answer: str) -> str:
    """The answer without markup; boxes and tags are marked by one character at their start."""
    boxes = find_boxes(answer)
    text = replace_spans(answer, ((box.start, box.end, f"{MARK}{box.text}\n") for box in boxes[:MOST_STATEMENTS]))
    if "<" in text:
        text = _TAG.sub(lambda tag: "\n" if tag[0][1] == "/" else MARK, text)
    return (_MARKUP.sub("", text) if _HAS_MARKUP.search(text) else text).strip()


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the options of one question out of text."""

    options: Options

    def phrases(self, text: str) -> Iterator[Statement]:
        """Statements after a phrase such as "the answer is", and before "is correct"."""
        lowered = text.lower() if text.isascii() or len(text.lower()) == len(text) else text
        for words, pattern in PHRASES.items():
            for start in positions(lowered, words) if words in lowered else ():
                phrase = pattern.match(text, start)
                statement = self._statement_or_list(text, phrase.end()) if phrase else None
                if statement is None or is_denied_after(text, statement.end) or is_question(text, start):
                    continue
                clause = clause_before(text, start)
                if not NEGATION.search(clause) and not _OTHERS.search(clause):
                    yield statement._replace(start=start)
        for words in ("correct", "right", "best", "true", "answer"):
            for end in positions(lowered, words) if words in lowered else ():
                before = _IS_BEFORE.search(text, max(0, end - LONGEST_COPULA), end)
                selection = self._subject(text, before.start(), whole=bool(before["mark"])) if before else None
                if selection and not is_question(text, end):
                    yield Statement(selection, end, end + len(words))

    def begins_with_mark(self, text: str) -> bool:
        """Whether a text begins with "A:" for "answer", and not with the text of an option behind it."""
        mark = _ANSWER_MARK.match(text)
        return mark is not None and self.options.text_at(text, mark.end()) is None

    def has_foreign_answer(self, text: str, after: int) -> bool:
        """Whether the last "the answer is" after a position is followed by a few words that name no option."""
        start = text.lower().rfind("answer")
        phrase = NOUN_PHRASE.match(text, start) if start > after else None
        if phrase is None or is_question(text, start):
            return False
        statement = _SENTENCE_END.split(text[phrase.end() : phrase.end() + LONGEST_STATEMENT], maxsplit=1)[0]
        short = 0 < len(statement.split()) <= FEW_WORDS
        other = short and not _DENIAL.match(statement) and not ABSTENTION.search(text) and not self._mentions(statement)
        return other and self._statement(text, phrase.end()) is None

    def _subject(self, text: str, end: int, *, whole: bool) -> frozenset[int]:
        """The options that end at a position, or are the whole clause there, unless the clause denies them."""
        start = max(text.rfind(mark, 0, end) for mark in ".!?\n,;:") + 1
        subject = text[max(start, end - LONGEST_STATEMENT) : end].strip()
        selection = self._exactly(subject) or (frozenset() if whole else self._exactly(subject.rpartition(" ")[2]))
        return frozenset() if NEGATION.search(subject) else selection

    def lines(self, text: str, leads: bool) -> Iterator[Statement]:
        """Statements of the first and the last line; a list of options in their order is none."""
        first, last = text.partition("\n")[0], text.rpartition("\n")[2]
        labels = [self._leading_label(line) for line in text.split("\n", MOST_LINES)[:MOST_LINES]]
        listed = [label for label in labels if label is not None]
        lists = len({*listed}) > 1
        opening = self._opening(first, leads)
        if opening is not None and not (lists and labels[0] is not None and listed == sorted(listed)):
            yield opening
        finals = {last, _SENTENCE.split(last)[-1]} - {text}  # the opening is read already if it is the whole text
        for final in finals:
            selection = self._exactly(final)
            if selection and not (lists and self._leading_label(last) is not None):
                yield Statement(selection, len(text) - len(final), len(text))

    def _opening(self, line: str, leads: bool) -> Statement | None:
        """The options that a line begins with: alone, after a marked label, or before a comma where options lead."""
        statement = self._statement(line, 0)
        if statement is not None and is_denied_after(line, statement.end):
            return None
        if labelled := self._label_with_text(line):
            return Statement(labelled, 0, len(line))
        if statement is None:
            return None
        rest = line[statement.end :]
        alone = not rest.strip(" .!)\"'\t")
        return statement if alone or statement.hedged or (leads and rest[0] in ",.!:;—–") else None

    def takes_back(self, text: str, statement: Statement) -> bool:
        """Whether a text takes back its last statement and then names only other options."""
        retraction = _RETRACTION.search(text, statement.end)
        if retraction is None:
            return False
        mentions = self._mentions(text[retraction.end() :])
        named = {index for index, searched, start, end in mentions if not is_denied(searched, start, end)}
        return bool(named) and not named & statement.selection

    def named(self, text: str) -> frozenset[int]:
        """The options that a text names anywhere without denying or questioning them; none if it doubts one."""
        mentions = [mention for mention in self._without_denied_lists(text) if not is_denied(*mention[1:])]
        doubted = any(
            DOUBT.search(clause_before(text, start)) or CONDITION.match(text, end) for _, text, start, end in mentions
        )
        presented = any(is_presented(searched, start, end) for _, searched, start, end in mentions)
        named = frozenset(index for index, *_ in mentions)
        return frozenset() if len(named) == 1 and (doubted or not presented) else named

    def _without_denied_lists(self, text: str) -> list[tuple[int, str, int, int]]:
        """The mentions but for lists that are denied as a whole: "A, B and C are wrong"."""
        kept = []
        next_start, next_denied = len(text), False
        for mention in sorted(self._mentions(text), key=lambda each: -each[2]):
            _, searched, start, end = mention
            joined = next_denied and _LIST_SEPARATOR.fullmatch(searched, end, next_start) is not None
            next_start, next_denied = start, joined or are_denied_after(searched, end)
            if not next_denied:
                kept.append(mention)
        return kept

    def _mentions(self, text: str) -> list[tuple[int, str, int, int]]:
        """Every place where an option is named by its text or by a capital letter: option, text searched, span."""
        lowered = text.casefold() if text.isascii() else fold(text)
        spans = self.options.text_spans(lowered)
        mentions = [(index, lowered, start, end) for start, end, index in spans]
        for label in itertools.islice(_FREE_LABEL.finditer(text), MOST_STATEMENTS):
            name = label["in"] or label["named"] or label["bare"]
            if label["bare"] and name in "AI" and not _LABEL_END.match(text, label.end()):
                continue
            index = self.options.find_label(name)
            inside = any(start <= label.start() < end for start, end, _ in spans)
            if index is not None and not inside:
                mentions.append((index, text, *label.span()))
        return mentions

    def _statement(self, text: str, start: int) -> Statement | None:
        """The options named from a position on; None where no option is."""
        text_here = text[start : start + LONGEST_STATEMENT]
        segment, offset = text_here.lstrip(_BEFORE_STATEMENT), 0
        base = start + len(text_here) - len(segment)
        denial, words = _DENIAL.match(segment), _LEADING_WORDS.match(segment)
        if (denial or words) and self.options.text_at(segment) is None:
            if denial:
                return None
            if position := _POSITION.match(segment):
                index = self.options.find_position(position[1])
                return None if index is None else Statement(frozenset({index}), start, start + position.end())
            if words:
                segment, offset = segment[words.end() :], words.end()
        return self._list(segment, base + offset)

    def _statement_or_list(self, text: str, start: int) -> Statement | None:
        """The options named from a position on, or in all lines of a list; None if the list has every option."""
        first = text.rfind("\n", 0, start) + 1
        if first and not text[first:start].strip(_BULLETS):
            lines = text[first : first + LONGEST_STATEMENT].split("\n", MOST_LINES)[:MOST_LINES]
            labels = list(itertools.takewhile(lambda label: label is not None, map(self._leading_label, lines)))
            named = list(itertools.takewhile(bool, (self._exactly(line.strip(_BULLETS)) for line in lines)))
            if len(self.options) in (len({*labels}), len(frozenset().union(*named))):
                return None
            if len(named) > 1:
                end = first + sum(len(line) + 1 for line in lines[: len(named)])
                return Statement(frozenset().union(*named), start, end)
        return self._statement(text, start)

    def _list(self, segment: str, base: int) -> Statement | None:
        selection: set[int] = set()
        position, hedged = 0, False
        while (named := self._one(segment, position)) is not None:
            selection |= named[0]
            position = named[1]
            separator = _LIST_SEPARATOR.match(segment, position)
            if separator is None or self._one(segment, separator.end()) is None:
                break
            hedged = hedged or _ALTERNATIVE.search(separator[0]) is not None
            position = separator.end()
        if not selection:
            return self._joined(segment, base)
        hedged = hedged or _HEDGE.match(segment, position) is not None or _OR.match(segment, position) is not None
        return Statement(frozenset(selection), base, base + position, hedged)

    def _joined(self, segment: str, base: int) -> Statement | None:
        """The options of "BD", where that is all there is."""
        letters = _JOINED.match(segment)
        if letters is None:
            return None
        selection = [index for letter in letters[0] if (index := self.options.find_label(letter)) is not None]
        if len(set(selection)) != len(letters[0]):
            return None
        return Statement(frozenset(selection), base, base + letters.end())

    def _one(self, segment: str, position: int) -> tuple[frozenset[int], int] | None:
        """The option named at a position, with its text where that follows its label; both if they differ."""
        at = self.options.text_at(segment, position)
        label = _LABEL.match(segment, position)
        index = None if label is None else self.options.find_label(label["label"])
        if at is not None and not (label and index is not None and label["mark"] and label.end() > at[1]):
            return frozenset({at[0]}), at[1]
        if label is None or index is None or not self._is_label(segment, label):
            return None
        following = len(segment) - len(segment[label.end() :].lstrip(" \t-–—:\"'("))
        beside = self.options.text_at(segment, following)
        if beside is None or (following == label.end() and segment[following : following + 1].isalpha()):
            return frozenset({index}), label.end()
        return frozenset({index, beside[0]}), beside[1]

    def _is_label(self, segment: str, label: "re.Match[str]") -> bool:
        """Whether a letter is a label and no article, pronoun or start of a word."""
        name, rest = label["label"], segment[label.end() :]
        if name.isdigit():
            return True
        alone = not rest.strip(" .!\n\t\"'")
        if name.islower():
            return alone or segment[label.start()] == "("
        if (
            label["mark"]
            or alone
            or segment[label.start()] in "([\"'"
            or rest[0] in ",;/&!|\n-–—"
            or rest[0] > "\u2e80"
        ):
            return True
        return name not in "AI" or re.match(r"\s+(?:because|since|as|and|or|is|\(|-)", rest) is not None

    def _exactly(self, text: str) -> frozenset[int]:
        """The options that a text names if it has no other words; empty otherwise."""
        if len(text) > LONGEST_STATEMENT:
            return frozenset()
        statement = self._statement(text, 0)
        whole = statement is not None and not text[statement.end :].strip(" .!)\"'\t")
        return statement.selection if statement is not None and whole and not statement.hedged else frozenset()

    def _leading_label(self, line: str) -> int | None:
        label = _LABEL.match(line.strip(_BULLETS))
        return None if label is None or not label["mark"] else self.options.find_label(label["label"])

    def _label_with_text(self, line: str) -> frozenset[int]:
        """The option of a line that begins with a marked label, and every other one labelled before "the others"."""
        if self._leading_label(line) is None:
            return frozenset()
        labelled = _OTHERS.split(line[:LONGEST_STATEMENT], maxsplit=1)[0]
        pieces = re.split(r"(?<=\s)(?=[(\[]?[A-Z][.):\]])", labelled.strip())
        named = [self._one(piece, 0) for piece in pieces]
        return frozenset(index for each in named if each is not None for index in each[0])


def _is_list(text: str) -> bool:
    """Whether a text is only a list of short items, which commits to none of them."""
    items = text.split(",", MOST_LINES)
    return len(items) > 2 and all(len(item.split()) <= FEW_WORDS for item in items)
