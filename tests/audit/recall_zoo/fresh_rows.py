"""Honest rollouts of the fresh rewards, as their users have them: prompt, ground truth, right response and columns."""

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["ROWS", "rows"]


def rows(*rows: tuple[Any, ...]) -> list[dict[str, Any]]:
    return [{"prompt": prompt, "ground_truth": truth, "response": response} for prompt, truth, response in rows]


_DURATIONS = rows(
    ("How long is the film?", "90 min", "90 min"),
    ("How long is the flight?", "3 h", "3 h"),
    ("How long does the cake bake?", "45 min", "45 min"),
)
_SELECTIONS = rows(
    ("Which are even? A) 2 B) 3 C) 4 D) 5", "A, C", "A, C"),
    ("Which are prime? A) 4 B) 5 C) 7 D) 11", "B, C, D", "B, C, D"),
    ("Which are odd? A) 1 B) 2 C) 8 D) 6", "A", "A"),
)
_SURE = rows(
    ("What is 3 + 4? Say how sure you are.", "7", "7 confidence 0.9"),
    ("What is 6 * 7? Say how sure you are.", "42", "42 confidence 0.8"),
    ("What is 9 + 9? Say how sure you are.", "18", "18 confidence 0.95"),
)
_RANKINGS = rows(
    ("Rank by size: mouse, horse, dog", "horse > dog > mouse", "horse > dog > mouse"),
    ("Rank by height: hill, mountain, house", "mountain > hill > house", "mountain > hill > house"),
    ("Rank by speed: train, bicycle, plane", "plane > train > bicycle", "plane > train > bicycle"),
)
_DATES = rows(
    ("When did Apollo 11 land?", "1969-07-20", "1969-07-20"),
    ("When did the Berlin Wall fall?", "1989-11-09", "1989-11-09"),
    ("When was the first day of 2001?", "2001-01-01", "2001-01-01"),
)
_BOXES = rows(
    ("Where is the cat? The image has 640 x 480 pixels.", "[40, 60, 200, 220]", "[40, 60, 200, 220]"),
    ("Where is the cup? The image has 640 x 480 pixels.", "[300, 100, 360, 180]", "[300, 100, 360, 180]"),
    ("Where is the dog? The image has 640 x 480 pixels.", "[420, 200, 620, 460]", "[420, 200, 620, 460]"),
)
_QUERIES = rows(
    ("Names of users over 30", "SELECT name FROM users WHERE age > 30", "SELECT name FROM users WHERE age > 30"),
    (
        "How many orders are open?",
        "SELECT COUNT(*) FROM orders WHERE open = 1",
        "select count(*) from orders where open = 1",
    ),
    ("Cities in France", "SELECT city FROM places WHERE land = 'FR'", "SELECT city FROM places WHERE land = 'FR'"),
)
_CALLS = rows(
    ("Weather in Oslo, in Celsius?", *['{"name": "weather", "arguments": {"city": "Oslo", "unit": "C"}}'] * 2),
    ("Send 20 to Ann", *['{"name": "send", "arguments": {"to": "Ann", "amount": 20}}'] * 2),
    ("Next train to Bern", *['{"name": "train", "arguments": {"to": "Bern", "when": "next"}}'] * 2),
)
_VECTORS = rows(
    ("Double [1, 2, 3]", "[2, 4, 6]", "[2, 4, 6]"),
    ("Add 1 to [5, 9]", "[6, 10]", "[6, 10]"),
    ("Negate [4, -1, 0.5]", "[-4, 1, -0.5]", "[-4, 1, -0.5]"),
)
_MEASURES = rows(
    ("How heavy is the bag?", "5 kg", "5 kg"),
    ("How long is the rope?", "12.5 m", "12.5 m"),
    ("How fast is the car?", "80 km/h", "80 km/h"),
)
_HAIKU = "an old silent pond rests\na small frog jumps into cold water\nthen splash silence once more"
_POEMS = [{"prompt": f"A poem of three lines about {topic}", "response": _HAIKU} for topic in ("frogs", "ponds")]
_SUMMARIES = [
    {
        "prompt": "The town opened a new library on Monday. It has forty thousand books and is free for everybody.",
        "response": "On Monday the town opened a free library of forty thousand books.",
    },
    {
        "prompt": "The team lost three games in a row. After that the coach resigned and a new one was hired in May.",
        "response": "After three lost games the coach resigned, and a new one came in May.",
    },
]
_GERMAN = [
    {"prompt": "Sag etwas auf Deutsch.", "response": "Ich bin heute in der Stadt und das Wetter ist nicht gut."},
    {"prompt": "Beschreibe den Garten.", "response": "Der Garten ist klein und die Blumen sind rot."},
]
_KEYWORDS = [
    {
        "prompt": "Write about the sea.",
        "response": "A wave carried the boat past the harbour.",
        "keywords": ["wave", "boat", "harbour"],
    },
    {
        "prompt": "Write about bread.",
        "response": "The baker left the flour by the oven.",
        "keywords": ["baker", "flour", "oven"],
    },
]
_NAMES = rows(
    ("The capital of France?", "Paris", "Answer: Paris"),
    ("The largest planet?", "Jupiter", "Answer: Jupiter"),
    ("What is 6 * 7?", "42", "Answer: 42"),
)
_OBJECTS = rows(
    ("What is 3 + 4? Answer as an object.", "7", '{"answer": 7}'),
    ("What is 6 * 7? Answer as an object.", "42", '{"answer": 42}'),
)
_EQUATIONS = rows(
    ("What is 3 + 4?", "7", "3 + 4 = 7"),
    ("What is 20 + 22?", "42", "20 + 22 = 42"),
    ("What is 60 + 60?", "120", "60 + 60 = 120"),
)

ROWS: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "duration": _DURATIONS, "whole_duration": _DURATIONS, "multi_select": _SELECTIONS, "exact_selection": _SELECTIONS,
    "brier": _SURE, "confident_and_right": _SURE, "Ranking": _RANKINGS, "PairsInOrder": _RANKINGS,
    "dated_event": _DATES, "same_day": _DATES, "covered_box": _BOXES, "box_overlap": _BOXES,
    "query_tokens": _QUERIES, "same_query": _QUERIES, "tool_call": _CALLS, "whole_tool_call": _CALLS,
    "vector": _VECTORS, "same_vector": _VECTORS, "measure": _MEASURES, "haiku": _POEMS, "counted_lines": _POEMS,
    "faithful_summary": _SUMMARIES, "in_german": _GERMAN, "covers_keywords": _KEYWORDS,
    "answer_is_pattern": _NAMES, "Graded": _OBJECTS, "true_equations": _EQUATIONS,
}  # fmt: skip
"""By the name of the reward; a reward without rows is audited with none."""
