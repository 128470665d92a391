r"""The candidate answers of a response, in order, and the objections to them; the ground truth is not used here.

The strongest kind of mark decides: the last `\boxed{}`, then `<answer>`, `####`, "the answer is"; without any, bold
print, the closing formula or number, or the whole of a bare response. Text inside `<think>` is not part of the answer.
"""

import re
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

from plaudit.verify.fences import find_fences
from plaudit.verify.math.extraction.boxes import find_boxes
from plaudit.verify.math.extraction.marks import (
    DIGIT,
    INK,
    MATHEMATICAL,
    MAX_MARKS,
    Mark,
    Rejection,
    Source,
    find_last,
    without_environment,
)
from plaudit.verify.math.extraction.phrases import find_phrases
from plaudit.verify.math.extraction.trust import (
    find_objection,
    find_offers,
    is_corrected,
    is_denied_at,
    is_letter,
    read_statement,
)
from plaudit.verify.math.extraction.unmarked import find_unmarked_answer, is_bare
from plaudit.verify.math.parsing.units import changes_amount
from plaudit.verify.math.policy import MathPolicy
from plaudit.verify.numbers import NUMBER, parse_plain_number, without_calculator_marks
from plaudit.verify.patterns import compile_late
from plaudit.verify.tags import THOUGHT, without_thinking
from plaudit.verify.text import remove_invisible


class Candidate(NamedTuple):
    """One way to read the answer of a response; `holds_all` if it is the list of all that are marked."""

    text: str
    holds_all: bool = False


class CompetingAnswer(NamedTuple):
    """Another answer that the response gives, which must be the same; `whole` is the statement that the text begins."""

    text: str
    whole: str = ""


class Extraction(NamedTuple):
    """The candidates of a response in the order in which they are tried, their source, and the objections to them.

    `rejected` says why no candidate counts. A candidate does not count if a competing answer differs from it.
    """

    candidates: tuple[Candidate, ...] = ()
    source: Source | None = None
    rejected: Rejection | None = None
    competing_answers: tuple[CompetingAnswer, ...] = ()

    @property
    def answer(self) -> str | None:
        """The first candidate."""
        return self.candidates[0].text if self.candidates else None


MAX_TOGETHER = 10  # marks that may be one answer together
NEAR = 400  # characters before an answer in which another in words contradicts it
_SIGNS = {Source.BOXED: "box", Source.TAG: "</", Source.HASHES: "####"}
_ANSWER_TAG = compile_late(r"<(/?)answer>", re.IGNORECASE)
_PLAIN_ANSWER = compile_late(r"answers?\**\s*(?:is|are|was|:|=)", re.IGNORECASE)
# Comments, struck out text, text that has no ink, and all that follows the definition of a macro.
_BRACED = r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}"
_ATTRIBUTES = r"(?:[^<>\"]|\"[^\"\n]*\")*+"
_HIDDEN = compile_late(
    r"<!--(?:(?!-->).)*(?:-->|\Z)"
    # elements that are not shown, quote or strike out what they hold, and all with attributes; unclosed ones to the end
    rf"|<(?:img|br|hr|input)\s{_ATTRIBUTES}>|<(?P<hidden>del|s(?=>(?:(?!</?s\b).)*</s>)|strike|pre|code|samp|kbd|q|blockquote|cite|script|noscript|style|title|head|template|textarea|svg|canvas"
    r"|iframe|object|audio|video|details|dialog|datalist|select|option|rp|meter|progress|noframes|noembed|tool_call"
    rf"|\w+(?=\s+[\w-]{{2,}}=|\s+hidden\b))\b{_ATTRIBUTES}>"
    r"(?:(?!</?(?P=hidden)\b).)*(?:</(?P=hidden)>|(?:<(?P=hidden)\b.*)?\Z)|!\[[^\]\n]{0,200}+\]\([^()\n]*\)|(?<=\w\])\((?=\.{0,2}[#/]|[<\\]|\w+:|[^()\s]*box)(?:<[^<>\n]*>|[^()\s]+)(?:\s+[\"'][^()\n]*)?\)|^\[[^\]\n]*\]:[^\n]*"
    r"|(?<![\w}~])~~(?![\s~])[^~\n]+(?<!\s)~~(?![\w{\\~])|\\iffalse\b(?:(?!\\fi\b).)*(?:\\fi\b|\Z)"
    r"|\\begin\{(?P<unprinted>comment|filecontents\*?|lrbox)\}(?:(?!\\end\{(?P=unprinted)\}).)*(?:\\end\{(?P=unprinted)\})?"
    rf"|(?<!\\)\\++(?:[hv]?phantom|[bx]?cancel|s?out|st)\s?{_BRACED}"
    r"|\\[a-z]*(?:def|let|command|environment|operator|counter)(?![a-z]).*",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
_MAY_HIDE = (
    "<", "~~", "phantom", "cancel", "out{", "\\st{", "iffalse", "comment", "filecontents", "lrbox", "def", "\\let",
    "ommand", "nvironment", "perator{", "counter", "![", "](", "]:",
)  # fmt: skip
_TEXT_BLOCKS = frozenset({
    "", "text", "txt", "plaintext", "plain", "latex", "tex", "math", "markdown", "md", "output", "json", "yaml", "xml",
})  # fmt: skip
"""The languages of code blocks that may hold an answer."""
_CONTROL = compile_late(
    r"<\|(?:im_start|im_end|endoftext|eo[tm]_id|end_of_(?:text|sentence|turn)|end|user|system)\|>|</s>|\[INST\]|<end_of_turn>"
    r"|\n\n(?:Human|User):"
)
_MAY_END = ("<|", "</s>", "[INST]", "<end_of", "\n\nHuman:", "\n\nUser:")
_LATEX_COMMENT = compile_late(r"%(?<![\w)}\]$\\]%)(?<![\w)}\]$\\][ \t]%)[^\n]*")  # not the sign of a percentage
_CHECK_MARK = compile_late(r"(?<=\S)[ \t]*[✓✔✅☑]+(?=[ \t]*$)", re.MULTILINE)
# A number alone, or the last line: anything else behind four hashes is a heading.
_HASHES = compile_late(rf"(?:^|(?<=\s))####[ \t]*({NUMBER}(?=\s*$)|\S[^\n]*(?=\s*\Z))", re.MULTILINE)
_WORD_BEHIND = compile_late(r"(?:[*$}~ ]|\\[,;: )]|\\text\s?\{){1,6}([^\W\d_]+)")
_DRESSING = " \t\r\n*_`"


def extract(response: str, policy: MathPolicy) -> Extraction:
    """The candidate answers of a response.

    >>> extract("2 + 2 = 4. The answer is 4.", MathPolicy()).answer
    '4'
    """
    text = read_response(response, policy)
    marks = find_marks(text)
    if not marks:
        if (unmarked := find_unmarked_answer(text, policy)) is None:
            return Extraction(rejected=Rejection.NONE_FOUND)
        marks = [unmarked]
    elif marks[-1].source is Source.PHRASE and (stated := _find_stated_number(marks[-1], text, policy)):
        marks = [stated]
    extraction = _weigh(marks, text, policy)
    return _look_inside(extraction, marks[-1].text, policy) if _is_sentence(extraction) else extraction


def read_response(response: str, policy: MathPolicy) -> str:
    """The response without thinking, code, calculator marks and other text that is not part of an answer."""
    visible = response if response.isascii() else _CHECK_MARK.sub("", remove_invisible(response))
    text = without_calculator_marks(visible)
    text = THOUGHT.sub(" ", text) if policy.read_think else without_thinking(text)
    if "```" in text or "~~~" in text:
        text = _without_code(text)
    if ("\\" in text or "<" in text or "~~" in text or "]" in text) and any(sign in text for sign in _MAY_HIDE):
        text = _HIDDEN.sub(" ", text)
    if any(sign in text for sign in _MAY_END) and (control := _CONTROL.search(text)):
        text = text[: control.start()]
    if "%" in text:
        text = _LATEX_COMMENT.sub(" ", text)
    return text


def _without_code(text: str) -> str:
    """The text without its code blocks; a last block of text that nothing follows is read without its fences."""
    fences = find_fences(text)
    blocks = [*fences.closed, *([fences.unclosed] if fences.unclosed else [])]
    if not blocks:
        return text
    outside = [text[block.end : following.start] for block, following in pairwise(blocks)]
    last, rest = blocks[-1], text[blocks[-1].end :]
    is_answer = last.language.lower() in _TEXT_BLOCKS and not INK.search(rest)
    return "\n".join([text[: blocks[0].start], *outside, *([last.text] if is_answer else []), rest])


def find_marks(text: str) -> list[Mark]:
    """The marks of the strongest kind that a text has, in order."""
    for find in FINDERS.values():
        if (marks := find(text)) and (marks := [mark for mark in marks if INK.search(mark.text)]):
            return marks
    return []


def _is_sentence(extraction: Extraction) -> bool:
    """Whether a tag, hashes or bold print hold a sentence rather than an answer."""
    if extraction.source not in (Source.TAG, Source.HASHES, Source.BOLD) or extraction.rejected:
        return False
    return parse_plain_number(extraction.answer or "") is None and not is_bare(extraction.answer or "")


def _look_inside(outer: Extraction, content: str, policy: MathPolicy) -> Extraction:
    """The answer in a sentence in a tag or after hashes; the sentence if it contains none."""
    inner = extract(content, policy)
    if inner.answer is None or inner.source is Source.WHOLE:
        return outer
    return inner._replace(source=outer.source, competing_answers=(*inner.competing_answers, *outer.competing_answers))


def _find_tags(text: str) -> list[Mark]:
    """The text between an opening tag and the next closing one; a tag that prose only mentions is skipped."""
    if "</" not in text:
        return []
    marks: list[Mark] = []
    opened: re.Match[str] | None = None
    for tag in _ANSWER_TAG.finditer(text):
        if not tag[1]:
            before = text[opened.end() : tag.start()] if opened else ""
            if opened and parse_plain_number(before.strip()) is not None:  # a number in a tag that is not closed
                marks.append(Mark(before, Source.TAG, opened.start(), tag.start()))
            opened = tag
        elif opened is not None:
            marks.append(Mark(text[opened.end() : tag.start()], Source.TAG, opened.start(), tag.end()))
            opened = None
    return marks[-MAX_MARKS:]


def _find_hashes(text: str) -> list[Mark]:
    if "####" not in text:
        return []
    return [Mark(match[1], Source.HASHES, *match.span()) for match in find_last(_HASHES, text)]


FINDERS: dict[Source, Callable[[str], list[Mark]]] = {
    Source.BOXED: find_boxes,
    Source.TAG: _find_tags,
    Source.HASHES: _find_hashes,
    Source.PHRASE: find_phrases,
}


def _weigh(marks: list[Mark], text: str, policy: MathPolicy) -> Extraction:
    """The last of the marks of one kind first, then the readings that take more of the text together."""
    last = marks[-1]
    answer, whole = _with_amount(tidy(last.text), text, last.end), tidy(last.whole) if last.whole else ""
    candidates = [Candidate(answer)]
    if whole and whole != answer and last.source is Source.PHRASE:
        candidates.append(Candidate(whole))
    statement = read_statement(last, text)
    if objection := Rejection.DENIED if last.denied else find_objection(statement):
        return Extraction(tuple(candidates), last.source, objection)
    if last.source is Source.WHOLE:
        return Extraction(tuple(candidates), last.source)
    earlier = [mark for mark in marks[:-1] if _stands(mark, last, text)]
    if 0 < len(earlier) < MAX_TOGETHER and all(MATHEMATICAL.search(mark.text) for mark in (*earlier, last)):
        together = ", ".join(tidy(mark.text) for mark in (*earlier, last))
        candidates.insert(1, Candidate(together, holds_all=True))
    others = {tidy(mark.text): tidy(mark.whole) for mark in [*earlier, *_find_other_kinds(last, text)]}
    competing = [CompetingAnswer(other, whole) for other, whole in others.items() if other and other != answer]
    offered = [CompetingAnswer(value) for value in find_offers(statement)]
    return Extraction(tuple(candidates), last.source, None, (*offered, *competing))


def _with_amount(answer: str, text: str, end: int) -> str:
    """A number with the word behind it that makes it another amount: "14 million", `\\boxed{14}` squared."""
    behind = _WORD_BEHIND.match(text, end)
    if behind is None or not changes_amount(behind[1]) or parse_plain_number(answer) is None:
        return answer
    return f"{answer} {behind[1]}"


def _find_stated_number(phrase: Mark, text: str, policy: MathPolicy) -> Mark | None:
    """The number that a response states later, where "the answer is even" only announces words."""
    if MATHEMATICAL.search(phrase.text):
        return None
    mark = find_unmarked_answer(text, policy)
    is_later = mark is not None and mark.source is not Source.WHOLE and mark.start >= phrase.start
    return mark if is_later else None


def _find_other_kinds(last: Mark, text: str) -> list[Mark]:
    """Answers marked in another way than the last: by tags or hashes anywhere, in words near it or after it."""
    marks = []
    for source, sign in _SIGNS.items():
        if source is not last.source and sign in text:
            marks += FINDERS[source](text)
    is_choice = is_letter(last.text)
    if last.source is not Source.PHRASE:
        near = text.find("nswer", max(0, last.start - NEAR), last.start)
        is_near = near >= 0 and (is_choice or DIGIT.search(text, near, last.start))
        start = max(0, near - len(" the a")) if is_near else last.end
        phrases = find_phrases(text[start:]) if is_choice or DIGIT.search(text, start) else []
        shifted = (mark._replace(start=mark.start + start, end=mark.end + start) for mark in phrases)
        marks += [mark for mark in shifted if _PLAIN_ANSWER.match(text, mark.start) or _is_stated(mark, last, text)]
    is_like = is_letter if is_choice else DIGIT.search
    return [mark for mark in marks if _is_apart(mark, last) and is_like(mark.text) and _stands(mark, last, text)]


def _is_stated(mark: Mark, last: Mark, text: str) -> bool:
    """Whether a phrase after the last mark says what the answer is, not what it would be."""
    return mark.start >= last.end and "would" not in text[mark.start : mark.start + len("answer would")]


def _is_apart(mark: Mark, last: Mark) -> bool:
    return mark.end <= last.start or mark.start >= last.end


def _stands(mark: Mark, last: Mark, text: str) -> bool:
    """Whether a mark is neither denied nor corrected before the last."""
    is_denied = mark.denied or is_denied_at(text, mark.start, mark.end)
    return not is_denied and not is_corrected(mark, last, text)


def tidy(text: str) -> str:
    """An answer without markdown and punctuation around it."""
    text = without_environment(text.strip(_DRESSING))
    while text.endswith((".", ",", ";", ":")) and not text.endswith(("...", "\\,", "\\;", "\\:")):
        text = text[:-1].rstrip(_DRESSING)
    return text
