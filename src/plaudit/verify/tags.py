"""`<think>`, `<answer>` and the like: where the blocks are and what is wrong with them.

A block counts only when it is whole: opened once, closed once, with something readable inside. Headings of the same
names (`## Think`) are sections too, in responses that use no tags.
"""

import enum
import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from plaudit.verify.text import words

HEADING = re.compile(r"^#{1,6}[ \t]+(\S.*)$", re.MULTILINE)
"""A heading in markdown; its group is the title."""
THOUGHT = re.compile(
    r"<\s*+(?:\|\s*+)?(?:(?P<end>/|end_of_)\s*+)?(?:[a-z]+[_:-])*(?P<name>think|thought|reasoning|reflection|scratchpad"
    r"|analysis|monologue|cot)(?:ing|s)?(?:[_-](?:process|trace|steps?))?(?=[\s|>])[^<>]{0,80}>|[\[◁](?P<other_end>/)?think(?:ing)?[\]▷]"
    r"|<\|channel\|>(?:analysis|commentary|(?P<final>final))[^<>]{0,80}<\|message\|>",
    re.IGNORECASE,
)
"""A tag around thoughts, with spaces, attributes or bars in it, or in other brackets."""
_OTHER_ENDS = ("hink]", "hinking]", "HINK]", "HINKING]", "▷")


class FaultKind(enum.StrEnum):
    """The faults of a section."""

    MISSING = "is missing"
    EMPTY = "is empty"
    REPEATED = "appears more than once"
    NESTED = "is inside another section"
    UNCLOSED = "is never closed"
    UNOPENED = "is closed before it is opened"
    OUT_OF_ORDER = "is out of order"
    TRAILED = "is followed by further text"


class Fault(NamedTuple):
    """One thing that is wrong with one section."""

    name: str
    kind: FaultKind

    def __str__(self) -> str:
        return f"<{self.name}> {self.kind}"


@dataclass(frozen=True, slots=True)
class Block:
    """A whole section and where it stands, its tags or its heading included."""

    name: str
    text: str
    start: int
    end: int

    @property
    def is_empty(self) -> bool:
        """True when nothing in it is readable."""
        return not words(self.text)


class _Tag(NamedTuple):
    name: str
    closing: bool
    start: int
    end: int


def find_blocks(text: str, name: str) -> list[Block]:
    """Every `<name>…</name>`; of blocks inside each other the outermost."""
    blocks, depth, opened = [], 0, None
    for tag in _tags(text, [name]):
        if not tag.closing:
            opened = tag if depth == 0 else opened
            depth += 1
        elif depth and opened is not None:
            depth -= 1
            if depth == 0:
                blocks.append(Block(name, text[opened.end : tag.start], opened.start, tag.end))
    return blocks


def without_blocks(text: str, names: Sequence[str]) -> str:
    """The text outside the blocks; an unclosed block reaches to the end, an unopened one from the start."""
    return _split(text, _tags(text, names))[0]


def without_thinking(text: str) -> str:
    """The text outside `<think>`, `<reasoning>` and the like, in any spelling."""
    is_plain = "<" not in text and "]" not in text and "▷" not in text
    if is_plain or ("<" not in text and not any(end in text for end in _OTHER_ENDS)):
        return text
    return _split(text, _thought_tags(text))[0]


def thoughts_of(text: str) -> str:
    """The text inside `<think>` and the like, the part that `without_thinking` leaves out."""
    return _split(text, _thought_tags(text))[1]


def _thought_tags(text: str) -> list[_Tag]:
    return [
        _Tag((tag["name"] or "think").lower(), bool(tag["end"] or tag["other_end"] or tag["final"]), *tag.span())
        for tag in THOUGHT.finditer(text)
    ]


def _split(text: str, tags: Sequence[_Tag]) -> tuple[str, str]:
    """The text outside and inside blocks; inside a block only tags of its own name count."""
    outside: list[str] = []
    inside: list[str] = []
    opened, depth, start = "", 0, 0
    for tag in tags:
        if depth and tag.name != opened:
            continue
        if tag.closing and depth == 0:  # the opening tag stood in the prompt
            outside, inside = [], [text[: tag.start]]
        elif tag.closing and depth == 1:
            inside.append(text[start : tag.start])
        elif depth == 0:
            outside.append(text[start : tag.start])
            opened = tag.name
        is_boundary = depth <= tag.closing
        depth = max(0, depth + (-1 if tag.closing else 1))
        start = tag.end if is_boundary else start
    (inside if depth else outside).append(text[start:])
    return "\n".join(outside), "\n".join(inside)


def find_faults(text: str, names: Sequence[str]) -> list[Fault]:
    """The faults that violate: each section exactly once, in this order, with content and nothing after them.

    At most one fault per section, the first that shows.
    """
    tags = _tags(text, names)
    if not tags:
        return _section_faults(_headed_blocks(text, names), names)
    faults = _pairing_faults(tags)
    faults += _section_faults([block for name in names for block in find_blocks(text, name)], names)
    if text[tags[-1].end :].strip():
        faults.append(Fault(tags[-1].name, FaultKind.TRAILED))
    return list({fault.name: fault for fault in reversed(faults)}.values())[::-1]


def _tags(text: str, names: Sequence[str]) -> list[_Tag]:
    if "<" not in text:
        return []
    spelled = {name.casefold(): name for name in names}
    pattern = _tag_pattern(tuple(names))
    return [_Tag(spelled[tag[2].casefold()], bool(tag[1]), *tag.span()) for tag in pattern.finditer(text)]


@functools.cache
def _tag_pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    alternatives = "|".join(re.escape(name) for name in names)
    return re.compile(rf"<(/?)({alternatives})>", re.IGNORECASE | re.ASCII)


def _pairing_faults(tags: Sequence[_Tag]) -> list[Fault]:
    """Tags that do not pair up; sections never nest, so at most one is open."""
    faults: list[Fault] = []
    opened: str | None = None
    for tag in tags:
        if not tag.closing and opened is None:
            opened = tag.name
        elif not tag.closing:
            faults.append(Fault(tag.name, FaultKind.NESTED))
        elif opened == tag.name:
            opened = None
        else:
            faults.append(Fault(tag.name, FaultKind.UNOPENED))
    return [*faults, Fault(opened, FaultKind.UNCLOSED)] if opened else faults


def _section_faults(blocks: Sequence[Block], names: Sequence[str]) -> list[Fault]:
    faults, reached = [], -1
    for name in names:
        named = [block for block in blocks if block.name == name]
        if len(named) != 1:
            faults.append(Fault(name, FaultKind.REPEATED if named else FaultKind.MISSING))
        elif named[0].is_empty:
            faults.append(Fault(name, FaultKind.EMPTY))
        elif named[0].start < reached:
            faults.append(Fault(name, FaultKind.OUT_OF_ORDER))
        else:
            reached = named[0].end
    return faults


def _headed_blocks(text: str, names: Sequence[str]) -> list[Block]:
    spelled = {name.casefold(): name for name in names}
    named = (section for section in headed_sections(text) if section.name in spelled)
    return [Block(spelled[each.name], each.text, each.start, each.end) for each in named]


def headed_sections(text: str) -> list[Block]:
    """The text under each heading in markdown, by its title in lower case."""
    if "#" not in text:
        return []
    headings = list(HEADING.finditer(text))
    ends = [*(heading.start() for heading in headings), len(text)][1:]
    return [
        Block(heading[1].strip(" \t*_:#").casefold(), text[heading.end() : end], heading.start(), end)
        for heading, end in zip(headings, ends, strict=True)
    ]
