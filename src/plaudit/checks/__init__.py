"""Small checks to build rewards from: plain functions of text that return a number or a yes or no.

They know nothing of trajectories. A ground truth that is missing or no text and no number is an `InvalidTrajectory`,
never a 0.0: the model is not to blame for it.
"""

from plaudit.checks.correctness import (
    NumberCheck,
    check_answer,
    check_correctness,
    check_numbers,
    close_match,
    evaluate_correctness,
    exact_match,
    extract_number,
    is_correct,
    is_partially_correct,
)
from plaudit.checks.quality import (
    check_format,
    evaluate_clarity,
    evaluate_completeness,
    evaluate_conciseness,
    evaluate_format,
    evaluate_relevance,
    has_hallucination,
    has_reasoning_steps,
    match_format_exactly,
)

__all__ = [
    "NumberCheck",
    "check_answer",
    "check_correctness",
    "check_format",
    "check_numbers",
    "close_match",
    "evaluate_clarity",
    "evaluate_completeness",
    "evaluate_conciseness",
    "evaluate_correctness",
    "evaluate_format",
    "evaluate_relevance",
    "exact_match",
    "extract_number",
    "has_hallucination",
    "has_reasoning_steps",
    "is_correct",
    "is_partially_correct",
    "match_format_exactly",
]
