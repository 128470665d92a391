"""`plaudit audit` on rewards that others ship: what is found, with the shortest responses, in how many calls.

Rewards whose packages are not installed are named and left out; further specs may be given on the command line. The
rewards in the style of open-r1 are written anew here: sections by pattern, tags counted, a cosine without a clamp.
"""

import math
import re
import sys
import time
from typing import Any

from plaudit.audit import Budget, audit_reward
from plaudit.errors import PlauditError

SPECS = (
    "benchmarks.audit_shipped:sections",
    "benchmarks.audit_shipped:tag_count",
    "benchmarks.audit_shipped:cosine",
    "trl.rewards.format_rewards:think_format_reward",
    "trl.rewards.accuracy_rewards:accuracy_reward",
    "verl.utils.reward_score.gsm8k:compute_score",
    "verl.utils.reward_score.math_dapo:compute_score",
    "verl.utils.reward_score.search_r1_like_qa_em:compute_score_em",
)
BUDGET = Budget(calls=3000, seconds=60)


def sections(completions: list[Any], **columns: Any) -> list[float]:
    pattern = r"^<think>\n.*?\n</think>\n<answer>\n.*?\n</answer>$"
    return [float(re.match(pattern, _text(each), re.DOTALL) is not None) for each in completions]


def tag_count(completions: list[Any], **columns: Any) -> list[float]:
    tags = ("<think>\n", "\n</think>\n", "\n<answer>\n", "\n</answer>")
    return [sum(0.25 for tag in tags if _text(each).count(tag) == 1) for each in completions]


def cosine(completions: list[Any], **columns: Any) -> list[float]:
    return [0.5 * (1.0 + math.cos(math.pi * len(_text(each).split()) / 200)) for each in completions]


def _text(completion: Any) -> str:
    return completion if isinstance(completion, str) else str(completion[0]["content"])


def main() -> None:
    for spec in sys.argv[1:] or SPECS:
        began = time.perf_counter()
        try:
            report = audit_reward(spec, budget=BUDGET, deadline_s=8.0, workers=1)
        except PlauditError as error:
            print(f"{spec}: not audited: {str(error)[:160]}")
            continue
        print(
            f"{spec}: {len(report.findings)} findings, {report.calls} calls, {time.perf_counter() - began:.0f} s",
            *report.notes,
        )
        for finding in report.findings:
            witness = finding.witness
            name = f"{finding.operator} ({finding.attacker}, {finding.rate:.0%})"
            print(f"  {finding.severity:6} {name}: {witness.response!r:.100}")


if __name__ == "__main__":
    main()
