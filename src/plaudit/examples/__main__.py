"""`python -m plaudit.examples > rollouts.jsonl` writes the excerpt out."""

import sys

from plaudit.examples import gsm8k_rollouts

if __name__ == "__main__":
    sys.stdout.write(gsm8k_rollouts().read_text())
