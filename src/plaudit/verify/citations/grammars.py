"""How citations are written: the grammars by name, the citations of a text, and what is a malformed one."""

import functools
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from plaudit.verify.text import replace_spans

LONGEST_ID = 80


@dataclass(frozen=True, slots=True)
class Grammar:
    """The marks before and after the id; `several` allows ids with commas, `wraps` a claim between tags."""

    before: str
    after: str
    several: bool = False
    wraps: bool = False


GRAMMARS = {
    "ascii_brackets": Grammar("[", "]"),
    "cite_xml": Grammar("<cite>", "</cite>", several=True),
    "claim_wrap_xml": Grammar('<cite index="', '">', several=True, wraps=True),
    "fullwidth_brackets": Grammar("【", "】"),
    "ref_colon": Grammar("[ref:", "]"),
    "double_angle": Grammar("<<", ">>"),
    "web_brackets": Grammar("[web:", "]"),
    "paren_part": Grammar("(", ")"),
    "markdown_footnote": Grammar("[^", "]"),
    "curly_double": Grammar("{{", "}}"),
    "angle_pipe": Grammar("<ref|", ">"),
}
"""The grammars of NeMo's citation_if by their names; `ascii_brackets` is ALCE's."""


@dataclass(frozen=True, slots=True)
class Citation:
    """The ids of one citation and where its marks are; a claim that it wraps lies between two pieces."""

    ids: tuple[str, ...]
    start: int
    end: int
    closing: tuple[int, int] | None = None

    @property
    def spans(self) -> list[tuple[int, int]]:
        """The spans of its marks."""
        return [(self.start, self.end), *([self.closing] if self.closing else [])]


@functools.lru_cache(maxsize=256)
def _pattern(grammar: Grammar, numeric: bool, longest: int) -> re.Pattern[str]:
    """A well-formed citation. Where all ids have a digit, only texts with one are ids."""
    token = r"[^\s\[\](){}<>【】,;|\"]"
    least = r"(?=[^\s\[\](){}<>【】,;|\"]*\d)" if numeric else ""
    most = longest + 1 if grammar.before == "(" else LONGEST_ID  # (1889) is a year where ids have one digit
    one = rf"{least}{token}{{1,{most}}}"
    ids = rf"{one}(?:,{one})*" if grammar.several else one
    link = r"(?!\()" if grammar.after == "]" else ""
    return re.compile(rf"{re.escape(grammar.before)}({ids}){re.escape(grammar.after)}{link}", re.IGNORECASE)


def find_citations(text: str, grammar: Grammar, names: Collection[str]) -> list[Citation]:
    """The well-formed citations of a text, whether their ids exist or not."""
    numeric = all(any(character.isdigit() for character in name) for name in names)
    pattern = _pattern(grammar, numeric, max(map(len, names), default=LONGEST_ID))
    citations = []
    for match in pattern.finditer(text):
        ids = tuple(match[1].split(","))
        if not grammar.wraps:
            citations.append(Citation(ids, *match.span()))
            continue
        closing = text.find("</cite>", match.end())
        claim = text[match.end() : closing]
        if closing >= 0 and claim.strip() and "<cite" not in claim:
            citations.append(Citation(ids, *match.span(), (closing, closing + len("</cite>"))))
    return citations


def without_citations(text: str, citations: Collection[Citation]) -> str:
    """The text with blanks in place of citations."""
    spans = [span for citation in citations for span in citation.spans]
    return replace_spans(text, ((start, end, " " * (end - start)) for start, end in spans))


def find_malformed(rest: str, names: Collection[str]) -> Iterator[str]:
    """Malformed citations in a text whose well-formed ones are blanked: lists, other brackets, open brackets."""
    yield from (match[0].strip()[:40] for match in _malformed(tuple(sorted(names))).finditer(rest))


@functools.lru_cache(maxsize=256)
def _malformed(names: tuple[str, ...]) -> re.Pattern[str]:
    listed = "|".join(map(re.escape, sorted(names, key=len, reverse=True)[:300]))
    one = rf"(?:{listed}|\d{{1,3}})" if all(name.isdigit() for name in names) else rf"(?:{listed})"
    kind = r"(?:(?:ref|web|source|doc|document|passage|part|cite|citation)s?[\s:.#|=\"]*)"
    ids = rf"{kind}?{one}(?:\s*(?:[,;&/–-]|and|to)\s*{kind}?{one})*"
    forms = [
        rf"\[\s*\^?\s*{ids}\s*(?:\]|(?=[.,;:!?\s]|$))",
        rf"(?:【|<<|\{{\{{|<ref\|)\s*{ids}\s*(?:】|>>|\}}\}}|>)?",
        rf"(?<![\w\[.^:|(]){one}\]",
        rf"\(\s*(?:{kind}{ids}|(?:{listed})(?:\s*[,;&]\s*(?:{listed}))*)\s*\)(?=\s*(?:[.,;:!?\n\[]|$))",
        r"</?cite\b",
    ]
    leaked = [name for name in names if not name.isdigit() and any(character.isdigit() for character in name)]
    prefix = _shared_prefix(leaked)
    if prefix:
        forms.append(rf"(?<!\w){re.escape(prefix)}[\w:]+")
    elif leaked:
        forms.append(rf"(?<!\w)(?:{'|'.join(map(re.escape, leaked[:300]))})(?!\w)")
    return re.compile("|".join(forms), re.IGNORECASE | re.MULTILINE)


def _shared_prefix(names: list[str]) -> str:
    """The prefix that all ids share, up to an underscore, hyphen or colon: "citation_"."""
    match = re.match(r"[A-Za-z]{3,}[_:-]", names[0]) if names else None
    return match[0] if match and all(name.startswith(match[0]) for name in names) else ""
