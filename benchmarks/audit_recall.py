"""Recall of `plaudit audit` by kind of flaw, and its false alarms, on the two halves of `tests/audit/recall_zoo`.

`python benchmarks/audit_recall.py development` and `… held-back` audit a half as the command does: on a worker process,
without rollouts. `… fresh`, `later`, `unseen`, `notebook`, `script`, `trainer`, `desk`, `lab` and `shop` audit rewards
of other styles, most with two or three honest rollouts. A flaw counts as found only where a finding of its kind reports
it, as stated in the roster before the first run. Names behind the half choose some of its rewards.
"""

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))  # run as a script, from anywhere

from plaudit.audit import AuditReport, audit_reward
from plaudit.errors import PlauditError
from tests.audit.recall_zoo.roster import (
    DESK,
    DEVELOPMENT,
    FRESH,
    HELD_BACK,
    LAB,
    LATER,
    NOTEBOOK,
    SCRIPT,
    SHOP,
    TRAINER,
    UNSEEN,
    Entry,
)

HALVES = {
    "development": DEVELOPMENT, "held-back": HELD_BACK, "fresh": FRESH, "later": LATER, "unseen": UNSEEN,
    "notebook": NOTEBOOK, "script": SCRIPT, "trainer": TRAINER, "desk": DESK, "lab": LAB, "shop": SHOP,
}  # fmt: skip
DEADLINE_S = 1.0


def audit(entry: Entry) -> AuditReport | None:
    """Audit one reward and print what was found."""
    began = time.process_time()
    try:
        report = audit_reward(entry.spec, entry.rollouts, deadline_s=DEADLINE_S, workers=1)
    except PlauditError as error:
        print(f"    {entry.name}: not audited: {str(error)[:200]}", flush=True)
        return None
    names = ", ".join(dict.fromkeys(f"{each.family}: {each.operator}" for each in report.findings)) or "nothing"
    print(f"    {entry.name}: {names} ({report.calls} calls, {time.process_time() - began:.1f} s)", flush=True)
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("half", choices=HALVES)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    half = HALVES[arguments.half]
    chosen = [each for each in (*half.flawed, *half.sound) if not arguments.names or each.name in arguments.names]
    planted, found, alarms = Counter[str](), Counter[str](), []
    for entry in chosen:
        report = audit(entry)
        if entry.kind is None:
            alarms += [entry.name] if report and report.findings else []
            continue
        planted[entry.kind] += 1
        is_found = report is not None and entry.is_named_by(report.findings)
        found[entry.kind] += is_found
        print("found " if is_found else "MISSED", entry.name, f"({entry.kind})", flush=True)
    for kind, count in sorted(planted.items()):
        print(f"{kind:22} {found[kind]} of {count}")
    share = found.total() / max(1, planted.total())
    sound = sum(entry.kind is None for entry in chosen)
    print(f"{arguments.half}: {found.total()} of {planted.total()} flaws found by their kind ({share:.0%}); "
          f"false alarms on {len(alarms)} of {sound} sound rewards: {', '.join(alarms) or 'none'}")  # fmt: skip


if __name__ == "__main__":
    main()
