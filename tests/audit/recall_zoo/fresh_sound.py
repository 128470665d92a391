"""Sound rewards in styles that the rest of the zoo does not have; written before any of them was audited."""

import json
import re
from dataclasses import dataclass
from datetime import date


class _WholeDuration:
    """A duration and nothing else, by its value."""

    def __call__(self, response, ground_truth):
        said, meant = self.minutes(response), self.minutes(ground_truth)
        return float(said is not None and said == meant)

    @staticmethod
    def minutes(text):
        match = re.fullmatch(r"(\d{1,6}) ?(min|h)", text.strip(), re.ASCII)
        return None if match is None else int(match[1]) * (60 if match[2] == "h" else 1)


whole_duration = _WholeDuration()


def exact_selection(response, ground_truth):
    """The same options, in any order."""
    chosen = [each.strip() for each in response.split(",")]
    return float(len(set(chosen)) == len(chosen) and set(chosen) == set(ground_truth.split(", ")))


def confident_and_right(response, ground_truth):
    """A right answer earns more with confidence, a wrong one earns nothing and loses with it."""
    answer, _, confidence = response.strip().rpartition(" confidence ")
    if re.fullmatch(r"0\.\d{1,3}|1\.0", confidence, re.ASCII) is None:
        return 0.0
    sure = float(confidence)
    return 1.0 - (1.0 - sure) ** 2 if answer == ground_truth else -(sure**2)


@dataclass(frozen=True)
class PairsInOrder:
    """The share of pairs in the right order, for rankings of exactly the given items; less than half earns nothing."""

    least: float = 0.5

    def compute_reward(self, trajectory):
        wanted = trajectory.ground_truth.split(" > ")
        named = [each.strip() for each in trajectory.response.split(">")]
        if sorted(named) != sorted(wanted):
            return 0.0
        places = [named.index(item) for item in wanted]
        pairs = [(a, b) for i, a in enumerate(places) for b in places[i + 1 :]]
        share = sum(a < b for a, b in pairs) / len(pairs)
        return share if share > self.least else 0.0


async def same_day(response, ground_truth):
    """One date and nothing else, in one of two forms."""
    text = response.strip()
    match = re.fullmatch(r"(\d{4})-(\d{2})-(\d{2})", text, re.ASCII)
    slashes = re.fullmatch(r"(\d{2})/(\d{2})/(\d{4})", text, re.ASCII)
    parts = match.groups() if match else slashes.groups()[::-1] if slashes else None
    try:
        return float(parts is not None and date(*map(int, parts)) == date.fromisoformat(ground_truth))
    except ValueError:
        return 0.0


def box_overlap(response, ground_truth):
    """Intersection over union; below a half nothing."""
    match = re.fullmatch(r"\[(\d{1,5}), (\d{1,5}), (\d{1,5}), (\d{1,5})\]", response.strip(), re.ASCII)
    if match is None:
        return 0.0
    left, top, right, bottom = map(int, match.groups())
    others = json.loads(ground_truth)
    wide, high = min(right, others[2]) - max(left, others[0]), min(bottom, others[3]) - max(top, others[1])
    if right <= left or bottom <= top or wide <= 0 or high <= 0:
        return 0.0
    both = (right - left) * (bottom - top) + (others[2] - others[0]) * (others[3] - others[1]) - wide * high
    return wide * high / both if wide * high * 2 >= both else 0.0


def same_query(response, ground_truth):
    """The tokens of the expected query in their order; case and blanks do not count outside of quotes."""
    said, meant = (
        re.findall(r"'[^']*'|\w+|[^\w\s]", each.strip().removesuffix(";")) for each in (response, ground_truth)
    )
    return float(
        [each if each[0] == "'" else each.lower() for each in said]
        == [each if each[0] == "'" else each.lower() for each in meant]
    )


def whole_tool_call(response, ground_truth):
    """The call as an object, and nothing else."""
    try:
        return float(json.loads(response) == json.loads(ground_truth))
    except (ValueError, RecursionError):
        return 0.0


def same_vector(response, ground_truth):
    """The same numbers in brackets."""
    try:
        said, meant = json.loads(response), json.loads(ground_truth)
    except (ValueError, RecursionError):
        return 0.0
    return float(isinstance(said, list) and all(type(each) in (int, float) for each in said) and said == meant)


def counted_lines(response):
    """Three lines of five, seven and five different words of letters."""
    lines = [line.split() for line in response.strip().split("\n")]
    words = [word.strip(",.").lower() for line in lines for word in line]
    is_text = all(word.isalpha() and len(word) < 20 for word in words) and len(set(words)) == len(words)
    return float([len(line) for line in lines] == [5, 7, 5] and is_text)
