"""Responses that break careless rewards, changed copies of given responses, and ordinary samples to compare them with.

There are no power towers and no factorials here: a reward that evaluates those never returns, and not every check has
a deadline. The seed determines everything, so findings are reproducible.
"""

import itertools
import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from plaudit.trajectory import Tokens, Trajectory

LONG = 200_000
DEEP = 2_000
RANDOM_TEXTS = 8
MUTATED_SAMPLES = 8
JSON_CHANGES = 16

CONTENTLESS = ("", "   ", "\n\t\r\n", "\x00", "\u200b\ufeff\u2060", "?!.,;:-")
"""Responses without content."""

_DIFFICULT = (
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
_ODD_NUMBERS = (
    "1,234", "1,234.5.6", "1.2.3", "3.", ".5", "1/2", "3/0", "-", "--5", "−5", "+7", "5%", "$5", "1e5", "1e999", "1e",
    "1_000", "1 234", "0x10", "½", "²", "٤٢", "Ⅷ", "一", "",
)  # fmt: skip
_ANSWER_FORMATS = ("The answer is {}.", "#### {}", "\\boxed{{{}}}", "<answer>{}</answer>", "{}")
_ODD_TRUTHS: tuple[Any, ...] = (1234, 0.5, "1,234", "-3.5", "1/2", "50%", "$1,234.50", "½", "x = 4", "")
_ALPHABET = "ab 01.,-+=\\{}[]()<>/$#\n\t\"'`\x00\x1féß𝔽\u0301\u202e\ud83d"


def difficult_samples(samples: Sequence[Trajectory], seed: int) -> list[Trajectory]:
    """Texts that are known to break rewards, odd numbers in the usual formats, random texts, and changed responses."""
    pattern = _with_truth(samples)
    chance = random.Random(seed)
    scrambled = ["".join(chance.choices(_ALPHABET, k=chance.randint(1, 80))) for _ in range(RANDOM_TEXTS)]
    odd = [form.format(number) for number in _ODD_NUMBERS for form in _ANSWER_FORMATS]
    difficult = [with_response(pattern, response) for response in dict.fromkeys([*_DIFFICULT, *odd, *scrambled])]
    return [*difficult, *mutated_samples(samples)]


def mutated_samples(samples: Sequence[Trajectory]) -> list[Trajectory]:
    """A few samples with changed responses: those that can be changed in the most ways, because of tags and JSON."""
    distinct = {sample.response: sample for sample in reversed(samples)}
    mutations = {response: _mutations(response) for response in reversed(distinct)}
    chosen = sorted(mutations, key=lambda response: -len(mutations[response]))[:MUTATED_SAMPLES]
    texts = {text: distinct[response] for response in reversed(chosen) for text in mutations[response]}
    return [with_response(sample, text) for text, sample in texts.items() if text not in distinct]


def _mutations(response: str) -> list[str]:
    """A response cut in half, doubled, without closing tags, with empty tags, and with other JSON values."""
    changed = [
        response[: len(response) // 2],
        response + response,
        re.sub(r"</\w+>", "", response),
        re.sub(r"<(\w+)>.*?</\1>", r"<\1></\1>", response, flags=re.DOTALL),
        *_json_mutations(response),
    ]
    return [text for text in dict.fromkeys(changed) if text != response]


def _json_mutations(response: str) -> list[str]:
    """The response with its JSON values emptied, and with its first one changed in one member at a time."""
    values = _json_values(response)
    emptied = [_replace(response, dict.fromkeys(values, empty)) for empty in ("{}", "[]")]
    changed = ((span, each) for span, value in list(values.items())[:1] for each in _changed(value))
    first = itertools.islice(changed, JSON_CHANGES)
    return [*emptied, *(_replace(response, {span: json.dumps(each)}) for span, each in first)]


def _json_values(response: str) -> dict[tuple[int, int], Any]:
    """The JSON objects and lists of a response that are not inside another, by where they start and end."""
    decoder, values, at = json.JSONDecoder(), {}, 0
    for start in [match.start() for match in re.finditer(r"[{\[]", response)]:
        if start < at:  # within a value that was found
            continue
        try:
            value, at = decoder.raw_decode(response, start)
        except (ValueError, RecursionError):
            continue
        values[start, at] = value
    return values


def _replace(response: str, replacements: Mapping[tuple[int, int], str]) -> str:
    for (start, end), text in sorted(replacements.items(), reverse=True):
        response = response[:start] + text + response[end:]
    return response


def _changed(value: Any) -> Iterator[Any]:
    """Copies of a JSON value in which one member, at any depth, is missing, null or of another type."""
    members = list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ())
    for key, member in members:
        rest = {name: each for name, each in members if name != key}
        yield rest if isinstance(value, dict) else list(rest.values())
        for other in itertools.chain((None, []), _changed(member)):
            changed = {**rest, key: other}
            yield changed if isinstance(value, dict) else [changed[at] for at in range(len(value))]


def with_odd_truths(sample: Trajectory) -> list[Trajectory]:
    """The same sample with ground truths as data sets have them."""
    return [msgspec.structs.replace(sample, ground_truth=truth) for truth in _ODD_TRUTHS]


class Containing(NamedTuple):
    """A right response, a wrong one, and wrong ones that hold the ground truth somewhere."""

    right: Trajectory
    wrong: Trajectory
    holding: tuple[Trajectory, ...]


def containing_samples(samples: Sequence[Trajectory]) -> Containing | None:
    """Responses that distinguish a reward that compares answers from one that searches the whole text for the truth.

    None if no sample has a ground truth of a single word or number.
    """
    pattern = _with_truth(samples)
    truth = str(pattern.ground_truth).strip()
    if pattern.ground_truth is None or not re.fullmatch(r"-?\w+(?:\.\d+)?", truth):
        return None
    wrong = _another(truth)
    holding = (
        f"The answer is {wrong}{truth}{wrong}.",
        f"It could be {truth}, or any other. The answer is {wrong}.",
        f"The answer is not {truth}. The answer is {wrong}.",
    )
    return Containing(
        with_response(pattern, f"The answer is {truth}."),
        with_response(pattern, f"The answer is {wrong}."),
        tuple(with_response(pattern, response) for response in holding),
    )


def _with_truth(samples: Sequence[Trajectory]) -> Trajectory:
    return next((sample for sample in samples if sample.ground_truth is not None), samples[0])


def _another(truth: str) -> str:
    """A wrong answer of the same kind that does not hold the truth."""
    if re.fullmatch(r"-?\d+(?:\.\d+)?", truth):
        return "77" if "77" not in truth and truth not in "77" else "88"
    return "never" if truth.lower() not in "never" else "always"


def ordinary_samples(seed: int) -> list[Trajectory]:
    """Small sums with right, wrong and repeated answers in the usual formats."""
    chance = random.Random(seed)
    samples = []
    for group in range(3):
        a, b = chance.randint(2, 49), chance.randint(2, 49)
        for index, response in enumerate(_answers(a, b, chance.randint(1, 9))):
            samples.append(_sample(f"What is {a} + {b}?", response, a + b, group, index))
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


def _sample(prompt: str, response: str, truth: int, group: int, index: int) -> Trajectory:
    return Trajectory(
        prompt=prompt,
        response=response,
        ground_truth=str(truth),
        metadata={"answer": str(truth)},
        id=f"{group}-{index}",
        group=group,
        tokens=_tokens(response),
        training_step=0,
    )


def _tokens(response: str) -> Tokens:
    """One token per word, each with the blanks before it."""
    spans = [match.span() for match in re.finditer(r"\s*\S+|\s+\Z", response)]
    return Tokens(ids=list(range(len(spans))), offsets=spans)
