"""Asynchronous training: the next batches are sampled and scored in a thread while the policy is updated.

A batch is drawn with the weights that the policy had when it was requested, at most `max_staleness` updates ago, so the
numbers are the same in every run. None is requested across a checkpoint: a resumed run draws the same batches.
"""

import copy
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from plaudit.training.batches.collecting import Batch, Collector
from plaudit.training.model.policy import Policy
from plaudit.training.sampling.sampler import Sampler

__all__ = ["PrefetchedBatches", "SequentialBatches"]


class SequentialBatches:
    """Batches one by one, each drawn when it is wanted."""

    def __init__(self, collector: Collector, sampler: Sampler) -> None:
        self._collector, self._sampler = collector, sampler

    def next(self, step: int) -> Batch:
        """The batch of a step, drawn with the policy as it is."""
        return self._collector.collect(step, self._sampler)

    def close(self) -> None:
        """Nothing is under way."""


class PrefetchedBatches:
    """Batches drawn before they are wanted, by a copy of the policy; `last` says up to which step at a given one."""

    def __init__(
        self,
        collector: Collector,
        policy: Policy,
        *,
        build_sampler: Callable[[Policy], Sampler],
        max_staleness: int,
        last: Callable[[int], int],
    ) -> None:
        self._collector, self._policy = collector, policy
        self._copy = Policy(copy.deepcopy(policy.model), copy.deepcopy(policy.tokenizer))
        self._sampler = build_sampler(self._copy)
        self._max_staleness, self._last = max_staleness, last
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="plaudit-prefetch")
        self._pending: deque[Future[Batch]] = deque()
        self._requested = 0

    def next(self, step: int) -> Batch:
        """The batch of a step; those of the steps after it are requested, with the policy as it is now."""
        self._requested = max(self._requested, step - 1)
        if not self._pending:
            self._request(step, step)
        batch = self._pending.popleft().result()
        for ahead in range(self._requested + 1, min(step + self._max_staleness, self._last(step)) + 1):
            self._request(ahead, step)
        return batch

    def close(self) -> None:
        """Wait for what is under way, and end the thread."""
        self._thread.shutdown(wait=True, cancel_futures=True)

    def _request(self, step: int, now: int) -> None:
        weights = self._policy.state()
        self._requested = step

        def collect() -> Batch:
            self._copy.restore(weights)
            return self._collector.collect(step, self._sampler, staleness=step - now)

        self._pending.append(self._thread.submit(collect))
