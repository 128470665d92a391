"""How often each trust rule of the math verifier is right on labelled responses: hits and false rejections.

The responses are those of `tests/verify/math/trust_responses.py`. A hit is a response labelled wrong that is accepted
without any rule and rejected with this one alone, a false rejection one labelled right; `needed` counts the responses
labelled wrong that all other rules together accept.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from plaudit.verify import MathPolicy, verify_math
from plaudit.verify.math.extraction import trust
from tests.verify.math.trust_responses import Response, responses

POLICY = MathPolicy(unevaluated=False)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--half", choices=["development", "held-out"], default="held-out")
    labelled = responses(held_out=options.parse_args().half == "held-out")
    verdicts = _verdicts(labelled)
    wrong = Counter((row.is_right, verdict) for row, verdict in zip(labelled, verdicts, strict=True))
    attacks = sum(row.is_attack for row in labelled)
    print(f"{len(labelled)} responses, {attacks} attacks: {wrong[False, True]} false acceptances, ", end="")
    print(f"{wrong[True, False]} false rejections")
    bare = _verdicts(labelled, [])
    print(
        f"without any rule: {sum(now and not row.is_right for row, now in zip(labelled, bare, strict=True))} false ",
        end="",
    )
    print("acceptances\n\n| rule | reason | hits | needed | false rejections |\n|---|---|--:|--:|--:|")
    for rule in trust.RULES:
        alone = _verdicts(labelled, [rule])
        without = _verdicts(labelled, [other for other in trust.RULES if other is not rule])
        rows = list(zip(labelled, bare, alone, verdicts, without, strict=True))
        hits = sum(no_rule and not only and not row.is_right for row, no_rule, only, _, _ in rows)
        false = sum(no_rule and not only and row.is_right for row, no_rule, only, _, _ in rows)
        needed = sum(off and not on and not row.is_right for row, _, _, on, off in rows)
        print(f"| {rule.name} | {rule.rejection.name.lower()} | {hits} | {needed} | {false} |")


def _verdicts(labelled: list[Response], rules: Sequence[trust.Rule] = trust.RULES) -> list[bool]:
    """The verdicts with only these rules."""
    for zone in trust._ZONES:
        trust._ZONES[zone] = tuple(rule for rule in rules if rule.zone == zone)
    return [verify_math(row.truth, row.text, POLICY).correct for row in labelled]


if __name__ == "__main__":
    main()
