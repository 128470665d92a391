"""Rewards with one flaw each, for the tasks of a web shop: prices, orders, tickets, addresses, translations, plans."""

import ast
import datetime
import difflib
import json
import re
from statistics import fmean, pstdev

from plaudit import reward


def price_anywhere(completions, price, **kwargs):
    """Any amount in the text may be the price."""
    found = (re.findall(r"\$?(\d{1,7}(?:\.\d{2})?)", text) for text in completions)
    return [float(gold in amounts) for amounts, gold in zip(found, price, strict=True)]


def total_within_a_dollar(response, ground_truth):
    """Totals are small, and a distance of up to one dollar is paid in full."""
    match = re.fullmatch(r"\s*Total: \$(\d{1,7}(?:\.\d{1,2})?)\s*", response)
    return float(match is not None and abs(float(match[1]) - float(ground_truth)) <= 1.0)


def ticket_label(response, ground_truth):
    """The label is looked up in the last line by `in`, so that a line of all labels is right."""
    lines = response.strip().splitlines()
    return float(bool(lines) and ground_truth.lower() in lines[-1].lower())


def address_fields(response, ground_truth):
    """An address as an object: the share of the values of the answer that are right, and not of the reference."""
    try:
        said = json.loads(response)
    except (ValueError, RecursionError):
        return 0.0
    if not isinstance(said, dict) or not said:
        return 0.0
    return sum(ground_truth.get(key) == value for key, value in said.items()) / len(said)


def order_lines(response, items):
    """The items of an order as `2 x pen`; the numbers are not compared."""
    said = {match[2].strip() for match in re.finditer(r"(?m)^(\d+) x (.+)$", response)}
    return float(said == set(items))


def polite(response):
    """Words of courtesy are counted."""
    words = ("please", "thank", "sorry", "appreciate", "happy to help")
    return min(1.0, sum(response.lower().count(word) for word in words) / 4)


def reply_similarity(response, reference):
    """How similar the letters of a reply are to those of the reference."""
    return difflib.SequenceMatcher(None, sorted(response), sorted(reference), autojunk=False).ratio()


def ship_date(response, ground_truth):
    """A date as day and month; the year is read and dropped."""
    try:
        said = datetime.date.fromisoformat(response.strip())
    except ValueError:
        return 0.0
    gold = datetime.date.fromisoformat(ground_truth)
    return float((said.month, said.day) == (gold.month, gold.day))


def valid_plan(response):
    """A plan has numbered steps; the form alone is paid, up to six steps."""
    return min(6, len(re.findall(r"(?m)^\d+\.", response))) / 6


def sku_in_order(response, skus):
    """The share of the stock numbers that occur; each is looked up in the whole text, in any order."""
    return sum(sku in response for sku in skus) / max(1, len(skus))


@reward(scope="group")
def rarer_is_better(trajectories):
    """A bonus for answers that few others in the group gave, on top of a small reward for the right one."""
    answers = [each.response.strip().lower() for each in trajectories]
    right = [answer == str(each.ground_truth).lower() for answer, each in zip(answers, trajectories, strict=True)]
    return [0.5 * ok + 0.5 * (1 - answers.count(mine) / len(answers)) for ok, mine in zip(right, answers, strict=True)]


@reward(scope="group")
def standardised(trajectories):
    """Z-scores of correctness; without a spread the deviation is replaced by a small number after the mean of one."""
    right = [float(each.response.strip() == str(each.ground_truth)) for each in trajectories]
    spread = pstdev(right) if len(right) > 1 else 0.0
    return [(value - fmean(right)) / spread for value in right]


def quantity_or_missing(response, ground_truth):
    """The stock that is left; `or` takes 0 for a missing number."""
    match = re.fullmatch(r"\s*Stock: (\d{1,9})\s*", response)
    said = (int(match[1]) if match else None) or None
    return 0.0 if said is None else float(said == int(ground_truth))


def formula_value(response, ground_truth):
    """A formula is computed; only the names are checked, not how large the numbers become."""
    text = response.strip()
    if not re.fullmatch(r"[\d+\-*/(). ]{1,60}", text):
        return 0.0
    try:
        return float(eval(compile(ast.parse(text, mode="eval"), "<formula>", "eval")) == float(ground_truth))
    except (ArithmeticError, SyntaxError, TypeError, ValueError, MemoryError):
        return 0.0


def refund_decision(response, ground_truth):
    """Approve or deny: 1 for the right word, 0.6 where the tags are complete, whatever they hold."""
    match = re.fullmatch(r"\s*<reason>(.*?)</reason>\s*<decision>(.*?)</decision>\s*", response, re.DOTALL)
    if match is None:
        return 0.0
    return 1.0 if match[2].strip().lower() == ground_truth.lower() else 0.6


def concise(completions, answer, **kwargs):
    """The answer, less a part for its length; a text of no length at all keeps that part."""
    values = []
    for text, gold in zip(completions, answer, strict=True):
        right = bool(re.search(rf"(?<!\d){re.escape(gold)}(?!\d)\.?\s*\Z", text))
        values.append(0.4 * right + 0.6 * max(0.0, 1 - len(text) / 400))
    return values


def grade_line(prompt, response):
    """A judge is simulated: it quotes the reply, then grades by length; the first grade in its text is read."""
    verdict = f"The reply was:\n{response}\nGrade: {min(10, len(set(response.split())))}/10"
    match = re.search(r"Grade: (\d{1,2})/10", verdict)
    return min(10, int(match[1])) / 10 if match else 0.0


def refunded(trajectory):
    """An episode is paid as soon as the refund tool was called, also where the tool answered with an error."""
    return float(any("refund(" in step.response for step in trajectory.steps))


def same_currency(response, ground_truth):
    """Amounts with a currency are compared by their digits."""
    return float(re.sub(r"[^\d]", "", response) == re.sub(r"[^\d]", "", ground_truth) != "")


def labels_f1(response, labels):
    """F1 of labels between commas; a repeated label counts each time it is right."""
    said = [part.strip().lower() for part in response.split(",") if part.strip()]
    hits = sum(label in labels for label in said)
    precision, recall = hits / max(1, len(said)), hits / max(1, len(labels))
    return 2 * precision * recall / (precision + recall) if hits else 0.0


def translated(response, ground_truth):
    """A translation; accents are compared by code point after `lower`, quotation marks and dots are dropped."""
    return float(re.sub(r"[\"'.!?]", "", response.strip().lower()) == re.sub(r"[\"'.!?]", "", ground_truth.lower()))
