"""Rollouts of the script rewards, as their users have them; most responses are right, some are wrong."""

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["SCRIPT_ROWS", "rows_of"]


def rows_of(column: str, *rows: tuple[str, Any, str]) -> list[dict[str, Any]]:
    return [{"prompt": prompt, column: value, "response": response} for prompt, value, response in rows]


def _shaped(column: str, shape: str, *rows: tuple[str, str, str]) -> list[dict[str, Any]]:
    """Rows whose answers stand in a shape with {}."""
    return rows_of(column, *((prompt, truth, shape.replace("{}", said)) for prompt, truth, said in rows))


_SUMS = (("What is 3 + 4?", "7", "7"), ("What is 6 * 7?", "42", "42"), ("What is 9 + 9?", "18", "18"))
_SIGNED = (("What is 3 - 12?", "-9", "-9"), ("What is 6 * 7?", "42", "42"), ("What is 50 * 30?", "1500", "1500"))
_SHARES = (("A share of 1/4?", "0.25", "0.25"), ("Of 8, what share is 2?", "0.25", "25%"), ("3 of 5?", "0.6", "0.6"))
_DECIMALS = (("Half of 7?", "3.5", "3.5"), ("A fifth of 12?", "2.4", "2.4"), ("2 * 2.4?", "4.8", "4.8"))
_CAPITALS = (
    ("The capital of Peru?", "Lima", "Lima"),
    ("The capital of Norway?", "Oslo", "Oslo"),
    ("The capital of Kenya?", "Nairobi", "Nairobi"),
)
_SAID = "{}"
_BOX = "The result is \\boxed{{}}"
_TAG = "<answer>{}</answer>"
_OPTIONS = (
    ("Which is prime? A) 4 B) 5 C) 6 D) 8", "B", "B"),
    ("Which is even? A) 3 B) 5 C) 7 D) 8", "D", "D"),
    ("Which is odd? A) 3 B) 4 C) 6 D) 8", "A", "A"),
)
_ALIASES = rows_of(
    "aliases",
    ("Who wrote Emma?", ["Jane Austen", "Austen"], "Jane Austen"),
    ("Which city has the Louvre?", ["Paris", "the city of Paris"], "Paris"),
    ("What is H2O?", ["water", "ice water"], "Water"),
)
_DATES = rows_of(
    "ground_truth",
    ("When was the contract signed? As YYYY-MM-DD.", "2019-04-17", "2019-04-17"),
    ("When does the lease end? As YYYY-MM-DD.", "2026-11-05", "2026-11-05"),
    ("When was the first delivery? As YYYY-MM-DD.", "2021-03-08", "2021-03-08"),
)
_FRACTIONS = rows_of(
    "ground_truth",
    ("3 parts of 4 as a fraction?", "3/4", "3/4"),
    ("2 parts of 5 as a fraction?", "2/5", "2/5"),
    ("7 parts of 9 as a fraction?", "7/9", "7/9"),
)
_REASONED = _shaped("answer", "<reasoning>\nI add and check.\n</reasoning>\n<answer>\n{}\n</answer>", *_SUMS)
_THOUGHTS = _shaped("ground_truth", "<think>It is known.</think>\n<answer>{}</answer>", *_CAPITALS)
_STEPS = [
    {"prompt": "How is tea made?", "response": "Step 1: Boil water.\nStep 2: Pour it over the tea.\nStep 3: Wait."},
    {"prompt": "How is a tyre changed?", "response": "1. Lift the car.\n2. Take off the wheel.\n3. Put on the other."},
    {"prompt": "How is a letter sent?", "response": "Write it, stamp it, post it."},
]
_INVOICES = rows_of(
    "ground_truth",
    (
        "Invoice of Muster Ltd over 120.50 EUR, number 81.",
        {"vendor": "Muster Ltd", "total": 120.5, "number": 81},
        '{"vendor": "Muster Ltd", "total": 120.5, "number": 81}',
    ),
    (
        "Invoice of Roda AG over 78 CHF, number 15.",
        {"vendor": "Roda AG", "total": 78, "number": 15},
        '{"vendor": "Roda AG", "total": 78, "number": 15}',
    ),
    (
        "Invoice of Ketter over 990 EUR, number 7.",
        {"vendor": "Ketter", "total": 990, "number": 7},
        '{"vendor": "Ketter", "total": 990, "number": 7}',
    ),
)
_SCHEMAS = rows_of(
    "schema",
    ("Describe a book as JSON: title, year.", ["title", "year"], '{"title": "Emma", "year": 1815}'),
    ("Describe a dog as JSON: name, age.", ["name", "age"], '{"name": "Rex", "age": 4}'),
)
_TESTS = [
    {
        "prompt": "Write add(a, b).",
        "entry_point": "add",
        "tests": ["assert add(1, 2) == 3", "assert add(-1, 1) == 0"],
        "response": "```python\ndef add(a, b):\n    return a + b\n```",
    },
    {
        "prompt": "Write double(n).",
        "entry_point": "double",
        "tests": ["assert double(4) == 8", "assert double(0) == 0"],
        "response": "```python\ndef double(n):\n    return 2 * n\n```",
    },
]
_GERMAN = [
    {
        "prompt": "Was ist Regen?",
        "response": "Regen ist Wasser, das aus den Wolken f\u00e4llt, und die Erde trinkt es.",
    },
    {"prompt": "Was ist ein Wald?", "response": "Ein Wald ist ein Ort, an dem die B\u00e4ume nicht weit stehen."},
    {"prompt": "Was ist Glas?", "response": "Glass is made of sand."},
]
_RUSSIAN = [
    {
        "prompt": "Ответь по-русски: что такое дождь?",
        "response": "Дождь — это вода, которая падает из облаков.",
    },
    {"prompt": "Ответь по-русски: что такое лес?", "response": "Лес — это место, где растут деревья."},
    {"prompt": "Ответь по-русски: что такое стекло?", "response": "Glass is made of sand."},
]
_PASSAGES = [
    {
        "prompt": "Why did the mill close?",
        "documents": ["The river changed its bed in 1931.", "The mill was sold.", "Nobody bought flour."],
        "gold_ids": [1, 3],
        "response": "The river had moved [1], and nobody bought flour [3].",
    },
    {
        "prompt": "Who paid for the bell?",
        "documents": ["The bell is old.", "The weavers paid for the bell.", "It rings at noon."],
        "gold_ids": [2],
        "response": "The weavers did [2].",
    },
    {
        "prompt": "When does the bell ring?",
        "documents": ["The bell is old.", "The weavers paid for the bell.", "It rings at noon."],
        "gold_ids": [3],
        "response": "It rings at noon [3].",
    },
]
_WEATHER = {"name": "weather", "arguments": {"city": "Bern", "days": 3}}
_TRAIN = {"name": "train", "arguments": {"start": "Bern", "end": "Basel"}}
_CALL = rows_of(
    "ground_truth",
    ("Weather in Bern for 3 days?", _WEATHER, '{"name": "weather", "arguments": {"city": "Bern", "days": 3}}'),
    ("A train from Bern to Basel?", _TRAIN, '{"name": "train", "arguments": {"start": "Bern", "end": "Basel"}}'),
)
_TAGGED_CALL = [{**row, "response": f"<tool_call>\n{row['response']}\n</tool_call>"} for row in _CALL]
_CALLS = rows_of(
    "ground_truth",
    (
        "Open the door, then turn on the lamp.",
        [{"name": "open", "arguments": {"what": "door"}}, {"name": "turn_on", "arguments": {"what": "lamp"}}],
        '[{"name": "open", "arguments": {"what": "door"}}, {"name": "turn_on", "arguments": {"what": "lamp"}}]',
    ),
    (
        "Close the window.",
        [{"name": "close", "arguments": {"what": "window"}}],
        '[{"name": "close", "arguments": {"what": "window"}}]',
    ),
)
_SUMMARIES = (
    (
        "Summarise the report.",
        "the council approved the new bridge after two years of debate",
        "the council approved the new bridge after years of debate",
    ),
    (
        "Summarise the letter.",
        "a farmer asks the bank to wait until the harvest is sold",
        "the farmer asks the bank to wait until the harvest is sold",
    ),
    (
        "Summarise the notice.",
        "all trains stop at midnight because the tunnel is cleaned",
        "all trains stop at midnight because the tunnel is cleaned",
    ),
)
_ESSAYS = [
    {
        "prompt": "Should towns ban cars?",
        "response": "Towns should keep cars out of their centres, since people breathe there and children play there.",
    },
    {"prompt": "Is homework useful?", "response": "It helps."},
]
_AMOUNTS = rows_of(
    "ground_truth",
    ("How far is the lake?", "5 km", "5 km"),
    ("How heavy is the parcel?", "3 kg", "3 kg"),
    ("How long is the film?", "90 min", "90 min"),
)
_MASSES = rows_of(
    "ground_truth",
    ("How heavy is the parcel?", "3 kg", "3000 g"),
    ("How heavy is the letter?", "20 g", "20 g"),
    ("How heavy is the ship?", "4 t", "4 t"),
)
_RANKINGS = rows_of(
    "ranking",
    ("Rank by size: dog, horse, mouse", ["horse", "dog", "mouse"], "1. horse\n2. dog\n3. mouse"),
    ("Rank by speed: bicycle, train, plane", ["plane", "train", "bicycle"], "1. plane\n2. train\n3. bicycle"),
)
_MONTHS = rows_of(
    "ground_truth",
    ("When was it signed?", "2019-04", "April 2019"),
    ("When does it end?", "2026-11", "2026-11"),
    ("When was it sent?", "2021-03", "March 2021"),
)
_ITEMS = rows_of(
    "items",
    ("The primary colours?", ["red", "blue", "yellow"], "red; blue; yellow"),
    ("The neighbours of Peru on the Pacific?", ["Ecuador", "Chile"], "Chile; Ecuador"),
)
_GAMES = [
    {"prompt": "Reach 24 with 3, 5 and 9.", "numbers": [3, 5, 9], "target": 24, "response": "3 * 5 + 9"},
    {"prompt": "Reach 35 with 4, 7 and 1.", "numbers": [4, 7, 1], "target": 35, "response": "(4 + 1) * 7"},
]
_LINES = rows_of("count", ("Five Fibonacci numbers", 5, "1\n1\n2\n3\n5"), ("Three Fibonacci numbers", 3, "1\n1\n2"))
_PALINDROMES = rows_of("letters", ("A palindrome of AABB", "AABB", "abba"), ("A palindrome of LEVEL", "LEVEL", "Level"))

SCRIPT_ROWS: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "last_integer": _shaped("answer", "So it is {}.", *_SUMS),
    "compute_score_suffix": _shaped("ground_truth", _BOX, *_SUMS),
    "percent_or_not": _shaped("ground_truth", _SAID, *_SHARES),
    "whole_part": _shaped("ground_truth", _TAG, *_DECIMALS),
    "magnitude": _shaped("ground_truth", "The profit is {}", *_SIGNED),
    "expression_value": _shaped("ground_truth", _SAID, *_SUMS),
    "tag_equals_string": _shaped("answer", _TAG, *_SIGNED),
    "number_or_none": _shaped("ground_truth", "We add.\n#### {}", *_SIGNED),
    "answer_line": _shaped("ground_truth", "Answer: {}", *_SIGNED),
    "among_numbers": _shaped("answer", "The answer is {}.", *_SUMS),
    "fraction_parts": _FRACTIONS,
    "improper_fraction": _FRACTIONS,
    "normalised_in": _shaped("ground_truth", "It is {}.", *_CAPITALS),
    "any_alias": _ALIASES,
    "first_capital": _shaped("ground_truth", _SAID, *_OPTIONS),
    "close_enough": _DATES,
    "tag_counts": _REASONED,
    "think_block": _THOUGHTS,
    "form_and_half": _THOUGHTS,
    "numbered_steps": _STEPS,
    "names_of_fields": _SCHEMAS,
    "fields_said": _INVOICES,
    "values_anywhere": _INVOICES,
    "rounded_fields": _INVOICES,
    "defines_function": _TESTS,
    "exit_code": _TESTS,
    "half_for_length": _shaped("ground_truth", "I count and it is {}", *_SUMS),
    "cosine_unclamped": _shaped("answer", _BOX, *_SUMS),
    "concise": _shaped("ground_truth", _BOX, *_SUMS),
    "overlong_only_wrong": _shaped("ground_truth", "The answer is {}.", *_CAPITALS),
    "german_words": _GERMAN,
    "cyrillic_share": _RUSSIAN,
    "citation_marks": _PASSAGES,
    "cited_are_gold": _PASSAGES,
    "name_of_tool": _CALL,
    "one_call_matches": _CALLS,
    "arguments_as_text": _TAGGED_CALL,
    "bigrams_recalled": rows_of("ground_truth", *_SUMMARIES),
    "jaccard": rows_of("reference", *_SUMMARIES),
    "first_score_of_judge": _ESSAYS,
    "letter_of_judge": _shaped("ground_truth", "It is {}.", *_CAPITALS),
    "agrees_with_group": _shaped("ground_truth", _BOX, *_SUMS),
    "best_of_group": _shaped("ground_truth", "It is {}", *_CAPITALS),
    "shorter_than_mean": _shaped("ground_truth", "We add.\n#### {}", *_SUMS),
    "best_of_parts": _shaped("ground_truth", _TAG, *_CAPITALS),
    "clipped_sum": _shaped("answer", "I add the numbers one by one.\n<answer>{}</answer>", *_SUMS),
    "unescaped": _shaped("ground_truth", _SAID, *_CAPITALS),
    "without_units": _AMOUNTS,
    "pairs_kept": _RANKINGS,
    "final_number": _shaped("answer", "We add.\n#### {}", *_SIGNED),
    "boxed_value": _shaped("ground_truth", _BOX, *_SIGNED),
    "share_or_percent": _shaped("ground_truth", _SAID, *_SHARES),
    "awaited": _shaped("ground_truth", _SAID, *_CAPITALS),
    "uses_numbers": _GAMES,
    "exact_or_alias": _ALIASES,
    "option_at_end": _shaped("ground_truth", "I look at each.\nIt is ({})", *_OPTIONS),
    "strict_sections": _shaped("answer", "<think>\nIt is well known.\n</think>\n<answer>{}</answer>", *_CAPITALS),
    "same_json": _INVOICES,
    "share_of_fields": _INVOICES,
    "in_band": _ESSAYS,
    "overlong_margin": _shaped("ground_truth", "I know it.\nAnswer: {}", *_CAPITALS),
    "cosine_clamped": _shaped("answer", _BOX, *_SUMS),
    "gold_citations": _PASSAGES,
    "exact_call": _TAGGED_CALL,
    "calls_in_order": _CALLS,
    "longest_common_words": rows_of("ground_truth", *_SUMMARIES),
    "verdict_of_judge": _shaped("ground_truth", _SAID, *_CAPITALS),
    "standardised": _shaped("ground_truth", _SAID, *_CAPITALS),
    "right_and_short": _shaped("ground_truth", "The answer is {}.", *_CAPITALS),
    "same_month": _MONTHS,
    "same_mass": _MASSES,
    "same_set": _ITEMS,
    "fibonacci_lines": _LINES,
    "palindrome_of": _PALINDROMES,
}  # fmt: skip
"""By the name of the reward."""
