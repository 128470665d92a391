"""Planted label errors and verifier misses: precision and recall of `plaudit labels`, beside two baselines.

GSM8K: the 660 groups of four real responses. Simulated: groups of 8 and 16 whose wrong answers repeat each other as
often as in those. Labels go wrong by a little, by a digit, by a factor of ten or completely. The baselines rank groups
by how many responses contradict the label (majority vote) and by their pass rate. Recall is at a precision of 0.8.

`python benchmarks/labels.py policies` prints precision and recall for simulated policies of several strengths whose
wrong answers agree rarely or often, with answers in several notations, missing labels and a reward that misses some.
"""

import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))

from plaudit.labels import AnswerGroup, FindingKind, examine, group_answers
from plaudit.rollouts import Rollout
from tests.labels.simulated_rollouts import POLICIES, POPULAR, Planted, Policy, corrupt, simulate, simulate_policy
from tests.shared_data import gsm8k_rollouts

RATES = (0.02, 0.05, 0.10)
PRECISION = 0.8
SEEDS = (1, 2, 3)


def main() -> None:
    print(f"{'rollouts':22}{'rate':>6}{'estimate':>10}{'interval':>16}{'precision':>11}{'recall':>8}", end="")
    print(f"{'at 0.8:':>9}{'ours':>6}{'majority':>10}{'pass rate':>11}")
    sources: dict[str, Callable[[float, int], Planted]] = {
        "GSM8K, 4 real": plant,
        "simulated, 8": lambda rate, seed: simulate(1_000, 8, rate, seed),
        "simulated, 16": lambda rate, seed: simulate(1_000, 16, rate, seed),
    }
    for name, build in sources.items():
        for rate in RATES:
            for seed in SEEDS:
                print_row(name, rate, build(rate, seed))
    misses()


def compare_policies() -> None:
    """Of all planted errors of a policy: how many are reported, how many of those are wrong, how many are announced."""
    print(
        f"{'policy':16}{'popular':10}{'size':>5}{'wrong':>7}{'reported':>10}{'precision':>11}{'recall':>8}{'estimate':>10}"
    )
    for strength in POLICIES:
        for popular in POPULAR:
            for size in (4, 8, 16):
                planted, reported, hits, estimated = measure_policy(Policy(strength, popular), size)
                precision = f"{hits / reported:.2f}" if reported else "none"
                print(
                    f"{strength:16}{popular:10}{size:5}{planted:7}{reported:10}{precision:>11}{hits / planted:8.2f}",
                    end="",
                )
                print(f"{estimated:10.1f}", flush=True)


class Measured(NamedTuple):
    """How many labels are wrong, reported, and both, and how many are estimated to be wrong."""

    planted: int
    reported: int
    hits: int
    estimated: float


def measure_policy(policy: Policy, size: int) -> Measured:
    """What `plaudit labels` reports on 300 prompts at each rate of wrong labels."""
    planted = reported = hits = 0
    estimated = 0.0
    for rate in RATES:
        data = simulate_policy(policy, 300, size, rate, seed=1)
        report = examine(data.rollouts)
        named = {each.group for each in report.findings if each.kind is FindingKind.WRONG_LABEL}
        planted, reported = planted + len(data.wrong), reported + len(named)
        hits += len(named & data.wrong)
        estimated += report.error_rate * report.groups
    return Measured(planted, reported, hits, estimated)


def plant(rate: float, seed: int) -> Planted:
    """The real rollouts with some labels made wrong."""
    rng = random.Random(seed)
    rows = gsm8k_rollouts()
    names = sorted({row["group"] for row in rows})
    labels = {row["group"]: row["ground_truth"] for row in rows}
    wrong = set(rng.sample(names, round(rate * len(names))))
    for name in wrong:
        digits = labels[name].replace(",", "")
        labels[name] = str(corrupt(int(float(digits)), rng))
    planted = [Rollout.from_dict({**row, "ground_truth": labels[row["group"]]}) for row in rows]
    return Planted(planted, wrong)


def print_row(name: str, rate: float, planted: Planted) -> None:
    groups = group_answers(planted.rollouts)
    report = examine(planted.rollouts)
    reported = {each.group for each in report.findings if each.kind is FindingKind.WRONG_LABEL}
    hits = len(reported & planted.wrong)
    suspicion = {group: each.wrong for (group, _), each in report.suspicions.items()}
    rankings = (
        suspicion,
        {each.name: contradiction(each) for each in groups},
        {each.name: unsolved(each) for each in groups},
    )
    low, high = report.interval
    precision = f"{hits / len(reported):.2f}" if reported else "none"
    print(f"{name:22}{rate:6.0%}{report.error_rate:10.1%}{f'{low:.1%} to {high:.1%}':>16}{precision:>11}", end="")
    print(f"{hits / len(planted.wrong):8.2f}{'':9}", end="")
    print("{:6.2f}{:10.2f}{:11.2f}".format(*(recall(each, planted.wrong) for each in rankings)))


def contradiction(group: AnswerGroup) -> float:
    largest = max((len(each.answers) for each in group.others), default=0)
    return (largest - len(group.agreeing.answers)) / max(1, len(group.answers))


def unsolved(group: AnswerGroup) -> float:
    return -len(group.agreeing.answers) / max(1, len(group.answers))


def recall(scores: dict[str, float], wrong: set[str]) -> float:
    """The largest recall at which the precision is still 0.8; groups with equal scores come together."""
    best = hits = seen = 0
    for limit in sorted(set(scores.values()), reverse=True):
        level = [name for name, score in scores.items() if score == limit]
        seen += len(level)
        hits += sum(name in wrong for name in level)
        if hits >= PRECISION * seen:
            best = hits
    return best / len(wrong)


def misses() -> None:
    """Verifiers that do not count some right responses, on the real rollouts with their sound labels."""
    verifiers: dict[str, Callable[[str], bool]] = {
        "misses long responses": lambda response: len(response) > 500,
        "misses every seventh": lambda response: sum(map(ord, response)) % 7 == 0,
    }
    for name, is_missed in verifiers.items():
        rollouts, planted = [], set()
        for row, plain in enumerate(gsm8k_rollouts(), start=1):
            correct = bool(plain["metadata"]["labelled_correct"])
            missed = correct and is_missed(plain["response"])
            if missed:
                planted.add(row)
            output = {"reward": float(correct and not missed)}
            rollouts.append(Rollout.from_dict({**plain, "reward_output": output}))
        report = examine(rollouts)
        reported = {
            answer.row for each in report.findings if each.kind is FindingKind.REJECTED for answer in each.answers
        }
        hits = len(reported & planted)
        precision = hits / max(1, len(reported))
        print(f"{name}: {len(planted)} misses, precision {precision:.2f}, recall {hits / len(planted):.2f}")


if __name__ == "__main__":
    compare_policies() if sys.argv[1:] == ["policies"] else main()
