"""What a run looked like: its statistics, a few samples of it, and both on a terminal."""

from plaudit.report.distribution import Bin, Distribution
from plaudit.report.groups import GroupSummary
from plaudit.report.samples import Pick, PickedSample, pick_samples
from plaudit.report.summary import Failure, Latency, Summary, SummaryBuilder, summarize

__all__ = [
    "Bin", "Distribution", "Failure", "GroupSummary", "Latency", "Pick", "PickedSample", "Summary", "SummaryBuilder",
    "pick_samples", "summarize",
]  # fmt: skip
