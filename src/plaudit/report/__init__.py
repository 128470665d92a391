"""What a run looked like: its statistics, a few samples of it, and both on a terminal."""

from plaudit.report.agreement import Agreement, AgreementBuilder
from plaudit.report.breakdown import Breakdown, BreakdownBuilder, Slice
from plaudit.report.distribution import Bin, Distribution
from plaudit.report.failures import Failure
from plaudit.report.groups import GroupSummary
from plaudit.report.samples import Pick, PickedSample, pick_samples
from plaudit.report.selection import Condition, Selection
from plaudit.report.summary import Latency, Summary, SummaryBuilder, summarize

__all__ = [
    "Agreement", "AgreementBuilder", "Bin", "Breakdown", "BreakdownBuilder", "Condition", "Distribution", "Failure",
    "GroupSummary", "Latency", "Pick", "PickedSample", "Selection", "Slice", "Summary", "SummaryBuilder",
    "pick_samples", "summarize",
]  # fmt: skip
