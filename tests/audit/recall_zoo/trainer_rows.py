"""Rollouts of the trainer rewards, as their users have them; most responses are right, some are wrong."""

from collections.abc import Mapping, Sequence
from typing import Any

from tests.audit.recall_zoo.script_rows import rows_of as _rows

__all__ = ["TRAINER_ROWS"]

_SUMS = (("What is 3 + 4?", "7"), ("What is 6 * 7?", "42"), ("What is 50 * 30?", "1500"))
_SIGNED = (("What is 3 - 12?", "-9"), ("What is 6 * 7?", "42"), ("What is 9 + 9?", "18"))
_FRACTIONS = (("Half of 1/2?", "1/4"), ("1 less 1/3?", "2/3"), ("7 parts of 12?", "7/12"))
_CAPITALS = (("The capital of Peru?", "Lima"), ("The capital of Norway?", "Oslo"), ("The capital of Mali?", "Bamako"))
_OPTIONS = (("Which is prime? A) 4 B) 5 C) 6 D) 8", "B"), ("Even? A) 3 B) 5 C) 7 D) 8", "D"), ("Odd? A) 3 B) 4", "A"))
_OUTPUTS = (("print(1, 2); print(3)", "1 2\n3"), ("for w in 'ab': print(w)", "a\nb"), ("print('x' * 3)", "xxx"))
_LABELS = (("Great film, see it!", "positive"), ("I left early.", "negative"), ("It has two hours.", "neutral"))
_DATES = (("When was it signed?", "2019-04-17"), ("When does it end?", "2026-11-05"), ("Delivered?", "2021-03-08"))
_FACTORS = (("Factors of 12?", "2, 2, 3"), ("Factors of 50?", "2, 5, 5"), ("Factors of 21?", "3, 7"))
_ADDRESSES = (("Write to Ada.", "ada.king@mail.org"), ("Write to Lin.", "lin@post.net"), ("To Bo.", "bo.r@web.info"))
_QUERIES = (
    ("Titles of dear books", "SELECT title FROM books WHERE price > 30 ORDER BY title"),
    ("Names of new users", "SELECT name FROM users WHERE joined > 2020"),
    ("Towns of Peru", "SELECT name FROM towns WHERE land = 'Peru'"),
)
_TRANSLATIONS = (
    ("Translate: Der Zug hält nicht.", "the train does not stop at this small station today"),
    ("Translate: Sie liest.", "she reads a long letter from her brother every evening"),
    ("Translate: Das Brot.", "the bread is still warm because the oven was opened late"),
)
_RECORDS = (
    (
        "Order 12 of Ada: 2 pens to Bern.",
        {"order": 12, "to": {"name": "Ada", "town": "Bern"}, "items": ["pen", "pen"]},
        '{"order": 12, "to": {"name": "Ada", "town": "Bern"}, "items": ["pen", "pen"]}',
    ),
    (
        "Order 57 of Lin: a lamp to Basel.",
        {"order": 57, "to": {"name": "Lin", "town": "Basel"}, "items": ["lamp"]},
        '{"order": 57, "to": {"name": "Lin", "town": "Basel"}, "items": ["lamp"]}',
    ),
)
_CALLS = (
    (
        "Mail Ada and note the time.",
        [{"name": "mail", "arguments": {"to": "Ada"}}, {"name": "note", "arguments": {"text": "time"}}],
        '[{"name": "mail", "arguments": {"to": "Ada"}}, {"name": "note", "arguments": {"text": "time"}}]',
    ),
    (
        "Play jazz.",
        [{"name": "play", "arguments": {"style": "jazz"}}],
        '[{"name": "play", "arguments": {"style": "jazz"}}]',
    ),
)
_BULLETS = (
    ("Three uses of salt", 3, "- It keeps fish.\n- It melts ice.\n- It seasons soup."),
    ("Two seas", 2, "- The Baltic Sea\n- The Red Sea"),
)
_ESSAYS = [
    {"prompt": "Why do leaves fall?", "response": "Trees drop leaves because cold air dries them and light is scarce."},
    {"prompt": "Why is the sea salty?", "response": "Rivers bring salt."},
]
_SOURCES = [
    {"prompt": "Who built the bridge? Cite.", "response": "Telford did, see https://example.org/telford for more."},
    {"prompt": "Who wrote Emma? Cite.", "response": "Jane Austen did."},
]
_NUMBERS = (
    ("Sort: 9 3 5", [9, 3, 5], "3 5 9"),
    ("Sort: 20 4 11 7", [20, 4, 11, 7], "4 7 11 20"),
)
_POINTS = (
    (
        "Explain rain: vapour, clouds.",
        ["vapour", "clouds"],
        "The warm sea turns into vapour each day. High in the air cold clouds form from it.",
    ),
    (
        "Explain bread: yeast, oven.",
        ["yeast", "oven"],
        "A little yeast makes the dough rise slowly. Then the hot oven bakes it until brown.",
    ),
)


def _said(column: str, shape: str, *rows: tuple[str, str]) -> list[dict[str, Any]]:
    """Rows whose right answer stands in a shape with {}."""
    return _rows(column, *((prompt, truth, shape.replace("{}", truth)) for prompt, truth in rows))


_TAGS = "<reasoning>I add the numbers.</reasoning>\n<answer>{}</answer>"
TRAINER_ROWS: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "within_one": _said("answer", "We add.\n#### {}", *_SIGNED),
    "letters_and_digits": _said("ground_truth", "{}", *_FRACTIONS),
    "option_among": _said("ground_truth", "It is ({})", *_OPTIONS),
    "begins_output": _said("expected_output", "{}", *_OUTPUTS),
    "bullets_wanted": _rows("count", *_BULLETS),
    "unigram_precision": _said("ground_truth", "{}", *_TRANSLATIONS),
    "columns_and_table": _said("ground_truth", "{}", *_QUERIES),
    "plain_fields": _rows("ground_truth", *_RECORDS),
    "number_of_calls": _rows("ground_truth", *_CALLS),
    "mean_of_scores": _ESSAYS,
    "length_bell": _said("ground_truth", "We add.\n#### {}", *_SUMS),
    "repeats_rewarded": _ESSAYS,
    "same_year": _said("ground_truth", "{}", *_DATES),
    "label_within": _said("label", "{}", *_LABELS),
    "factors_as_set": _said("ground_truth", "{}", *_FACTORS),
    "first_right_bonus": _said("ground_truth", "{}.", *_CAPITALS),
    "diversity_bonus": _said("ground_truth", "The answer is {}", *_SUMS),
    "has_source": _SOURCES,
    "closed_thoughts_removed": _said("ground_truth", "<think>Let me see.</think>It is {}.", *_CAPITALS),
    "address": _said("ground_truth", "{}", *_ADDRESSES),
    "value_or_none": _said("answer", "<answer>{}</answer>", *_SIGNED),
    "float_of_box": _said("ground_truth", "\\boxed{{}}", *_SUMS),
    "sixty_forty": _said("ground_truth", _TAGS, *_SUMS),
    "rising": _rows("items", *_NUMBERS),
    "same_fraction": _said("solution", "\\boxed{{}}", *_FRACTIONS),
    "one_letter": _said("ground_truth", "({})", *_OPTIONS),
    "printed_alike": _said("expected_output", "{}", *_OUTPUTS),
    "same_query_text": _said("ground_truth", "{};", *_QUERIES),
    "close_record": _rows("ground_truth", *_RECORDS),
    "same_calls": _rows("ground_truth", *_CALLS),
    "prime_factors": _said("ground_truth", "{}", *_FACTORS),
    "only_label": _said("label", "{}", *_LABELS),
    "right_then_short": _said("ground_truth", "<think>I know.</think>\n<answer>{}</answer>", *_CAPITALS),
    "share_among_right": _said("ground_truth", "{}.", *_CAPITALS),
    "covers_points": _rows("points", *_POINTS),
    "same_mailbox": _said("ground_truth", "{}", *_ADDRESSES),
}
"""By the name of the reward."""
