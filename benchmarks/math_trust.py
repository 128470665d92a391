"""What each rule on the form of a statement contributes on labelled responses: hits and false rejections.

The responses are those of `tests/verify/math/trust_responses.py`. A hit is a response labelled wrong that is accepted
without any rule of the table and rejected with this one alone, a false rejection one labelled right; `needed` counts
the responses labelled wrong that all other rules together accept. The last two lines are what is decided beside the
table: that a response ends with its answer, and what contradicts it.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from plaudit.verify import MathPolicy, MathVerdict, Rejection, verify_math
from plaudit.verify.math.extraction import trust
from tests.verify.math.trust_responses import Response, responses

POLICY = MathPolicy(unevaluated=False)
RULES = trust.RULES
BESIDE = (Rejection.NOT_FINAL, Rejection.CONTRADICTED, Rejection.GUESSED)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--half", choices=["development", "held-out"], default="held-out")
    labelled = responses(held_out=options.parse_args().half == "held-out")
    verdicts = _verdicts(labelled)
    wrong = Counter((row.is_right, verdict.correct) for row, verdict in zip(labelled, verdicts, strict=True))
    attacks = sum(row.is_attack for row in labelled)
    print(f"{len(labelled)} responses, {attacks} attacks: {wrong[False, True]} false acceptances, ", end="")
    print(f"{wrong[True, False]} false rejections")
    bare = [verdict.correct for verdict in _verdicts(labelled, [])]
    accepted = sum(now and not row.is_right for row, now in zip(labelled, bare, strict=True))
    print(f"without the table: {accepted} false acceptances\n")
    print("| rule | hits | needed | false rejections |\n|---|--:|--:|--:|")
    for rule in RULES:
        alone = _verdicts(labelled, [rule])
        without = _verdicts(labelled, [other for other in RULES if other is not rule])
        rows = list(zip(labelled, bare, alone, verdicts, without, strict=True))
        hits = sum(no_rule and not only.correct and not row.is_right for row, no_rule, only, _, _ in rows)
        false = sum(no_rule and not only.correct and row.is_right for row, no_rule, only, _, _ in rows)
        needed = sum(off.correct and not on.correct and not row.is_right for row, _, _, on, off in rows)
        print(f"| {rule.name} | {hits} | {needed} | {false} |")
    for rejection in BESIDE:
        reached = [row for row, verdict in zip(labelled, verdicts, strict=True) if verdict.rejected is rejection]
        right = sum(row.is_right for row in reached)
        print(f"| {rejection.value} | {len(reached) - right} | | {right} |")


def _verdicts(labelled: list[Response], rules: Sequence[trust.Rule] = RULES) -> list[MathVerdict]:
    """The verdicts with only these rules of the table."""
    trust.RULES = tuple(rules)
    return [verify_math(row.truth, row.text, POLICY) for row in labelled]


if __name__ == "__main__":
    main()
