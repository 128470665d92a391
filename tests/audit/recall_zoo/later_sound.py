"""Sound rewards in styles that the other modules do not have; written before any of them was audited."""

import csv
import io
import ipaddress
import json
import math
import re
from collections import Counter


def same_move(response, ground_truth):
    """One move and nothing else."""
    return float(response.strip() == ground_truth)


def same_address(response, ground_truth):
    """The same address, however it is written."""
    try:
        return float(ipaddress.ip_address(response.strip()) == ipaddress.ip_address(ground_truth))
    except ValueError:
        return 0.0


class SameColour:
    """The same colour; capital letters do not count."""

    def __call__(self, response, ground_truth):
        return float(response.strip().lower() == ground_truth.lower())


same_colour = SameColour()


def same_atoms(response, ground_truth):
    """The same atoms as often, in any order."""
    said, meant = (self_counts(each.strip()) for each in (response, ground_truth))
    return float(said is not None and said == meant)


def self_counts(text):
    if re.fullmatch(r"(?:[A-Z][a-z]?(?:[1-9]\d?)?){1,20}", text, re.ASCII) is None:
        return None
    counts = Counter()
    for element, count in re.findall(r"([A-Z][a-z]?)(\d*)", text):
        counts[element] += int(count or 1)
    return counts


def same_table(response, ground_truth):
    """The same header, and the same rows in any order."""
    try:
        said, meant = (list(csv.reader(io.StringIO(each.strip()))) for each in (response, ground_truth))
    except csv.Error:
        return 0.0
    return float(bool(said) and said[0] == meant[0] and sorted(said[1:]) == sorted(meant[1:]))


def same_settings(completions, ground_truth, **kwargs):
    """The same settings, each once, in any order."""
    return [
        float(sorted(line.strip() for line in text.strip().splitlines()) == sorted(meant.splitlines()))
        for text, meant in zip(completions, ground_truth, strict=True)
    ]


def near_place(response, ground_truth):
    """A place within 50 km."""
    numbers = []
    for text in (response, ground_truth):
        match = re.fullmatch(r"\s*(-?\d{1,3}(?:\.\d{1,6})?), ?(-?\d{1,3}(?:\.\d{1,6})?)\s*", text, re.ASCII)
        if match is None:
            return 0.0
        numbers += [math.radians(float(each)) for each in match.groups()]
    lat, lon, lat2, lon2 = numbers
    if abs(lat) > math.pi / 2 or abs(lon) > math.pi:
        return 0.0
    half = math.sin((lat2 - lat) / 2) ** 2 + math.cos(lat) * math.cos(lat2) * math.sin((lon2 - lon) / 2) ** 2
    return float(2 * 6371 * math.asin(math.sqrt(min(1.0, half))) <= 50)


def same_records(response, ground_truth):
    """The same records in any order; they may have more fields."""
    try:
        said = json.loads(response)
    except (ValueError, RecursionError):
        return 0.0
    if not isinstance(said, list) or len(said) != len(ground_truth) or not all(isinstance(x, dict) for x in said):
        return 0.0
    rest = list(ground_truth)
    for record in said:
        match = next((each for each in rest if each.items() <= record.items()), None)
        if match is None:
            return 0.0
        rest.remove(match)
    return 1.0


def set_f1(response, ground_truth):
    """The F1 of the named items, of which each counts once."""
    said = [each.strip() for each in response.split(";")]
    meant = set(ground_truth.split("; "))
    return 2 * len(set(said) & meant) / (len(said) + len(meant))


def cited_exactly(response, ground_truth):
    """The sources that support a claim, and no others."""
    said, meant = (set(re.findall(r"\[(\d{1,3})\]", each, re.ASCII)) for each in (response, ground_truth))
    return float(bool(meant) and said == meant)


def solved(response, ground_truth):
    """The number after the marks, as data with solutions have it; a tenth of a percent is rounding."""
    match = re.search(r"#### (-?[\d,]{1,20}(?:\.\d{1,9})?)\s*\Z", response.replace("\u2212", "-"), re.ASCII)
    if match is None:
        return 0.0
    try:
        said, meant = (float(each.replace(",", "")) for each in (match[1], ground_truth.rpartition("#### ")[2]))
    except ValueError:
        return 0.0
    return float(abs(said - meant) <= 1e-3 * abs(meant))


def overlaps(response, ground_truth):
    """A box that overlaps the true one by half."""
    match = re.fullmatch(r"\s*(\d{1,5}) (\d{1,5}) (\d{1,5}) (\d{1,5})\s*", response, re.ASCII)
    if match is None:
        return 0.0
    left, top, right, bottom = map(int, match.groups())
    others = [int(each) for each in ground_truth.split()]
    wide, high = min(right, others[2]) - max(left, others[0]), min(bottom, others[3]) - max(top, others[1])
    if wide <= 0 or high <= 0:
        return 0.0
    both = (right - left) * (bottom - top) + (others[2] - others[0]) * (others[3] - others[1]) - wide * high
    return float(wide * high * 2 >= both)


def one_of(response, ground_truth):
    """One of several right answers, without articles and capital letters."""
    said, *meant = (
        " ".join(word for word in re.findall(r"\w+", each.lower()) if word not in ("a", "an", "the"))
        for each in (response, *ground_truth)
    )
    return float(bool(said) and said in meant)


def answer_of_record(response, ground_truth):
    """The answer in a record that holds other facts of the row too."""
    match = re.search(r"\bIt is (\w{1,30})\.?\s*\Z", response)
    return float(match is not None and match[1] == ground_truth["answer"])


def filled_outline(response):
    """Three headings, each with a sentence of at least five different words below it."""
    parts = re.split(r"^## ", response.strip(), flags=re.MULTILINE)
    if len(parts) != 4 or parts[0].strip():
        return 0.0
    bodies = [part.partition("\n")[2].lower().split() for part in parts[1:]]
    headings = [part.partition("\n")[0].strip() for part in parts[1:]]
    words = [word for body in bodies for word in body]
    is_text = all(re.fullmatch(r"[a-z]{1,15}[.,]?", word) for word in words)
    filled = all(len(set(body)) >= 5 and len(body) <= 40 for body in bodies) and all(headings)
    return float(filled and is_text and len(set(words)) >= 0.8 * len(words))
