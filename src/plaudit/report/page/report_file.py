"""A report: the figures of one run or several, and a page that shows them with as many samples as fit into it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from plaudit import jsonline
from plaudit.diff import Difference, Disagreement
from plaudit.errors import RolloutsError
from plaudit.report.advice import Remark, remarks
from plaudit.report.collecting import figures_of
from plaudit.report.figures import Figures
from plaudit.report.page.bundle import build_page
from plaudit.report.page.packing import Packed, PackedSamples, encode_json
from plaudit.report.table import SampleTable
from plaudit.rollouts import ScoredRollout
from plaudit.rollouts.writing import write_atomically
from plaudit.version import __version__

MAX_BYTES = 14_000_000
MARGIN = 20_000
"""Bytes of a page that are not counted one by one: the names of blocks, and what escapes add to the data."""
MAX_POINTS = 300
MAX_FAILURES, MAX_FLIPS, MAX_TEXT = 100, 200, 2_000
CURVES = re.compile(
    r"eval/(score|reward|greedy|greedy_reward)(_all)?|eval/task/.+/(score|reward)|eval/difficulty/.+(?<!_all)(?<!_unscored)"
    r"|difficulty/.+/share|entropy|kl|kl_old|time/(sample|reward|update)"
)
"""The metrics of a run that the page draws."""
Metrics = Mapping[str, Sequence[tuple[int, float]]]
"""Curves by the name of a metric: training steps with values."""


@dataclass(frozen=True, slots=True)
class ReportedRun:
    """A run: its figures, remarks on them, its metrics, and its samples if a page is to be written."""

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


class ReportBuilder:
    """Takes the rollouts of a run one by one; with `max_bytes`, also their samples, up to about that page size."""

    def __init__(self, name: str, max_bytes: int = 0) -> None:
        self.name = name
        self.table = SampleTable(keep_texts=True)
        self._samples = PackedSamples(max_bytes) if max_bytes else None

    def add(self, rollout: ScoredRollout) -> None:
        """Take one rollout."""
        row = self.table.add(rollout.trajectory, rollout.output)
        if self._samples is not None:
            self._samples.add(rollout, self.table.groups[row])

    def build(self, metrics: Path | None = None) -> ReportedRun:
        """The report of the rollouts so far, with the curves of a metrics file."""
        figures = figures_of(self.table)
        return ReportedRun(self.name, figures, remarks(figures), read_metrics(metrics), self._samples)


def build_report(
    name: str, rollouts: Iterable[ScoredRollout], *, metrics: Path | None = None, max_bytes: int = 0
) -> ReportedRun:
    """The report of scored rollouts; with `max_bytes`, their samples too, up to about that size of the page."""
    builder = ReportBuilder(name, max_bytes * 3 // 4)  # base64 takes a third more
    for rollout in rollouts:
        builder.add(rollout)
    return builder.build(metrics)


def write_page(runs: Sequence[ReportedRun], path: Path, *, difference: Difference | None = None) -> None:
    """Write the page of one run or several, whole or not at all; two runs of the same samples with their difference."""
    described, blocks = [], []
    compared = {"difference": _describe_difference(difference)} if difference else {}
    frame = (len(build_page("", encode_json(compared))) + MARGIN) // len(runs)
    for number, run in enumerate(runs):
        plain, packed = describe_run(run, taken=frame)
        described.append(plain)
        blocks.append((f"run-{number}-columns", packed.head))
        blocks += [(f"run-{number}-{name}", block) for name, block in packed.blocks.items()]
    title = f"{', '.join(run.name for run in runs)} – plaudit"
    data = encode_json({"served": False, "version": __version__, "runs": described, **compared})
    try:
        write_atomically(path, build_page(title, data, blocks))
    except OSError as error:
        raise RolloutsError(f"cannot write {path}: {error.strerror}") from error


def describe_run(run: ReportedRun, *, taken: int = 0) -> tuple[dict[str, Any], Packed]:
    """A run as the page needs it, and its samples; `taken` is how many bytes the page itself takes."""
    if run.samples is None:
        raise ValueError(f"the report of {run.name!r} was built without its samples (max_bytes=0)")
    reward = run.figures.summary.reward
    plain = {
        **run.to_dict(),
        "rows": run.figures.summary.count,
        "range": [reward.min, reward.max] if reward else [0.0, 1.0],
    }
    plain["figures"]["summary"]["failures"] = plain["figures"]["summary"]["failures"][:MAX_FAILURES]
    packed = run.samples.pack((taken + len(encode_json(plain))) * 3 // 4)
    return {**plain, "columns": packed.columns, "texts": packed.texts}, packed


def _describe_difference(difference: Difference) -> dict[str, Any]:
    """A difference as the page needs it: the first flips, and only the beginning of long texts."""
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


def read_metrics(path: Path | None) -> Metrics:
    """The curves in a run's metrics.jsonl, thinned out if there are many steps; none if there is no such file."""
    if path is None or not path.is_file():
        return {}
    curves: dict[str, list[tuple[int, float]]] = {}
    for line in path.read_bytes().splitlines():
        try:
            row = jsonline.decode(line)
        except jsonline.InvalidJSON:  # the last line, while it is written
            continue
        if not isinstance(row, dict) or not isinstance(row.get("step"), int):
            continue
        for name, value in row.items():
            if isinstance(value, int | float) and CURVES.fullmatch(name):
                curves.setdefault(name, []).append((row["step"], value))
    return {name: points[:: -(-len(points) // MAX_POINTS)] for name, points in curves.items()}
