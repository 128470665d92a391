"""Fuzz the math verifier: `python benchmarks/math_fuzz.py 200000`.

Ground truths and responses are mutated from labelled rows, from the adversarial inputs of the tests and from fragments
of notation, and given to `verify_math` under three policies. Nothing may raise, and nothing may take longer than the
budget of a decision allows. Cases are drawn from a seed, so a failure can be repeated.
"""

import argparse
import importlib
import json
import random
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

from plaudit.errors import InvalidTrajectory
from plaudit.verify import MathPolicy, Names, Units, verify_math

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = [folder / "shared" / "data" / "math" for folder in (ROOT.parent, ROOT.parent.parent)]
POLICIES = (
    MathPolicy(),
    MathPolicy(rounded_answers=True, unevaluated=False),
    MathPolicy(names=Names.FREE, units=Units.IGNORE, ordered_lists=True, read_think=True),
)
SLOW_S = 1.0
SHOWN = 20
STEP = 10_000  # cases between two lines of progress
MAX_LENGTH = 4000
NOTATION = r"""
\frac{ }{ } { ( ) [ ] \left( \right) \{ \} | ‖ \lfloor \rceil \sqrt[3]{ \sqrt ^ _ ^{ _{ ! !! ' ° % \% $ \$ \boxed{ x
y n k π \pi e i \infty C_ C a_n f(x) f^{-1}( \sum_{k=1}^{ \sum_{k=0}^{\infty} \prod_{k=1}^{300} \int_0^1 dx \log_
\ln \sin \tan arcsinh( factorial( gcd( lcm( max( \max_{ binomial( mod \pmod{ \begin{pmatrix} \end{pmatrix}
\begin{cases} \end{cases} & \\ \cup \cap \setminus \in \le > < = \ne ≈ \pm \mp + - * / \cdot \times : , ; . ...
\ldots \text{ \overline{ 0.1(6) 1e400 1e-9999 10^{900000} 9^{9^9} 1,000 {,} 0 1 2 3 12 0.5 -7 ² ₃ ① ፩ ٣ ½ √ ∞ ∅ ４
p.m. 4:30 12:00 Interval.open( Matrix([[ Sum( Integral( Derivative( Limit( np.float64( <think> </think> <answer>
</answer> \ket{ |0\rangle _{16}
"""
FRAGMENTS = [
    *NOTATION.split(), "#### ", "\\lim_{x\\to 0}", " and ", " or ", " cm", " m/s^2", " million", "1 000",
    "\u200b", "\x0c", "\ud800", "the answer is ", "not ", "\n", " ", "```\n", "```python\n", r"\def\x{", " or so",
]  # fmt: skip


def main() -> None:
    options = _options()
    rows = _rows(options.data)
    rng = random.Random(options.seed)
    seconds: list[float] = []
    outcomes: Counter[str] = Counter()
    failures: list[str] = []
    slowest = (0.0, "", "")
    for case in range(options.cases):
        truth, response = make_case(rng, rows)
        began = time.process_time()
        try:
            verdict = verify_math(truth, response, POLICIES[case % len(POLICIES)])
            outcomes["right" if verdict.correct else verdict.status.value] += 1
        except InvalidTrajectory:  # a ground truth without a character that prints
            outcomes["no ground truth"] += 1
        except Exception:  # noqa: BLE001  # whatever a fuzzed input raises is what is looked for
            failures.append(f"{truth!r}\n{response!r}\n{traceback.format_exc(limit=-3)}")
        taken = time.process_time() - began
        seconds.append(taken)
        if taken > slowest[0]:
            slowest = taken, truth, response
        if len(seconds) % STEP == 0:
            print(f"{len(seconds):,} cases, {len(failures)} exceptions, slowest {slowest[0]:.3f} s", flush=True)
    seconds.sort()
    print(f"{options.cases:,} cases, seed {options.seed}: {len(failures)} exceptions; {dict(outcomes.most_common())}")
    p50, p99 = (1000 * seconds[len(seconds) * share // 100] for share in (50, 99))
    met = "met" if seconds[-1] < SLOW_S else "NOT met"
    print(f"processor time: p50 {p50:.3f} ms, p99 {p99:.2f} ms, max {seconds[-1]:.3f} s; target < {SLOW_S} s: {met}")
    print(f"slowest: truth {slowest[1][:200]!r}, response {slowest[2][:200]!r}")
    print("\n".join(failures[:SHOWN]))
    sys.exit(bool(failures) or seconds[-1] >= SLOW_S)


def make_case(rng: random.Random, rows: list[tuple[str, str]]) -> tuple[str, str]:
    """A ground truth with something in it, and a response: those of a row or of two, each mutated or made of pieces."""
    truth, response = rng.choice(rows)
    if rng.random() < 0.3:
        response = rng.choice(rows)[rng.randrange(2)]
    if rng.random() < 0.7:
        truth = _change(rng, truth, rows)
    if rng.random() < 0.7:
        response = _change(rng, response, rows)
    return truth if truth.strip() else "4", rf"\boxed{{{response}}}" if rng.random() < 0.5 else response


def _change(rng: random.Random, text: str, rows: list[tuple[str, str]]) -> str:
    if rng.random() < 0.15:
        return "".join(rng.choices(FRAGMENTS, k=rng.randint(1, 25)))
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        start = rng.randint(0, len(text))
        end = min(len(text), start + rng.choice((0, 0, 1, 1, 2, 5)))
        piece = rng.choice(FRAGMENTS)
        match rng.randrange(7):
            case 0:
                piece = ""
            case 1:
                piece = text[start : start + rng.randint(1, 12)] * rng.choice((2, 3, 10, 100))
            case 2:
                piece *= rng.choice((1, 2, 30, 300))
            case 3:
                other = rng.choice(rows)[rng.randrange(2)]
                place = rng.randint(0, len(other))
                piece = other[place : place + 20]
            case 4:
                piece = "".join(rng.choices("0123456789", k=rng.choice((1, 3, 30, 400, 3000))))
        text = (text[:start] + piece + text[end:])[-MAX_LENGTH:]
    return text


def _options() -> argparse.Namespace:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("cases", type=int, nargs="?", default=200_000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--data", type=Path, default=next(filter(Path.exists, FOLDERS), FOLDERS[0]))
    return options.parse_args()


def _rows(folder: Path) -> list[tuple[str, str]]:
    """The rows to mutate: of the labelled data, and as many again of the adversarial inputs."""
    lines = [line for path in sorted(folder.glob("*.jsonl")) for line in path.read_text(encoding="utf-8").splitlines()]
    rows = [(str(row["ground_truth"]), str(row["response"])) for row in map(json.loads, lines)]
    sys.path.append(str(ROOT / "tests" / "verify" / "math"))
    attacks = importlib.import_module("adversarial_inputs").ATTACKS.values()
    return rows + [(attack.truth[:MAX_LENGTH], attack.response[:MAX_LENGTH]) for attack in attacks] * 10


if __name__ == "__main__":
    main()
