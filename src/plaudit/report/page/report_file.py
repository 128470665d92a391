"""A report: the figures of one run or several, and a page that shows them with as many samples as fit into it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from plaudit import jsonline
from plaudit.diff import Difference, Disagreement
from plaudit.errors import RolloutsError
from plaudit.report.page.bundle import build_page
from plaudit.report.page.packing import PackedSamples, encode_json
from plaudit.report.statistics.figures import Figures, FiguresBuilder
from plaudit.report.statistics.remarks import Remark, remarks
from plaudit.rollouts import ScoredRollout
from plaudit.rollouts.atomic_file import write_atomically
from plaudit.version import __version__

__all__ = ["MAX_BYTES", "Metrics", "ReportedRun", "build_report", "read_metrics", "write_page"]

MAX_BYTES = 14_000_000
MAX_POINTS = 300
MAX_FLIPS, MAX_TEXT = 200, 2_000
CURVES = (
    "eval/score", "eval/score_all", "eval/reward", "eval/reward_all", "eval/greedy", "entropy", "kl", "kl_old",
    "time/sample", "time/reward", "time/update",
)  # fmt: skip
Metrics = Mapping[str, Sequence[tuple[int, float]]]
"""Curves by the name of a metric: training steps with values."""


@dataclass(frozen=True, slots=True)
class ReportedRun:
    """A run: its figures, what they say, its metrics, and its samples where a page is to be written."""

    name: str
    figures: Figures
    remarks: tuple[Remark, ...]
    metrics: Metrics = field(default_factory=dict)
    samples: PackedSamples | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON: the same figures as the page shows."""
        return {
            "name": self.name,
            "figures": self.figures.to_dict(),
            "remarks": [one.to_dict() for one in self.remarks],
            "metrics": self.metrics,
        }


def build_report(
    name: str, rollouts: Iterable[ScoredRollout], *, metrics: Metrics | None = None, room: int = 0
) -> ReportedRun:
    """The report of scored rollouts; with `room`, their samples too, in about so many bytes of a page."""
    builder, samples = FiguresBuilder(), PackedSamples(room * 3 // 4) if room else None
    for rollout in rollouts:
        row = builder.add(rollout)
        if samples is not None:
            samples.add(rollout, builder.table.groups[row])
    figures = builder.figures()
    return ReportedRun(name, figures, remarks(figures), metrics or {}, samples)


def write_page(runs: Sequence[ReportedRun], path: Path, *, difference: Difference | None = None) -> None:
    """Write the page of one run or several, whole or not at all; two runs of the same samples with their difference."""
    described, blocks = [], []
    frame = len(build_page("", b"")) // len(runs)
    for number, run in enumerate(runs):
        if run.samples is None:
            raise ValueError(f"the report of {run.name!r} was built without room for its samples")
        taken = frame + len(encode_json(describe_run(run)))
        head, packed, texts = run.samples.pack(taken * 3 // 4)  # as base64, bytes take a third more
        blocks += [(f"run-{number}", head), *((f"run-{number}-{place}", block) for place, block in enumerate(packed))]
        described.append({**describe_run(run), "columns": run.samples.columns(), "texts": texts})
    title = f"{', '.join(run.name for run in runs)} – plaudit"
    compared = {"difference": _describe_difference(difference)} if difference else {}
    data = encode_json({"served": False, "version": __version__, "runs": described, **compared})
    try:
        write_atomically(path, build_page(title, data, blocks))
    except OSError as error:
        raise RolloutsError(f"cannot write {path}: {error.strerror}") from error


def describe_run(run: ReportedRun) -> dict[str, Any]:
    """What the page is told of a run."""
    reward = run.figures.summary.reward
    return {
        **run.to_dict(),
        "rows": run.figures.summary.count,
        "range": [reward.min, reward.max] if reward else [0.0, 1.0],
    }


def _describe_difference(difference: Difference) -> dict[str, Any]:
    """What the page is told of a difference: the first flips, and long texts only from their beginning."""
    flipped = {each.index for each in difference.flips}
    return {
        **difference.to_dict(),
        "flipped": len(difference.flips),
        "flips": [_describe_disagreement(each) for each in difference.flips[:MAX_FLIPS]],
        "worst": [_describe_disagreement(each) for each in difference.worst if each.index not in flipped],
    }


def _describe_disagreement(each: Disagreement) -> dict[str, Any]:
    response = each.response if len(each.response) <= MAX_TEXT else f"{each.response[:MAX_TEXT]} …"
    return {**asdict(each), "prompt": "", "response": response}


def read_metrics(path: Path) -> dict[str, list[tuple[int, float]]]:
    """The curves in a run's metrics.jsonl, thinned out where there are many steps; none where there is no such file."""
    if not path.is_file():
        return {}
    curves: dict[str, list[tuple[int, float]]] = {}
    for line in path.read_bytes().splitlines():
        try:
            row = jsonline.decode(line)
        except jsonline.InvalidJSON:  # the last line, while it is written
            continue
        for name in CURVES:
            if isinstance(row, dict) and isinstance(row.get(name), int | float) and isinstance(row.get("step"), int):
                curves.setdefault(name, []).append((row["step"], row[name]))
    return {name: points[:: -(-len(points) // MAX_POINTS)] for name, points in curves.items()}
