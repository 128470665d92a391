"""Are the quotes of an answer verbatim in the passages that they name?"""

import re
from dataclasses import dataclass
from typing import Annotated, ClassVar

import msgspec

from plaudit.errors import InvalidTrajectory
from plaudit.settings import check_choice, check_fields
from plaudit.trajectory import Trajectory
from plaudit.verify.citations.cited_sentences import read_grammar
from plaudit.verify.citations.grammars import (
    GRAMMARS,
    Citation,
    Grammar,
    find_citations,
    find_malformed,
    without_citations,
)
from plaudit.verify.citations.passages import NEGATION, Passage, Passages, need_passages, read_ids
from plaudit.verify.patterns import compile_late
from plaudit.verify.rows import find_column
from plaudit.verify.text import bare_words, remove_invisible, replace_spans
from plaudit.verify.texts.matching import is_within_word
from plaudit.verify.verifier import Answer, Verdict, Verifier

LONGEST_ANSWER = 50_000
MOST_QUOTES = 100
SHORTEST_FRAGMENT = 2
_QUOTE = compile_late(
    r"<quote(?:\s+(?:id|source)=[\"']?(?P<id>[^\s\"'>]{1,80})[\"']?)?\s*>(?P<tagged>.+?)</quote>"
    r"|“(?P<curly>[^“”]+)”|«\s*(?P<french>[^«»]+?)\s*»|„(?P<german>[^„“”]+)[“”]"
    r"|(?<![\w\"])\"(?P<plain>[^\"\s][^\"]*?)\"(?!\w)"
    r"|(?<!\w)[‘'](?P<single>[^\s‘][^\n]*?[^\s])[’'](?!\w)|^[ \t]*>[ \t]?(?P<block>[^\n]*(?:\n[ \t]*>[^\n]*)*)",
    re.DOTALL | re.MULTILINE,
)
_OPEN = compile_late(r"(?<![\w\"])\"(?=\w)|“|<quote\b")
_ELLIPSIS = compile_late(r"\s*(?:\[\s*(?:\.\.\.|…)\s*\]|\(\s*(?:\.\.\.|…)\s*\)|\.\.\.|…)\s*")
_BLOCK_MARK = compile_late(r"^[ \t]*>[ \t]?", re.MULTILINE)
_SENTENCE_STOP = compile_late(r"[.!?][\"'”’)]*\s+(?=[A-Z\"“])|\n")
_STOP = compile_late(r"[.!?]\s")
_ONE_QUOTE_MARK = str.maketrans(dict.fromkeys('"“”„«»‘’‚′″`´', "'"))
Words = Annotated[int, msgspec.Meta(ge=1, le=100)]


@dataclass(frozen=True, slots=True)
class QuoteTask:
    """The passages of a row, which of them must be quoted, and how they are named."""

    passages: Passages
    required: tuple[str, ...]
    grammar: Grammar


@dataclass(frozen=True, slots=True)
class Quote:
    """A quote, where it is, and the ids of the passages that it names."""

    text: str
    start: int
    end: int
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class Quotes(Verifier[QuoteTask]):
    """The share of quotes that are verbatim in the passage they name; every other fault costs one quote.

    A quote has at least `least_words` words; shorter ones are titles or single terms, and count only where they are
    followed by an id. `grammar` is how passages are named where the row does not say: "ascii_brackets" is `[1]`.
    """

    kind: ClassVar[str] = "quotes"

    least_words: Words = 4
    grammar: str = "ascii_brackets"

    def __post_init__(self) -> None:
        check_choice("grammar", self.grammar, GRAMMARS)
        check_fields(self)

    def read(self, sample: Trajectory) -> QuoteTask:
        passages = need_passages(sample)
        required = read_ids("required_ids", find_column(sample, "required_ids", "expected_ids"))
        if unknown := [name for name in required if name not in passages.by_id]:
            raise InvalidTrajectory(f"required_ids has {unknown[0]!r:.40}, which no passage has")
        return QuoteTask(passages, required, read_grammar(sample, self.grammar))

    def judge(self, task: QuoteTask, answer: Answer) -> Verdict:
        if len(answer.text) > LONGEST_ANSWER:
            return Verdict(0.0, f"the answer has more than {LONGEST_ANSWER:,} characters")
        names = task.passages.by_id
        citations = find_citations(answer.text, task.grammar, names)
        rest = without_citations(answer.text, citations)
        if len(_QUOTE.findall(rest)) > MOST_QUOTES:
            return Verdict(0.0, f"the answer has more than {MOST_QUOTES} quotes")
        quotes = _find_quotes(rest, citations)
        beside = replace_spans(rest, ((quote.start, quote.end, " ") for quote in quotes))
        faults = [f"{piece!r} is malformed" for piece in find_malformed(beside, names)]
        faults += [f"{name!r:.40} does not exist" for each in citations for name in each.ids if name not in names]
        faults += ["a quote is not closed"] if _OPEN.search(beside) else []
        if not bare_words(beside):
            faults.append("there are quotes only, and no answer")
        counted = [quote for quote in quotes if self._counts(quote, task)]
        wrong = [fault for quote in counted if (fault := self._fault(quote, task)) is not None]
        return self._conclude(task, counted, wrong, faults)

    def _conclude(self, task: QuoteTask, quotes: list[Quote], wrong: list[str], faults: list[str]) -> Verdict:
        faults = faults + _repetitions(quotes)
        right = [quote for quote in quotes if self._fault(quote, task) is None]
        quoted = [passage for quote in right for passage in _passages_of(quote, task)]
        faults += [f"{name!r} must be quoted" for name in task.required if task.passages.by_id[name] not in quoted]
        long_enough = [quote for quote in quotes if len(bare_words(quote.text)) >= self.least_words]
        if not long_enough:
            return Verdict(0.0, "; ".join(faults)[:300] or f"no quote of {self.least_words} words or more")
        score = max(0.0, (len(quotes) - len(wrong)) / (len(quotes) + len(faults)))
        reason = "; ".join([*faults, *wrong])[:300] or f"{len(quotes)} quotes are verbatim"
        return Verdict(score, reason, details={"quotes": [quote.text[:200] for quote in quotes[:20]]})

    def _counts(self, quote: Quote, task: QuoteTask) -> bool:
        """Whether a quote is one: long enough and no title, or with an id."""
        if quote.ids and len(bare_words(quote.text)) > 1:
            return True
        plain = _normal(quote.text)
        is_title = any(passage.title and plain == _normal(passage.title) for passage in task.passages.items)
        return len(bare_words(quote.text)) >= self.least_words and not is_title

    def _fault(self, quote: Quote, task: QuoteTask) -> str | None:
        start = f"{quote.text!r:.60}"
        if unknown := [name for name in quote.ids if name not in task.passages.by_id]:
            return f"{start} names {unknown[0]!r:.40}, which does not exist"
        passages = _passages_of(quote, task)
        if not passages:
            return f"{start} names no passage"
        missing = [passage.id for passage in passages if not _is_verbatim(quote.text, passage.text)]
        return f"{start} is not in passage {missing[0]}" if missing else None


def _passages_of(quote: Quote, task: QuoteTask) -> list[Passage]:
    """The passages that a quote names; the only one where there is only one."""
    items = task.passages.items
    if not quote.ids and len(items) == 1:
        return [items[0]]
    return [task.passages.by_id[name] for name in quote.ids if name in task.passages.by_id]


def _find_quotes(text: str, citations: list[Citation]) -> list[Quote]:
    """The quotes of a text, with the id that follows in the sentence before the next quote, else that before it."""
    matches = list(_QUOTE.finditer(text))
    quotes = []
    for number, match in enumerate(matches):
        following = matches[number + 1].start() if number + 1 < len(matches) else len(text)
        previous = matches[number - 1].end() if number else 0
        block = match["block"]
        written = (
            _BLOCK_MARK.sub("", block)
            if block is not None
            else next(group for name, group in match.groupdict().items() if group is not None and name != "id")
        )
        ids = (match["id"],) if match["id"] else _ids_after(text, match, following, citations)
        ids = ids or _ids_before(text, match, previous, citations)
        inner = written.strip().strip('"“”') if block is not None else written
        quotes.append(Quote(inner.strip(), *match.span(), ids))
    return quotes


def _ids_after(text: str, quote: "re.Match[str]", limit: int, citations: list[Citation]) -> tuple[str, ...]:
    """The ids of the first citation behind a quote, and of those that follow it directly."""
    stop = _SENTENCE_STOP.search(text, quote.end(), limit)
    end = limit if stop is None else stop.end()
    inside = [each for each in citations if quote.start() <= each.start < quote.end()]
    after = inside or [each for each in citations if quote.end() <= each.start < end]
    adjacent = after[:1]
    for each in after[1:]:
        if each.start - adjacent[-1].end > 1:
            break
        adjacent.append(each)
    return tuple(name for each in adjacent for name in each.ids)


def _ids_before(text: str, quote: "re.Match[str]", limit: int, citations: list[Citation]) -> tuple[str, ...]:
    stops = [stop.end() for stop in _SENTENCE_STOP.finditer(text, limit, quote.start())]
    start = stops[-1] if stops else limit
    before = [each for each in citations if start <= each.start < quote.start()]
    return before[-1].ids if before else ()


def _repetitions(quotes: list[Quote]) -> list[str]:
    """Quotes that are part of another one of the same answer."""
    plain = [_normal(quote.text).rstrip(".,") for quote in quotes]
    return [
        f"{quote.text!r:.60} is repeated"
        for number, quote in enumerate(quotes)
        if any(plain[number] in other for other in plain[:number])
        or any(plain[number] in other and plain[number] != other for other in plain[number + 1 :])
    ]


def _is_verbatim(quote: str, text: str) -> bool:
    """Whether a quote is in a text, its fragments between ellipses in order.

    Whitespace and the kind of quotation marks do not count; a final comma or full stop belongs to the sentence around
    it. An ellipsis leaves out no negation of its sentence.
    """
    source = _normal(text)
    fragments = [fragment for fragment in map(_normal, _ELLIPSIS.split(quote)) if fragment]
    if len(fragments) > 1 and any(len(bare_words(fragment)) < SHORTEST_FRAGMENT for fragment in fragments):
        return False
    position = 0
    for number, fragment in enumerate(fragments):
        last = number == len(fragments) - 1
        spellings = [fragment, fragment[:-1]] if last and fragment[-1:] in (".", ",") else [fragment]
        spans = [span for spelling in spellings if (span := _find(source, spelling, position)) is not None]
        if not spans or (number and _hides_denial(source[position : spans[0][0]])):
            return False
        position = spans[0][1]
    return bool(fragments)


def _hides_denial(omitted: str) -> bool:
    """Whether an ellipsis leaves out a negation of the sentence that it shortens."""
    return not _STOP.search(omitted) and NEGATION.search(omitted) is not None


def _find(source: str, fragment: str, position: int) -> tuple[int, int] | None:
    """The span of a fragment that starts and ends with whole words."""
    start = source.find(fragment, position) if fragment else -1
    while start >= 0:
        end = start + len(fragment)
        if not is_within_word(source, start, end):
            return start, end
        start = source.find(fragment, start + 1)
    return None


def _normal(text: str) -> str:
    return " ".join(remove_invisible(text).translate(_ONE_QUOTE_MARK).split())
