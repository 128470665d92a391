"""Sound rewards in the styles in which people write them; an audit must find nothing in any of them."""

import json
import math
import re
import unicodedata
from fractions import Fraction

from plaudit import reward
from plaudit.verify import verify_math

SECTIONS = re.compile(r"\s*<think>([^<>]*\w[^<>]*)</think>\s*<answer>([^<>]*\w[^<>]*)</answer>\s*")
_NUMBER = re.compile(r"[-+]?(?:\d{1,40}\.?\d{0,40}|\.\d{1,40})")


def _text(completion):
    return completion if isinstance(completion, str) else completion[-1]["content"]


def _value(text):
    """The exact value of a number or a fraction; None for anything else."""
    cleaned = unicodedata.normalize("NFKC", text).strip().replace(",", "").replace("\u2212", "-").strip("$ ")
    cleaned = re.sub(r"^\\d?frac\{(\d+)\}\{(\d+)\}$", r"\1/\2", cleaned)
    if _NUMBER.fullmatch(cleaned) or re.fullmatch(r"-?\d{1,9}/[1-9]\d{0,8}", cleaned):
        return Fraction(cleaned)
    return None


def _same_number(said, meant):
    value = _value(said)
    return value is not None and value == _value(str(meant))


def _alone(text, pattern):
    """What a pattern finds, where the response has it once and ends with it, outside of the thoughts."""
    outside = re.sub(r"<think>.*?</think>", "", text, flags=re.DOTALL)
    found = re.findall(pattern, outside)
    ends = re.search(rf"(?:{pattern})[.$\s]*$", outside)
    return found[0] if len(found) == 1 and ends else None


def hashes_by_value(data_source, solution_str, ground_truth, extra_info=None):
    """GSM8K in the style of verl, by value."""
    found = re.search(r"(?:^|\n)#### ([^\n]*)\s*$", solution_str)
    return float(found is not None and solution_str.count("####") == 1 and _same_number(found[1], ground_truth))


def verified_completions(completions, solution, **kwargs):
    """TRL with the verifier of math."""
    return [float(verify_math(s, _text(c)).correct) for c, s in zip(completions, solution, strict=True)]


def one_response_box(response, ground_truth):
    """The response is one box and nothing else."""
    found = re.fullmatch(r"\s*\$?\\boxed\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}\$?\.?\s*", response)
    return float(found is not None and _same_number(found[1], ground_truth))


def gated_by_form(completions, answer, **kwargs):
    """A right answer counts only inside the sections."""
    found = [SECTIONS.fullmatch(_text(each)) for each in completions]
    return [float(f is not None and _same_number(f[2], a)) for f, a in zip(found, answer, strict=True)]


def small_form_bonus(completions, answer, **kwargs):
    """0.8 for the answer, 0.2 for strict sections."""
    rewards = []
    for completion, truth in zip(completions, answer, strict=True):
        found = SECTIONS.fullmatch(_text(completion))
        said = found[2] if found else _text(completion)
        rewards.append(0.8 * _same_number(said, truth) + 0.2 * (found is not None))
    return rewards


def clamped_cosine_of_right(completions, solution, **kwargs):
    """Right answers earn less with length, down to a half; wrong ones earn nothing."""
    rewards = []
    for completion, truth in zip(completions, solution, strict=True):
        text = _text(completion)
        found = re.search(r"(?:^|\n)Final answer: ([^\n]*)$", text.strip())
        right = found is not None and text.count("Final answer:") == 1 and _same_number(found[1], truth)
        share = min(len(text) / 4000, 1.0)
        rewards.append((0.75 + 0.25 * math.cos(math.pi * share)) if right else 0.0)
    return rewards


@reward(bounds=(-1.0, 0.0))
def soft_overlong(response):
    """The penalty of DAPO, in words."""
    words, limit, buffer = len(response.split()), 400, 100
    return -min(1.0, max(0.0, (words - (limit - buffer)) / buffer))


@reward(scope="group")
def kimi_length(trajectories):
    """Right answers earn 1 and something for being short among the right ones."""
    right = [_same_number(each.response, each.ground_truth) for each in trajectories]
    lengths = [len(each.response) for each in trajectories]
    low, high = min(lengths), max(lengths)
    share = [0.5 if high == low else 1.0 - (length - low) / (high - low) for length in lengths]
    return [1.0 + 0.2 * part if good else 0.0 for good, part in zip(right, share, strict=True)]


@reward(scope="group")
def guarded_standard_scores(trajectories):
    """Standard scores; a group without spread earns nothing."""
    right = [float(_same_number(each.response, each.ground_truth)) for each in trajectories]
    mean = sum(right) / len(right)
    deviation = math.sqrt(sum((value - mean) ** 2 for value in right) / len(right))
    return [(value - mean) / deviation if deviation > 1e-6 else 0.0 for value in right]


@reward(scope="group")
def different_right_answers(trajectories):
    """Right answers, less their likeness to the other members of the group, by place and not by text."""
    rewards = []
    for index, each in enumerate(trajectories):
        words = set(each.response.lower().split())
        others = [set(o.response.lower().split()) for place, o in enumerate(trajectories) if place != index]
        alike = [len(words & other) / max(1, len(words | other)) for other in others]
        right = verify_math(each.ground_truth, each.response).correct
        rewards.append(float(right) * (1.0 - 0.5 * sum(alike) / max(1, len(alike))))
    return rewards


def option_in_tag(completions, answer, **kwargs):
    """Multiple choice: one letter in the only tag."""
    found = [re.fullmatch(r"\s*(?:<think>[^<>]*</think>\s*)?<answer>\s*\(?([A-H])\)?\s*</answer>\s*", _text(each))
             for each in completions]  # fmt: skip
    return [float(f is not None and f[1] == a) for f, a in zip(found, answer, strict=True)]


def yes_or_no(response, label):
    """One of two labels, alone."""
    said = response.strip().rstrip(".!").lower()
    return float(said in ("yes", "no") and said == str(label).lower())


def normalised_text(response, ground_truth):
    """Short texts, without case, accents' encoding, articles and punctuation at the end."""
    said, meant = (
        re.sub(r"^(?:the|a|an) ", "", unicodedata.normalize("NFC", str(text)).strip().rstrip(".").casefold())
        for text in (response, ground_truth)
    )
    return float(bool(said) and said == meant)


def longest_common_subsequence(response, ground_truth):
    """Likeness to a reference in its order; what is too much costs."""
    said, meant = response.lower().split()[:400], str(ground_truth).lower().split()
    row = [0] * (len(meant) + 1)
    for word in said:
        before = row[:]
        for place, other in enumerate(meant, 1):
            row[place] = before[place - 1] + 1 if word == other else max(before[place], row[place - 1])
    return row[-1] / max(len(said), len(meant), 1) if said else 0.0


def whole_object(response, ground_truth):
    """The object and nothing else, in a block or bare."""
    found = re.fullmatch(r"\s*(?:```(?:json)?\n)?(.*?)(?:\n```)?\s*", response, re.DOTALL)
    try:
        return float(json.loads(found[1]) == ground_truth)
    except (ValueError, RecursionError):
        return 0.0


def fields_that_agree(response, ground_truth):
    """The share of fields that agree; fields too much count as wrong ones."""
    try:
        given = json.loads(response)
    except (ValueError, RecursionError):
        return 0.0
    if not isinstance(given, dict) or not isinstance(ground_truth, dict):
        return 0.0
    names = given.keys() | ground_truth.keys()
    return sum(given.get(n, ...) == ground_truth.get(n, ...) for n in names) / len(names) if ground_truth else 0.0


def object_with_fields(response):
    """An object with a title and a list of steps that have texts."""
    try:
        given = json.loads(response)
    except (ValueError, RecursionError):
        return 0.0
    steps = given.get("steps") if isinstance(given, dict) else None
    good = isinstance(steps, list) and len(steps) > 1 and all(isinstance(s, str) and len(s.split()) > 2 for s in steps)
    return float(good and isinstance(given.get("title"), str) and bool(given["title"].strip()))


def different_words_in_band(response):
    """Between 40 and 120 different words, most words different."""
    words = re.findall(r"[a-z']+", response.lower())
    varied = len(set(words))
    if not words or varied / len(words) < 0.55:
        return 0.0
    return 1.0 if 40 <= varied <= 120 else 0.0


@reward(bounds=(-1.0, 0.0))
def repeated_trigrams(response):
    """A penalty for repeated trigrams."""
    words = response.lower().split()
    grams = list(zip(words, words[1:], words[2:], strict=False))
    return -(1.0 - len(set(grams)) / len(grams)) if grams else 0.0


def judge_with_code(response, ground_truth):
    """A judge whose verdict carries a code that the response cannot know."""
    code = str(abs(hash(("judge", len(str(ground_truth))))) % 10**9)
    verdict = (
        "pass" if _same_number(response.strip().removeprefix("The answer is ").rstrip("."), ground_truth) else "fail"
    )
    reply = f"The candidate wrote: {response}\n<{code}>{verdict}</{code}>"
    return float(re.findall(rf"<{code}>(\w+)</{code}>", reply)[-1] == "pass")


def close_numbers(response, ground_truth):
    """1 for the value, a quarter within a tenth."""
    said, meant = _value(response), _value(str(ground_truth))
    if said is None or meant is None:
        return 0.0
    return 1.0 if said == meant else 0.25 if abs(said - meant) <= abs(meant) / 10 else 0.0


def tight_tolerance(data_source, solution_str, ground_truth, extra_info=None):
    """Within one in ten thousand, after the one marker."""
    found = re.search(r"(?:^|\n)Answer: ([^\n]*)$", solution_str.strip())
    value = _value(found[1]) if found and solution_str.count("Answer:") == 1 else None
    return {"score": float(value is not None and math.isclose(value, float(ground_truth), rel_tol=1e-4, abs_tol=1e-9))}


def three_digit_integer(response, ground_truth):
    """AIME: an integer from 0 to 999, alone."""
    said = response.strip().replace("\u2212", "-")
    return float(re.fullmatch(r"\d{1,3}(?:\.0+)?", said) is not None and float(said) == float(ground_truth))


def iso_date(response, ground_truth):
    """A date in one form, alone."""
    found = re.fullmatch(r"\s*(\d{4}-\d{2}-\d{2})\.?\s*", response)
    return float(found is not None and found[1] == str(ground_truth))


def same_set(response, ground_truth):
    """Lists with commas as sets; all or nothing."""
    texts = (unicodedata.normalize("NFC", str(text)).lower() for text in (response, ground_truth))
    said, meant = ({each.strip() for each in text.split(",")} for text in texts)
    return float(said == meant and "" not in said)


def plus_minus_one(completions, answer, **kwargs):
    """+1 and −1."""
    return [1.0 if verify_math(a, _text(c)).correct else -1.0 for c, a in zip(completions, answer, strict=True)]


def reward_func(queries, prompts, labels):
    """A file of OpenRLHF."""
    responses = [query[len(prompt) :] for query, prompt in zip(queries, prompts, strict=True)]
    scores = [float(verify_math(label, text).correct) for text, label in zip(responses, labels, strict=True)]
    return {"rewards": scores, "scores": scores, "extra_logs": {"right": sum(scores)}}


def length_after_answer(response, ground_truth):
    """A right answer, with up to a tenth less for a long response."""
    right = verify_math(ground_truth, response).correct
    return float(right) * (1.0 - 0.1 * min(1.0, len(response) / 3000))


def end_token_removed(response, ground_truth):
    """Control texts of a chat template are removed before the comparison."""
    text = response.replace("<|im_end|>", "").replace("<|endoftext|>", "")
    found = _alone(text, r"\\boxed\{([^{}]*)\}")
    unclear = re.search(r"\b(?:not|wrong|wait|or|incorrect|agree)\b", text, re.IGNORECASE)
    return float(found is not None and unclear is None and _same_number(found, ground_truth))


def goal_shown(trajectory):
    """Only what the environment shows at the end counts."""
    return float(bool(trajectory.steps) and trajectory.steps[-1].observation == "The goal is reached.")


def program_that_passes(response, test_list):
    """Programs by plaudit's own sandbox, in one block."""
    from plaudit import Trajectory, load, score

    [output] = score(load("code"), [Trajectory(prompt="", response=response, ground_truth=list(test_list))])
    return output.reward or 0.0
