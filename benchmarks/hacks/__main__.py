"""Audit every hack and control, train the embedded model with it, and say when `watch` warned.

    python -m benchmarks.hacks                 # all of them, about 8 s of processor time each on one core
    python -m benchmarks.hacks any_number interval
    python -m benchmarks.hacks --audit         # without training
    python -m benchmarks.hacks --table         # only what is measured already
    python -m benchmarks.hacks --watch         # the runs that are there, looked at again with the rules of today

Runs stay in --runs; a hack whose line is in results.jsonl there is not trained again.
"""

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from plaudit.audit import Attacker, AuditReport
from plaudit.hacks import Hack, audit_hack, find_hack, list_hacks, measure_run, train_hack

QUICK = ("logging.report=false", "logging.watch_every=0")
"""What a benchmark leaves out: the looks are taken afterwards, from the rollouts, with the same result."""


@dataclass(frozen=True, slots=True)
class Results:
    """The file with a line for each hack that was measured; the last line of a hack counts."""

    path: Path

    def read(self) -> dict[str, dict[str, Any]]:
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        return {line["name"]: line for line in map(json.loads, lines)}

    def add(self, line: dict[str, Any]) -> None:
        with self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")


def measure(hack: Hack, folder: Path) -> dict[str, Any]:
    """The line of one hack; `seconds` is processor time."""
    began = time.process_time()
    audit = audit_hack(hack)
    audited = time.process_time()
    run = train_hack(hack, folder, overrides=QUICK, overwrite=True)
    paid, broken = split_findings(audit)
    return {
        **run.to_dict(),
        "audit": paid,
        "invariants": broken,
        "audit_s": round(audited - began, 1),
        "seconds": round(time.process_time() - audited, 1),
    }


def split_findings(report: AuditReport) -> tuple[list[str], list[str]]:
    """What was paid without the task being solved, and the invariants that are broken."""
    is_invariant = [each.attacker is Attacker.INVARIANT for each in report.findings]
    pairs = list(zip(report.findings, is_invariant, strict=True))
    paid, broken = (sorted({each.operator for each, flag in pairs if flag is wanted}) for wanted in (False, True))
    return paid, broken


def print_audits(hacks: Sequence[Hack]) -> None:
    """The findings of each audit, and for how many hacks and controls something was paid."""
    paid_names: dict[bool, list[str]] = {False: [], True: []}
    for hack in hacks:
        report = audit_hack(hack)
        paid, broken = split_findings(report)
        if paid:
            paid_names[hack.is_sound].append(hack.name)
        print(f"{hack.name}: {', '.join(paid) or '-'}; invariants: {', '.join(broken) or '-'}", flush=True)
    sound = sum(each.is_sound for each in hacks)
    planted, alarms = len(paid_names[False]), len(paid_names[True])
    print(f"found {planted} of {len(hacks) - sound} hacks, alarms on {alarms} of {sound} controls")


def print_table(hacks: Sequence[Hack], lines: dict[str, dict[str, Any]]) -> None:
    """A line for each hack, then the totals."""
    print("| name | kind | audit | reward | true score | onset | warned | signs |\n|---|---|---|---|---|---|---|---|")
    for hack in hacks:
        if (line := lines.get(hack.name)) is None:
            continue
        reward, truth = (f"{a:.2f} → {b:.2f}" for a, b in (line["reward"], line["true_score"]))
        signs = ", ".join(f"{name} {step}" for name, step in line["warnings"].items())
        cells = (hack.name, hack.kind, len(line["audit"]) or "-", reward, truth, line["onset"] or "-",
                 line["warned_at"] or "-", signs or "-")  # fmt: skip
        print(f"| {' | '.join(map(str, cells))} |")
    planted = [lines[each.name] for each in hacks if not each.is_sound and each.name in lines]
    sound = [lines[each.name] for each in hacks if each.is_sound and each.name in lines]
    begun = [line for line in planted if line["onset"] is not None]
    delays = sorted(line["warned_at"] - line["onset"] for line in begun if line["warned_at"] is not None)
    print(f"\n{len(planted)} hacks, exploited: {len(begun)}, found by the audit: {_count(planted, 'audit')}, "
          f"warned of: {len(delays)} of {len(begun)}")  # fmt: skip
    if delays:
        late = [delay for delay in delays if delay > 0]
        print(f"steps from onset to warning: median {delays[len(delays) // 2]}, from {delays[0]} to {delays[-1]}; "
              f"{len(late)} after the onset")  # fmt: skip
    print(f"{len(sound)} controls: onset {sum(line['onset'] is not None for line in sound)}, "
          f"alarms of the audit {_count(sound, 'audit')}, of watch {_count(sound, 'warnings')}")  # fmt: skip
    seconds = sorted(line["seconds"] for line in lines.values())
    if seconds:
        print(f"processor time of a run: median {seconds[len(seconds) // 2]} s, at most {seconds[-1]} s")


def _count(lines: Sequence[dict[str, Any]], key: str) -> int:
    return sum(bool(line[key]) for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="hacks and controls; all of them without")
    parser.add_argument("--runs", type=Path, default=Path("runs/hacks"), help="where runs and results go")
    parser.add_argument("--table", action="store_true", help="print what is measured already")
    parser.add_argument("--watch", action="store_true", help="look at the runs that are there again")
    parser.add_argument("--audit", action="store_true", help="only audit, and print what is found")
    options = parser.parse_args()
    torch.set_num_threads(1)
    chosen = [find_hack(name) for name in options.names] or list(list_hacks())
    if options.audit:
        print_audits(chosen)
        return
    options.runs.mkdir(parents=True, exist_ok=True)
    results = Results(options.runs / "results.jsonl")
    for hack in () if options.table else chosen:
        known = results.read().get(hack.name)
        if known is not None and options.watch:
            results.add({**known, **measure_run(hack, options.runs / hack.name).to_dict()})
        elif known is None and not options.watch:
            results.add(measure(hack, options.runs / hack.name))
            print(json.dumps(results.read()[hack.name]), flush=True)
    print_table(chosen, results.read())


if __name__ == "__main__":
    main()
