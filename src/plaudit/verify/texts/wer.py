"""How many words of a reference does a transcript get right? One less the word error rate."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from plaudit.errors import InvalidTrajectory, require
from plaudit.settings import check_fields, check_number
from plaudit.trajectory import Trajectory
from plaudit.verify.patterns import compile_late
from plaudit.verify.rows import need_truth
from plaudit.verify.tags import find_blocks
from plaudit.verify.text import canonical
from plaudit.verify.verifier import Answer, Verdict, Verifier

_PURPOSE = "word error rates"
MOST_CHARACTERS = 100_000
_PUNCTUATION = compile_late(r"[^\w\s'’]|_|(?<!\w)['’]|['’](?!\w)")


@dataclass(frozen=True, repr=False)
class Wer(Verifier[tuple[str, ...]]):
    """1 less the word error rate of a transcript against the reference, at least 0.

    `unit="character"` gives the character error rate. With a `threshold` the score is 1.0 from it on, else 0.0.
    `as_written=True` keeps case and punctuation.
    """

    kind: ClassVar[str] = "wer"

    unit: Literal["word", "character"] = "word"
    threshold: float | None = None
    as_written: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        if self.threshold is not None:
            check_number("threshold", self.threshold, above=0)
        require("rapidfuzz", purpose=_PURPOSE, extra="verifiers")

    def read(self, sample: Trajectory) -> tuple[str, ...]:
        reference = need_truth(sample, "transcription", "sentence")
        listed = reference if isinstance(reference, list) else [reference]
        if not listed or not all(isinstance(each, str) and self._items(each) for each in listed):
            raise InvalidTrajectory(f"the reference is a text with words, or a list of such, got {reference!r:.60}")
        return tuple(listed)

    def judge(self, task: tuple[str, ...], answer: Answer) -> Verdict:
        blocks = find_blocks(answer.text, "answer")
        if len(blocks) > 1:
            return Verdict(0.0, "several <answer> elements")
        text = blocks[0].text if blocks else answer.text
        score, errors, count = max(self._compare(text, reference) for reference in task)
        shown = score if self.threshold is None else float(score >= self.threshold)
        return Verdict(shown, f"{-errors} errors in {count} {self.unit}s of the reference", details={"measured": score})

    def _compare(self, text: str, reference: str) -> tuple[float, int, int]:
        """1 less the rate, minus the number of errors, and the length of the reference."""
        written, wanted = self._items(text[:MOST_CHARACTERS]), self._items(reference)
        if len(written) >= 2 * len(wanted):  # at least as many errors as the reference has words
            return 0.0, len(wanted) - len(written), len(wanted)
        errors: Any = require("rapidfuzz.distance.Levenshtein", purpose=_PURPOSE, extra="verifiers").distance(
            written, wanted
        )
        return max(0.0, 1.0 - errors / len(wanted)), -errors, len(wanted)

    def _items(self, text: str) -> list[str]:
        plain = canonical(text)
        plain = plain if self.as_written else _PUNCTUATION.sub(" ", plain.casefold())
        return plain.split() if self.unit == "word" else list(" ".join(plain.split()))
