"""reasoning-gym: a data set scores answers itself, `score_answer(answer, entry)`.

The answer is the content of the last `<answer>` tags of a response, as its trainers extract it, or the whole response
if there are none. An entry is a row of the data set: question, answer, metadata. JSON makes lists of tuples
and text of keys; a data set that scores such an entry differently gets the entry that it generates.
"""

import inspect
import re
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from types import ModuleType
from typing import Any

from plaudit import jsonline
from plaudit.contract.binding import Convention
from plaudit.contract.output import RewardOutput, Status
from plaudit.dialects.dialect import Dialect, ForeignReward, System
from plaudit.dialects.signatures import method_parameters, parameters
from plaudit.dialects.stub_packages import Packages
from plaudit.errors import RewardNotLoaded, did_you_mean
from plaudit.trajectory import Trajectory

SOLVER: Packages = {"pycosat": {"pycosat": {}}}
"""A solver in C that reasoning-gym imports for one data set, and that must be compiled; the other data sets work
without it.
"""
_ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)
_SHAPE = ["answer", "entry"]
_CALLABLE = inspect.Parameter.KEYWORD_ONLY
_CONVENTION = Convention(names={"trajectory": lambda trajectory: trajectory}, fills_columns=False)


class ReasoningGymReward(ForeignReward):
    """A data set, or the `score_answer` function of one."""

    def __init__(self, foreign: Any) -> None:
        self.score_answer = getattr(foreign, "score_answer", foreign)
        super().__init__(foreign, _CONVENTION, call=self._score)

    def _score(self, trajectory: Trajectory) -> Any:
        entry = _entry(trajectory)
        if self._reads_metadata and not entry.get("metadata"):
            return _skip(
                f"{self.name} judges by the metadata of an entry, and this sample has none; keep its column `entry` "
                "(question, answer, metadata)"
            )
        if self._loses_types:
            original = self._generate(entry)
            if original is None:
                return _skip(
                    f"{self.name} cannot judge an entry that was stored as JSON, and does not generate it itself; name "
                    "the seed and options that it was made with: reasoning_gym:NAME(seed=…)"
                )
            entry = original
        value = self.score_answer(_answer(trajectory.response), entry)
        is_share = isinstance(value, int | float) and 0.0 <= value <= 1.0
        return RewardOutput(float(value), score=float(value)) if is_share else value

    @cached_property
    def _reads_metadata(self) -> bool:
        try:
            return "metadata" in inspect.getsource(self.score_answer)
        except (OSError, TypeError):
            return False

    @cached_property
    def _loses_types(self) -> bool:
        """Whether the data set judges one of its own entries differently after a conversion to JSON."""
        if not hasattr(self.foreign, "__getitem__"):
            return False
        entry = self.foreign[0]
        try:
            stored = jsonline.decode(jsonline.encode(entry))
        except jsonline.NotPlain:
            return True
        return bool(self.score_answer(entry["answer"], entry) != self.score_answer(entry["answer"], stored))

    def _generate(self, entry: Mapping[str, Any]) -> dict[str, Any] | None:
        """The entry that the data set generates at this index; None if it differs from the row."""
        index = (entry.get("metadata") or {}).get("source_index")
        if not isinstance(index, int) or not 0 <= index < len(self.foreign):
            return None
        made: dict[str, Any] = self.foreign[index]
        return made if made["question"] == entry.get("question") and made["answer"] == entry.get("answer") else None


def find_data_set(package: ModuleType, name: str) -> Callable[..., Any]:
    """The function that builds the named data set, with its options as parameters."""
    data_sets: Mapping[str, tuple[Any, ...]] = package.factory.DATASETS
    if name not in data_sets:
        raise RewardNotLoaded(
            f"reasoning_gym has no data set {name!r}{did_you_mean(name, data_sets)} (`plaudit tasks` lists all)"
        )
    make: Any = partial(package.create_dataset, name)
    options = inspect.signature(data_sets[name][1]).parameters.values()
    make.__signature__ = inspect.Signature([each.replace(kind=_CALLABLE) for each in options])
    return make  # type: ignore[no-any-return]


def _skip(reason: str) -> RewardOutput:
    return RewardOutput.unscored(Status.SKIPPED, reason)


def _answer(response: str) -> str:
    tagged = _ANSWER.findall(response)
    return (tagged[-1] if tagged else response).strip()


def _entry(trajectory: Trajectory) -> dict[str, Any]:
    entry = trajectory.columns.get("entry")
    if isinstance(entry, Mapping):
        return dict(entry)
    return {
        **trajectory.columns,
        "question": trajectory.prompt_text,
        "answer": trajectory.ground_truth,
        "metadata": trajectory.metadata,
    }


def _matches(candidate: Any) -> bool:
    return not isinstance(candidate, type) and list(method_parameters(candidate, "score_answer")) == _SHAPE


def _matches_if_imported(candidate: Any) -> bool:
    return list(parameters(candidate))[:2] == _SHAPE


SYSTEM = System(
    "reasoning_gym",
    "reasoning-gym",
    dialects=(Dialect("reasoning-gym data set", ReasoningGymReward, _matches, _matches_if_imported),),
    stubs={"reasoning_gym": {"reasoning_gym": {}}, **SOLVER},
    find_named=find_data_set,
)  # fmt: skip
