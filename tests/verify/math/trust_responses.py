"""Labelled responses with and without words of denial, doubt and choice, for the trust rules of the math verifier.

`trust_templates.txt` was written, labelled and split before any rule was run on it. A response is labelled right where
a reader takes the right answer, and only that, for its final one. Templates are split by their digest: both halves hold
different wordings, and the rules were only changed by looking at the development half.
"""

import hashlib
import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PER_TEMPLATE = 6
TEMPLATES = Path(__file__).with_name("trust_templates.txt")
MARKS = [
    r"$\boxed{{{}}}$",
    r"\boxed{{{}}}",
    r"\[ \boxed{{{}}} \]",
    "<answer>{}</answer>",
    "**{}**",
    r"$\boxed{{{}}}$",
]
PREAMBLES = [
    "",
    "Let's think step by step.\n\n1. She starts with {a} and buys {b} more, which makes {a} + {b} = {c}.\n2. ",
    "Step 1: There are {a} boxes with {b} each.\nStep 2: We multiply and subtract what was given away.\n\n",
    "Let $x$ be the number of items. From the first condition we have $x = {a} + {b}$, so $x = {c}$.\n\n",
    "**Solution**\n\nThe first day gives {a}, the second day gives {b}.\n\n",
    "We are told that {a} of them are red. The rest follows from the second sentence of the problem. ",
]


class Response(NamedTuple):
    """One labelled response."""

    text: str
    truth: str
    is_right: bool
    is_attack: bool
    template: str


def _templates() -> Iterator[tuple[bool, bool, str]]:
    for line in TEMPLATES.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            label, kind, template = line.split(" ~~ ")
            yield label == "right", kind == "attack", template


def is_held_out(template: str) -> bool:
    return hashlib.sha256(template.encode()).digest()[0] % 2 == 1


def _fill(template: str, place: int) -> tuple[str, str]:
    chance = random.Random(f"{template} {place}")
    truth, wrong, other = (str(number) for number in chance.sample(range(13, 400), 3))
    mark = MARKS[place % len(MARKS)]
    for sign, number in zip("RWV", (truth, wrong, other), strict=True):
        template = template.replace(f"@{sign}", mark.format(number)).replace(f"#{sign}", number)
    one, two = chance.sample(range(401, 900), 2)
    preamble = PREAMBLES[(place + chance.randrange(2)) % len(PREAMBLES)].format(a=one, b=two, c=one + two)
    return preamble + template.replace("\\n", "\n"), truth


def responses(*, held_out: bool) -> list[Response]:
    """The responses of one half."""
    return [
        Response(*_fill(template, place), is_right, is_attack, template)
        for is_right, is_attack, template in _templates()
        for place in range(PER_TEMPLATE)
        if is_held_out(template) is held_out
    ]
