"""What every reward with a model of its own has: where the model is, how it is held, what it does with long samples."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput, Status
from plaudit.errors import InvalidSettings, InvalidTrajectory, did_you_mean
from plaudit.models.inputs import Encoded, Reading, Text, encode_texts
from plaudit.models.loading import LoadedModel, ModelKey, check_placement, loaded_model, unload_model
from plaudit.models.locating import ModelFolder, locate_model
from plaudit.settings import check_choice, check_number, set_field
from plaudit.trajectory import Trajectory

__all__ = ["LocalModelReward", "TOO_LONG"]

TOO_LONG = ("truncate", "refuse")


@dataclass(frozen=True, repr=False)
class LocalModelReward(RewardFunction):
    """A reward that holds a model: `model` is a folder, a name that was downloaded before, or a package's.

    `dtype` is float32, bfloat16, float16 or auto (as saved); `device` auto, cpu, cuda, … A sample longer than the model
    can read, or than `max_length` tokens, loses its beginning, with a note (`too_long="truncate"`), or is not scored
    ("refuse"). The model lives in `copies` processes at most, however many workers score.
    """

    model: str
    _: KW_ONLY
    dtype: str = "float32"
    device: str = "auto"
    batch_size: int = 32
    max_length: int | None = None
    too_long: str = "truncate"
    copies: int | None = 1
    folder: ModelFolder = field(init=False, repr=False)

    max_batch = 256
    head: ClassVar[str]
    """The class of transformers that loads the model."""

    def __post_init__(self) -> None:
        check_placement(self.dtype, self.device)
        check_choice("too_long", self.too_long, TOO_LONG)
        check_number("batch_size", self.batch_size, least=1)
        for name in ("max_length", "copies"):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), least=1)
        set_field(self, "folder", locate_model(self.model, purpose=self.name))

    @property
    def key(self) -> ModelKey:
        return ModelKey(self.folder, self.head, self.dtype, self.device)

    def warm_up(self) -> None:
        """Load the model, so that the first sample need not wait for it."""
        self.load()

    def load(self) -> LoadedModel:
        """The model, shared with every reward of this process that names it."""
        loaded = loaded_model(self.key)
        if self.max_length is not None and loaded.context is not None and self.max_length > loaded.context:
            raise InvalidSettings(
                f"max_length={self.max_length} is more than the {loaded.context} tokens that {self.model!r} can read"
            )
        return loaded

    def unload(self) -> bool:
        """Give the model's memory back, also for others that share it; the next sample loads it again."""
        return unload_model(self.key)

    def read_samples(
        self, loaded: LoadedModel, trajectories: Sequence[Trajectory], reading: Reading, *, end: bool = False
    ) -> list[Encoded | RewardOutput]:
        """Each sample as tokens, or why it cannot be read."""
        written: list[Text | RewardOutput] = []
        for trajectory in trajectories:
            try:
                written.append(reading.write(loaded.tokenizer, trajectory))
            except InvalidTrajectory as error:
                written.append(RewardOutput.unscored(Status.ERROR, f"{self.name}: {error}"))
        limit = self.max_length or loaded.context
        texts = [each for each in written if not isinstance(each, RewardOutput)]
        encoded = iter(encode_texts(loaded, texts, limit, whole=reading.whole, end=end))
        return [each if isinstance(each, RewardOutput) else self._check(next(encoded), limit) for each in written]

    def _check(self, encoded: Encoded, limit: int | None) -> Encoded | RewardOutput:
        if not len(encoded):
            return RewardOutput.unscored(Status.SKIPPED, f"{self.name}: the sample has no text for the model to read")
        if self.too_long == "refuse" and encoded.full_length > len(encoded):
            return RewardOutput.unscored(
                Status.SKIPPED,
                f"{self.name}: {encoded.full_length} tokens, and {self.model!r} reads {limit}; shorten the sample, or "
                "say too_long='truncate' to leave its beginning out",
            )
        return encoded

    def as_output(self, value: float | None, encoded: Encoded, reason: str, **metadata: Any) -> RewardOutput:
        """What the model gave for one sample, as an output; no number, no reward."""
        notes = {**encoded.notes, **metadata}
        if value is None:
            return out_of_memory(self.name, encoded, self.device)
        if not math.isfinite(value):
            return RewardOutput.unscored(
                Status.ERROR,
                f"{self.name}: the model gave {value}; weights that overflow in {self.dtype} often do not in float32 "
                "or bfloat16",
                metadata=notes,
            )
        if cut := notes.get("tokens_cut"):
            reason = f"{reason}; its first {cut} tokens were left out"
        return RewardOutput(value, reason=reason, metadata=notes)


def out_of_memory(name: str, encoded: Encoded, device: str) -> RewardOutput:
    """The output of a sample that did not fit into memory even alone."""
    return RewardOutput.unscored(
        Status.MEMORY,
        f"{name}: memory ran out on {len(encoded)} tokens, scored alone, on device {device}; set max_length, or take "
        "dtype='bfloat16'",
    )


def check_labels(name: str, folder: ModelFolder, given: Mapping[str, float]) -> None:
    """Raise InvalidSettings unless every label of the model has a reward, and no other has."""
    known = folder.labels
    for label, value in given.items():
        check_number(f"the reward of the label {label!r}", value)
        if label not in known:
            raise InvalidSettings(
                f"{name}: {folder.name!r} has no label {label!r}{did_you_mean(label, known)} (it has "
                f"{', '.join(known)})"
            )
    if missing := [label for label in known if label not in given]:
        raise InvalidSettings(
            f"{name}: labels says nothing of {', '.join(missing)}; give every label of {folder.name!r} its reward"
        )
