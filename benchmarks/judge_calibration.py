"""How often `plaudit judge calibrate` finds the faults of scripted judges, and how often it invents one.

Run from the repository: `python benchmarks/judge_calibration.py [SEEDS] [JUDGE …]`, with `--labels 48` for fewer labels
than the 100 of the guide. Each seed has its own rollouts (two labelled responses to each prompt) and its own noise.
Seed 0 is asked over HTTP and in this process, with equal figures; the others in this process only. `found` counts the
seeds in which a planted fault is reported, `invented` those with any finding that was not planted.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from plaudit.calibration import Calibration, calibrate, labels_of_column
from plaudit.judges import ChatEndpoint, LLMJudge, RubricReward
from tests.calibration.scripted_judges import COMPOUND, OWN, RUBRIC, LocalEndpoint, ScriptedJudge, labelled_rollouts
from tests.judges.servers import serving

GRADED, YES_NO = LLMJudge, RubricReward
JUDGES: dict[str, tuple[Any, dict[str, Any], tuple[str, ...]]] = {
    "exact, yes/no": (YES_NO, {"noise": 0.0}, ()),
    "noisy, graded": (GRADED, {}, ()),
    "very noisy, graded": (GRADED, {"noise": 0.25}, ()),
    "noisy, yes/no": (YES_NO, {"noise": 0.2}, ()),
    "noisy, whole numbers": (GRADED, {"whole": True}, ()),
    "prefers the first": (GRADED, {"position": 0.15}, ("position",)),
    "prefers the second, yes/no": (YES_NO, {"position": -0.15}, ("position",)),
    "pays for words": (GRADED, {"verbosity": 0.06}, ("verbosity",)),
    "pays for words, yes/no": (YES_NO, {"verbosity": 0.2}, ("verbosity",)),
    "pays for markup": (GRADED, {"format": 0.1}, ("format",)),
    "pays for markup, yes/no": (YES_NO, {"format": 0.3}, ("format",)),
    "prefers its own": (GRADED, {"own": 0.15}, ("self-preference",)),
    "prefers its own, yes/no": (YES_NO, {"own": 0.3}, ("self-preference",)),
    "contradicts its reasons (30 %)": (GRADED, {"contradicts": 0.3}, ("reasons",)),
    "position and words": (GRADED, {"position": 0.15, "verbosity": 0.06}, ("position", "verbosity")),
    "all four biases": (
        GRADED,
        {"position": 0.2, "verbosity": 0.06, "format": 0.12, "own": 0.15},
        ("position", "verbosity", "format", "self-preference"),
    ),
    "looks for keywords": (YES_NO, {"keywords": True}, ("partial satisfaction", "topical match", "agreement")),
}


def findings_of(name: str, seed: int, labels: int) -> set[str]:
    """The kinds of findings; the first seed is asked over HTTP too, which must give the same figures."""
    kind, faults, _ = JUDGES[name]
    script, samples = ScriptedJudge(seed=seed, **faults), labelled_rollouts(seed, prompts=labels // 2)
    rubric = COMPOUND if faults.get("keywords") else RUBRIC

    def run(endpoint: ChatEndpoint) -> Calibration:
        judge = kind(endpoint, rubric)
        return calibrate(judge, samples, labels_of_column("human", judge, samples))

    result = run(LocalEndpoint.of(script))
    if seed == 0:
        with serving(script) as server:
            assert run(ChatEndpoint(server.url, OWN)) == result, name
    return {each.removesuffix(" in comparisons") for each in result.findings}


def main(seeds: int, names: list[str], labels: int) -> None:
    print("| judge | planted, and found | invented |\n|---|---|---|")
    for name in names:
        planted = set(JUDGES[name][2])
        counts: Counter[str] = Counter()
        invented: Counter[str] = Counter()
        wrong = 0
        for seed in range(seeds):
            kinds = findings_of(name, seed, labels)
            counts.update(kinds & planted)
            invented.update(kinds - planted)
            wrong += bool(kinds - planted)
        shown = ", ".join(f"{each} {counts[each]} of {seeds}" for each in JUDGES[name][2]) or "–"
        what = f" ({', '.join(invented)})" if invented else ""
        print(f"| {name} | {shown} | {wrong} of {seeds}{what} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seeds", nargs="?", type=int, default=20)
    parser.add_argument("judges", nargs="*", default=list(JUDGES))
    parser.add_argument("--labels", type=int, default=100)
    arguments = parser.parse_args()
    main(arguments.seeds, arguments.judges, arguments.labels)
