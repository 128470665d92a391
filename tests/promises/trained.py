"""The path of plaudit's trainer. A module of its own, because it imports torch."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from plaudit import Trajectory
from plaudit.engine import Scorer
from plaudit.training.collecting import Collector
from plaudit.training.config.schema import FilterConfig, RunConfig, SamplingConfig, SamplingSettings
from plaudit.training.data.prompts import Prompts, PromptStream
from plaudit.training.sampling.sampler import Samples
from tests.promises.paths import GROUP_SIZE, Case, Outcome, Session, outcomes
from tests.promises.wrappers import STEP


@dataclass
class ScriptedSampler:
    """A sampler whose responses are known in advance."""

    samples: list[Trajectory]

    def sample(self, batch: Any, num_samples: int = 1, *, settings: SamplingSettings | None = None) -> Samples:
        rows = [row for row in batch for _ in range(num_samples)]
        pairs = zip(rows, self.samples, strict=True)
        return Samples([msgspec.structs.replace(row, response=sample.response) for row, sample in pairs])


@contextlib.contextmanager
def open_collector(case: Case) -> Iterator[Session]:
    """A step of plaudit's trainer up to the update: prompts from the stream, responses, scores, filtered groups."""
    with Scorer(case.spec, workers=1, deadline_s=case.deadline_s) as scorer:

        def collect(samples: list[Trajectory]) -> list[Outcome]:
            rows = [msgspec.structs.replace(sample, response="") for sample in samples[::GROUP_SIZE]]
            stream = PromptStream(Prompts(tuple(rows)), seed=1, shuffle=False)
            sampling = SamplingConfig(prompts_per_step=len(rows), samples_per_prompt=GROUP_SIZE)
            config = RunConfig(sampling=sampling, filter=FilterConfig(max_refills=0))
            collector = Collector(stream, scorer, config, settings=SamplingSettings())
            batch = collector.collect(STEP, ScriptedSampler(samples))
            scored = {each.trajectory.response: each.output for each in [*batch.scored, *batch.left_out]}
            return outcomes([scored[sample.response] for sample in samples])

        yield collect
