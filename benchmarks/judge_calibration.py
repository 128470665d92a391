"""How often `plaudit judge calibrate` finds the faults of scripted judges, and how often it invents one.

Run from the repository: `python benchmarks/judge_calibration.py [SEEDS] [JUDGE …]`. Each judge answers over HTTP; each
seed has its own rollouts (48 labelled responses to 24 prompts) and its own noise. `found` counts the seeds in which a
planted fault is reported, `invented` those with any finding that was not planted.
"""

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from plaudit.calibration import calibrate, labels_of_column
from plaudit.judges import ChatEndpoint, LLMJudge, RubricReward
from tests.calibration.scripted_judges import COMPOUND, OWN, RUBRIC, ScriptedJudge, labelled_rollouts
from tests.judges.servers import serving

GRADED, YES_NO = LLMJudge, RubricReward
JUDGES = {
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


def main(seeds: int, names: list[str]) -> None:
    print("| judge | planted | found | invented |\n|---|---|---|---|")
    for name in names:
        kind, faults, planted = JUDGES[name]
        counts: Counter[str] = Counter()
        invented: Counter[str] = Counter()
        wrong = 0
        for seed in range(seeds):
            samples = labelled_rollouts(seed)
            with serving(ScriptedJudge(seed=seed, **faults)) as server:
                rubric = COMPOUND if faults.get("keywords") else RUBRIC
                judge = kind(ChatEndpoint(server.url, OWN), rubric)
                findings = set(calibrate(judge, samples, labels_of_column("human", judge, samples)).findings)
            kinds = {each.removesuffix(" in comparisons") for each in findings}
            counts.update(kinds & set(planted))
            invented.update(kinds - set(planted))
            wrong += bool(kinds - set(planted))
        found = ", ".join(f"{counts[each]} of {seeds}" for each in planted) or "–"
        what = f" ({', '.join(invented)})" if invented else ""
        print(f"| {name} | {', '.join(planted) or 'none'} | {found} | {wrong} of {seeds}{what} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20, sys.argv[2:] or list(JUDGES))
