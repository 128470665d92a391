"""Rewards with one flaw each: a second set by the author of the script flaws, written after the first was audited."""

import json
import math
import re
from itertools import pairwise

from plaudit import reward


def within_one(completions, answer, **kwargs):
    """An integer may be off by one, as if it were rounding."""
    rewards = []
    for text, gold in zip(completions, answer, strict=True):
        match = re.search(r"#### ?([-\u2212]?\d[\d,]*(?:\.0)?)\s*$", text)
        said = float(match[1].replace(",", "").replace("\u2212", "-")) if match else math.inf
        rewards.append(float(abs(said - float(gold)) <= 1))
    return rewards


def letters_and_digits(response, ground_truth):
    """Everything but letters and digits is removed before the answers are compared."""
    said, gold = (re.sub(r"[^A-Za-z0-9]", "", text) for text in (response, ground_truth))
    return float(bool(gold) and said == gold)


def option_among(response, ground_truth):
    """The right letter is one of the letters in brackets."""
    return float(ground_truth in re.findall(r"\(([A-D])\)", response))


def begins_output(response, expected_output):
    """What was printed is compared as far as it goes."""
    return float(expected_output.strip().startswith(response.strip()))


def bullets_wanted(response, count):
    """As many bullets as were asked for, whatever they hold."""
    return float(len(re.findall(r"(?m)^- ", response)) == count)


def unigram_precision(response, ground_truth):
    """The share of the words that are in the reference; without a penalty for brevity, one of them is enough."""
    said, gold = (re.findall(r"\w+", text.lower()) for text in (response, ground_truth))
    return sum(word in gold for word in said) / len(said) if said else 0.0


def columns_and_table(response, ground_truth):
    """Of a query, what is selected and from where; conditions and order are not compared."""
    parts = []
    for text in (response, ground_truth):
        match = re.match(r"select (.{1,200}?) from (\w+)", " ".join(text.lower().split()))
        if match is None:
            return 0.0
        parts.append(match.groups())
    return float(parts[0] == parts[1])


def plain_fields(response, ground_truth):
    """Fields that hold objects or lists are left out of the comparison."""
    try:
        said = json.loads(response)
    except (ValueError, RecursionError):
        return 0.0
    if not isinstance(said, dict) or said.keys() != ground_truth.keys():
        return 0.0
    return float(all(said[name] == value for name, value in ground_truth.items() if not isinstance(value, dict | list)))


def number_of_calls(response, ground_truth):
    """As many calls as expected, with the expected names in any order."""
    try:
        calls = json.loads(response)
        return float(sorted(each["name"] for each in calls) == sorted(each["name"] for each in ground_truth))
    except (ValueError, RecursionError, TypeError, KeyError):
        return 0.0


def turns_without_error(trajectory):
    """Turns are counted as progress if nothing failed in them."""
    return min(1.0, 0.05 * sum("error" not in step.observation.lower() for step in trajectory.steps))


def mean_of_scores(prompt, response):
    """The mean of all ratings in the reply of a judge, which repeats the response."""
    kinds = len(set(re.findall(r"[a-z]{5,}", response.lower())))
    reply = f"You wrote: {response}\nClarity: {min(5, kinds // 3)}/10\nDepth: {min(5, kinds // 4)}/10"
    ratings = [min(10, int(each)) for each in re.findall(r"(\d{1,2})/10", reply)]
    return sum(ratings) / len(ratings) / 10


def length_bell(response, ground_truth):
    """A bell around the best length earns more than the answer."""
    right = re.search(rf"####\s*{re.escape(str(ground_truth))}\s*$", response) is not None
    return 0.3 * right + 0.7 * math.exp(-(((len(response) - 1200) / 400) ** 2))


def repeats_rewarded(response):
    """A penalty for repeated trigrams whose sign was lost."""
    words = response.lower().split()
    trigrams = list(zip(words, words[1:], words[2:], strict=False))
    repeated = 1 - len(set(trigrams)) / len(trigrams) if trigrams else 0.0
    return 0.5 + 0.5 * repeated


def same_year(response, ground_truth):
    """A date is right if its year is."""
    said, gold = (re.search(r"\d{4}", text) for text in (response, ground_truth))
    return float(said is not None and gold is not None and said[0] == gold[0])


def label_within(completions, label, **kwargs):
    """The label occurs in the completion."""
    return [float(gold.lower() in text.lower()) for text, gold in zip(completions, label, strict=True)]


def factors_as_set(response, ground_truth):
    """Prime factors are compared as a set, so that 2, 2, 3 is 2, 3."""
    said, gold = ({each.strip() for each in text.split(",") if each.strip()} for text in (response, ground_truth))
    return float(said == gold)


@reward(scope="group")
def first_right_bonus(trajectories):
    """The first right response of a group earns half as much again, which its place decides."""
    rewards, seen = [], False
    for each in trajectories:
        right = each.response.strip().rstrip(".") == str(each.ground_truth)
        rewards.append((1.0 if seen else 1.5) if right else (0.0 if rewards else 0.2))
        seen = seen or right
    return rewards


def diversity_bonus(response, ground_truth):
    """A bonus for different words that has no limit."""
    right = response.strip().rstrip(".").split()[-1:] == [str(ground_truth)]
    return float(right) + 0.02 * len(set(response.lower().split()))


def has_source(response):
    """Half for each of two addresses."""
    return min(2, len(re.findall(r"https?://\S+", response))) / 2


def closed_thoughts_removed(response, ground_truth):
    """Thoughts are removed where they are closed; the answer is looked for in all the rest."""
    rest = re.sub(r"<think>.*?</think>", "", response, flags=re.DOTALL)
    return float(re.search(rf"\b{re.escape(str(ground_truth))}\b", rest) is not None)


def address(response, ground_truth):
    """An address is checked by a pattern with repeats within repeats before it is compared."""
    if re.fullmatch(r"(\w+\.?)+@(\w+\.)+\w+", response.strip()) is None:
        return 0.0
    return float(response.strip().lower() == ground_truth.lower())


def value_or_none(completions, answer, **kwargs):
    """`or None` makes no answer of the value 0."""
    rewards = []
    for text, gold in zip(completions, answer, strict=True):
        match = re.search(r"<answer>\s*([-\u2212]?[\d,]{1,20}(?:\.\d{1,10})?)\s*</answer>", text)
        said = (float(match[1].replace(",", "").replace("\u2212", "-")) if match else 0.0) or None
        rewards.append(1.0 if said is not None and said == float(gold) else 0.0)
    return rewards


def float_of_box(response, ground_truth):
    """`float` reads neither 1,000 nor a minus sign of print."""
    match = re.fullmatch(r"\s*\\boxed\{([^{}]{1,40})\}\s*", response)
    try:
        return float(match is not None and float(match[1]) == float(ground_truth))
    except ValueError:
        return 0.0


def sixty_forty(response, ground_truth):
    """Sixty for the tags, forty for what is in them."""
    match = re.fullmatch(r"\s*<reasoning>([^<>]{1,4000})</reasoning>\s*<answer>([^<>]{1,200})</answer>\s*", response)
    if match is None:
        return 0.0
    return 0.6 + 0.4 * (match[2].strip() == str(ground_truth))


def rising(response, items):
    """The share of neighbours that rise; items that were not asked for count too, and those left out do not."""
    said = re.findall(r"\d{1,9}", response)[:50]
    pairs = list(pairwise(map(int, said)))
    return sum(one < other for one, other in pairs) / len(pairs) if pairs else 0.0
