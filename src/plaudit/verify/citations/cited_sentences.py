"""Does an answer cite the passages that it rests on? Every sentence, with ids that exist, in the grammar of the row."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from plaudit.errors import InvalidTrajectory
from plaudit.settings import check_choice, check_fields
from plaudit.trajectory import Trajectory
from plaudit.verify.citations.grammars import (
    GRAMMARS,
    Citation,
    Grammar,
    find_citations,
    find_malformed,
    without_citations,
)  # fmt: skip
from plaudit.verify.citations.passages import (
    Passage,
    Passages,
    find_passages,
    find_unsupported,
    need_passages,
    read_ids,
)
from plaudit.verify.patterns import compile_late
from plaudit.verify.rows import find_column, read_literal
from plaudit.verify.text import MARK_END, MARK_START, bare_words, replace_spans, sentences_of
from plaudit.verify.verifier import Answer, Verdict, Verifier

MOST_CITED = 3
"""ALCE allows up to three citations for a sentence."""
SHORTEST_CLAIM = 3
"""A sentence with fewer words needs no citation."""
LONGEST_ANSWER = 50_000
_MARK = MARK_START + "{}" + MARK_END
_MARKED = compile_late(rf"{MARK_START}(\d+){MARK_END}")
_ONE = rf"{MARK_START}\d+{MARK_END}"
_RUN = compile_late(rf"{_ONE}(?:[ \t]*{_ONE})*")
_OWN_LINE = compile_late(rf"\n[ \t]*((?:{_ONE}[ \t]*)+)(?=\n|\Z)")
_BEHIND_STOP = compile_late(rf"([.!?。]+[\"'”’)*_]*)[ \t]*((?:{_ONE}[ \t]*)+)")
_BEFORE_STOP = compile_late(r"\s+(?=[.,;:!?])")
_LEAD = compile_late(r"\s*#{1,6}\s|.*:\s*(?:\*\*|__)?\s*\Z")
_LIST_HEADING = compile_late(r"\W*(?:\w+ ){0,2}(?:sources?|references?|citations?)\W*:[^:]*\Z", re.IGNORECASE)
_BULLET = compile_late(r"\A\s*(?:[-*•+]|\d{1,2}[.)])\s+")


@dataclass(frozen=True, slots=True)
class CitationTask:
    """The requirements of a row."""

    grammar: Grammar
    names: frozenset[str]
    """The ids that exist."""
    required: tuple[str, ...]
    passages: Passages | None
    question: str
    cites: bool = True
    """False where no citation is allowed."""
    least: int = 1
    most: int | None = None
    """The number of different ids that may be cited."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence without its citations, and its parts, each with the ids that are cited behind it."""

    text: str
    parts: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids that it cites."""
        return tuple(name for _, names in self.parts for name in names)


@dataclass(frozen=True, repr=False)
class Citations(Verifier[CitationTask]):
    """The share of sentences that cite passages which support them; every malformed or unknown citation costs one.

    `every_sentence=False` asks only for sentences with citations. `support=False` does not compare sentences with
    passages. `grammar` is how citations are written where the row does not say: "ascii_brackets" is `[1]`.
    """

    kind: ClassVar[str] = "citations"

    grammar: str = "ascii_brackets"
    every_sentence: bool = True
    support: bool = True

    def __post_init__(self) -> None:
        check_choice("grammar", self.grammar, GRAMMARS)
        check_fields(self)

    def read(self, sample: Trajectory) -> CitationTask:
        verifier = read_literal(find_column(sample, "verifier"))
        if verifier is not None:
            return _read_nemo(verifier, sample)
        passages = need_passages(sample)
        required = read_ids("required_ids", find_column(sample, "required_ids", "expected_ids"))
        names = frozenset(passages.by_id)
        if unknown := [name for name in required if name not in names]:
            raise InvalidTrajectory(f"required_ids has {unknown[0]!r:.40}, which no passage has")
        grammar = read_grammar(sample, self.grammar)
        question = sample.prompt_text
        for passage in passages.items:
            question = question.replace(passage.text, " ")
        return CitationTask(grammar, names, required, passages, question)

    def judge(self, task: CitationTask, answer: Answer) -> Verdict:
        if len(answer.text) > LONGEST_ANSWER:
            return Verdict(0.0, f"the answer has more than {LONGEST_ANSWER:,} characters")
        citations = find_citations(answer.text, task.grammar, task.names)
        rest = without_citations(answer.text, citations)
        malformed = [f"{piece!r} is malformed" for piece in find_malformed(rest, task.names)]
        ids = [name for citation in citations for name in citation.ids]
        details = {"cited": list(dict.fromkeys(ids))[:50]}
        if not bare_words(rest):
            return Verdict(0.0, "citations without an answer", details=details)
        if not task.cites:
            faults = [*malformed, *(f"{name!r} is cited where nothing may be" for name in ids)]
            return Verdict(float(not faults), _reason(faults, "no citations, as asked"), details=details)
        faults = [*malformed, *(f"{name!r:.40} does not exist" for name in ids if name not in task.names)]
        if task.passages is None:
            faults += _count_faults(task, ids)
            return Verdict(float(not faults), _reason(faults, f"cites {', '.join(details['cited'])}"), details=details)
        sentences = _split(answer.text, citations, task)
        return self._judge_sentences(task, sentences, faults, details)

    def _judge_sentences(
        self, task: CitationTask, sentences: list[Sentence], faults: list[str], details: dict[str, Any]
    ) -> Verdict:
        cited = {name for sentence in sentences for name in sentence.ids}
        faults += [f"{name!r} must be cited" for name in task.required if name not in _same(cited, task)]
        claims = [sentence for sentence in sentences if sentence.ids or self.every_sentence]
        wrong = [fault for sentence in claims if (fault := self._fault(sentence, task)) is not None]
        faults += _repetitions(claims)
        if not any(sentence.ids for sentence in claims):
            return Verdict(0.0, _reason(faults, "nothing is cited"), details=details)
        score = (len(claims) - len(wrong)) / (len(claims) + len(faults))
        reason = _reason([*faults, *wrong], f"{len(claims)} sentences cite their passages")
        return Verdict(score, reason, details=details)

    def _fault(self, sentence: Sentence, task: CitationTask) -> str | None:
        """The problem of a sentence's citations."""
        start = f"{sentence.text!r:.60}"
        if not sentence.ids:
            return f"{start} cites nothing"
        if any(len(set(names)) != len(names) for _, names in sentence.parts):
            return f"{start} cites a passage twice"
        if len(set(sentence.ids)) > MOST_CITED:
            return f"{start} cites {len(set(sentence.ids))} passages"
        passages = task.passages
        if unknown := [name for name in sentence.ids if name not in task.names]:
            return f"{start} cites {unknown[0]!r:.40}"
        if passages is None or not self.support:
            return None
        parts = [(text, [passages.by_id[name] for name in names]) for text, names in sentence.parts]
        why = find_unsupported(sentence.text, parts, passages, task.question)
        return None if why is None else f"{start}: {why}"


def _split(text: str, citations: list[Citation], task: CitationTask) -> list[Sentence]:
    """The sentences of a text with their citations; a citation behind a full stop belongs to the sentence before it.

    Headings, lines that end in a colon, short sentences without a citation and entries of a list of sources (a citation
    and the title of its passage) are no sentences.
    """
    marked = _mark(text, citations)
    sentences = []
    for line in marked.split("\n"):
        for part in sentences_of(_BULLET.sub("", line, count=1)):
            plain = _BEFORE_STOP.sub("", " ".join(_MARKED.sub(" ", part).split()))
            sentence = Sentence(plain, tuple(_split_parts(part, citations)))
            is_lead = not sentence.ids and (_LEAD.match(line) or _is_short(plain))
            if not is_lead and not _is_source(plain, sentence.ids, task):
                sentences.append(sentence)
    return sentences


def _split_parts(marked: str, citations: list[Citation]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The parts of a sentence between runs of citations; text behind the last run belongs to the last part."""
    start, runs = 0, list(_RUN.finditer(marked))
    for number, run in enumerate(runs):
        end = len(marked) if number == len(runs) - 1 else run.end()
        text = _MARKED.sub(" ", marked[start:end])
        yield text, tuple(name for mark in _MARKED.findall(run[0]) for name in citations[int(mark)].ids)
        start = end


def _mark(text: str, citations: list[Citation]) -> str:
    """The text with marks for citations, inside of the sentences that they belong to."""
    spans = [(*citation.spans[-1], _MARK.format(number)) for number, citation in enumerate(citations)]
    spans += [(*citation.spans[0], "") for citation in citations if citation.closing]
    joined = _OWN_LINE.sub(r" \1", replace_spans(text, spans))
    return _BEHIND_STOP.sub(r" \2\1 ", joined)


def _is_short(text: str) -> bool:
    return len(bare_words(text)) < SHORTEST_CLAIM


def _is_source(text: str, ids: tuple[str, ...], task: CitationTask) -> bool:
    """Whether a text is nothing but the titles of the passages that it cites, perhaps after a heading."""
    passages = [task.passages.by_id.get(name) for name in ids] if task.passages else []
    titles = [bare_words(passage.title) for passage in passages if passage is not None and passage.title]
    listed = bare_words(text.rpartition(":")[2] if _LIST_HEADING.match(text) else text)
    return bool(titles) and listed == [word for title in titles for word in title]


def _repetitions(sentences: list[Sentence]) -> list[str]:
    faults = []
    known: set[tuple[str, ...]] = set()
    for sentence in sentences:
        words = tuple(bare_words(sentence.text))
        if words and words in known:
            faults.append(f"{sentence.text!r:.60} is repeated")
        known.add(words)
    return faults


def _same(names: set[str], task: CitationTask) -> set[str]:
    """The ids that are cited, under all names of their passages."""
    if task.passages is None:
        return names
    cited: list[Passage] = [task.passages.by_id[name] for name in names if name in task.passages.by_id]
    return {name for name, passage in task.passages.by_id.items() if passage in cited}


def _count_faults(task: CitationTask, ids: list[str]) -> list[str]:
    known = {name for name in ids if name in task.names}
    faults = [f"{name!r} must be cited" for name in task.required if name not in known]
    if len(known) < task.least:
        faults.append(f"{len(known)} passages are cited, at least {task.least} must be")
    if task.most is not None and len(known) > task.most:
        faults.append(f"{len(known)} passages are cited, at most {task.most} may be")
    return faults


def _reason(faults: list[str], otherwise: str) -> str:
    return "; ".join(faults)[:300] if faults else otherwise


def read_grammar(sample: Trajectory, default: str) -> Grammar:
    """The grammar of a row: its column `grammar`, else the default."""
    return _grammar(find_column(sample, "grammar", "citation_format") or default)


def _grammar(name: Any) -> Grammar:
    if not isinstance(name, str) or name not in GRAMMARS:
        raise InvalidTrajectory(f"grammar is one of {', '.join(GRAMMARS)}, got {name!r:.40}")
    return GRAMMARS[name]


def _read_nemo(verifier: Any, sample: Trajectory) -> CitationTask:
    """The rows of NeMo's citation_if and format_verification."""
    if not isinstance(verifier, Mapping):
        raise InvalidTrajectory(f"verifier is an object, got {verifier!r:.60}")
    if "expected_markers" in verifier:
        return _read_markers(verifier["expected_markers"], sample)
    names = read_ids("valid_id_set", verifier.get("valid_id_set"))
    mode, expected = verifier.get("mode", "cite"), verifier.get("expected_ids")
    if not names or mode not in ("cite", "no_cite"):
        raise InvalidTrajectory(f"a verifier has valid_id_set, and mode cite or no_cite, got {verifier!r:.80}")
    required = read_ids("expected_ids", expected)
    slack, least = verifier.get("expected_slack", 1), verifier.get("min_valid_citations", 1)
    if type(slack) is not int or type(least) is not int:
        raise InvalidTrajectory(f"expected_slack and min_valid_citations are whole numbers, got {slack!r}, {least!r}")
    most = None if expected is None else len(required) + slack
    return CitationTask(
        _grammar(verifier.get("grammar")), frozenset(names), required, None, "", mode == "cite", least, most
    )


def _read_markers(markers: Any, sample: Trajectory) -> CitationTask:
    """Markers such as `[ref:2]`: all of them are required, and no other of their form."""
    listed = [markers] if isinstance(markers, str) else markers
    parts = [re.fullmatch(r"(\D*)(\d+)(\D*)", each) for each in listed if isinstance(each, str)] if listed else []
    forms = {(part[1], part[3]) for part in parts if part}
    if not parts or len(forms) != 1 or None in parts or not all(forms.copy().pop()):
        raise InvalidTrajectory(f"expected_markers are texts of one form with a number, got {markers!r:.60}")
    ids = tuple(dict.fromkeys(part[2] for part in parts if part))
    before, after = forms.pop()
    passages = find_passages(sample)
    names = frozenset(ids) | frozenset(passages.by_id if passages else ())
    return CitationTask(Grammar(before, after), names, ids, None, "", most=len(ids))
