"""Systems whose rewards are plain functions: the arguments of each, its recogniser, its reader of results.

- AReaL: `f(prompt, completions, prompt_ids, completion_ids, **row)`. `completions` is one text in spite of its name.
- EasyR1: `compute_score(reward_inputs)` of many dicts, or `compute_score(reward_input)` of one; the reward is `overall`
  of the result. Files for its earlier releases take `(predict_str, ground_truth)`, or both in the plural.
- Predibase: `f(prompt, completion, example)`, where `example` is the row of the data.
- slime: `async fn(args, sample)` of one sample, or `(args, samples)` of a group; a number, or a dict with a `score`.
- verl: `compute_score(data_source, solution_str, ground_truth, extra_info)`, or all four in the plural; a number, or a
  dict whose `score` is the reward.
"""

import inspect
import logging
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

from plaudit.contract.binding import Convention, Lookup, own_values, row_of
from plaudit.dialects.dialect import Dialect, ForeignReward, System, truth_as_text
from plaudit.dialects.results import read_result
from plaudit.dialects.signatures import asks_for, parameters, required_names
from plaudit.trajectory import Trajectory

_RESPONSE, _PROMPT = attrgetter("response"), attrgetter("prompt_text")

_AREAL = Convention(
    names={
        "prompt": _PROMPT,
        "prompts": _PROMPT,  # AReaL passes it by position, so files have either name
        "completions": _RESPONSE,
        "prompt_ids": lambda trajectory: None,
        "completion_ids": lambda trajectory: None if trajectory.tokens is None else trajectory.tokens.ids,
    },
    rest=row_of,
)
_AREAL_LOGGING = SimpleNamespace(getLogger=lambda name=None, *_: logging.getLogger(name))


def _matches_areal(candidate: Any) -> bool:
    return set(parameters(candidate)) >= {"completions", "prompt_ids", "completion_ids"}


def _matches_areal_if_imported(candidate: Any) -> bool:
    """Whether a function takes one completion but no tokens, like functions that an agent calls."""
    return inspect.isroutine(candidate) and "completions" in parameters(candidate)


def _easy_r1_input(trajectory: Trajectory) -> dict[str, Any]:
    """EasyR1's dict of a sample; the length counts tokens, or words where the sample has no tokens."""
    length = len(trajectory.response.split()) if trajectory.tokens is None else len(trajectory.tokens)
    sample = {"response": trajectory.response, "response_length": length, "ground_truth": truth_as_text(trajectory)}
    return {**own_values(trajectory), **sample}


_EASY_R1_NAMES: dict[str, Lookup] = {
    "reward_input": _easy_r1_input, "predict_str": _RESPONSE, "predict": _RESPONSE, "ground_truth": truth_as_text,
}  # fmt: skip
_EASY_R1 = Convention(
    _EASY_R1_NAMES, {f"{name}s": lookup for name, lookup in _EASY_R1_NAMES.items()}, fills_columns=False
)


def _matches_easy_r1(candidate: Any, *, names: Collection[str]) -> bool:
    """Whether the first parameter is EasyR1's; an earlier form may require only the ground truth in addition."""
    accepted = parameters(candidate)
    of_dicts, *predictions, truth = names
    first = next(iter(accepted), "")
    return first == of_dicts or (first in predictions and required_names(accepted) == {first, truth})


_PREDIBASE = Convention(
    names={
        "prompt": _PROMPT,
        "completion": _RESPONSE,
        "example": lambda trajectory: {"prompt": trajectory.prompt_text, **row_of(trajectory)},
    },
    fills_columns=False,
)


@dataclass
class SlimeSample:
    """slime's sample, as far as rewards read it."""

    prompt: Any = ""
    response: str = ""
    label: Any = None
    index: int | None = None
    tokens: list[int] = field(default_factory=list)
    response_length: int = 0
    reward: Any = None
    loss_mask: list[int] | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


def _slime_reward(foreign: Any) -> ForeignReward:
    """A reward of a function of one sample or of a group; samples have the class that the function's file imports."""
    imported = getattr(foreign, "__globals__", {}).get("Sample")
    sample = partial(_slime_sample, imported if isinstance(imported, type) else SlimeSample)
    convention = Convention(
        names={"sample": sample},
        plurals={"samples": sample},
        per_call={"args": lambda trajectories: SimpleNamespace()},
        fills_columns=False,
    )
    return ForeignReward(foreign, convention, read_result, scope="group")


def _slime_sample(kind: Any, trajectory: Trajectory) -> Any:
    ids = [] if trajectory.tokens is None else trajectory.tokens.ids
    return kind(
        prompt=trajectory.prompt,
        response=trajectory.response,
        label=trajectory.ground_truth,
        tokens=ids,
        response_length=len(ids),
        metadata=own_values(trajectory),
    )


def _matches_slime(candidate: Any, *, second: str) -> bool:
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY)
    accepted = parameters(candidate)
    required = [name for name, each in accepted.items() if each.kind in kinds and each.default is each.empty]
    return list(accepted)[:2] == required == ["args", second]


_VERL_SOLUTIONS = ("solution_str", "model_output")
_VERL_NAMES: dict[str, Lookup] = {
    "data_source": lambda trajectory: trajectory.task or own_values(trajectory).get("data_source", ""),
    **dict.fromkeys(_VERL_SOLUTIONS, _RESPONSE),
    "ground_truth": truth_as_text,
    "extra_info": own_values,
}
_VERL = Convention(_VERL_NAMES, {f"{name}s": lookup for name, lookup in _VERL_NAMES.items()}, fills_columns=False)

_to_areal = partial(ForeignReward, convention=_AREAL)
_to_easy_r1 = partial(ForeignReward, convention=_EASY_R1, read=partial(read_result, key="overall"))
_to_predibase = partial(ForeignReward, convention=_PREDIBASE, read=read_result)
_to_verl = partial(ForeignReward, convention=_VERL, read=read_result)

SYSTEMS = (
    System(
        "areal",
        "AReaL",
        (Dialect("AReaL function", _to_areal, _matches_areal, _matches_areal_if_imported),),
        stubs={"areal": {"areal.utils": {"logging": _AREAL_LOGGING}}},
    ),
    System(
        "easy_r1",
        "EasyR1",
        (
            Dialect("EasyR1 function", _to_easy_r1, partial(_matches_easy_r1, names=_EASY_R1.names)),
            Dialect("EasyR1 batch function", _to_easy_r1, partial(_matches_easy_r1, names=_EASY_R1.plurals)),
        ),
        packages=frozenset({"mathruler"}),
    ),
    System(
        "predibase",
        "Predibase",
        (Dialect("Predibase function", _to_predibase, asks_for(_PREDIBASE, {"completion", "example"})),),
        packages=frozenset({"predibase"}),
    ),
    System(
        "slime",
        "slime",
        (
            Dialect("slime function", _slime_reward, partial(_matches_slime, second="sample")),
            Dialect("slime group function", _slime_reward, partial(_matches_slime, second="samples")),
        ),
        stubs={"slime": {"slime.utils.types": {"Sample": SlimeSample}}},
    ),
    System(
        "verl",
        "verl",
        (
            Dialect("verl function", _to_verl, asks_for(_VERL, *({name, "ground_truth"} for name in _VERL_SOLUTIONS))),
            Dialect("verl batch function", _to_verl, asks_for(_VERL, {"solution_strs", "ground_truths"})),
        ),
        stubs={"verl": {"verl": {}}},
    ),
)
