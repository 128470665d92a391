"""`plaudit audit` on every verifier with its own rows, where it must find nothing, and on broken copies of them.

`python benchmarks/audit_verifiers.py` audits the verifiers that have a card and the copies of `broken_verifiers.py`;
names on the command line choose some. A copy counts as found where one of the attacks named in its table reports it.
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))  # run as a script, from anywhere

from benchmarks.broken_verifiers import BROKEN
from benchmarks.catalogue import Label, read_lines
from plaudit import Trajectory
from plaudit.audit import Budget, audit_reward
from plaudit.errors import PlauditError
from plaudit.rewards.verifiers.recognisers import recognise
from plaudit.verify.card import kinds

BUDGET = Budget(calls=3000, seconds=60)
MOST_ROWS = 8
MOST_RESPONSES = 3  # to a row


def samples_of(kind: str) -> list[Trajectory]:
    """Right responses to the first rows of a kind, to those first that `auto` recognises."""
    rows: dict[str, list[Trajectory]] = {}
    for line in read_lines(kind):
        if line.label is Label.PASS and not line.settings and isinstance(line.response, str):
            rows.setdefault(str(line.row), []).append(line.sample())
    ordered = sorted(rows.values(), key=lambda samples: recognise(samples[0]) != kind)
    return [sample for samples in ordered[:MOST_ROWS] for sample in samples[:MOST_RESPONSES]]


def main() -> None:
    chosen = sys.argv[1:]
    for kind in chosen or kinds():
        if kind not in kinds():
            continue
        began = time.process_time()
        try:
            report = audit_reward(kind, samples_of(kind), budget=BUDGET, deadline_s=None)
        except PlauditError as error:
            print(f"{kind:28} not audited: {str(error)[:160]}")
            continue
        taken = time.process_time() - began
        print(
            f"{kind:28} {len(report.findings)} findings, {report.calls} calls, {taken:.1f} s", *report.notes, flush=True
        )
        for finding in report.findings:
            print(f"    {finding.family}: {finding.operator}: {finding.witness.response!r:.100}")
    found = 0
    copies = [copy for copy in BROKEN if not chosen or copy.kind in chosen]
    for copy in copies:
        report = audit_reward(copy.reward, samples_of(copy.kind), budget=BUDGET, deadline_s=None)
        reported = {finding.operator for finding in report.findings}
        found += bool(reported & copy.attacks)
        names = ", ".join(sorted(reported & copy.attacks)) or f"MISSED (reported: {', '.join(sorted(reported))})"
        print(f"{copy.reward.__name__:28} {names}", flush=True)
    print(f"{found} of {len(copies)} broken copies found")


if __name__ == "__main__":
    main()
