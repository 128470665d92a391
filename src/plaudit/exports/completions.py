"""TRL, ms-swift, Tunix and Agent-Tunix: `(prompts, completions, **columns)` of lists with one value per sample.

TRL and ms-swift leave out a sample whose reward is None. Tunix sums the rewards of several functions and counts NaN as
nothing, so an unscored sample gets the mean of its group.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from plaudit.exports.convention import Export, Grouping
from plaudit.exports.exported import Call, ExportedReward, OnUnscored, SampleResult, plain_value
from plaudit.trajectory import Trajectory

_OF_TRAINER = {"trainer_state", "log_extra", "log_metric", "environments"}


def completions_call(
    reward: ExportedReward,
    prompts: Sequence[Any],
    completions: Sequence[Any],
    completion_ids: Sequence[Any] | None = None,
    **columns: Any,
) -> Call:
    """One number per sample; what was found goes to the trainer's log if it gives one."""
    rated = yield _samples(reward, prompts, completions, completion_ids, columns)
    if callable(log_metric := columns.get("log_metric")):
        for name, value in _means(reward, rated).items():
            log_metric(f"{reward.__name__}/{name}", value)
    if callable(log_extra := columns.get("log_extra")) and not all(each.output.ok for each in rated):
        reasons = ["" if each.output.ok else each.output.reason for each in rated]
        log_extra(f"{reward.__name__}/unscored", reasons)
    return [each.value for each in rated]


def swift_call(reward: ExportedReward, completions: Sequence[str], **columns: Any) -> Call:
    """One number per sample; the prompts are in the chats, to which ms-swift appends the response."""
    chats = columns.pop("messages", None) or [""] * len(completions)
    rated = yield _samples(reward, [_prompt(chat) for chat in chats], completions, None, columns)
    return [each.value for each in rated]


def _samples(
    reward: ExportedReward,
    prompts: Sequence[Any],
    completions: Sequence[Any],
    ids: Sequence[Any] | None,
    columns: Mapping[str, Any],
) -> list[Trajectory]:
    """The samples of a call: arguments with one value per sample are columns, others belong to the trainer."""
    step = getattr(columns.get("trainer_state"), "global_step", None)
    rows = {name: values for name, values in columns.items() if name not in _OF_TRAINER and _has_rows(values)}
    return [
        reward.sample(
            prompts[index],
            completion,
            {name: plain_value(values[index]) for name, values in rows.items() if index < len(values)},
            None if ids is None else ids[index],
            training_step=step,
        )
        for index, completion in enumerate(completions)
    ]


def _has_rows(values: Any) -> bool:
    return hasattr(values, "__len__") and hasattr(values, "__getitem__") and not isinstance(values, str | Mapping)


def _means(reward: ExportedReward, rated: Sequence[SampleResult]) -> dict[str, float]:
    """Means over the samples that have a number; statuses that did not occur are left out."""
    collected: dict[str, list[float]] = {}
    for each in rated:
        for name, value in reward.details(each.output, same_keys=False).items():
            collected.setdefault(name, []).append(value)
    means = {name: sum(values) / len(values) for name, values in collected.items()}
    return {name: mean for name, mean in means.items() if mean or not name.startswith("unscored/")}


def _prompt(chat: Any) -> Any:
    ends_with_answer = isinstance(chat, list) and chat and chat[-1].get("role") == "assistant"
    return chat[:-1] if ends_with_answer else chat


_LEAVES_OUT = (OnUnscored.NONE, OnUnscored.NAN, OnUnscored.MEAN, OnUnscored.RAISE)
_NUMBERS = (OnUnscored.MEAN, OnUnscored.NAN, OnUnscored.RAISE)
EXPORTS = (
    Export("agent_tunix", completions_call, _NUMBERS, grouping=Grouping.CALL),
    Export("swift", swift_call, _LEAVES_OUT, grouping=Grouping.CALL),
    Export("trl", completions_call, _LEAVES_OUT, grouping=Grouping.CALL),
    Export("tunix", completions_call, _NUMBERS, grouping=Grouping.CALL),
)
