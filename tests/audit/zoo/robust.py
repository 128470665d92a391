"""Rewards that withstand the catalogue, written by hand; the built-ins stand beside them in the roster."""

import json
import math
import re
import unicodedata

from plaudit import reward
from plaudit.verify import verify_math


def exact(response, ground_truth):
    """The whole response is the truth."""
    return float(response.strip() == str(ground_truth).strip())


def verified(prompt, response, answer):
    """A column of its own, and a checker that wants a commitment."""
    return float(verify_math(answer, response, prompt=str(prompt)).correct)


def whole_answer_tag(response, ground_truth):
    """One tag around the whole answer, nothing else."""
    found = re.fullmatch(r"\s*<answer>([^<>]*)</answer>\s*", response)
    return float(found is not None and found[1].strip() == str(ground_truth))


def signed(response, ground_truth):
    """+1 and −1."""
    return 1.0 if verify_math(ground_truth, response).correct else -1.0


def strict_sections(response):
    """Both sections once, in order, with words in them, nothing around."""
    found = re.fullmatch(r"\s*<think>([^<>]*\w[^<>]*)</think>\s*<answer>([^<>]*\w[^<>]*)</answer>\s*", response)
    return float(found is not None)


def bounded_length(response):
    """Words that differ, up to a hundred."""
    words = response.split()
    varied = len(set(words))
    return min(varied, 100) / 100 if varied * 2 > len(words) else 0.0


def clamped_cosine(response):
    """Falls to the limit and stays there."""
    words = len(response.split())
    return 0.5 * (1.0 + math.cos(math.pi * min(words / 120, 1.0))) if words else 0.0


def parsed_json(response):
    """A real parser decides."""
    try:
        return float(isinstance(json.loads(response), dict))
    except (ValueError, RecursionError):
        return 0.0


def exact_object(response, ground_truth):
    """The object and nothing else."""
    try:
        return float(json.loads(response) == ground_truth)
    except (ValueError, RecursionError):
        return 0.0


@reward(bounds=(-1.0, 0.0))
def short_penalty(response):
    """A penalty for very long texts only."""
    return -min(1.0, max(0, len(response) - 5_000) / 5_000)


def constant(response):
    """Says nothing."""
    return 0.5


@reward(scope="group")
def centred(trajectories):
    """Right answers less the share of right answers in the group."""
    right = [float(verify_math(each.ground_truth, each.response).correct) for each in trajectories]
    return [value - sum(right) / len(right) for value in right]


def trl_style(completions, solution, **columns):
    """Lists of completions and a column, as TRL calls it."""
    texts = [each if isinstance(each, str) else each[0]["content"] for each in completions]
    return [float(verify_math(truth, text).correct) for text, truth in zip(texts, solution, strict=True)]


def ordered_reference(response, ground_truth):
    """Words of the reference in their order: the longest run of both."""
    said, meant = response.split(), str(ground_truth).split()
    if len(meant) < 5:
        return float(said == meant)
    best = 0
    for start in range(len(said)):
        for place in range(len(meant)):
            length = 0
            while said[start + length : start + length + 1] == meant[place + length : place + length + 1] != []:
                length += 1
            best = max(best, length)
    return best / max(len(meant), len(said))


def common_subsequence(response, ground_truth):
    """Likeness to a reference, in its order."""
    said, meant = response.split(), str(ground_truth).split()
    row = [0] * (len(meant) + 1)
    for word in said[:500]:
        row = [0, *(row[n] + 1 if word == meant[n] else max(row[n], 0) for n in range(len(meant)))]
        for n in range(1, len(row)):
            row[n] = max(row[n], row[n - 1])
    return row[-1] / max(len(said), len(meant), 1)


def choice_letter(response, ground_truth):
    """One letter, alone."""
    found = re.fullmatch(r"\s*(?:The answer is )?\(?([A-D])\)?\.?\s*", response)
    return float(found is not None and found[1] == ground_truth)


def number_and_unit(response, ground_truth):
    """A number with its unit, such as 12 km; both count."""
    return float(response.strip().rstrip(".").split() == str(ground_truth).split())


def where_it_ended(trajectory):
    """Only the last thing that the environment showed counts, with a small cost per turn."""
    reached = bool(trajectory.steps) and "You won" in trajectory.steps[-1].observation
    return float(reached) - 0.01 * min(len(trajectory.steps), 50)


def same_words(response, ground_truth):
    """Texts are compared by their words; signs between them are not read."""
    texts = (unicodedata.normalize("NFC", str(text)).casefold() for text in (response, ground_truth))
    said, meant = (re.findall(r"\w+", text) for text in texts)
    return float(bool(said) and said == meant)


def shared_items(response, ground_truth):
    """Lists with commas: what is said too much costs as much as what is missing."""
    said, meant = ({part.strip() for part in re.split(r"[,\n]", str(text))} - {""} for text in (response, ground_truth))
    return len(said & meant) / max(1, len(said | meant))


def latin_script(response):
    """The share of Latin letters, for texts of five different words or more."""
    letters = [char for char in response if char.isalpha()]
    return sum(map(str.isascii, letters)) / len(letters) if len(set(response.lower().split())) >= 5 and letters else 0.0
