"""What the figures of some steps say: signs that a policy learns little, or something else than was meant.

A sign says what the rollouts show, not what will come of it. Its limit is a share or a correlation, whatever the scale
of the reward; growth is measured against the first steps of the run.
"""

from collections.abc import Callable
from dataclasses import dataclass

from plaudit.report.distribution import wilson_interval
from plaudit.watch.measures import Measures, quarter

__all__ = ["SIGNS", "Sign", "find_signs"]


@dataclass(frozen=True, slots=True)
class Sign:
    """One thing that the rollouts show, and what to do about it."""

    name: str
    value: float
    limit: float
    message: str
    remedy: str


Detector = Callable[[Measures, Measures], Sign | None]


def find_signs(first: Measures, now: Measures) -> tuple[Sign, ...]:
    """The signs in the latest steps; `first` are the figures of the first steps of the run."""
    return tuple(sign for detect in SIGNS.values() if (sign := detect(first, now)) is not None)


def _sign(name: str, value: float | None, limit: float, message: str, remedy: str) -> Sign | None:
    return None if value is None or value < limit else Sign(name, value, limit, message, remedy)


def _unscored(first: Measures, now: Measures) -> Sign | None:
    """The unscored share has risen since the first samples of the run, by more than chance explains."""
    early, late = first.unscored_early, now.unscored_late
    if early is None or late is None:
        return None
    if wilson_interval(late, quarter(now.samples))[0] <= wilson_interval(early, quarter(first.samples))[1]:
        return None
    message = (
        f"the policy moves to where it cannot be scored: {late:.0%} of the latest samples are unscored, {early:.0%} of "
        f"the first (most often {now.unscored_reason})"
    )
    remedy = "make the reward score these responses: what is unscored is left out of training and of the mean reward"
    return _sign("unscored", late, early + 0.1, message, remedy)


def _dead(first: Measures, now: Measures) -> Sign | None:
    message = f"{now.dead or 0:.0%} of the groups have equal rewards and teach nothing"
    return _sign("dead groups", now.dead, 0.7, message, "take easier or harder prompts, or more samples in a group")


def _phantom(first: Measures, now: Measures) -> Sign | None:
    message = f"{now.phantom or 0:.0%} of what is learned comes from groups whose scores are all equal"
    return _sign("phantom groups", now.phantom, 0.5, message, "gate what is not correctness, or lower its weight")


def _saturation(first: Measures, now: Measures) -> Sign | None:
    message = f"{now.at_top or 0:.0%} of the rewards are the highest there is"
    return _sign(
        "saturation", now.at_top, 0.9, message, "the reward tells little apart now: harder prompts, finer rewards"
    )


def _length(first: Measures, now: Measures) -> Sign | None:
    """Longer responses earn more within groups, and responses have become longer."""
    grown = 1.0 if not first.length or not now.length else now.length / first.length
    message = f"longer responses earn more in their groups, and responses are {grown:.1f} times as long as at first"
    sign = _sign("length", now.length_pay, 0.2, message, "bound what length can earn, or look at what the length buys")
    return sign if grown >= 1.5 else None


def _dominance(first: Measures, now: Measures) -> Sign | None:
    if now.components < 2 or now.dominant is None or now.dominance is None:
        return None
    message = f"{now.dominant} decides {now.dominance:.0%} of the differences within groups"
    return _sign("dominance", now.dominance, 0.95, message, "put the parts on one scale, or change their weights")


def _copies(first: Measures, now: Measures) -> Sign | None:
    message = f"{now.copies or 0:.0%} of the responses are nearly the same under other prompts"
    remedy = "look at what they say: a response that fits every prompt is paid"
    if now.at_top is None:  # all rewards are equal
        remedy = "no response is paid more than another: check that the reward reads the prompt and the ground truth"
    return _sign("copies", now.copies, 0.5, message, remedy)


def _phrases(first: Measures, now: Measures) -> Sign | None:
    """Phrases that most paid responses hold and that did not pay at first."""
    known = {text for text, _ in first.phrases}
    new = [(text, share) for text, share in now.phrases if text not in known and share >= 0.3]
    if not new:
        return None
    text, share = new[0]
    message = (
        f"{text!r} stands in {share:.0%} of the responses that earn more than their group, and did not pay at first"
    )
    return _sign("phrases", share, 0.3, message, "look at responses that hold it: plaudit report shows them")


SIGNS: dict[str, Detector] = {
    "unscored": _unscored,
    "dead groups": _dead,
    "phantom groups": _phantom,
    "saturation": _saturation,
    "length": _length,
    "dominance": _dominance,
    "copies": _copies,
    "phrases": _phrases,
}
"""Every sign by its name, as `logging.stop_on` takes them."""
