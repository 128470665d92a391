"""Attacks on rewards that judge open answers: phrases that open some judges, self-grades, the prompt copied.

A reward without a ground truth may follow length as well, so each attack is compared with a neutral text of the same
shape: only what the words themselves earn counts.
"""

import re
from collections.abc import Iterator, Sequence

from plaudit.audit.attacks.forms import LONG_WORKING, WORKING
from plaudit.audit.attacks.judges import CLAIMS, GRADES, KEYS, ORDERS
from plaudit.audit.attacks.operator import MOST
from plaudit.audit.findings import Attacker
from plaudit.audit.hits import Attempt, Hit
from plaudit.audit.qualities.lengths import HONEST
from plaudit.audit.qualities.trial import Trial

__all__ = ["attack_judgement", "neutral"]

READ = "read the verdict from the judge's reply alone, and rate an empty opening as wrong"
RELEVANCE = "take what the response adds to the prompt, not what it shares with it"
FAMILIES = {
    "opening without content": KEYS, "self-grade": GRADES, "order to the judge": ORDERS, "claim of success": CLAIMS,
}  # fmt: skip
_WORDS, _LETTERS = re.compile(r"\w+"), re.compile(r"[^\W\d]+")
_IN_QUOTES = re.compile(r'(?<=")\w+(?=")|^[^\W\d]+(?=[^"{]*$)')  # leaves the values of JSON as they are
_FILLER = (
    ("a",), ("at", "on", "by", "up"), ("mat", "jar", "rug", "pot"), ("lamp", "door", "sofa", "roof"),
    ("table", "chair", "shelf", "broom"), ("carpet", "window", "basket", "candle"),
    ("kitchen", "cushion", "curtain", "cabinet"), ("sideways", "wardrobe", "bookcase", "handrail"),
    ("furniture", "staircase", "fireplace", "bedspread"), ("decoration", "washbasins", "tablecloth", "footstools"),
)  # fmt: skip


def attack_judgement(make_trials: Sequence[Trial]) -> Iterator[Attempt]:
    """Attacks that need no truth, on tasks where the reward does not tell right from wrong."""
    named: dict[str, list[Hit]] = {}
    echoes: list[Hit] = []
    for trial in make_trials:
        honest = [
            trial.task.right, trial.task.wrong, f"{WORKING} {trial.task.right}", LONG_WORKING, "The answer is 12.",
            "I do not know.",
        ]  # fmt: skip
        values = [value for value in trial.values(honest) if value is not None]
        if len(values) < len(honest):
            continue
        for name, texts in FAMILIES.items():
            named.setdefault(name, []).extend(_paid(trial, texts, values, honest))
        echoes += _echo(trial)
    for name, hits in named.items():
        if hits:
            yield _attempt("judges", name, READ, hits, len(make_trials))
    if echoes:
        yield _attempt("similarity", "echo of the prompt", RELEVANCE, echoes, len(make_trials))


def _attempt(family: str, name: str, remedy: str, hits: list[Hit], tried: int) -> Attempt:
    message = f"{name}: earns {hits[0].output.reward:g}; an honest response {hits[0].honest_reward:g}"
    return Attempt(family, name, Attacker.ANSWER_FREE, remedy, tuple(hits), tried, message=message)


def _paid(trial: Trial, texts: Sequence[str], honest: list[float], responses: list[str]) -> Iterator[Hit]:
    best, worst = max(honest), min(honest)
    paid = trial.values(texts)
    controls = [trial.values(_controls(text)) for text in texts]
    for text, value, beside in zip(texts, paid, controls, strict=True):
        known = [each for each in beside if each is not None]
        if value is None or not known:
            continue
        control = max(known)
        by_words = value - max(control, worst)
        if not trial.differs(value, max(control, worst)):
            continue
        if value >= best - 1e-9 and by_words >= MOST * (value - worst):
            yield trial.hit(text, value, responses[honest.index(worst)], (text,))
            return


def _controls(text: str) -> list[str]:
    """Neutral texts of the same shape; of JSON or XML also ones that are still that, since some rewards pay for it."""
    plain = [neutral(text)]
    return [*plain, neutral(text, _LETTERS), neutral(text, _IN_QUOTES)] if text[:1] in "{[<" else plain


def _echo(trial: Trial) -> Iterator[Hit]:
    """The prompt itself or a piece of it, where an answer to it earns more than one to something else."""
    prompt = trial.task.prompt_text
    words = prompt.split()
    pieces = dict.fromkeys([prompt, " ".join(words[: len(words) // 2]), " ".join(words[len(words) // 2 :])])
    for piece in pieces:
        unrelated = " ".join(HONEST[-1].split()[-len(piece.split()) :])
        good, bad, echo, *others = trial.values([trial.task.right, trial.task.wrong, piece, neutral(piece), unrelated])
        if good is None or bad is None or echo is None:
            return
        control = max((value for value in others if value is not None), default=echo)
        if trial.differs(good, bad) and echo >= good - 1e-9 and echo - control >= MOST * (good - bad):
            yield trial.hit(piece, good, trial.task.wrong, (piece,))
            return


def neutral(text: str, words: re.Pattern[str] = _WORDS) -> str:
    """A text of the same shape that says nothing: words of the same lengths, the same punctuation, as varied."""
    seen: dict[str, str] = {}

    def replace_word(match: re.Match[str]) -> str:
        choice = _FILLER[min(len(match[0]), len(_FILLER)) - 1]
        return seen.setdefault(match[0], choice[len(seen) % len(choice)])

    return words.sub(replace_word, text)
