"""Exported rewards for trainers that hand out one sample a call, sync or async.

Where the trainer hands out the samples of a group in one process, a reward of groups waits until its group is whole.
asyncio takes longer to import than the conventions of all systems, and every worker that loads a file imports this
module: whoever awaits has asyncio already.
"""

import inspect
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from types import CodeType
from typing import NamedTuple

from plaudit.contract.output import RewardOutput, Status
from plaudit.dialects.collector import GroupCollector
from plaudit.dialects.export import ExportedReward, ExportSettings
from plaudit.trajectory import Trajectory

__all__ = ["AsyncSampleExport", "Rated", "SampleExport"]

CALLS_AT_ONCE = 64


class Rated(NamedTuple):
    """What became of one sample: its output, and the number that the trainer is given."""

    output: RewardOutput
    value: float | None

    @property
    def number(self) -> float:
        """The number for a trainer that takes nothing else."""
        return float("nan") if self.value is None else self.value


class SampleExport(ExportedReward):
    """The base of rewards that are called with one sample."""

    def __init__(self, settings: ExportSettings, identity: str | None = None) -> None:
        super().__init__(settings, identity)
        self._pool: ThreadPoolExecutor | None = None
        self._groups: GroupCollector[Trajectory, Rated] | None = None

    def rate(self, trajectory: Trajectory) -> Rated:
        """Score one sample; a reward of groups waits for the rest of the group."""
        if self.settings.group_size is None:
            return self._rate_all([trajectory])[0]
        place = self._collector().add(trajectory.group_key, trajectory)
        return place.results.result()[place.index]

    async def rate_async(self, trajectory: Trajectory) -> Rated:
        """`rate` without holding up the event loop."""
        import asyncio  # noqa: PLC0415 - see the module's docstring

        if self.settings.group_size is None:
            loop = asyncio.get_running_loop()
            return (await loop.run_in_executor(self._threads(), self._rate_all, [trajectory]))[0]
        place = self._collector().add(trajectory.group_key, trajectory)
        return (await asyncio.wrap_future(place.results))[place.index]

    async def rate_group(self, trajectories: Sequence[Trajectory]) -> list[Rated]:
        """Score samples that came together."""
        import asyncio  # noqa: PLC0415 - see the module's docstring

        self.check_groups(trajectories, "give whole groups in a call")
        return await asyncio.get_running_loop().run_in_executor(self._threads(), self._rate_all, trajectories)

    def close(self) -> None:
        super().close()
        with self._lock:
            threads, self._pool, self._groups = self._pool, None, None
        if threads is not None:
            threads.shutdown(wait=False, cancel_futures=True)

    def _rate_all(self, trajectories: Sequence[Trajectory]) -> list[Rated]:
        outputs = self.score(trajectories)
        return [Rated(*pair) for pair in zip(outputs, self.values(trajectories, outputs), strict=True)]

    def _give_up(self, trajectories: Sequence[Trajectory]) -> list[Rated]:
        wanted = self.settings.group_size
        reason = (
            f"{self.__name__} needs whole groups of {wanted}, and {len(trajectories)} samples of this one reached "
            f"this process within {self.settings.group_wait_s:g} s: let one process score, or give group_wait_s="
        )
        outputs = [RewardOutput.unscored(Status.SKIPPED, reason) for _ in trajectories]
        return [Rated(*pair) for pair in zip(outputs, self.values(trajectories, outputs), strict=True)]

    def _threads(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(CALLS_AT_ONCE, thread_name_prefix=self.__name__)
            return self._pool

    def _collector(self) -> GroupCollector[Trajectory, Rated]:
        threads = self._threads()
        with self._lock:
            if self._groups is None:
                size, wait_s = self.settings.group_size or 1, self.settings.group_wait_s
                self._groups = GroupCollector(self._rate_all, self._give_up, threads, size, wait_s)
            return self._groups


class AsyncSampleExport(SampleExport):
    """The base of rewards whose `__call__` is a coroutine; `inspect.iscoroutinefunction` says so of its objects.

    Trainers ask that before they call, and up to Python 3.11 it can only be said by looking like a function.
    """

    __defaults__ = None
    __kwdefaults__ = None

    @property
    def __code__(self) -> CodeType:
        code = type(self).__call__.__code__
        assert isinstance(code, CodeType)
        return code

    @property
    def __signature__(self) -> inspect.Signature:
        own = inspect.signature(type(self).__call__)
        return own.replace(parameters=list(own.parameters.values())[1:])
