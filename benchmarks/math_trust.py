"""What each rule on the words around an answer contributes on labelled responses: hits and false rejections.

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
RULES: tuple[trust.Rule | trust.Offer, ...] = (*trust.RULES, *trust.OFFERS)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--half", choices=["development", "held-out"], default="held-out")
    labelled = responses(held_out=options.parse_args().half == "held-out")
    verdicts, bare = _verdicts(labelled, RULES), _verdicts(labelled, [])
    outcomes = Counter((row.is_right, verdict) for row, verdict in zip(labelled, verdicts, strict=True))
    attacks = sum(row.is_attack for row in labelled)
    print(f"{len(labelled)} responses, {attacks} attacks: {outcomes[False, True]} false acceptances, ", end="")
    print(f"{outcomes[True, False]} false rejections")
    accepted = sum(now and not row.is_right for row, now in zip(labelled, bare, strict=True))
    print(f"without any rule: {accepted} false acceptances\n")
    print("| rule | hits | needed | false rejections |\n|---|--:|--:|--:|")
    for rule in RULES:
        alone = _verdicts(labelled, [rule])
        without = _verdicts(labelled, [other for other in RULES if other is not rule])
        rows = list(zip(labelled, bare, alone, verdicts, without, strict=True))
        hits = sum(no_rule and not only and not row.is_right for row, no_rule, only, _, _ in rows)
        false = sum(no_rule and not only and row.is_right for row, no_rule, only, _, _ in rows)
        needed = sum(off and not on and not row.is_right for row, _, _, on, off in rows)
        print(f"| {rule.name} | {hits} | {needed} | {false} |")


def _verdicts(labelled: list[Response], rules: Sequence[trust.Rule | trust.Offer]) -> list[bool]:
    """Which responses are right with only these rules."""
    trust.RULES = tuple(rule for rule in rules if isinstance(rule, trust.Rule))
    trust.OFFERS = tuple(rule for rule in rules if isinstance(rule, trust.Offer))
    return [verify_math(row.truth, row.text, POLICY).correct for row in labelled]


if __name__ == "__main__":
    main()
