"""Does the answer match a regular expression, or contain the texts that it must contain?

Patterns are matched by the `regex` package within a time limit: a pattern that backtracks too long is not decided.
"""

import functools
import unicodedata
from dataclasses import dataclass
from typing import Any, ClassVar

from plaudit.errors import InvalidSettings, InvalidTrajectory, require
from plaudit.trajectory import Trajectory
from plaudit.verify.rows import find_column, need_truth
from plaudit.verify.text import canonical
from plaudit.verify.verifier import Answer, Verdict, Verifier

ANCHORS = ("anywhere", "start", "end", "whole")
_PATTERNS = {"anywhere": "{}", "start": r"\A(?:{})", "end": r"(?:{})\Z", "whole": r"\A(?:{})\Z"}
MOST_PATTERN = 10_000  # characters
MOST_TEXTS = 1_000


@dataclass(frozen=True, repr=False)
class Regex(Verifier[Any]):
    """1.0 when the answer matches the regular expression of the row, else 0.0.

    The pattern is `pattern`, or the column `pattern` or `regex`, or the ground truth. `anchor` says where the pattern
    must match: "anywhere", at the "start", at the "end", or the "whole" answer. `ignore_case` ignores case. A match
    that takes longer than `time_limit_s` of CPU time is not decided.
    """

    kind: ClassVar[str] = "regex"

    pattern: str | None = None
    anchor: str = "anywhere"
    ignore_case: bool = False
    time_limit_s: float = 1.0

    def __post_init__(self) -> None:
        _check_anchor(self.anchor)
        if not 0 < self.time_limit_s <= 60:
            raise InvalidSettings(f"need 0 < time_limit_s <= 60, got {self.time_limit_s}")
        require("regex", purpose="matching patterns within a time limit", extra="verifiers")
        if self.pattern is not None:
            try:
                self._compile(self.pattern)
            except InvalidTrajectory as error:
                raise InvalidSettings(str(error)) from None

    def read(self, sample: Trajectory) -> Any:
        written = self.pattern or find_column(sample, "pattern", "regex") or need_truth(sample)
        if not isinstance(written, str):
            raise InvalidTrajectory(f"the pattern is not text but {type(written).__name__} {written!r:.60}")
        return self._compile(unicodedata.normalize("NFC", written))

    def judge(self, task: Any, answer: Answer) -> Verdict:
        try:
            match = task.search(unicodedata.normalize("NFC", answer.text), timeout=self.time_limit_s)
        except TimeoutError:
            return Verdict.undecided(f"the pattern {task.pattern!r:.80} took longer than {self.time_limit_s:g} s")
        if match is None:
            return Verdict(0.0, f"no match of {task.pattern!r:.80}")
        return Verdict(1.0, f"{match[0]!r:.60} matches", details={"match": match[0][:200]})

    def _compile(self, written: str) -> Any:
        if not written or len(written) > MOST_PATTERN:
            raise InvalidTrajectory(f"a pattern has 1 to {MOST_PATTERN:,} characters, got {len(written):,}")
        return _compile(_PATTERNS[self.anchor].replace("{}", written), self.ignore_case)


@functools.lru_cache(maxsize=512)
def _compile(pattern: str, ignore_case: bool) -> Any:
    regex = require("regex", purpose="matching patterns within a time limit", extra="verifiers")
    try:
        compiled = regex.compile(pattern, regex.IGNORECASE if ignore_case else 0)
    except (regex.error, ValueError, OverflowError, RecursionError, MemoryError) as error:
        raise InvalidTrajectory(f"{pattern!r:.80} is not a regular expression: {error}") from None
    return compiled


@dataclass(frozen=True, slots=True)
class ContainedTexts:
    """The texts that an answer must contain, and those that it must not."""

    required: tuple[str, ...]
    forbidden: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Contains(Verifier[ContainedTexts]):
    """1.0 when the answer contains every required text and no forbidden one, else 0.0; a component for each text.

    Required texts are the column `contains`, or the ground truth; forbidden ones the column `forbidden`; each a text or
    a list. `anchor` says where a text must be: "anywhere", at the "start", at the "end", or the "whole" answer.
    `any_of=True` asks for one of the required texts. `whole_words=True` does not find "cat" in "category".
    """

    kind: ClassVar[str] = "contains"

    anchor: str = "anywhere"
    ignore_case: bool = True
    whole_words: bool = True
    any_of: bool = False

    def __post_init__(self) -> None:
        _check_anchor(self.anchor)

    def read(self, sample: Trajectory) -> ContainedTexts:
        forbidden = _texts("forbidden", find_column(sample, "forbidden"))
        required = find_column(sample, "contains")
        if required is None and not forbidden:
            required = need_truth(sample)
        return ContainedTexts(_texts("contains", required), forbidden)

    def judge(self, task: ContainedTexts, answer: Answer) -> Verdict:
        text = self._plain(answer.text)
        components = {wanted: self._find(text, wanted, required=True) for wanted in task.required}
        components |= {unwanted: self._find(text, unwanted, required=False) for unwanted in task.forbidden}
        required = [components[wanted].passed for wanted in task.required]
        kept = all(components[unwanted].passed for unwanted in task.forbidden)
        complete = any(required) if self.any_of and required else all(required)
        failed = [part.reason for part in components.values() if not part.passed]
        reason = "contains what it must" if kept and complete else "; ".join(failed)[:300]
        return Verdict(float(kept and complete), reason, components)

    def _find(self, text: str, wanted: str, *, required: bool) -> Verdict:
        there = self._occurs(text, self._plain(wanted))
        reason = f"{wanted!r:.60} is {'there' if there else 'missing'}"
        return Verdict(float(there is required), reason)

    def _plain(self, text: str) -> str:
        plain = " ".join(canonical(text).split())
        return plain.casefold() if self.ignore_case else plain

    def _occurs(self, text: str, wanted: str) -> bool:
        if self.anchor == "whole":
            return text == wanted
        start = -1
        while (start := text.find(wanted, start + 1)) >= 0:
            end = start + len(wanted)
            placed = (self.anchor != "start" or start == 0) and (self.anchor != "end" or end == len(text))
            if placed and not (self.whole_words and is_within_word(text, start, end)):
                return True
        return False


def is_within_word(text: str, start: int, end: int) -> bool:
    """Whether the span starts or ends inside a word; scripts without spaces have no such places."""
    before, after = text[max(0, start - 1) : start], text[end : end + 1]
    return (_joins(before) and _joins(text[start])) or (_joins(after) and _joins(text[end - 1]))


def _joins(character: str) -> bool:
    return character.isalnum() and not "\u2e80" <= character <= "\uffdc"


def _texts(column: str, value: Any) -> tuple[str, ...]:
    listed = [value] if isinstance(value, str) else list(value) if isinstance(value, list | tuple) else value
    if listed is None:
        return ()
    if not isinstance(listed, list) or not all(isinstance(each, str) and canonical(each).strip() for each in listed):
        raise InvalidTrajectory(f"{column} is a text or a list of texts, got {value!r:.80}")
    if not 0 < len(listed) <= MOST_TEXTS:
        raise InvalidTrajectory(f"{column} has 1 to {MOST_TEXTS:,} texts, got {len(listed)}")
    return tuple(dict.fromkeys(listed))


def _check_anchor(anchor: str) -> None:
    if anchor not in ANCHORS:
        raise InvalidSettings(f"anchor is one of {', '.join(ANCHORS)}, got {anchor!r}")
