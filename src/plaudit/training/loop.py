"""The training loop: sample, score, estimate advantages, update; and again.

Every step's random numbers follow from the seed and the step, so a run that was killed and resumed leaves the same
curves as one that was not.
"""

import time
from contextlib import ExitStack, closing
from dataclasses import asdict
from typing import Any

from plaudit.errors import TrainingError
from plaudit.training.config.schema import RunConfig
from plaudit.training.engine import Outcome, Progress, RunOptions, StopSignals
from plaudit.training.metrics import step_metrics
from plaudit.training.recorder import Recorder, UnscoredBatches, write_report
from plaudit.training.run import Run, open_run
from plaudit.training.run_folder import Checkpoints, RunState


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
        self.state = RunState()

    def run(self) -> Outcome:
        """Train to the end, or until a signal requests a stop."""
        for note in self._run.task.notes:
            self.progress.note(note)
        newest = self.checkpoints.newest()
        saved = None if newest is None else newest.load()
        self._run.warm_start(self.progress, resumed=saved is not None)
        self.updater = self._run.build_updater()
        if saved is not None:
            self._restore(saved)
        self.folder.cut_back(self.state.sizes)
        with ExitStack() as stack:
            recorder = Recorder(self.config, self.folder, self.progress, first_step=self.state.step)
            self.recorder = stack.enter_context(recorder)
            stop = stack.enter_context(StopSignals())
            self.batches = stack.enter_context(closing(self._run.open_batches(self.sampler, state=self.stream_state)))
            if saved is None:
                self._evaluate_start()
            while self.state.step < self.config.steps and stop.requested_by is None:
                self.state.step += 1
                self._step(self.state.step)
                ends = self.state.step == self.config.steps or stop.requested_by is not None
                if ends or self._due(self.state.step, self.config.checkpoint.every):
                    self._save(must=ends)
        is_over = self.state.step == self.config.steps
        if is_over:
            self._finish()
        stopped_by = None if is_over else stop.requested_by
        return Outcome(self.folder, self.state.step, self.state.before, self.state.after, stopped_by)

    def _step(self, step: int) -> None:
        """One step of the loop: a batch, an update, and what is reported of both."""
        began = time.perf_counter()
        batch = self.batches.next(step)
        collected = time.perf_counter()
        updated = self.updater.update(batch) if batch.outputs else {}
        ended = time.perf_counter()
        times = {"update_s": ended - collected, "step_s": ended - began}
        metrics = step_metrics(batch, updated, self._run.levels, **times)
        if step == self.config.steps or self._due(step, self.config.eval.every):
            self.state.after = self.held_out.evaluate(self.sampler, step)
            metrics |= self.state.after
        self.recorder.step(metrics, batch)
        self.stream_state = batch.stream_state
        if problem := self.unscored.check(batch) or self.recorder.problem:
            self._save(must=True)
            raise TrainingError(problem)

    def _evaluate_start(self) -> None:
        """Evaluate the policy before it learns anything."""
        self.state.before = self.state.after = self.held_out.evaluate(self.sampler, 0)
        self.state.samples_before = self.held_out.sample_responses(self.sampler)
        self.recorder.step({"step": 0, **self.state.before})

    @staticmethod
    def _due(step: int, every: int) -> bool:
        return bool(every) and step % every == 0

    def _save(self, *, must: bool) -> None:
        """Keep what is needed to continue; where that fails, the run continues without, unless it ends here."""
        self.recorder.flush()
        self.state.sizes = self.folder.sizes()
        saved = {**self.updater.state(), "stream": self.stream_state, "run": asdict(self.state)}
        try:
            self.checkpoints.save(self.state.step, saved)
        except TrainingError as error:
            if not must:
                self.progress.note(f"{error}; training continues")
                return
            if self.state.step == self.config.steps:
                self._save_model()  # it needs a third of the room of a checkpoint
            raise

    def _restore(self, saved: dict[str, Any]) -> None:
        self.updater.restore(saved)
        self.stream_state, self.state = saved["stream"], RunState(**saved["run"])
        self.progress.note(f"continuing after step {self.state.step}")

    def _finish(self) -> None:
        """Save the model, the samples and the report."""
        self._save_model()
        samples_after = self.held_out.sample_responses(self.sampler)
        write_report(self.folder, self.config, self.held_out.prompts, self.state.samples_before, samples_after)

    def _save_model(self) -> None:
        stands_alone = self.config.model.path is not None or not self.policy.is_lora
        (self.policy if stands_alone else self.policy.merge_adapters()).save(self.folder.model)
