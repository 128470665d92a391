"""Word problems: 0.8 for the right answer, 0.2 for saying it in few words. The score is the answer's alone."""

from plaudit.rewards import LengthReward, MathReward

total = 0.8 * MathReward() + 0.2 * LengthReward(max_length=4, tolerance=10)
