"""Several processes that train together: each samples and scores its share, and all know everything.

All of them must come to each call here, with the same arguments where it says so: whoever stays away leaves the others
waiting.
"""

import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from accelerate import PartialState
from accelerate.utils import gather_object

from plaudit.contract.output import RewardOutput
from plaudit.training.batches.collecting import Scoring, derive_seed
from plaudit.training.data.prompts import PromptLike, Prompts
from plaudit.training.sampling.sampler import Sampler, Samples, SamplingSettings
from plaudit.trajectory import Trajectory

__all__ = ["Ranks", "SharedSampler", "SharedScorer"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ranks:
    """The processes of a run, as one of them sees it."""

    own: int
    count: int

    @classmethod
    def join(cls, *, cpu: bool) -> "Ranks":
        """Join the processes that torchrun or accelerate started; alone, one process."""
        state: Any = PartialState(cpu=cpu)
        return cls(state.process_index, state.num_processes)

    def on_this_machine(self) -> int:
        """How many of the processes share this machine."""
        return self.gather([platform.node()]).count(platform.node())

    @property
    def is_first(self) -> bool:
        """Whether this process writes the files."""
        return self.own == 0

    def gather(self, items: Sequence[T]) -> list[T]:
        """The items of all processes, in the order of the processes."""
        return list(gather_object(list(items))) if self.count > 1 else list(items)

    def wait(self) -> None:
        """Wait until every process has come here."""
        PartialState().wait_for_everyone()

    def leave(self) -> None:
        """End the connection to the others."""
        PartialState().destroy_process_group()


@dataclass(frozen=True, slots=True)
class SharedScorer:
    """Scores the same trajectories as a scorer would, each process some whole groups of them."""

    scorer: Scoring
    ranks: Ranks

    def score(self, trajectories: Iterable[Trajectory]) -> list[RewardOutput]:
        """One output per trajectory, in order; every process gives the same trajectories."""
        listed = list(trajectories)
        number = {key: place for place, key in enumerate(dict.fromkeys(each.group_key for each in listed))}
        mine = [
            place for place, each in enumerate(listed) if number[each.group_key] % self.ranks.count == self.ranks.own
        ]
        outputs = self.scorer.score([listed[place] for place in mine])
        found = dict(self.ranks.gather(list(zip(mine, outputs, strict=True))))
        return [found[place] for place in range(len(listed))]

    def close(self) -> None:
        """End this process's workers."""
        self.scorer.close()


@dataclass(frozen=True, slots=True)
class SharedSampler:
    """Samples as a sampler would, each process for some of the prompts."""

    sampler: Sampler
    ranks: Ranks

    def sample(
        self,
        batch: PromptLike | Iterable[PromptLike],
        num_samples: int = 1,
        *,
        settings: SamplingSettings | None = None,
    ) -> Samples:
        """The samples of all processes in the order of the prompts; every process gives the same prompts."""
        rows = Prompts.of(batch)
        places = list(range(self.ranks.own, len(rows), self.ranks.count))
        if self.ranks.own and settings is not None and settings.seed is not None:
            settings = replace(settings, seed=derive_seed(settings.seed, self.ranks.own))
        # a process without a prompt of its own draws along: sharded weights need every process in every pass
        drawn = self.sampler.sample(rows.pick(places or [0]), num_samples, settings=settings).trajectories
        groups = [(place, drawn[start : start + num_samples]) for place, start in _starts(places, num_samples)]
        found = dict(self.ranks.gather(groups))
        return Samples([each for place in range(len(rows)) for each in found[place]])


def _starts(places: Sequence[int], size: int) -> list[tuple[int, int]]:
    return [(place, turn * size) for turn, place in enumerate(places)]
