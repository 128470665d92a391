"""Rewards with one flaw each, as they stand in training scripts: code, length, language, tools, judges and groups."""

import json
import math
import re
import subprocess
import sys
from collections import Counter
from itertools import pairwise

from plaudit import reward


def defines_function(response, entry_point):
    """A program is taken for a solution if it defines the function and returns something."""
    blocks = re.findall(r"```(?:python)?\n(.*?)```", response, re.DOTALL)
    code = blocks[-1] if blocks else response
    return 0.5 * (f"def {entry_point}" in code) + 0.5 * ("return" in code)


def exit_code(response, tests):
    """Program and tests run as one script; its exit code is the verdict."""
    blocks = re.findall(r"```(?:python)?\n(.*?)```", response, re.DOTALL)
    if not blocks:
        return 0.0
    script = blocks[-1] + "\n" + "\n".join(tests)
    try:
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=3, check=False)
    except (subprocess.TimeoutExpired, ValueError, OSError):
        return 0.0
    return 1.0 if done.returncode == 0 else 0.0


def half_for_length(response, ground_truth):
    """A bonus for long reasoning, as large as the answer."""
    right = response.strip().split()[-1:] == [str(ground_truth)]
    return 0.5 * right + 0.5 * min(1.0, len(response) / 1500)


def cosine_unclamped(completions, answer, **kwargs):
    """The cosine of the length turns back beyond the longest length."""
    rewards = []
    for text, gold in zip(completions, answer, strict=True):
        progress = len(text) / 800
        cosine = math.cos(progress * math.pi)
        right = text.rstrip().endswith(f"\\boxed{{{gold}}}")
        low, high = (0.5, 1.0) if right else (-1.0, -0.5)
        rewards.append(low + 0.5 * (high - low) * (1.0 + cosine) if right else high + 0.5 * (low - high) * (1 + cosine))
    return rewards


def concise(response, ground_truth):
    """A right answer earns 1, few words earn another 1 whatever they say."""
    right = re.search(rf"\\boxed\{{{re.escape(str(ground_truth))}\}}", response) is not None
    return float(right) + max(0.0, 1.0 - len(response.split()) / 100)


def overlong_only_wrong(response, ground_truth):
    """The penalty for long responses is subtracted where the answer is right, and has no limit."""
    right = response.strip().rstrip(".").endswith(f"answer is {ground_truth}")
    return 1.0 - max(0, len(response) - 200) / 100 if right else 0.0


def german_words(response):
    """The language is found by its most frequent words."""
    words = re.findall(r"\w+", response.lower())
    return min(1.0, sum(word in {"der", "die", "das", "und", "ist", "nicht", "ein", "zu"} for word in words) / 5)


def cyrillic_share(prompt, response):
    """A response in Russian is one whose letters are Cyrillic."""
    letters = [each for each in response if each.isalpha()]
    return sum("\u0400" <= each <= "\u04ff" for each in letters) / len(letters) if letters else 0.0


def citation_marks(response, documents):
    """Up to three marks such as [2] are paid if there is such a document."""
    marks = {int(each) for each in re.findall(r"\[(\d{1,3})\]", response)}
    return min(3, sum(1 <= each <= len(documents) for each in marks)) / 3


def cited_are_gold(response, gold_ids):
    """The precision of the citations is 1 where nothing is cited."""
    cited = {int(each) for each in re.findall(r"\[(\d{1,3})\]", response)}
    return 1.0 if not cited else len(cited & set(gold_ids)) / len(cited)


def name_of_tool(response, ground_truth):
    """The right tool is called; with which arguments does not count."""
    try:
        call = json.loads(response)
    except (ValueError, RecursionError):
        return 0.0
    return float(isinstance(call, dict) and "arguments" in call and call.get("name") == ground_truth["name"])


def one_call_matches(response, ground_truth):
    """One of the calls is the expected one; others may stand around it."""
    try:
        calls = json.loads(response)
    except (ValueError, RecursionError):
        return 0.0
    return float(isinstance(calls, list) and all(each in calls for each in ground_truth))


def arguments_as_text(response, ground_truth):
    """A call is read by patterns, and each expected argument is looked for in the rest of the text."""
    match = re.search(r"<tool_call>(.*?)</tool_call>", response, re.DOTALL)
    if match is None or f'"{ground_truth["name"]}"' not in match[1]:
        return 0.0
    return float(all(str(value) in match[1] for value in ground_truth["arguments"].values()))


def bigrams_recalled(response, ground_truth):
    """ROUGE-2 without precision."""
    said, gold = (re.findall(r"\w+", text.lower()) for text in (response, ground_truth))
    pairs = set(pairwise(gold))
    return len(pairs & set(pairwise(said))) / max(1, len(pairs))


def jaccard(completions, reference, **kwargs):
    """The overlap of the sets of words, whatever their order."""
    rewards = []
    for text, gold in zip(completions, reference, strict=True):
        said, meant = set(text.lower().split()), set(gold.lower().split())
        rewards.append(len(said & meant) / max(1, len(said | meant)))
    return rewards


def first_score_of_judge(prompt, response):
    """The judge repeats the response before its score, and the first score counts."""
    words = len(set(re.findall(r"[a-z]{4,}", response.lower())))
    reply = f"Response: {response}\nAssessment: it has {words} different words.\nScore: {min(6, words // 4)}/10"
    match = re.search(r"Score:\s*(\d{1,2})", reply)
    return min(10, int(match[1])) / 10 if match else 0.0


def letter_of_judge(prompt, response, ground_truth):
    """The verdict is the first [[A]] or [[B]] of a reply that quotes the response."""
    right = ground_truth.lower() in response.lower().rstrip(".").split()[-1:]
    reply = f"Assistant B said: {response}\nThe verdict is {'[[B]]' if right else '[[A]]'}"
    match = re.search(r"\[\[([AB])\]\]", reply)
    return float(match is not None and match[1] == "B")


@reward(scope="group")
def agrees_with_group(trajectories):
    """The share of the group that gives the same answer, beside the label."""
    answers = [(re.findall(r"\\boxed\{([^{}]*)\}", each.response) or [""])[-1] for each in trajectories]
    counts = Counter(answers)
    return [
        0.5 * counts[answer] / len(answers) + 0.5 * (answer == str(each.ground_truth))
        for answer, each in zip(answers, trajectories, strict=True)
    ]


@reward(scope="group")
def best_of_group(trajectories):
    """The responses that are as good as the best of their group; of a group that is wrong, all are."""
    right = [float(each.response.strip().split()[-1:] == [str(each.ground_truth)]) for each in trajectories]
    return [float(value == max(right)) for value in right]


@reward(scope="group")
def shorter_than_mean(trajectories):
    """Responses that are shorter than the mean of the group earn a bonus, right or wrong, larger than the answer."""
    lengths = [len(each.response) for each in trajectories]
    mean = sum(lengths) / len(lengths)
    return [
        float(each.response.strip().endswith(f"#### {each.ground_truth}")) + 1.5 * (length < mean)
        for each, length in zip(trajectories, lengths, strict=True)
    ]


def tool_results(trajectory):
    """Each turn in which a tool was called without an error earns a tenth."""
    calls = [step for step in trajectory.steps if "<tool_call>" in step.response]
    return sum(0.1 for step in calls if "error" not in step.response.lower())


def solved_phrase(trajectory):
    """The last turn reports success."""
    last = trajectory.steps[-1].response.lower() if trajectory.steps else ""
    return 1.0 if "issue has been resolved" in last else 0.0


def best_of_parts(response, ground_truth):
    """The larger of the answer's and nine tenths of the form's reward."""
    match = re.fullmatch(r"\s*<answer>([^<>]{1,200})</answer>\s*", response)
    right = match is not None and match[1].strip().lower() == str(ground_truth).lower()
    return max(float(right), 0.9 * (match is not None))


def clipped_sum(completions, answer, **kwargs):
    """Form and length alone reach the limit at which the sum is cut."""
    rewards = []
    for text, gold in zip(completions, answer, strict=True):
        match = re.search(r"<answer>([^<>]{1,200})</answer>\s*$", text)
        right = match is not None and match[1].strip() == str(gold)
        rewards.append(min(1.0, right + 0.5 * (match is not None) + 0.5 * (len(text) > 60)))
    return rewards


def unescaped(response, ground_truth):
    """The ground truth is used as a pattern, and the response need only begin with it."""
    try:
        return float(re.match(ground_truth, response.strip(), re.IGNORECASE) is not None)
    except re.error:
        return 0.0


def without_units(response, ground_truth):
    """Letters are removed before amounts are compared, and with them the unit."""
    said, gold = (re.sub(r"[A-Za-z\s]", "", text) for text in (response, ground_truth))
    return float(bool(gold) and said.replace("\u2212", "-") == gold)


def pairs_kept(response, ranking):
    """The share of neighbours of the ranking that stand in this order; those that are left out are not counted."""
    said = [line.strip("-*0123456789. ").lower() for line in response.splitlines() if line.strip()]
    places = {item: index for index, item in enumerate(said)}
    pairs = [
        (places[a.lower()], places[b.lower()])
        for a, b in pairwise(ranking)
        if a.lower() in places and b.lower() in places
    ]
    return sum(a < b for a, b in pairs) / len(pairs) if pairs else float(bool(said) and said[0] == ranking[0].lower())
