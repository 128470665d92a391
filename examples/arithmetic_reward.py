"""Small sums: 0.3 for the format, 0.7 for the answer. Its tests are in arithmetic.cases.yaml."""

from plaudit import FunctionReward
from plaudit.checks import check_answer, match_format_exactly

in_format = FunctionReward(match_format_exactly, bounds=(0.0, 1.0))
correct = FunctionReward(check_answer, bounds=(0.0, 1.0))
total = 0.3 * in_format + 0.7 * correct
