"""Functions and objects of `(prompts, completions, **columns)`, the shape that TRL, ms-swift and Tunix share.

Every argument is a list with one value per sample. What is asked for by name must be there; `**columns` get all columns
and metadata of the data, and the ground truth under its usual names. A completion is text, or a list of chat messages
where the prompt is one; a function that cannot take that form is given the other one.
"""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from plaudit.columns import FOREIGN_NAMES, our_name
from plaudit.dialects.dialect import ForeignBatchReward, method_parameters, parameters, read_columns
from plaudit.dialects.export import ExportedReward, plain_value, trajectory_of
from plaudit.errors import InvalidTrajectory, did_you_mean
from plaudit.trajectory import Trajectory

__all__ = [
    "CompletionsReward", "TextCompletionsExport", "TextCompletionsReward", "is_completions_class",
    "is_completions_function", "trajectories_of",
]  # fmt: skip

_TRUTHS = ("ground_truth", *(name for name in FOREIGN_NAMES["ground_truth"] if "." not in name))
_OF_TRAINER = {"trainer_state", "log_extra", "log_metric", "environments"}
_ASKED = {"completions", "completion_ids"}
_WRONG_FORM = (TypeError, AttributeError, KeyError, IndexError)


class CompletionsReward(ForeignBatchReward):
    """A function or object of prompts, completions and columns; chats are given as lists of messages."""

    chats = True
    extras: tuple[str, ...] = ("trainer_state", "log_extra", "log_metric")
    """What the trainer itself puts into `**columns`; its state only where a step is known."""

    def call(self, trajectories: Sequence[Trajectory]) -> Any:
        as_chats = [self.chats and not isinstance(each.prompt, str) for each in trajectories]
        try:
            return self._call(trajectories, as_chats)
        except _WrongForm:
            raise
        except _WRONG_FORM as error:
            if not self.chats:
                raise
            return self._call_otherwise(trajectories, [not each for each in as_chats], error)

    def _call_otherwise(self, trajectories: Sequence[Trajectory], as_chats: list[bool], first: Exception) -> Any:
        try:
            return self._call(trajectories, as_chats)
        except _WRONG_FORM:
            raise first from None  # neither form: the first error is about the data as it is

    def _call(self, trajectories: Sequence[Trajectory], as_chats: list[bool]) -> Any:
        step = trajectories[0].training_step
        known: dict[str, Any] = {
            "prompts": [_prompt(each, chat) for each, chat in zip(trajectories, as_chats, strict=True)],
            "completions": [_completion(each, chat) for each, chat in zip(trajectories, as_chats, strict=True)],
            "messages": [each.messages for each in trajectories],
            "completion_ids": [each.tokens.ids for each in trajectories if each.tokens is not None],
            "trainer_state": SimpleNamespace(global_step=step or 0),
            "log_extra": _log_nothing,
            "log_metric": _log_nothing,
        }
        if len(known["completion_ids"]) < len(trajectories):
            del known["completion_ids"]
        asked = parameters(self.foreign)
        given: dict[str, Any] = {}
        for name, parameter in asked.items():
            if parameter.kind is parameter.VAR_KEYWORD:
                extras = [name for name in self.extras if name != "trainer_state" or step is not None]
                held = {name: known[name] for name in ("prompts", "completions", *extras)}
                further = {**held, **_columns(trajectories)}
                given |= {key: value for key, value in further.items() if key not in asked}
            elif parameter.kind is not parameter.VAR_POSITIONAL:
                column = known.get(name) or _column(name, trajectories)
                if column is not None:
                    given[name] = column
                elif parameter.default is parameter.empty:
                    raise _missing(name, trajectories)
        return self.ask(**given)

    def read(self, returned: Any, trajectories: Sequence[Trajectory]) -> Sequence[Any]:
        return read_columns(returned, len(trajectories))


class TextCompletionsReward(CompletionsReward):
    """The same for systems whose prompts and completions are always text."""

    chats = False
    extras: tuple[str, ...] = ()


class TextCompletionsExport(ExportedReward):
    """A reward of ours as such a function, for trainers that take nothing but numbers."""

    def __call__(self, prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> list[float]:
        """One number per sample."""
        trajectories = trajectories_of(prompts, completions, columns)
        self.check_groups(trajectories, "give whole groups in a call")
        return self.numbers(trajectories, self.score(trajectories))


def trajectories_of(
    prompts: Sequence[Any], completions: Sequence[Any], columns: Mapping[str, Any], ids: Sequence[Any] | None = None
) -> list[Trajectory]:
    """The samples of a call: what has one value per sample is a column, anything else is the trainer's own."""
    step = getattr(columns.get("trainer_state"), "global_step", None)
    rows = {name: values for name, values in columns.items() if name not in _OF_TRAINER and _has_rows(values)}
    return [
        trajectory_of(
            prompts[place],
            completions[place],
            {name: plain_value(values[place]) for name, values in rows.items() if place < len(values)},
            None if ids is None else ids[place],
            training_step=step,
        )
        for place in range(len(completions))
    ]


def _has_rows(values: Any) -> bool:
    return hasattr(values, "__len__") and hasattr(values, "__getitem__") and not isinstance(values, str | Mapping)


def is_completions_function(candidate: Any) -> bool:
    """Whether a function asks for completions, as text or as tokens."""
    return not isinstance(candidate, type) and bool(_ASKED & set(parameters(candidate)))


def is_completions_class(candidate: Any) -> bool:
    """Whether the objects of a class, or an object, are called with completions."""
    is_class = isinstance(candidate, type)
    return bool(_ASKED & set(method_parameters(candidate, "__call__") if is_class else parameters(candidate)))


class _WrongForm(InvalidTrajectory):
    pass


def _log_nothing(*_: Any) -> None:
    """The trainer's log, where there is no trainer."""


def _prompt(trajectory: Trajectory, chat: bool) -> Any:
    return trajectory.messages[:-1] if chat else trajectory.prompt_text


def _completion(trajectory: Trajectory, chat: bool) -> Any:
    return [trajectory.messages[-1]] if chat else trajectory.response


def _column(name: str, trajectories: Sequence[Trajectory]) -> list[Any] | None:
    """The column or metadata of that name, or the field that the name stands for; None where no sample has it."""
    own = [_own(each).get(name) for each in trajectories]
    if any(value is not None for value in own):
        return own
    field = name if name in Trajectory.FIELDS else our_name(name)
    values = [getattr(each, field) for each in trajectories] if field in ("ground_truth", "metadata", "task") else []
    return values if any(value not in (None, {}) for value in values) else None


def _columns(trajectories: Sequence[Trajectory]) -> dict[str, list[Any]]:
    names = dict.fromkeys([*_TRUTHS, *(name for each in trajectories for name in _own(each))])
    columns = {name: _column(name, trajectories) for name in names}
    return {name: column for name, column in columns.items() if column is not None}


def _own(trajectory: Trajectory) -> Mapping[str, Any]:
    return {**trajectory.columns, **trajectory.metadata}


def _missing(name: str, trajectories: Sequence[Trajectory]) -> _WrongForm:
    present = ["prompts", "completions", *_columns(trajectories)]
    return _WrongForm(
        f"the reward asks for {name!r}, which the samples do not have{did_you_mean(name, present)} "
        f"(they have {', '.join(present)})"
    )
