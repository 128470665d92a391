"""Rewards with one flaw each, as people write them for GRPO in notebooks; by another author than the audit's."""

import json
import re
from collections import Counter

from plaudit import reward


def equals_somewhere(completions, answer, **kwargs):
    """The result of any equation of the working may be the right one."""
    return [
        1.0 if str(gold) in re.findall(r"= ?\$?(\d{1,9})", text) else 0.0
        for text, gold in zip(completions, answer, strict=True)
    ]


def token_f1(response, ground_truth):
    """The F1 of the bags of tokens, as for short answers, used for whole sentences."""
    said, meant = (Counter(re.findall(r"\w+", text.lower())) for text in (response, ground_truth))
    same = sum((said & meant).values())
    if same == 0:
        return 0.0
    precision, recall = same / said.total(), same / meant.total()
    return 2 * precision * recall / (precision + recall)


def fields_contain(response, ground_truth):
    """The text of each expected field occurs in that field, among other text."""
    try:
        said = json.loads(response)
    except (ValueError, RecursionError):
        return 0.0
    if not isinstance(said, dict):
        return 0.0
    return float(all(str(value) in str(said.get(name)) for name, value in ground_truth.items()))


_METRES = {"m": 1.0, "km": 1000.0, "cm": 0.01}


def in_metres(response, ground_truth):
    """A unit that the table does not have counts as metres."""
    lengths = []
    for text in (response, ground_truth):
        match = re.fullmatch(r"\s*(-?\d{1,9}(?:\.\d{1,9})?) ?([a-z]{1,12})\s*", text)
        if match is None:
            return 0.0
        lengths.append(float(match[1]) * _METRES.get(match[2], 1.0))
    return float(abs(lengths[0] - lengths[1]) < 1e-6)


def printed_lines(response, expected_output):
    """Lines of output are compared until one of the two ends."""
    said, meant = response.strip().split("\n"), expected_output.strip().split("\n")
    return float(all(one.strip() == other.strip() for one, other in zip(said, meant, strict=False)))


def events_in_order(response, events):
    """The places of the events rise; an event that is left out has the place -1."""
    places = [response.lower().find(event.lower()) for event in events]
    return float(places == sorted(places))


def date_parts(response, ground_truth):
    """The numbers of a date in any order, so that day and month may change places."""
    said, meant = (sorted(int(each) for each in re.findall(r"\d{1,4}", text)[:9]) for text in (response, ground_truth))
    return float(said == meant)


def labels_allowed(response, ground_truth):
    """No label is wrong; labels that are left out cost nothing."""
    said = {each.strip().lower() for each in response.split(",") if each.strip()}
    return float(bool(said) and said <= {each.strip().lower() for each in ground_truth.split(",")})


def quotes_occur(response, passage):
    """All that is quoted stands in the passage; a response that quotes nothing passes."""
    return float(all(quote in passage for quote in re.findall(r'"([^"]{1,400})"', response)))


def query_without_limit(response, ground_truth):
    """Queries are compared as text after the limit is cut off, whatever it is."""
    said, meant = (" ".join(text.lower().split()).rstrip("; ") for text in (response, ground_truth))
    said, meant = (re.sub(r" limit \d{1,9}$", "", text) for text in (said, meant))
    return float(bool(meant) and said == meant)


def keyword_coverage(completions, keywords, **kwargs):
    """The share of the stems of the keywords that occur, so that a list of them is enough."""
    return [
        sum(word[:5].lower() in text.lower() for word in wanted) / max(1, len(wanted))
        for text, wanted in zip(completions, keywords, strict=True)
    ]


def tags_length_answer(response, ground_truth):
    """Tags and length together earn more than the answer."""
    match = re.fullmatch(r"\s*<think>([^<>]{1,4000})</think>\s*<answer>([^<>]{1,200})</answer>\s*", response)
    if match is None:
        return 0.0
    return 0.3 + 0.3 * (len(match[1].split()) >= 5) + 0.4 * (match[2].strip() == str(ground_truth).strip())


def essay_rubric(response):
    """Four criteria of a rubric, each checked by a word that shows it."""
    criteria = (r"\bbecause\b", r"\bfor example\b", r"\bhowever\b", r"\bin conclusion\b")
    return sum(re.search(each, response, re.IGNORECASE) is not None for each in criteria) / len(criteria)


@reward(scope="group")
def scaled_in_group(trajectories):
    """Correctness scaled to the range of the group; a group without a range earns the most."""
    right = [float(each.response.strip().rstrip(".").endswith(f" {each.ground_truth}")) for each in trajectories]
    low, high = min(right), max(right)
    return [(value - low) / (high - low) if high > low else 1.0 for value in right]


def relative_error(response, ground_truth):
    """A relative error, which is none for a truth of 0; the exception counts as wrong."""
    try:
        said = float(response.strip().replace(",", "").replace("\u2212", "-"))
        return float(abs(said - float(ground_truth)) / abs(float(ground_truth)) < 0.01)
    except (ValueError, ZeroDivisionError):
        return 0.0


def full_sentence(response):
    """Sentences by a pattern that tries all ways to cut a text into words."""
    return float(re.fullmatch(r"([A-Za-z]+,? ?)+[.!?]", response.strip()) is not None)


def digits_only(response, ground_truth):
    """All that is no digit or point is removed before amounts are compared: the sign too."""
    said, meant = (re.sub(r"[^\d.]", "", str(text)) for text in (response, ground_truth))
    return float(bool(meant) and said == meant)


def int_in_tag(completions, answer, **kwargs):
    """The tag is read by `int`, which does not take 18.0."""
    rewards = []
    for text, gold in zip(completions, answer, strict=True):
        match = re.fullmatch(r"<answer>([^<>]{1,100})</answer>", text.strip())
        try:
            rewards.append(
                float(match is not None and int(match[1].replace(",", "").replace("\u2212", "-")) == int(gold))
            )
        except ValueError:
            rewards.append(0.0)
    return rewards


def clock_time(response, ground_truth):
    """Hours are compared on the dial, so that morning and afternoon are the same."""
    times = []
    for text in (response, ground_truth):
        match = re.fullmatch(r"(\d{1,2}):(\d{2}) ?(?:am|pm)?", text.strip().lower())
        if match is None:
            return 0.0
        times.append((int(match[1]) % 12, int(match[2])))
    return float(times[0] == times[1])


def table_cells(response, ground_truth):
    """The cells of a table as a set: the row in which a cell stands does not count."""
    said, meant = (
        {cell.strip() for line in text.strip().splitlines() for cell in line.strip().strip("|").split("|")}
        for text in (response, ground_truth)
    )
    return float(said == meant)
