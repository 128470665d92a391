"""Half for one <answer> section, half for as many words in it as the row's `words` asks for."""

import re

from plaudit import RewardOutput, reward
from plaudit.rewards import FormatReward

SECTION = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)


@reward(bounds=(0.0, 1.0))
def as_long_as_asked(response: str, words: int) -> RewardOutput:
    """1.0 for the number of words that was asked for, less the further off; the score is 1.0 for that number alone."""
    section = SECTION.search(response)
    count = len((section[1] if section else response).split())
    value = max(0.0, 1.0 - abs(count - words) / words)
    return RewardOutput(value, score=float(section is not None and count == words), reason=f"{count} of {words} words")


total = 0.5 * FormatReward(required_sections=["answer"]) + 0.5 * as_long_as_asked
