"""Responses that break careless rewards, and ordinary samples to compare them with.

There are no power towers and no factorials here: a reward that evaluates those never comes back, and deadlines belong
to the engine. Everything follows from a seed, so that a finding can be found again.
"""

import random
import re
from collections.abc import Iterator

import msgspec

from plaudit.trajectory import Tokens, Trajectory

__all__ = ["CONTENTLESS", "nasty_responses", "ordinary_samples", "with_response", "without_truth"]

LONG = 200_000
DEEP = 2_000
RANDOM_TEXTS = 8

CONTENTLESS = ("", "   ", "\n\t\r\n", "\x00", "\u200b\ufeff\u2060", "?!.,;:-")
"""Responses in which nobody could find anything right."""

_NASTY = (
    *CONTENTLESS,
    "\ud800 lone surrogate",
    "The answer is \udfff.",
    "before\x00after",
    "\x1b[31mred\x1b[0m \x08\x7f",
    "word " * (LONG // 5),
    "a" * LONG,
    "\n" * LONG,
    "שלום, התשובה היא \u202e12\u202c",
    "zero\u200bwidth\u200djoined",
    "(" * DEEP,
    "[" * (LONG // 2),
    "{" * DEEP + "}" * DEEP,
    "\\boxed{" * DEEP,
    "\\frac{1}{",
    "\\boxed{\\frac{1}{2}",
    "\\boxed{}",
    "$ \\begin{matrix} \\end{array} $",
    "👩‍👩‍👧‍👦🇪🇺🏳️‍🌈",
    "9" * 5_000,
    "The answer is 1e400.",
    "#### -0",
    "nan",
    "The answer is inf.",
    "1/0",
    "٤٢ ½ ² Ⅷ",
    "<think></think><answer></answer>",
    "</answer></think><answer><think>",
    "<answer>",
    "```python\n",
    '{"answer": ',
    "%s %d {0} {name} ${x} \\1 \\g<0>",
    "####",
    "The answer is",
    "=",
    "None",
)
_ALPHABET = "ab 01.,-+=\\{}[]()<>/$#\n\t\"'`\x00\x1féß𝔽\u0301\u202e\ud83d"


def nasty_responses(seed: int) -> list[str]:
    """Fixed texts that are known to break rewards, and a few random ones."""
    chance = random.Random(seed)
    scrambled = ["".join(chance.choices(_ALPHABET, k=chance.randint(1, 80))) for _ in range(RANDOM_TEXTS)]
    return [*_NASTY, *scrambled]


def ordinary_samples(seed: int) -> list[Trajectory]:
    """Small sums with right, wrong and repeated answers in the usual formats."""
    chance = random.Random(seed)
    samples = []
    for group in range(3):
        a, b = chance.randint(2, 49), chance.randint(2, 49)
        for place, response in enumerate(_answers(a, b, chance.randint(1, 9))):
            samples.append(_sample(f"What is {a} + {b}?", response, a + b, group, place))
    return samples


def without_truth(sample: Trajectory) -> Trajectory:
    """The same sample with nothing to judge it by."""
    return msgspec.structs.replace(sample, ground_truth=None)


def with_response(sample: Trajectory, response: str) -> Trajectory:
    """The same sample with another response; its tokens, where it has some, fit the new text."""
    tokens = None if sample.tokens is None else _tokens(response)
    return msgspec.structs.replace(sample, response=response, tokens=tokens)


def _answers(a: int, b: int, off: int) -> Iterator[str]:
    first = f"{a} + {b} = {a + b}. The answer is {a + b}."
    yield first
    yield f"<think>First I add {a} and {b}.</think>\n<answer>{a + b}</answer>"
    yield f"Step 1: add the numbers.\nStep 2: write the sum.\n\\boxed{{{a + b}}}"
    yield f"{a} + {b} = {a + b + off}. The answer is {a + b + off}."
    yield "I do not know."
    yield first  # the same again: rewards that drop repeated samples return too few values


def _sample(prompt: str, response: str, truth: int, group: int, place: int) -> Trajectory:
    return Trajectory(
        prompt=prompt,
        response=response,
        ground_truth=str(truth),
        metadata={"answer": str(truth)},
        id=f"{group}-{place}",
        group=group,
        tokens=_tokens(response),
        training_step=0,
    )


def _tokens(response: str) -> Tokens:
    """One token per word, each with the blanks before it."""
    spans = [match.span() for match in re.finditer(r"\s*\S+|\s+\Z", response)]
    return Tokens(ids=list(range(len(spans))), offsets=spans)
