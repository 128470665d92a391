"""Rollouts of the laboratory rewards, as their users have them; most responses are right, some are wrong."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.audit.recall_zoo.script_rows import rows_of as _rows

__all__ = ["LAB_ROWS"]

_Rows = list[dict[str, Any]]


def _said(column: str, shape: str, *rows: tuple[str, Any]) -> _Rows:
    """Rows whose right answer stands in a shape with {}."""
    return _rows(column, *((prompt, truth, shape.replace("{}", str(truth))) for prompt, truth in rows))


_DOSES = (("How much for 20 kg at 5 mg/kg?", "100 mg"), ("The first dose?", "5 mg"), ("Half of 500 mg?", "250 mg"))
_MASSES = (("Molar mass of water?", "18.015"), ("Of glucose?", "180.156"), ("Of table salt?", "58.44"))
_SEQUENCES = (
    ("The complement of TACCGATTGCAAGCTT?", "ATGGCTAACGTTCGAA"),
    ("The primer of gene 1?", "GATTACAGGCATTCCAGTAC"),
    ("Reverse GGCATTAGC", "CGATTACGG"),
)
_REACTIONS = (
    ("Burn hydrogen.", "2 H2 + O2 -> 2 H2O"),
    ("Burn methane.", "CH4 + 2 O2 -> CO2 + 2 H2O"),
    ("Rust of iron", "4 Fe + 3 O2 -> 2 Fe2O3"),
)
_REFERENCES = (
    ("Which papers support the claim?", ["10.1000/abc.17", "10.1234/lamp.2020.5"]),
    ("Cite the trial.", ["10.5555/trial-3"]),
    ("Which reviews are there?", ["10.1000/rev.1", "10.1000/rev.2", "10.4321/x9"]),
)
_FINDINGS = (
    ("Summarise the trial.", "The new drug lowered the pressure of most patients within two weeks."),
    ("Summarise the survey.", "Fewer birds were counted at the lake than in any year before."),
)
_VOLUMES = (("A quarter of a litre?", "250 ml"), ("Two flasks of 1.5 l?", "3 l"), ("The sample?", "750 ul"))
_TESTS = (("Result of trial 1?", "p < 0.05"), ("Of trial 2?", "p > 0.1"), ("Of trial 3?", "p = 0.03"))
_READINGS = (("The freezer?", "-18"), ("The room?", "21.5"), ("The oven?", "180"))
_METALS = (("Which metal is liquid?", "Mercury"), ("Which one rusts?", "Iron"), ("Which one is in bronze?", "Copper"))
_FORMULAS = (("Glucose?", "C6H12O6"), ("Sulfuric acid?", "H2SO4"), ("Table salt?", "NaCl"))
_QUOTIENTS = (("6 of 8, as a fraction?", "3/4"), ("36 / 2?", "18"), ("3 * 500 samples?", "1500"))
_SUMS = (("What is 17 + 25?", "42"), ("What is 9 * 9?", "81"), ("What is 50 - 8 - 5?", "37"))
_OPTIONS = (
    ("Which is a noble gas? A) O B) Ne C) Fe D) Na", "B"),
    ("Which is a base? A) HCl B) HNO3 C) H2SO4 D) NaOH", "D"),
    ("Which is heaviest? A) Li B) Na C) Cs D) K", "C"),
)
_PROTOCOLS = (
    ("Protocol for a dilution 1:10", {"title": "Dilution", "volumes_ml": [1, 9], "stir": True, "minutes": 2}),
    ("Protocol for a blank", {"title": "Blank", "volumes_ml": [10], "stir": False, "minutes": 0}),
)
_PROTOCOL_TEXTS: _Rows = [
    {
        "prompt": "Write a protocol for a dilution.",
        "response": json.dumps(
            {
                "title": "Dilution",
                "materials": ["pipette", "flask", "water"],
                "steps": ["Take 1 ml of the sample.", "Add 9 ml of water.", "Stir."],
                "duration": "5 minutes",
            }
        ),
    },
    {"prompt": "Write a protocol for titration.", "response": '{"title": "Titration"}'},
]
_SECTIONS = (
    "## Introduction\nWe asked whether salt in water changes how fast small seeds grow.\n"
    "## Methods\nForty seeds were put in pure water and forty in water with salt.\n"
    "## Results\nAfter nine days the seeds without salt were twice as tall as others.\n"
    "## Conclusion\nSalt slows the growth of these seeds, most likely because roots take less water."
)
_REPORTS: _Rows = [
    {"prompt": "Write a report on the seeds.", "response": _SECTIONS},
    {"prompt": "Write a report on the lamps.", "response": "## Results\nAll lamps failed after a month of use."},
]
_CONCLUSIONS: _Rows = [
    {"prompt": "What follows from the trial?", "response": "The drug may help, and it possibly acts within days."},
    {"prompt": "What follows from the survey?", "response": "The birds have left the lake."},
]
_FACTS: _Rows = [
    {
        "prompt": "Describe sample 3.",
        "facts": {"mass": "12 g", "colour": "blue", "state": "solid"},
        "response": "Mass: 12 g\nColour: blue\nState: solid",
    },
    {
        "prompt": "Describe sample 4.",
        "facts": {"mass": "7 g", "colour": "red", "state": "liquid"},
        "response": "Mass: 7 g\nColour: green\nState: liquid",
    },
]
_PROGRAMS: _Rows = [
    {
        "prompt": "Write mean(xs).",
        "calls": ["mean([1, 2, 3])", "mean([4])"],
        "results": [2.0, 4.0],
        "response": "```python\ndef mean(xs):\n    return sum(xs) / len(xs)\n```",
    },
    {
        "prompt": "Write gc(text), the number of G and C.",
        "calls": ["gc('GATC')", "gc('')", "gc('CCG')"],
        "results": [2, 0, 3],
        "response": "```python\ndef gc(text):\n    return text.count('G') + text.count('C')\n```",
    },
]
_CHECKLISTS: _Rows = [
    {
        "prompt": "The steps before leaving?",
        "required": ["Close the gas", "Turn off the lamp", "Lock the door"],
        "response": "Close the gas\nTurn off the lamp\nLock the door",
    },
    {
        "prompt": "The steps after a spill?",
        "required": ["Warn the others", "Open a window"],
        "response": "Open a window\nWarn the others",
    },
]
_NOTES: _Rows = [
    {
        "prompt": prompt,
        "answer": truth,
        "response": f'<notes>I look at the table.</notes>\n<answer>{{"value": "{truth}"}}</answer>',
    }
    for prompt, truth in _METALS
]
_WEIGHTS: _Rows = [
    {"prompt": "Weigh 17 g with 10, 5, 2, 2, 1.", "weights": [10, 5, 2, 2, 1], "target": 17, "response": "10, 5, 2"},
    {"prompt": "Weigh 30 g with 20, 10, 5, 5.", "weights": [20, 10, 5, 5], "target": 30, "response": "20, 5, 5"},
    {"prompt": "Weigh 8 g with 5, 2, 1, 1.", "weights": [5, 2, 1, 1], "target": 8, "response": "5, 2"},
]


def _episode(prompt: str, *turns: tuple[str, str]) -> dict[str, Any]:
    """An episode; each turn is what was shown, and the action that followed."""
    steps = [{"observation": shown, "response": action} for shown, action in turns]
    return {"prompt": prompt, "response": turns[-1][1], "steps": steps}


_ASKED = "Book the microscope for Monday. Tools: book(day), show()."
_BOOKED = "Booking confirmed for Monday."
_BOOKINGS: _Rows = [
    _episode(_ASKED, (_ASKED, "show()"), ("Monday is free.", "book(Monday)"), (_BOOKED, "It is done.")),
    _episode(_ASKED, (_ASKED, "book(Sunday)"), ("Error: the laboratory is closed.", "I could not book it.")),
]
_STATES: _Rows = [
    _episode(
        _ASKED,
        (_ASKED, "show()"),
        ('{"day": "Monday", "booked": false}', "book(Monday)"),
        ('{"day": "Monday", "booked": true}', "It is done."),
    ),
    _episode(_ASKED, (_ASKED, "show()"), ('{"day": "Monday", "booked": false}', "I give up.")),
]

LAB_ROWS: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "dose_in_text": _said("dose", "Give {}.", *_DOSES),
    "molar_mass": _said("ground_truth", "{} g/mol", *_MASSES),
    "base_counts": _said("ground_truth", "{}", *_SEQUENCES),
    "sequence_identity": _said("ground_truth", "{}", *_SEQUENCES),
    "reaction_species": _said("ground_truth", "{}", *_REACTIONS),
    "dois_listed": _rows("references", *((prompt, gold, "\n".join(gold)) for prompt, gold in _REFERENCES)),
    "rouge_l": _said("ground_truth", "{}", *_FINDINGS),
    "cautious_words": _CONCLUSIONS,
    "has_sections": _REPORTS,
    "protocol_object": _PROTOCOL_TEXTS,
    "in_millilitres": _said("ground_truth", "{}", *_VOLUMES),
    "significance": _said("ground_truth", "{}", *_TESTS),
    "no_false_claims": _FACTS,
    "overlong_penalty": _said("answer", "We add. The answer is {}.", *_SUMS),
    "first_ratings": _REPORTS,
    "passes_printed": _PROGRAMS,
    "wins_or_draws": _said("ground_truth", "{}", *_METALS),
    "confirmed_somewhere": _BOOKINGS,
    "checklist": _CHECKLISTS,
    "reading_in_tag": _said("ground_truth", "<reading>{} C</reading>", *_READINGS),
    "exact_fraction": _said("answer", "We divide.\nResult: {}", *_QUOTIENTS),
    "formula": _said("ground_truth", "{}", *_FORMULAS),
    "above_running_mean": _said("ground_truth", "{}.", *_METALS),
    "weighted_rubric": _NOTES,
    "whole_dose": _said("dose", "{}", *_DOSES),
    "close_molar_mass": _said("ground_truth", "{} g/mol", *_MASSES),
    "same_sequence": _said("ground_truth", "{}", *_SEQUENCES),
    "near_identity": _said("ground_truth", "{}", *_SEQUENCES),
    "balanced_equation": _said("ground_truth", "{}", *_REACTIONS),
    "listed_references": _rows("references", *((prompt, gold, "\n".join(gold)) for prompt, gold in _REFERENCES)),
    "last_choice": _said("ground_truth", "I compare the four.\nChoice: {}", *_OPTIONS),
    "filled_sections": _REPORTS,
    "same_protocol": _rows("ground_truth", *((prompt, gold, json.dumps(gold)) for prompt, gold in _PROTOCOLS)),
    "same_significance": _said("ground_truth", "{}", *_TESTS),
    "reading_by_value": _said("ground_truth", "<reading>{} C</reading>", *_READINGS),
    "above_others": _said("ground_truth", "{}", *_METALS),
    "booked_at_the_end": _STATES,
    "weights_on_scale": _WEIGHTS,
}
"""By the name of the reward."""
