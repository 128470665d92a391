"""A run that is read as it grows: its figures, an index of its samples, and its samples one by one from its file.

Only whole lines are read, so a file may be written meanwhile; one that was cut back, as a resumed training does, or
that was replaced is read anew. Files that are not plain JSON lines are written out as such first, beside the index.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plaudit import jsonline
from plaudit.columns import ColumnMapping, message_text
from plaudit.errors import InvalidOutput, InvalidTrajectory, RolloutsError
from plaudit.report.page.report_file import ReportedRun, describe_run, read_metrics
from plaudit.report.page.sample_data import full_sample, sample_values
from plaudit.report.run_files import RunFiles
from plaudit.report.statistics.figures import FiguresBuilder
from plaudit.report.statistics.remarks import remarks
from plaudit.report.view.sample_index import Place, Query, SampleIndex
from plaudit.rollouts import Rollout, ScoredRollout, read_rollouts
from plaudit.rollouts.reading import rollout_of
from plaudit.trajectory import Trajectory

__all__ = ["LiveRun", "FoundSamples"]

BATCH = 2_000
SEARCH_S = 0.7
FIRST_FIGURES = 2_000
LIVE_S = 60.0
LISTED = ("training_step", "status", "reward", "score", "length")
PREVIEW = 200


@dataclass(frozen=True, slots=True)
class FoundSamples:
    """A part of an answer: how many samples were found so far, the rows asked for, and where to search on.

    `next` is None once everything was looked at; `searched` is the share that was.
    """

    total: int
    rows: list[dict[str, Any]]
    next: int | None
    searched: float


class LiveRun:
    """One run; `update` reads what is new, everything else may be asked for from other threads meanwhile."""

    def __init__(self, files: RunFiles, folder: Path) -> None:
        self.name = files.name
        self._files = files
        self._mapping = ColumnMapping({})
        self._index = SampleIndex(folder / "index.sqlite")
        self._path = files.rollouts if files.rollouts.suffix == ".jsonl" else _as_lines(files.rollouts, folder)
        self._builder = FiguresBuilder()
        self._read_to = 0
        self._last_line = b""
        self._left_out = 0
        self._described: dict[str, Any] | None = None
        self._indexed = 0
        self._counted = 0  # samples in the figures
        self._cost_s = self._computed_at = 0.0
        self._metrics_time = 0.0
        self._version = 0

    @property
    def rows(self) -> int:
        """How many samples can be asked for."""
        return self._indexed

    def update(self) -> bool:
        """Read new samples, a batch at most, and renew the figures when that is due; whether there was anything new."""
        size = self._path.stat().st_size if self._path.exists() else 0
        if size < self._read_to or (size > self._read_to and not self._goes_on()):
            self._start_anew()
        new = self._read_batch() if size > self._read_to else 0
        at_end = new < BATCH
        if self._figures_due(at_end=at_end):
            self._renew()
        return bool(new)

    def state(self) -> dict[str, Any]:
        """What changes while the run goes on."""
        try:
            age = time.time() - self._path.stat().st_mtime
        except OSError:
            age = LIVE_S
        return {
            "name": self.name,
            "rows": self.rows,
            "version": self._version,
            "live": age < LIVE_S or self._counted < self.rows,
            "left_out": self._left_out,
        }

    def describe(self) -> dict[str, Any]:
        """The figures, as the page needs them; without them while the first samples are read."""
        return {**(self._described or {}), **self.state(), "columns": self._index.columns}

    def samples(self, query: Query, offset: int, limit: int, *, start: int = 0, found: int = 0) -> FoundSamples:
        """Samples that meet a query; a search reads texts for less than a second, and says where to go on."""
        if not query.search:
            places = self._index.places(query, offset, limit)
            return FoundSamples(self._index.count(query), self._summaries(places, query), None, 1.0)
        return self._search(query, offset, limit, start, found)

    def groups(self, query: Query, offset: int, limit: int) -> dict[str, Any]:
        """Groups with samples that meet a query; a search in texts counts for single samples only."""
        total, rows = self._index.groups(query, offset, limit)
        return {"total": total, "rows": rows}

    def choices(self, column: str) -> list[str]:
        """The different values of a column; none where there are many."""
        return self._index.choices(column)

    def sample(self, number: int) -> dict[str, Any]:
        """A sample in full."""
        for _, line in self._lines(self._index.places(Query((("sample", "=", str(number)),)), 0, 1)):
            return full_sample(self._rollout(line))
        raise RolloutsError(f"there is no sample {number} in {self.name}")

    def values(self, number: int) -> dict[str, Any]:
        """The values of a sample by column."""
        return self._index.values([number], self._index.columns).get(number, {})

    def close(self) -> None:
        """Let go of the index."""
        self._index.close()

    def _read_batch(self) -> int:
        read = 0
        with self._path.open("rb") as file:
            file.seek(self._read_to)
            for line in file:
                if not line.endswith(b"\n") or read == BATCH:
                    break
                self._take(line, self._read_to)
                self._read_to += len(line)
                self._last_line = line
                read += 1
        self._index.commit()
        self._indexed = len(self._builder.table)
        return read

    def _take(self, line: bytes, start: int) -> None:
        if line.isspace():
            return
        try:
            rollout = self._rollout(line)
        except (jsonline.InvalidJSON, InvalidTrajectory, InvalidOutput, RolloutsError):
            self._left_out += 1
            return
        sample = self._builder.add(rollout)
        values = sample_values(rollout, self._builder.table.groups[sample])
        self._index.add(Place(sample, start, len(line)), values)

    def _rollout(self, line: bytes) -> ScoredRollout:
        rollout = rollout_of(jsonline.decode(line.rstrip(b"\r\n")), self._mapping)
        if rollout.output is None:
            raise RolloutsError("it is not scored")
        return Rollout(rollout.trajectory, rollout.output)

    def _goes_on(self) -> bool:
        """Whether the file still holds the line that was read last: one that was replaced may be larger at once."""
        with self._path.open("rb") as file:
            file.seek(self._read_to - len(self._last_line))
            return file.read(len(self._last_line)) == self._last_line

    def _start_anew(self) -> None:
        self._builder, self._read_to, self._last_line = FiguresBuilder(), 0, b""
        self._left_out = self._counted = self._indexed = 0
        self._index.clear()

    def _figures_due(self, *, at_end: bool) -> bool:
        """At the end of what is there, else each time the samples have doubled; never most of the time."""
        if time.monotonic() - self._computed_at < (2 if at_end else 5) * self._cost_s:
            return False
        if self.rows == self._counted:
            return bool(self.rows) and self._metrics_changed()
        return at_end or self.rows >= max(FIRST_FIGURES, 2 * self._counted)

    def _metrics_changed(self) -> bool:
        metrics = self._files.metrics
        return metrics is not None and metrics.exists() and metrics.stat().st_mtime != self._metrics_time

    def _renew(self) -> None:
        started = time.monotonic()
        metrics = self._files.metrics
        if metrics is not None and metrics.exists():
            self._metrics_time = metrics.stat().st_mtime
        figures = self._builder.figures()
        run = ReportedRun(self.name, figures, remarks(figures), read_metrics(metrics) if metrics else {})
        self._described, self._counted = describe_run(run), self.rows
        self._version += 1
        self._computed_at = time.monotonic()
        self._cost_s = self._computed_at - started

    def _search(self, query: Query, offset: int, limit: int, start: int, found: int) -> FoundSamples:
        deadline = time.monotonic() + SEARCH_S
        needle = query.search.lower()
        total = self._index.count(query)
        matching: list[Place] = []
        passed = start
        while passed < total and time.monotonic() < deadline:
            for place, line in self._lines(self._index.places(query, passed, BATCH)):
                passed += 1
                if _mentions(line, needle):
                    if offset <= found < offset + limit:
                        matching.append(place)
                    found += 1
                if time.monotonic() > deadline:
                    break
        rows = self._summaries(matching, query)
        return FoundSamples(found, rows, passed if passed < total else None, passed / total if total else 1.0)

    def _lines(self, places: list[Place]) -> Iterator[tuple[Place, bytes]]:
        with self._path.open("rb") as file:
            for place in places:
                file.seek(place.start)
                yield place, file.read(place.size)

    def _summaries(self, places: list[Place], query: Query) -> list[dict[str, Any]]:
        names = list(dict.fromkeys([*LISTED, query.sort, *(name for name, _, _ in query.where)]))
        values = self._index.values([place.sample for place in places], names)
        return [
            {
                "sample": place.sample,
                "values": values.get(place.sample, {}),
                "preview": _preview(self._rollout(line).trajectory),
            }
            for place, line in self._lines(places)
        ]


def _preview(trajectory: Trajectory) -> dict[str, str]:
    """The beginnings of the texts that the list of samples shows."""
    prompt, truth = trajectory.prompt, trajectory.ground_truth
    asked = prompt if isinstance(prompt, str) else message_text(prompt[-1]) if prompt else ""
    return {
        "prompt": asked[:PREVIEW],
        "response": trajectory.response[:PREVIEW],
        "ground_truth": "" if truth is None else str(truth)[:PREVIEW],
    }


def _mentions(line: bytes, needle: str) -> bool:
    """Whether prompt or response of a line hold a text, in any case."""
    row = jsonline.decode(line)
    if not isinstance(row, dict):
        return False
    texts = [value for value in (row.get("response"), row.get("prompt"), row.get("messages")) if value]
    return any(needle in (text if isinstance(text, str) else str(text)).lower() for text in texts)


def _as_lines(path: Path, folder: Path) -> Path:
    """A rollouts file of another format as plain lines."""
    lines = folder / "rollouts.jsonl"
    with lines.open("wb") as out:
        for rollout in read_rollouts(path, skip_bad=True):
            out.write(rollout.to_line())
    return lines
