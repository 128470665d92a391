"""The training loop: sample, score, estimate advantages, update; and again.

Every step's random numbers follow from the seed and the step, so a run that was killed and resumed leaves the same
curves as one that was not.
"""

import time
from contextlib import ExitStack, closing
from typing import Any

from plaudit.errors import TrainingError
from plaudit.training.config.schema import RunConfig
from plaudit.training.engine import Outcome, Progress, RunOptions, StopSignals
from plaudit.training.metrics import split_metrics, step_metrics
from plaudit.training.recorder import Recorder, UnscoredBatches, write_report
from plaudit.training.run import Run, open_run
from plaudit.training.run_folder import Checkpoints


def train(config: RunConfig, options: RunOptions) -> Outcome:
    """Train a policy with the config and leave everything about it in `config.output_dir`."""
    with open_run(config, options) as run:
        return _Loop(run, options.progress).run()


class _Loop:
    def __init__(self, run: Run, progress: Progress) -> None:
        self.config, self.folder, self.policy, self._run = run.config, run.folder, run.policy, run
        self.progress = progress
        self.checkpoints = Checkpoints(self.folder.checkpoints, self.config.checkpoint.keep)
        self.sampler = run.build_sampler(self.policy)
        self.held_out = run.build_held_out()
        self.unscored = UnscoredBatches(self.config.training.max_unscored_batches, progress)
        self.stream_state: dict[str, Any] = {}
        self.samples_before: list[str] = []
        self.before: dict[str, float] = {}
        self.after: dict[str, float] = {}

    def run(self) -> Outcome:
        """Train to the end, or until a signal requests a stop."""
        for note in self._run.task.notes:
            self.progress.note(note)
        newest = self.checkpoints.newest()
        state = None if newest is None else newest.load()
        self._run.warm_start(self.progress, resumed=state is not None)
        self.updater = self._run.build_updater()
        step = 0 if state is None else self._restore(state)
        self.folder.cut_back({} if state is None else state["sizes"])
        with ExitStack() as stack:
            self.recorder = stack.enter_context(Recorder(self.config, self.folder, self.progress, first_step=step))
            stop = stack.enter_context(StopSignals())
            self.batches = stack.enter_context(closing(self._run.open_batches(self.sampler, state=self.stream_state)))
            if state is None:
                self._evaluate_start()
            while step < self.config.steps and stop.requested_by is None:
                step += 1
                self._step(step)
                ends = step == self.config.steps or stop.requested_by is not None
                if ends or self._due(step, self.config.checkpoint.every):
                    self._save(step, must=ends)
        if step < self.config.steps:
            return Outcome(self.folder, step, self.before, self.after, stop.requested_by)
        self._finish()
        return Outcome(self.folder, step, self.before, self.after)

    def _step(self, step: int) -> None:
        """One step of the loop: a batch, an update, and what is reported of both."""
        began = time.perf_counter()
        batch = self.batches.next(step)
        collected = time.perf_counter()
        updated = self.updater.update(batch) if batch.outputs else {}
        ended = time.perf_counter()
        metrics = step_metrics(batch, updated, update_s=ended - collected, step_s=ended - began)
        metrics |= split_metrics(batch, self._run.levels)
        if step == self.config.steps or self._due(step, self.config.eval.every):
            self.after = self.held_out.evaluate(self.sampler, step)
            metrics |= self.after
        self.recorder.step(metrics, batch)
        self.stream_state = batch.stream_state
        if problem := self.unscored.check(batch) or self.recorder.problem:
            self._save(step, must=True)
            raise TrainingError(problem)

    def _evaluate_start(self) -> None:
        """Evaluate the policy before it learns anything."""
        self.before = self.after = self.held_out.evaluate(self.sampler, 0)
        self.samples_before = self.held_out.sample_responses(self.sampler)
        self.recorder.step({"step": 0, **self.before})

    @staticmethod
    def _due(step: int, every: int) -> bool:
        return bool(every) and step % every == 0

    def _save(self, step: int, *, must: bool) -> None:
        """Keep what is needed to continue; where that fails, the run continues without, unless it ends here."""
        self.recorder.flush()
        state = {
            **self.updater.state(),
            "step": step,
            "stream": self.stream_state,
            "sizes": self.folder.sizes(),
            "before": self.before,
            "after": self.after,
            "samples_before": self.samples_before,
        }
        try:
            self.checkpoints.save(step, state)
        except TrainingError as error:
            if not must:
                self.progress.note(f"{error}; training continues")
                return
            if step == self.config.steps:
                self._save_model()  # a third of a checkpoint in size, and what the run was for
            raise

    def _restore(self, state: dict[str, Any]) -> int:
        self.updater.restore(state)
        self.stream_state = state["stream"]
        self.before, self.after, self.samples_before = state["before"], state["after"], state["samples_before"]
        self.progress.note(f"continuing after step {state['step']}")
        return int(state["step"])

    def _finish(self) -> None:
        """Save the model, the samples and the report."""
        self._save_model()
        samples_after = self.held_out.sample_responses(self.sampler)
        write_report(self.folder, self.config, self.held_out.prompts, self.samples_before, samples_after)

    def _save_model(self) -> None:
        stands_alone = self.config.model.path is not None or not self.policy.is_lora
        (self.policy if stands_alone else self.policy.merge_adapters()).save(self.folder.model)
