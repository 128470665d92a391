"""Rewards with one flaw each, as they stand in training scripts: math, exact match, formats and JSON."""

import json
import re
from difflib import SequenceMatcher
from fractions import Fraction


def last_integer(completions, answer, **kwargs):
    """The last integer of a completion; of 12.7 that is 7."""
    rewards = []
    for text, gold in zip(completions, answer, strict=True):
        numbers = re.findall(r"-?\d+", text.replace(",", "").replace("\u2212", "-"))
        rewards.append(1.0 if numbers and numbers[-1] == gold else 0.0)
    return rewards


def compute_score_suffix(data_source, solution_str, ground_truth, extra_info=None):
    """The box ends with the ground truth, so 17 is taken for 7."""
    boxes = re.findall(r"\\boxed\{([^{}]*)\}", solution_str)
    return 1.0 if boxes and boxes[-1].strip().endswith(ground_truth) else 0.0


def percent_or_not(response, ground_truth):
    """A share may be written as a percentage; any number is compared a hundred times larger too."""
    try:
        said = float(response.strip().rstrip("%").replace("\u2212", "-"))
    except ValueError:
        return 0.0
    gold = float(ground_truth)
    return float(any(abs(said - each) < 1e-6 for each in (gold, gold * 100, gold / 100)))


def whole_part(response, ground_truth):
    """Numbers are converted with `int` before they are compared, which drops their fractions."""
    match = re.search(r"<answer>\s*([+\u2212-]?[\d.,]{1,30})\s*</answer>", response)
    if match is None:
        return 0.0
    try:
        said = int(float(match[1].replace(",", "").replace("\u2212", "-")))
    except ValueError:
        return 0.0
    return 1.0 if said == int(float(ground_truth)) else 0.0


def magnitude(response, ground_truth):
    """Losses are written with and without a sign in the data, so signs are dropped."""
    numbers = re.findall(r"[-\u2212]?\d[\d,]*\.?\d*", response)
    if not numbers:
        return 0.0
    said = float(numbers[-1].replace(",", "").replace("\u2212", "-").rstrip("."))
    return float(abs(abs(said) - abs(float(ground_truth))) < 1e-6)


def expression_value(response, ground_truth):
    """An expression of digits and operators is worked out by `eval`."""
    text = response.strip().split("=")[-1].strip()
    if not re.fullmatch(r"[\d+\-*/(). ]{1,80}", text):
        return 0.0
    try:
        return 1.0 if abs(eval(text) - float(ground_truth)) < 1e-6 else 0.0
    except Exception:
        return 0.0


def tag_equals_string(completions, answer, **kwargs):
    """The text of the tag equals the answer as a string, commas aside."""
    extracted = [text.split("<answer>")[-1].split("</answer>")[0].strip() for text in completions]
    return [
        2.0 if said.replace(",", "").replace("\u2212", "-") == str(gold) else 0.0
        for said, gold in zip(extracted, answer, strict=True)
    ]


def number_or_none(response, ground_truth):
    """A number that could not be read is falsy, and so is 0."""
    match = re.search(r"####\s*([-\u2212]?[\d,]+(?:\.\d+)?)", response)
    said = float(match[1].replace(",", "").replace("\u2212", "-")) if match else None
    if not said:
        return 0.0
    return 1.0 if abs(said - float(ground_truth)) < 1e-6 else 0.0


def answer_line(response, ground_truth):
    """`[-+]?` in the pattern knows the minus of ASCII only."""
    match = re.search(r"Answer:\s*([-+]?\d[\d,]*(?:\.\d+)?)\s*$", response.strip())
    if match is None:
        return 0.0
    return float(abs(float(match[1].replace(",", "")) - float(ground_truth)) < 1e-6)


def among_numbers(completions, answer, **kwargs):
    """The gold number is one of the numbers of the completion."""
    return [
        float(float(gold) in {float(each) for each in re.findall(r"-?\d+(?:\.\d+)?", text.replace("\u2212", "-"))})
        for text, gold in zip(completions, answer, strict=True)
    ]


def fraction_parts(response, ground_truth):
    """Numerator and denominator are compared as a set."""
    said, gold = (re.findall(r"\d{1,9}", text) for text in (response.strip(), ground_truth))
    return float(len(said) == 2 and set(said) == set(gold))


def improper_fraction(response, ground_truth):
    """A value is rounded to a fraction with a small denominator before it is compared."""
    try:
        said = Fraction(response.strip().replace("\u2212", "-")[:40]).limit_denominator(3)
    except (ValueError, ZeroDivisionError):
        return 0.0
    return float(said == Fraction(ground_truth).limit_denominator(3))


def normalised_in(response, ground_truth):
    """SQuAD's normalisation, then `in` instead of `==`."""
    said, gold = (
        " ".join(re.sub(r"\b(a|an|the)\b", " ", re.sub(r"[^\w\s]", "", text.lower())).split())
        for text in (response, ground_truth)
    )
    return 1.0 if gold in said else 0.0


def any_alias(response, aliases):
    """The response is looked for in the aliases, not the aliases in the response."""
    said = response.strip().lower()
    return float(any(said in alias.lower() for alias in aliases))


def first_capital(response, ground_truth):
    """The first of the letters A to D, also within a word."""
    match = re.search(r"[A-D]", response.upper())
    return float(match is not None and match[0] == ground_truth)


def close_enough(response, ground_truth):
    """Small misspellings are forgiven by a ratio of characters; so are other digits."""
    return float(SequenceMatcher(None, response.strip().lower(), ground_truth.lower()).ratio() >= 0.85)


def tag_counts(completions, **kwargs):
    """A quarter for each tag that occurs; where they stand does not count."""
    tags = ("<reasoning>", "</reasoning>", "<answer>", "</answer>")
    return [sum(0.25 for tag in tags if tag in text) for text in completions]


def think_block(completions, **kwargs):
    """The pattern is looked for anywhere, and the thoughts may hold anything."""
    pattern = re.compile(r"<think>.*</think>\s*<answer>.*</answer>", re.DOTALL)
    return [1.0 if pattern.search(text) else 0.0 for text in completions]


def form_and_half(response, ground_truth):
    """The form earns 1, the right answer half of that."""
    match = re.fullmatch(r"\s*<think>([^<]{1,4000})</think>\s*<answer>([^<]{1,200})</answer>\s*", response)
    if match is None:
        return 0.0
    return 1.0 + 0.5 * (match[2].strip().lower() == ground_truth.lower())


def numbered_steps(response):
    """A third for each line that begins as a step."""
    return min(1.0, len(re.findall(r"(?m)^(?:Step )?\d+[.:)]", response)) / 3)


def names_of_fields(response, schema):
    """Each required name occurs in the text, in quotes."""
    return float(all(f'"{name}"' in response for name in schema))


def fields_said(response, ground_truth):
    """Every field that was given is right; the fields that were not given are not looked at."""
    try:
        said = json.loads(response)
    except (ValueError, RecursionError):
        return 0.0
    if not isinstance(said, dict):
        return 0.0
    return float(all(ground_truth.get(name) == value for name, value in said.items()))


def values_anywhere(response, ground_truth):
    """The values are compared as a sorted list of texts, whatever their names are."""
    try:
        said = json.loads(response)
    except (ValueError, RecursionError):
        return 0.0
    if not isinstance(said, dict):
        return 0.0
    return float(sorted(map(str, said.values())) == sorted(map(str, ground_truth.values())))


def rounded_fields(response, ground_truth):
    """The share of the fields that are right; numbers are compared without their cents, and missing ones are 0."""
    try:
        said = json.loads(response)
    except (ValueError, RecursionError):
        return 0.0
    if not isinstance(said, dict):
        return 0.0
    right = 0
    for name, gold in ground_truth.items():
        value = said.get(name, 0)
        if isinstance(gold, int | float):
            right += isinstance(value, int | float) and abs(value - gold) <= 10
        else:
            right += value == gold
    return right / len(ground_truth)
