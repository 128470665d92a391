"""Honest rollouts of the notebook rewards, as their users have them: prompt, truth or columns, and a right response."""

from collections.abc import Mapping, Sequence
from typing import Any

from tests.audit.recall_zoo.fresh_rows import rows

__all__ = ["NOTEBOOK_ROWS"]


def _rows(column: str, *rows: tuple[str, Any, str]) -> list[dict[str, Any]]:
    return [{"prompt": prompt, column: value, "response": response} for prompt, value, response in rows]


_WORKINGS = _rows(
    "answer",
    ("A pen costs 3 and a pad 4. What do 6 of each cost?", "42", "3 + 4 = 7 and 7 * 6 = 42"),
    ("Tom runs 5 km on each of 9 days. How far is that?", "45", "5 * 9 = 45"),
    ("A box of 48 is shared by 4. What has each?", "12", "48 / 4 = 12"),
)
_STATEMENTS = _rows(
    "answer",
    ("A pen costs 3 and a pad 4. What do 6 of each cost?", "42", "3 + 4 = 7 and 7 * 6 = 42. The answer is 42."),
    ("Tom runs 5 km on each of 9 days. How far is that?", "45", "5 * 9 = 45. The answer is 45."),
    ("What do 50 seats at 30 each bring?", "1500", "50 * 30 = 1,500. The answer is $1,500"),
)
_SENTENCES = rows(
    (
        "Summarise the report.",
        "The council approved the new bridge after two years of debate",
        "The council approved the new bridge after years of debate",
    ),
    (
        "Summarise the letter.",
        "A farmer asks the bank to wait until the harvest is sold",
        "The farmer asks the bank to wait until the harvest is sold",
    ),
    (
        "Summarise the notice.",
        "All trains stop at midnight because the tunnel is cleaned",
        "All trains stop at midnight because the tunnel is cleaned",
    ),
)
_INVOICES = [
    {
        "prompt": "Read the invoice of Muster Ltd over 120.50 EUR.",
        "ground_truth": {"vendor": "Muster Ltd", "total": 120.5, "currency": "EUR"},
        "response": '{"vendor": "Muster Ltd", "total": 120.5, "currency": "EUR"}',
    },
    {
        "prompt": "Read the invoice of Roda AG over 78 CHF.",
        "ground_truth": {"vendor": "Roda AG", "total": 78, "currency": "CHF"},
        "response": '{"vendor": "Roda AG", "total": 78, "currency": "CHF"}',
    },
]
_LENGTHS = rows(
    ("How far is the lake? In metres.", "1500 m", "1.5 km"),
    ("How long is the table? In metres.", "2 m", "200 cm"),
    ("How wide is the road? In metres.", "7 m", "7 m"),
)
_OUTPUTS = _rows(
    "expected_output",
    ("for i in range(3): print(i * i)", "0\n1\n4", "0\n1\n4"),
    ("for w in 'red green'.split(): print(w.upper())", "RED\nGREEN", "RED\nGREEN"),
    ("print('a', 1)\nprint('b', 2)", "a 1\nb 2", "a 1\nb 2"),
)
_EVENTS = _rows(
    "events",
    ("Tell how bread is made.", ["knead", "rise", "bake"], "First knead the dough, let it rise and then bake it."),
    ("Tell how to post a parcel.", ["pack", "weigh", "stamp"], "You pack it, weigh it and stamp it."),
)
_DATES = rows(
    ("When was the contract signed? As YYYY-MM-DD.", "2019-04-17", "2019-04-17"),
    ("When does the lease end? As YYYY-MM-DD.", "2026-11-05", "2026-11-05"),
    ("When was the first delivery? As YYYY-MM-DD.", "2021-03-08", "2021-03-08"),
)
_DAYS = rows(
    ("When was the contract signed?", "2019-04-17", "17 April 2019"),
    ("When does the lease end?", "2026-11-05", "November 5, 2026"),
    ("When was the first delivery?", "2021-03-08", "2021-03-08"),
)
_LABELS = rows(
    ("Label: I miss her and I am furious.", "sadness, anger", "sadness, anger"),
    ("Label: what a lovely surprise!", "joy, surprise", "joy, surprise"),
    ("Label: I do not dare to open the door.", "fear", "fear"),
)
_PASSAGES = _rows(
    "passage",
    (
        "Why did the mill close? Quote.",
        "The mill was closed in 1931 after the river had changed its bed.",
        'It closed since "the river had changed its bed".',
    ),
    (
        "Who paid for the bell? Quote.",
        "Of all the gifts the bell was the dearest; the weavers paid for it.",
        'The text says "the weavers paid for it".',
    ),
)
_QUOTED = [
    {
        "prompt": "When did the mill close? Answer and quote.",
        "passage": "The mill was closed in 1931 after the river had changed its bed.",
        "ground_truth": "1931",
        "response": 'Answer: 1931\nQuote: "The mill was closed in 1931"',
    },
    {
        "prompt": "Who paid for the bell? Answer and quote.",
        "passage": "Of all the gifts the bell was the dearest; the weavers paid for it.",
        "ground_truth": "the weavers",
        "response": 'Answer: the weavers\nQuote: "the weavers paid for it"',
    },
]
_QUERIES = rows(
    (
        "The three dearest books",
        "SELECT title FROM books ORDER BY price DESC LIMIT 3",
        "SELECT title FROM books ORDER BY price DESC LIMIT 3",
    ),
    (
        "The ten newest users",
        "SELECT name FROM users ORDER BY joined DESC LIMIT 10",
        "SELECT name FROM users ORDER BY joined DESC LIMIT 10;",
    ),
    (
        "Five towns of Peru",
        "SELECT name FROM towns WHERE land = 'Peru' LIMIT 5",
        "select name from towns where land = 'Peru' limit 5",
    ),
)
_KEYWORDS = _rows(
    "keywords",
    ("Explain photosynthesis.", ["chlorophyll", "sunlight", "glucose"],
     "Chlorophyll takes in sunlight, and the plant makes glucose."),
    ("Explain inflation.", ["prices", "money", "demand"], "When money grows faster than goods, demand lifts prices."),
)  # fmt: skip
_THOUGHTS = rows(
    ("What is 3 + 4?", "7", "<think>Three and four are seven.</think><answer>7</answer>"),
    ("What is 6 * 7?", "42", "<think>Six times seven is forty-two.</think><answer>42</answer>"),
    ("The capital of Peru?", "Lima", "<think>The capital of Peru is Lima.</think><answer>Lima</answer>"),
)
_ESSAYS = [
    {
        "prompt": "Should towns ban cars?",
        "response": "Towns should ban cars because air matters. For example, Ghent did so. However, buses are needed. "
        "In conclusion, a ban works with good buses.",
    },
    {
        "prompt": "Is homework useful?",
        "response": "Homework helps because practice does. For example, scales train a pianist. However, much tires. "
        "In conclusion, a little is best.",
    },
]
_PLAIN = rows(
    ("What is 3 + 4?", "7", "It is 7"), ("What is 6 * 7?", "42", "It is 42"), ("What is 9 + 9?", "18", "It is 18")
)
_MARKED = rows(
    ("What is 3 + 4?", "7", "3 + 4 = 7\n#### 7"),
    ("What is 6 * 7?", "42", "6 * 7 = 42\n#### 42"),
    ("What is 9 + 9?", "18", "#### 18"),
)
_NUMBERS = rows(("Mean of 3 and 9?", "6", "6"), ("12 squared?", "144", "144"), ("7 less 10?", "-3", "-3"))
_HEADLINES = [
    {"prompt": "One sentence on rain.", "response": "Rain fell on the old town all night."},
    {"prompt": "One sentence on bees.", "response": "Bees, like ants, live in large families."},
]
_AMOUNTS = rows(
    ("What is left of 900 after rent of 1200?", "-300", "-$300"),
    ("What do 3 tickets of 450 cost?", "1350", "$1,350"),
    ("The profit, of 80 in and 95 out?", "-15", "-$15"),
)
_TAGGED = _rows(
    "answer",
    ("What is 3 + 4?", "7", "<answer>7</answer>"),
    ("What is 6 * 7?", "42", "<answer>42</answer>"),
    ("What is 8 - 14?", "-6", "<answer>-6</answer>"),
)
_TIMES = rows(
    ("When does the train leave?", "14:30", "2:30 pm"),
    ("When does the shop open?", "8:15", "8:15 am"),
    ("When does the play end?", "22:45", "22:45"),
)
_TABLES = rows(
    ("Towns and rivers", "| town | river |\n| Bern | Aare |\n| Wien | Donau |",
     "| town | river |\n| Bern | Aare |\n| Wien | Donau |"),
    ("Staff and rooms", "| name | room |\n| Ada | 12 |\n| Lin | 31 |",
     "| name | room |\n| Ada | 12 |\n| Lin | 31 |"),
)  # fmt: skip
_RANKINGS = _rows(
    "ranking",
    ("Rank by size: dog, horse, mouse", ["horse", "dog", "mouse"], "1. horse\n2. dog\n3. mouse"),
    ("Rank by speed: bicycle, train, plane", ["plane", "train", "bicycle"], "1. plane\n2. train\n3. bicycle"),
)
_ACROSTICS = _rows(
    "word",
    ("An acrostic of SNOW", "SNOW", "Silent nights over woods"),
    ("An acrostic of BEES", "BEES", "Busy every early spring"),
    ("An acrostic of RAIN", "RAIN", "Roofs answer its noise"),
)
_COUNTDOWNS = [
    {"prompt": "Reach 24 with 3, 5 and 9.", "numbers": [3, 5, 9], "target": 24, "response": "3 * 5 + 9"},
    {"prompt": "Reach 35 with 4, 7 and 1.", "numbers": [4, 7, 1], "target": 35, "response": "(4 + 1) * 7"},
    {"prompt": "Reach 10 with 2, 8 and 5, 5.", "numbers": [2, 8, 5, 5], "target": 10, "response": "2 + 8 + 5 - 5"},
]

NOTEBOOK_ROWS: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "equals_somewhere": _WORKINGS, "final_statement": _STATEMENTS, "token_f1": _SENTENCES, "words_in_order": _SENTENCES,
    "fields_contain": _INVOICES, "fenced_object": _INVOICES, "in_metres": _LENGTHS, "same_length": _LENGTHS,
    "printed_lines": _OUTPUTS, "same_output": _OUTPUTS, "events_in_order": _EVENTS, "date_parts": _DATES,
    "same_calendar_day": _DAYS, "labels_allowed": _LABELS, "label_overlap": _LABELS, "quotes_occur": _PASSAGES,
    "quoted_answer": _QUOTED, "query_without_limit": _QUERIES, "same_sql_tokens": _QUERIES,
    "keyword_coverage": _KEYWORDS, "tags_length_answer": _THOUGHTS, "think_then_answer": _THOUGHTS,
    "essay_rubric": _ESSAYS, "scaled_in_group": _PLAIN, "better_than_others": _MARKED, "relative_error": _NUMBERS,
    "full_sentence": _HEADLINES, "digits_only": _AMOUNTS, "int_in_tag": _TAGGED, "clock_time": _TIMES,
    "same_time": _TIMES, "table_cells": _TABLES, "numbered_ranking": _RANKINGS, "acrostic": _ACROSTICS,
    "countdown": _COUNTDOWNS,
}  # fmt: skip
"""By the name of the reward."""
