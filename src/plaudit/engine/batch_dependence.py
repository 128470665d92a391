"""Find functions of batches whose reward for a sample depends on the samples scored with it, before a run starts.

`(r - mean) / (std + 1e-9)` over a batch gives one sample alone no number, and gives it another one beside others. Such
a function gets everything that a caller passes in one call; the user should know it, and choose what it compares.
"""

from collections.abc import Iterable
from itertools import islice

from plaudit.contract.contents import rewards_within
from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput
from plaudit.engine.scorer import Scorer
from plaudit.errors import PlauditError
from plaudit.trajectory import Trajectory

TOGETHER = 6
ALONE = 3
TRIAL_DEADLINE_S = 10.0


def undeclared_batch_functions(reward: RewardFunction) -> list[RewardFunction]:
    """The functions of batches within a reward that declare neither a scope nor `max_batch`."""
    bound = ((each, getattr(each, "binding", None)) for each in rewards_within(reward))
    return [
        each
        for each, binding in bound
        if binding is not None and binding.batched and each.scope == "sample" and each.max_batch is None
    ]


def warn_of_batch_dependence(scorer: Scorer, samples: Iterable[Trajectory], option: str) -> str | None:
    """A warning that names the functions whose rewards depend on the batch; None if there are none.

    A few samples are scored together, twice, and then alone, by a copy of the reward in a separate process: the
    reward that scores is called as if nothing had been tried. `option` is how a user declares the scope.
    """
    names = {each.name for each in undeclared_batch_functions(scorer.reward)}
    few = list(islice(samples, TOGETHER)) if names else []
    if len(few) < 2:
        return None
    try:
        with Scorer(scorer.loaded, workers=1, deadline_s=scorer.deadline_s or TRIAL_DEADLINE_S) as trial:
            return _compare(trial, few, names, option)
    except PlauditError as error:  # it cannot be sent to another process
        return f"{', '.join(sorted(names))}: whether the rewards depend on the batch was not tried: {error}"


def _compare(trial: Scorer, few: list[Trajectory], names: set[str], option: str) -> str | None:
    together = trial.score(few)
    scored = [index for index, output in enumerate(together) if output.ok]
    again = trial.score(few) if scored else []
    for index in scored[:ALONE]:
        if _numbers(together[index]) != _numbers(again[index]):
            return None  # it is random: nothing is known about the batch
        [alone] = trial.score([few[index]])
        if _numbers(alone) != _numbers(together[index]):
            value = f"the reward {alone.reward:g}" if alone.reward is not None else f"no number ({alone.reason:.100})"
            return (
                f"{', '.join(sorted(names))}: the rewards depend on the batch. "
                f"A sample gets {together[index].reward:g} beside {len(few) - 1} others and {value} alone. "
                f"It is called with all samples at once; choose what it compares: {option}"
            )
    return None


def _numbers(output: RewardOutput) -> list[float | None]:
    """Reward and components, rounded: sums over batches of different sizes differ in the last digits."""
    values = [output.reward, *(part.reward for part in output.flat_components().values())]
    return [None if value is None else round(value, 6) for value in values]
