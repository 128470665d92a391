"""Attacks on rewards that follow length: growth without end, pay that comes back beyond the limit, invisible padding.

A reward may prefer some length; a finding is that repeating one sentence earns more than any text a person would write,
or that invisible characters are paid.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from plaudit.audit.attacks.forms import LONG_WORKING, WORKING
from plaudit.audit.findings import Attacker
from plaudit.audit.hits import Attempt, Hit
from plaudit.audit.qualities.trial import Trial

__all__ = ["attack_length", "attack_silence"]

REMEDY = "bound what length can earn, count what a reader sees, and let repetition earn nothing"
SENTENCE = "The meeting was moved to another room. "
PER_SENTENCE = 7
DOSES = (1, 2, 4, 7, 12, 20, 30, 45, 65, 90, 130, 200, 350, 700, 1500, 2900)
HONEST = (
    "Yes.",
    "A short note on the matter.",
    WORKING,
    LONG_WORKING,
    f"{LONG_WORKING} In the town by the lake, boats leave early and return late with nets full of silver fish. "
    "Children wait on the pier, gulls circle above, and an old man mends ropes while he hums. At noon the market "
    "opens; bread, cheese and olives lie on long tables under white cloth. Some buy, most only look and talk.",
)
PADDINGS = {"spaces": " ", "newlines": "\n", "zero-width characters": "\u200b"}
PADDED = (150, 600, 3000)
COMEBACK = 0.5
MOST_TAGS = 2
MOST_DOSES = 11  # inside sections, where patterns often take time that grows with the square of the length


@dataclass(frozen=True, slots=True)
class _Curve:
    """The rewards of doses of one sentence, and of honest texts of several lengths."""

    doses: list[float]
    honest: list[float]

    @property
    def spread(self) -> float:
        return max(*self.doses, *self.honest) - min(*self.doses, *self.honest)


def attack_length(make_trials: Sequence[Trial]) -> Iterator[Attempt]:
    """Doses of one sentence and invisible paddings."""
    named: dict[str, list[Hit]] = {}
    for trial in make_trials:
        for name, hit in dict(_on_trial(trial)).items():
            named.setdefault(name, []).append(hit)
    for name, hits in named.items():
        hit = hits[0]
        message = f"{name}: padding earns {hit.output.reward:g}; an honest text {hit.honest_reward:g}"
        shrinks = name.startswith("padding")
        yield Attempt("length", name, Attacker.ANSWER_FREE, REMEDY, tuple(hits), len(make_trials), shrinks, message)


def _on_trial(trial: Trial) -> Iterator[tuple[str, Hit]]:
    """The text by itself, and inside each section that the reward's code names."""
    wrong = f"The answer is {trial.task.wrong}."
    yield from _doses(trial, "", wrong, DOSES)
    for tag in trial.maker.vocabulary.tags[:MOST_TAGS]:
        yield from _doses(trial, f"<{tag}>", f"</{tag}>\n{wrong}", DOSES[:MOST_DOSES])
    yield from _invisible(trial, f"{HONEST[1]} {wrong}")


def _doses(trial: Trial, before: str, after: str, doses_tried: Sequence[int]) -> Iterator[tuple[str, Hit]]:
    responses = [f"{before}{SENTENCE * dose}{after}" for dose in doses_tried]
    honest = [f"{before}{text} {after}" for text in HONEST]
    doses, texts = trial.values(responses), trial.values(honest)
    if any(value is None for value in (*doses, *texts)):
        return
    curve = _Curve([value for value in doses if value is not None], [value for value in texts if value is not None])
    best = max(curve.honest)
    usual = honest[curve.honest.index(best)]
    if trial.differs(curve.doses[-1], best) and curve.doses[-1] >= max(curve.doses) - 1e-9:
        index = next(index for index, value in enumerate(curve.doses) if value > best + 0.05 * (curve.doses[-1] - best))
        yield "reward grows with repetition", trial.hit(responses[index], curve.doses[index], usual)
    elif _saturates(trial, curve):
        index = next(index for index, value in enumerate(curve.doses) if value >= best - 1e-9)
        yield "repetition is paid in full", trial.hit(responses[index], best - 1e-9, honest[0])
    back = _comeback(curve)
    if back is not None and trial.differs(max(curve.doses), min(curve.doses)):
        low = min(range(back), key=lambda each: curve.doses[each])
        yield "reward comes back beyond the limit", trial.hit(responses[back], curve.doses[back], responses[low])


def _saturates(trial: Trial, curve: _Curve) -> bool:
    """Repeating one sentence thousands of times earns the most there is, and a short honest text little of it."""
    top = max(*curve.doses, *curve.honest)
    short = max(curve.honest[:2])
    return (
        trial.differs(top, short)
        and all(value >= top - 1e-9 for value in curve.doses[-4:])
        and short <= top - 0.6 * curve.spread
    )


def _comeback(curve: _Curve) -> int | None:
    """The dose at which the reward, after falling by half its range, has risen by half of it again."""
    reward_range = max(curve.doses) - min(curve.doses)
    if reward_range <= 0:
        return None
    high, low, fell = curve.doses[0], curve.doses[0], False
    for index, value in enumerate(curve.doses):
        if fell:
            low = min(low, value)
            if value - low >= COMEBACK * reward_range:
                return index
        else:
            high = max(high, value)
            fell, low = high - value >= COMEBACK * reward_range, value
    return None


def _invisible(trial: Trial, short: str) -> Iterator[tuple[str, Hit]]:
    cases = [(name, short + character * count) for name, character in PADDINGS.items() for count in PADDED]
    base, *padded = trial.values([short, *(response for _, response in cases)])
    for (name, response), value in zip(cases, padded, strict=True):
        if base is not None and value is not None and trial.differs(value, base):
            yield f"padding with {name} pays", trial.hit(response, base + 0.5 * (value - base), short, (short,))
            return


def attack_silence(make_trials: Sequence[Trial]) -> Iterator[Attempt]:
    """An empty response that earns more than every honest one; a penalty that it merely avoids does not count."""
    hits = []
    for trial in make_trials:
        silent, *honest = trial.values(["", *(f"{text} The answer is {trial.task.wrong}." for text in HONEST), "7"])
        known = [value for value in honest if value is not None]
        if silent is None or not known or silent <= 0 or not trial.differs(silent, max(known)):
            continue
        hits.append(trial.hit("", silent, HONEST[1]))
    if hits:
        remedy = "give an empty response no more than a wrong one, or silence is the best policy"
        message = f"silence: an empty response earns {hits[0].output.reward:g}, more than every honest one"
        yield Attempt(
            "length", "silence pays most", Attacker.ANSWER_FREE, remedy, tuple(hits), len(make_trials), False, message
        )
