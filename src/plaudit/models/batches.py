"""Many samples through a model: sorted by length, a batch at a time, halved where memory runs out.

Samples of one length fill a batch without padding, which is most of what batching is worth on texts of many lengths.
On a CPU a batch is no larger than its caches: a wide model takes a fifth longer for 32 texts of 100 tokens at once.
Equal samples are computed once: in another place of a batch a sum is rounded differently, and a group of equal
responses would seem to differ.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from plaudit.models.cpu_precision import import_torch
from plaudit.models.inputs import Encoded
from plaudit.models.loading import LoadedModel, is_out_of_memory

__all__ = ["compute_batched"]

MOST_TOKENS = 16_384  # of a batch, padding counted: a batch of long texts is smaller
MOST_NUMBERS = 2**19  # of a batch on a CPU, one for each token and unit of the model's width: 683 tokens of 768 numbers
T = TypeVar("T")


def compute_batched(
    loaded: LoadedModel,
    encoded: Sequence[Encoded],
    batch_size: int,
    compute: Callable[[Sequence[Encoded]], Sequence[T]],
) -> list[T | None]:
    """What `compute` makes of each batch, in the order of the samples; None where memory ran out."""
    distinct: dict[tuple[Any, ...], Encoded] = {}
    keys = [tuple(map(tuple, each.features.values())) for each in encoded]
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
    waiting = _cut_batches([len(each) for each in encoded], batch_size, _most_tokens(loaded))
    with torch.inference_mode():
        while waiting:
            places = waiting.pop()
            try:
                computed = compute([encoded[place] for place in places])
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error):
                    raise
                if len(places) > 1:
                    middle = len(places) // 2
                    waiting += [places[:middle], places[middle:]]
                continue
            for place, value in zip(places, computed, strict=True):
                results[place] = value
    return results


def _most_tokens(loaded: LoadedModel) -> int:
    """How many tokens of this model are computed quickest at once."""
    width = getattr(loaded.model.config.get_text_config(), "hidden_size", None)
    if loaded.device != "cpu" or not width:
        return MOST_TOKENS
    return min(MOST_TOKENS, max(1, MOST_NUMBERS // int(width)))


def _cut_batches(lengths: Sequence[int], batch_size: int, most_tokens: int) -> list[list[int]]:
    """Places, longest samples first, in batches of at most so many samples and tokens."""
    batches: list[list[int]] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        if batches and len(batches[-1]) < min(batch_size, max(1, most_tokens // max(1, lengths[batches[-1][0]]))):
            batches[-1].append(place)
        else:
            batches.append([place])
    return batches[::-1]
