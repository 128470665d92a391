"""Rollouts of the desk rewards, as their users have them; most responses are right, some are wrong."""

from collections.abc import Mapping, Sequence
from typing import Any

from tests.audit.recall_zoo.script_rows import rows_of as _rows

__all__ = ["DESK_ROWS"]

_Rows = list[dict[str, Any]]


def _said(column: str, shape: str, *rows: tuple[str, Any]) -> _Rows:
    """Rows whose right answer stands in a shape with {}."""
    return _rows(column, *((prompt, truth, shape.replace("{}", str(truth))) for prompt, truth in rows))


_AMOUNTS = (("2 lamps at $12.25?", "24.50"), ("3 mugs at $4.10?", "12.30"), ("A $1,250.00 desk, twice?", "2500.00"))
_VERSIONS = (("Which release fixed it?", "3.1.4"), ("The newest?", "2.11"), ("The first stable one?", "1.0.2"))
_CRON = (("Every day at 5:30", "30 5 * * *"), ("Mondays at noon", "0 12 * * 1"), ("Each quarter hour", "*/15 * * * *"))
_RATINGS = (("Never again!", 1), ("Great lamp.", 5), ("It works, but it is loud.", 3))
_TELEPHONES = (
    ("Call the shop: 020 7946 0018", "020 7946 0018"),
    ("Office: +49 30 901820", "+49 30 901820"),
    ("Ada: 555-013-7788", "555-013-7788"),
)
_PATHS = (
    ("Where are the settings?", "src/app/settings.py"),
    ("Where is the log?", "/var/log/mail.log"),
    ("Where is the test?", "tests/unit/test_cart.py"),
)
_LINKS = (
    ("The page on returns?", "https://shop.example.com/help/returns"),
    ("Where are the prices?", "https://www.example.org/prices?year=2024"),
    ("The manual?", "https://docs.example.net/lamp/manual.html"),
)
_TABLES = (
    "CREATE TABLE staff (name TEXT, town TEXT, pay INT);"
    "INSERT INTO staff VALUES ('Ada', 'Bern', 90), ('Lin', 'Basel', 70), ('Bo', 'Bern', 60), ('Mia', 'Chur', 80);"
)
_QUERIES = (
    ("Who works in Bern?", "SELECT name FROM staff WHERE town = 'Bern' ORDER BY name"),
    ("Who earns over 75?", "SELECT name FROM staff WHERE pay > 75 ORDER BY pay"),
    ("The towns", "SELECT DISTINCT town FROM staff ORDER BY town"),
)
_PLANS = (
    ("How do I send a parcel?", ["Pack the box", "Print the label", "Go to the post office"]),
    ("How do I make tea?", ["Boil water", "Put tea in a cup", "Pour the water", "Wait three minutes"]),
)
_TRANSLATIONS = (
    ("Translate: Die Lampe ist kaputt.", "The lamp is broken and must be replaced this week."),
    ("Translate: Wir kommen.", "We will come to the office on Monday morning."),
)
_CAPITALS = (("The capital of Peru?", "Lima"), ("The capital of Norway?", "Oslo"), ("The capital of Kenya?", "Nairobi"))
_SHARES = (("2 of 8 in percent?", "25"), ("3 of 5 in percent?", "60"), ("1 of 8 in percent?", "12.5"))
_CHECKS = (
    ("Write double(x).", ["double(2) == 4", "double(-3) == -6"], "```python\ndef double(x):\n    return 2 * x\n```"),
    ("Write last(xs).", ["last([1, 2]) == 2", "last('ab') == 'b'"], "```python\ndef last(xs):\n    return xs[-1]\n```"),
)
_MAILS: _Rows = [
    {
        "prompt": "Ask the shop for a refund.",
        "response": "Subject: Refund of order 17\n\nDear team,\nthe lamp broke after a day. Please refund it.\n\n"
        "Kind regards\nAda",
    },
    {"prompt": "Thank Lin for the help.", "response": "Thanks, Lin!"},
]
_LETTERS: _Rows = [
    {"prompt": "Will the roof hold?", "response": "The beams are certainly strong enough for snow."},
    {"prompt": "Is the shop open on Sunday?", "response": "No, it opens on Monday."},
]
_PATTERNS: _Rows = [
    {"prompt": "A year", "matches": ["1999", "2024"], "others": ["99", "x"], "response": r"\d{4}"},
    {"prompt": "A word of a and b", "matches": ["ab", "ba"], "others": ["abc", ""], "response": "[ab]+"},
]
_QUERY_ROWS: _Rows = [
    {"prompt": prompt, "tables": _TABLES, "ground_truth": query, "response": query} for prompt, query in _QUERIES
]
_PLAN_ROWS: _Rows = [
    {"prompt": prompt, "ground_truth": steps, "response": "\n".join(steps)} for prompt, steps in _PLANS
]
_TAG_ROWS: _Rows = [
    {"prompt": "My lamp broke after a day.", "tags": ["lamp", "defect"], "response": '["lamp", "defect"]'},
    {"prompt": "Can I pay by card?", "tags": ["payment"], "response": '["payment"]'},
    {"prompt": "The parcel came late and wet.", "tags": ["delivery", "damage"], "response": '["delivery"]'},
]
_THINK = "<think>I recall the map and its towns.</think><answer>{}</answer>"
_PLAN = "<plan>Look at the map.</plan><answer>{}</answer>"

DESK_ROWS: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "amount_named": _said("amount", "The total is ${}", *_AMOUNTS),
    "release": _said("ground_truth", "v{}", *_VERSIONS),
    "cron_fields": _said("ground_truth", "{}", *_CRON),
    "rating_or_three": _said("ground_truth", "Rating: {}", *_RATINGS),
    "last_four": _said("ground_truth", "{}", *_TELEPHONES),
    "file_name": _said("ground_truth", "{}", *_PATHS),
    "same_host": _said("solution", "{}", *_LINKS),
    "row_count": _QUERY_ROWS,
    "plan_sorted": _PLAN_ROWS,
    "tags_include": _TAG_ROWS,
    "chrf_recall": _said("reference", "{}", *_TRANSLATIONS),
    "confident_tone": _LETTERS,
    "thinking_budget": _said("ground_truth", _THINK, *_CAPITALS),
    "mail_parts": _MAILS,
    "points_for_tags": _said("ground_truth", _PLAN, *_CAPITALS),
    "ticked_boxes": _LETTERS,
    "checks_in_namespace": _rows("checks", *_CHECKS),
    "rare_answers": _said("ground_truth", "{}", *_CAPITALS),
    "share_in_tag": _said("ground_truth", "<share>{}%</share>", *_SHARES),
    "total_of_invoice": _said("total", "Total: {}", *_AMOUNTS),
    "pattern_of_cases": _PATTERNS,
    "new_solution": _said("ground_truth", "It is {}.", *_CAPITALS),
    "no_reference_no_error": _said("reference", "{}", *_CAPITALS),
    "amount_due": _said("amount", "We add.\n${}", *_AMOUNTS),
    "same_release": _said("ground_truth", "v{}", *_VERSIONS),
    "same_cron": _said("ground_truth", "{}", *_CRON),
    "rating_near": _said("ground_truth", "Rating: {}", *_RATINGS),
    "same_telephone": _said("ground_truth", "{}", *_TELEPHONES),
    "same_rows": _QUERY_ROWS,
    "plan_in_order": _PLAN_ROWS,
    "exact_tags": _TAG_ROWS,
    "tags_then_answer": _said("ground_truth", _PLAN, *_CAPITALS),
    "share_by_value": _said("ground_truth", "<share>{}%</share>", *_SHARES),
    "better_than_mean": _said("ground_truth", "{}", *_CAPITALS),
    "reference_required": _said("reference", "{}", *_CAPITALS),
}
"""By the name of the reward."""
