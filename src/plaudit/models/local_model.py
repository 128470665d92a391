"""The base of rewards with a local model: settings, encoding of samples, and batches sorted by length."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Any, ClassVar, Literal, TypeVar

from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput, Status
from plaudit.errors import InvalidSettings, InvalidTrajectory
from plaudit.models.cpu_precision import import_torch
from plaudit.models.inputs import FORMATS, Encoded, Text, encode_texts
from plaudit.models.loading import LoadedModel, ModelKey, check_placement, is_out_of_memory, loaded_model, unload_model
from plaudit.models.locating import ModelFolder, locate_model
from plaudit.settings import Count, check_choice, check_fields, check_keys, check_number, set_field
from plaudit.trajectory import Trajectory

MAX_BATCH_TOKENS = 16_384  # of a batch, padding counted: a batch of long texts is smaller
MAX_BATCH_NUMBERS = (
    2**19
)  # of a batch on a CPU, one for each token and unit of the model's width: 683 tokens of 768 numbers
T = TypeVar("T")


@dataclass(frozen=True, repr=False)
class LocalModelReward(RewardFunction):
    """A reward that holds a model: `model` is a folder, a `.gguf` file, a package, or a downloaded model of the hub.

    `dtype` is float32, bfloat16, float16 or auto (as saved); `device` auto, cpu, cuda, … A sample longer than the model
    can read, or than `max_length` tokens, loses its beginning, with a note (`too_long="truncate"`), or is not scored
    ("refuse"). The model lives in `copies` processes at most, however many workers score.
    """

    model: str
    _: KW_ONLY
    dtype: str = "float32"
    device: str = "auto"
    batch_size: Count = 32
    max_length: Count | None = None
    too_long: Literal["truncate", "refuse"] = "truncate"
    copies: Count | None = 1
    folder: ModelFolder = field(init=False, repr=False)

    max_batch = 256
    head: ClassVar[str]
    """The class of transformers that loads the model."""

    def __post_init__(self) -> None:
        check_placement(self.dtype, self.device)
        check_fields(self)
        set_field(self, "folder", locate_model(self.model, purpose=self.name))

    @property
    def key(self) -> ModelKey:
        return ModelKey(self.folder, self.head, self.dtype, self.device)

    def warm_up(self) -> None:
        """Load the model before the first sample."""
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
        """Free the memory of the model, also for rewards that share it; the next sample loads it again."""
        return unload_model(self.key)

    def read_samples(
        self, loaded: LoadedModel, trajectories: Sequence[Trajectory], format: str, *, end: bool = False
    ) -> list[Encoded | RewardOutput]:
        """Each sample as tokens, or why it cannot be read."""
        written: list[Text | RewardOutput] = []
        for trajectory in trajectories:
            try:
                written.append(FORMATS[format](loaded.tokenizer, trajectory))
            except InvalidTrajectory as error:
                written.append(RewardOutput.unscored(Status.ERROR, f"{self.name}: {error}"))
        limit = self.max_length or loaded.context
        texts = [each for each in written if not isinstance(each, RewardOutput)]
        encoded = iter(encode_texts(loaded, texts, limit, whole=format == "chat", end=end))
        return [each if isinstance(each, RewardOutput) else self._check(next(encoded), limit) for each in written]

    def _check(self, encoded: Encoded, limit: int | None) -> Encoded | RewardOutput:
        if not len(encoded):
            return RewardOutput.unscored(Status.SKIPPED, f"{self.name}: the sample has no text for the model to read")
        if self.too_long == "refuse" and encoded.full_length > len(encoded):
            return RewardOutput.unscored(
                Status.SKIPPED,
                f"{self.name}: {encoded.full_length} tokens, and {self.model!r} reads {limit}; shorten the sample, or "
                "set too_long='truncate' to leave its beginning out",
            )
        return encoded

    def score_encoded(
        self,
        loaded: LoadedModel,
        samples: Sequence[Encoded | RewardOutput],
        compute: Callable[[LoadedModel, Sequence[Encoded]], Sequence[T]],
        output: Callable[[T | None, Encoded], RewardOutput],
    ) -> list[RewardOutput]:
        """An output for each sample; those that could not be encoded keep theirs."""
        encoded = [each for each in samples if isinstance(each, Encoded)]
        values = iter(compute_batched(loaded, encoded, self.batch_size, partial(compute, loaded)))
        return [output(next(values), each) if isinstance(each, Encoded) else each for each in samples]

    def check_format(self, format: str, formats: Collection[str] = tuple(FORMATS)) -> None:
        """Raise InvalidSettings unless the model can be shown samples in this format."""
        check_choice("format", format, formats)
        if format == "chat" and not self.folder.has_chat_template:
            others = ", ".join(f"'{each}'" for each in formats if each != "chat")
            raise InvalidSettings(
                f"the tokenizer of {self.model!r} has no chat template; set format to the one that the model was "
                f"trained with: {others}"
            )

    def as_output(self, value: float | None, encoded: Encoded, reason: str, **metadata: Any) -> RewardOutput:
        """The output for the value of one sample; None means that memory ran out."""
        notes = {**encoded.notes, **metadata}
        if value is None:
            return RewardOutput.unscored(
                Status.MEMORY,
                f"{self.name}: memory ran out on {len(encoded)} tokens, scored alone, on device {self.device}; set "
                "max_length, or take dtype='bfloat16'",
            )
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


def check_labels(name: str, folder: ModelFolder, rewards: Mapping[str, float]) -> None:
    """Raise InvalidSettings unless every label of the model has a reward, and no other has."""
    check_keys(rewards, folder.labels, f"{name}: {folder.name!r}", "label")
    for label, value in rewards.items():
        check_number(f"the reward of the label {label!r}", value)
    if missing := [label for label in folder.labels if label not in rewards]:
        raise InvalidSettings(
            f"{name}: labels lacks {', '.join(missing)}; give every label of {folder.name!r} its reward"
        )


def compute_batched(
    loaded: LoadedModel,
    encoded: Sequence[Encoded],
    batch_size: int,
    compute: Callable[[Sequence[Encoded]], Sequence[T]],
) -> list[T | None]:
    """The values that `compute` returns for batches, in the order of the samples; None if memory ran out.

    Samples are sorted by length, which avoids most padding, and a batch that does not fit into memory is halved. On a
    CPU a batch is limited to its caches: a wide model takes a fifth longer for 32 texts of 100 tokens at once. Equal
    samples are computed once: sums are rounded differently at another position of a batch, so equal responses of a
    group would get different rewards.
    """
    distinct: dict[tuple[Any, ...], Encoded] = {}
    keys = [(each.text, *map(tuple, each.features.values())) for each in encoded]
    for key, each in zip(keys, encoded, strict=True):
        distinct.setdefault(key, each)
    computed = dict(zip(distinct, _compute(loaded, list(distinct.values()), batch_size, compute), strict=True))
    return [computed[key] for key in keys]


def _compute(
    loaded: LoadedModel,
    encoded: Sequence[Encoded],
    batch_size: int,
    compute: Callable[[Sequence[Encoded]], Sequence[T]],
) -> list[T | None]:
    torch: Any = import_torch(extra="models", purpose="a model as a reward")
    results: list[T | None] = [None] * len(encoded)
    pending = _cut_batches([len(each) for each in encoded], batch_size, _max_batch_tokens(loaded))
    with torch.inference_mode():
        while pending:
            indices = pending.pop()
            try:
                computed = compute([encoded[index] for index in indices])
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error):
                    raise
                if len(indices) > 1:
                    middle = len(indices) // 2
                    pending += [indices[:middle], indices[middle:]]
                continue
            for index, value in zip(indices, computed, strict=True):
                results[index] = value
    return results


def _max_batch_tokens(loaded: LoadedModel) -> int:
    """The largest batch, in tokens, that this model computes fast."""
    width = getattr(loaded.model.config.get_text_config(), "hidden_size", None)
    if loaded.device != "cpu" or not width:
        return MAX_BATCH_TOKENS
    return min(MAX_BATCH_TOKENS, max(1, MAX_BATCH_NUMBERS // int(width)))


def _cut_batches(lengths: Sequence[int], batch_size: int, max_tokens: int) -> list[list[int]]:
    """Indices, longest samples first, in batches of at most `batch_size` samples and a limited number of tokens."""
    batches: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        if batches and len(batches[-1]) < min(batch_size, max(1, max_tokens // max(1, lengths[batches[-1][0]]))):
            batches[-1].append(index)
        else:
            batches.append([index])
    return batches[::-1]
