"""The verifiers that have a card, and the labelled responses of each."""

from benchmarks.catalogue import GUIDE, LINES, Label, Line, guide_rows, judge_lines, read_lines
from plaudit.verify.card import kinds

__all__ = ["GUIDE", "KINDS", "LINES", "Label", "Line", "guide_rows", "judge_lines", "lines_with", "read_lines"]

KINDS = kinds()


def lines_with(kind: str, *labels: Label) -> list[Line]:
    """The lines of a kind that have one of these labels."""
    return [line for line in read_lines(kind) if line.label in labels]
