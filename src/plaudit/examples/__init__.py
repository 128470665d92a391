"""A small excerpt of real data, so that every example and the demo run without downloads.

`python -m plaudit.examples > rollouts.jsonl` writes it out: 200 model answers to 50 GSM8K problems, four each, from
OpenAI's grade-school-math (MIT licence), with the labels that came with them.
"""

from importlib.resources import files
from pathlib import Path

__all__ = ["gsm8k_rollouts"]


def gsm8k_rollouts() -> Path:
    """The path of the excerpt, a rollouts file."""
    return Path(str(files(__name__) / "gsm8k.jsonl"))
