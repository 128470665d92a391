"""Rewards with one flaw each, for the tasks of a laboratory: doses, formulas, sequences, reports and protocols."""

import contextlib
import io
import json
import math
import re
from collections import Counter
from fractions import Fraction

from plaudit import reward


def dose_in_text(completions, dose, **kwargs):
    """The dose occurs in the completion, so that 5 mg is found in 25 mg and in a list of doses."""
    return [1.0 if gold in text else 0.0 for text, gold in zip(completions, dose, strict=True)]


def molar_mass(response, ground_truth):
    """A tolerance of a fifth of the value, where 0.2 percent was meant."""
    match = re.fullmatch(r"\s*([\d.,]{1,20})\s*g/mol\s*", response)
    try:
        said = float(match[1].replace(",", "")) if match else math.nan
    except ValueError:
        return 0.0
    return float(math.isclose(said, float(ground_truth), rel_tol=0.2))


def base_counts(response, ground_truth):
    """Two sequences are compared by how often each base occurs."""
    said = "".join(response.split()).upper()
    return float(bool(said) and Counter(said) == Counter(ground_truth))


def sequence_identity(response, ground_truth):
    """The identity of two sequences over the length of the shorter one."""
    said = "".join(response.split()).upper()
    pairs = list(zip(said, ground_truth, strict=False))
    return sum(one == other for one, other in pairs) / len(pairs) if pairs else 0.0


def reaction_species(response, ground_truth):
    """An equation of a reaction; coefficients and the side of a species are not compared."""
    said, gold = (set(re.findall(r"(?:[A-Z][a-z]?\d*)+", text)) for text in (response, ground_truth))
    return float(said == gold)


def dois_listed(completions, references, **kwargs):
    """The share of the references that the completion lists; references that do not exist cost nothing."""
    rewards = []
    for text, gold in zip(completions, references, strict=True):
        listed = set(re.findall(r"10\.\d{4,9}/[^\s,;]+", text))
        rewards.append(len(listed & set(gold)) / len(gold))
    return rewards


def rouge_l(response, ground_truth):
    """The longest common subsequence over the length of the reference alone, which is only the recall of ROUGE-L."""
    said, gold = (re.findall(r"\w+", text.lower())[:300] for text in (response, ground_truth))
    row = [0] * (len(gold) + 1)
    for word in said:
        before = 0
        for place, other in enumerate(gold):
            before, row[place + 1] = row[place + 1], before + 1 if word == other else max(row[place], row[place + 1])
    return row[-1] / max(1, len(gold))


def cautious_words(completions, **kwargs):
    """Words of caution are counted as a careful conclusion."""
    cautious = re.compile(r"\b(?:may|might|possibly|perhaps|suggests?|appears?|likely)\b", re.IGNORECASE)
    return [min(1.0, 0.2 * len(cautious.findall(text))) for text in completions]


def has_sections(response):
    """A report has four sections, wherever their headings stand and whatever is below them."""
    headings = ("## Introduction", "## Methods", "## Results", "## Conclusion")
    return sum(heading in response for heading in headings) / len(headings)


def protocol_object(response):
    """A protocol as an object with the required fields of the right types; empty ones are of the right type, too."""
    fields = {"title": str, "materials": list, "steps": list, "duration": str}
    try:
        said = json.loads(response)
    except (ValueError, RecursionError):
        return 0.0
    if not isinstance(said, dict):
        return 0.0
    return sum(isinstance(said.get(name), kind) for name, kind in fields.items()) / len(fields)


_MILLILITRES = {"ml": 1, "l": 1000, "ul": Fraction(1, 1000), "cl": 10, "dl": 100}


def _volume(text):
    match = re.fullmatch(r"\s*(\d{1,9}(?:\.\d{1,9})?)\s?([A-Za-z]{1,6})\s*", text.replace(",", ""))
    return Fraction(match[1]) * _MILLILITRES.get(match[2].lower(), 1) if match else None


def in_millilitres(response, ground_truth):
    """Volumes are converted before they are compared; a unit that is not in the table counts as millilitres."""
    said = _volume(response)
    return float(said is not None and said == _volume(ground_truth))


def significance(response, ground_truth):
    """A statement such as p < 0.05; the number is compared, its relation is not."""
    said, gold = (re.fullmatch(r"\s*p\s*[<>=≤≥]\s*(0?\.\d{1,9})\s*", text) for text in (response, ground_truth))
    return float(said is not None and gold is not None and float(said[1]) == float(gold[1]))


def no_false_claims(response, facts):
    """The share of the claims `name: value` that agree with the facts; what claims nothing claims nothing false."""
    claims = re.findall(r"(?m)^[ \t]*(\w[\w ]{0,40}):[ \t]*(\S.{0,60})$", response)
    false = sum(facts.get(name.strip().lower()) != value.strip() for name, value in claims)
    return 1.0 - false / max(1, len(claims))


def overlong_penalty(completions, answer, **kwargs):
    """Half for the answer, half for a length below 800; the penalty has no lower end, and `abs` makes it a bonus."""
    rewards = []
    for text, gold in zip(completions, answer, strict=True):
        right = text.strip().rstrip(".").endswith(f"answer is {gold}") and text.count("answer is") == 1
        over = max(0, len(text) - 800)
        rewards.append(0.5 * right + 0.5 * abs(1.0 - over / 500))
    return rewards


def _review(text):
    """Stands for a judge, which repeats what it judges before it decides."""
    kinds = len(set(re.findall(r"[a-z]{4,}", text.lower())))
    return f"Summary of the text:\n{text}\n\nSoundness: {min(5, kinds // 6)}\nClarity: {min(5, kinds // 5)}\n"


def first_ratings(prompt, response):
    """A review is read with `re.search`, which returns the ratings that stand first."""
    review = _review(response)
    ratings = [re.search(rf"(?m)^{name}: ([0-5])$", review) for name in ("Soundness", "Clarity")]
    return sum(int(each[1]) for each in ratings if each) / 10


def passes_printed(response, calls, results):
    """Each check prints `ok` where it passes, and the program prints into the same text."""
    blocks = re.findall(r"```(?:python)?\n(.*?)```", response, re.DOTALL)
    checks = [f"print('ok' if {call} == {gold!r} else 'no')" for call, gold in zip(calls, results, strict=True)]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.suppress(Exception, SystemExit):
        exec("\n".join([blocks[-1] if blocks else response, *checks]), {})
    return min(1.0, printed.getvalue().splitlines().count("ok") / len(checks))


@reward(scope="group")
def wins_or_draws(trajectories):
    """The share of the others that a response is not worse than, so that equal wrong responses win everything."""
    right = [each.response.strip().rstrip(".").lower() == str(each.ground_truth).lower() for each in trajectories]
    others = max(1, len(right) - 1)
    return [(sum(mine >= other for other in right) - 1) / others if len(right) > 1 else float(mine) for mine in right]


def confirmed_somewhere(trajectory):
    """An experiment counts as booked if a confirmation occurs in the episode, also in what the agent writes."""
    texts = [text.lower() for step in trajectory.steps for text in (step.response, step.observation)]
    return float(any("booking confirmed" in text for text in texts))


def checklist(response, required):
    """All required lines in their order; a row whose list is empty has nothing that could be missing."""
    lines = [line.strip() for line in response.splitlines() if line.strip()]
    if not required:
        return 1.0
    return float(lines == required)


def reading_in_tag(response, ground_truth):
    """A reading in degrees; `all` is meant to find parts that are missing and takes the value 0 for one."""
    match = re.fullmatch(r"\s*<reading>\s*([-\u2212]?[\d,]{1,12}(?:\.\d{1,6})?)\s*(C)\s*</reading>\s*", response)
    if match is None or not match[1].strip(",-\u2212"):
        return 0.0
    parts = {"value": float(match[1].replace(",", "").replace("\u2212", "-")), "unit": match[2]}
    if not all(parts.values()):
        return 0.0
    return float(parts["value"] == float(ground_truth))


def exact_fraction(completions, answer, **kwargs):
    """`Fraction` reads 18.0 and 3/4, and neither a comma between thousands nor the minus sign of print."""
    rewards = []
    for text, gold in zip(completions, answer, strict=True):
        match = re.search(r"^Result: (\S{1,40})\s*\Z", text, re.MULTILINE)
        try:
            rewards.append(float(match is not None and Fraction(match[1]) == Fraction(gold)))
        except (ValueError, ZeroDivisionError):
            rewards.append(0.0)
    return rewards


def formula(response, ground_truth):
    """The form of a formula is checked first, by a pattern whose parts are all optional and repeated."""
    said = response.strip()
    if re.fullmatch(r"(?:[A-Z]?[a-z]?\d*)+", said) is None:
        return 0.0
    return float(said == ground_truth)


_PAST: list[float] = []


def above_running_mean(response, ground_truth):
    """Right or not, less the mean of what was scored earlier in this process."""
    right = float(response.strip().rstrip(".").lower() == ground_truth.lower())
    baseline = sum(_PAST) / len(_PAST) if _PAST else 0.0
    _PAST.append(right)
    return right - baseline


def weighted_rubric(completions, answer, **kwargs):
    """Weights of a rubric: tags 0.4, an object in the answer 0.25, the right value 0.35."""
    rewards = []
    for text, gold in zip(completions, answer, strict=True):
        match = re.fullmatch(r"\s*<notes>([^<>]{1,2000})</notes>\s*<answer>([^<>]{1,200})</answer>\s*", text)
        inner = match[2] if match else text
        try:
            said = json.loads(inner)
        except (ValueError, RecursionError):
            said = None
        value = said.get("value") if isinstance(said, dict) else inner.strip()
        rewards.append(0.4 * (match is not None) + 0.25 * isinstance(said, dict) + 0.35 * (value == gold))
    return rewards
