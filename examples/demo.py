"""`make demo`: score real model answers to GSM8K problems with a composite reward, and look at what it did.

Leaves the scored rollouts in demo/scored.jsonl.
"""

from pathlib import Path

from plaudit.cli import main
from plaudit.examples import gsm8k_rollouts

REWARD = r"0.7 * check_answer + 0.2 * format(required_patterns=['\nA: \S+$']) + 0.1 * length(target=60)"


def demo() -> None:
    folder = Path("demo")
    folder.mkdir(exist_ok=True)
    main(["score", REWARD, str(gsm8k_rollouts()), "-o", str(folder / "scored.jsonl"), "--overwrite"])


if __name__ == "__main__":
    demo()
