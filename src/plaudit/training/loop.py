"""The training loop: sample, score, estimate advantages, update; and again.

Every step's random numbers follow from the seed and the step, so a run that was killed and resumed leaves the same
curves as one that was not.
"""

import time
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import torch

from plaudit.errors import InvalidSettings, TrainingError
from plaudit.training.batches.collecting import Collector, seed_of
from plaudit.training.batches.prefetching import Ahead, InTurn
from plaudit.training.checkpoint import Checkpoints
from plaudit.training.config.schema import RunConfig
from plaudit.training.data.prompt_stream import PromptStream
from plaudit.training.disk_full import how_to_go_on, room_in
from plaudit.training.learning.updater import Updater, estimator, loss_of
from plaudit.training.outcome import Outcome
from plaudit.training.reporting.final_report import write_report
from plaudit.training.reporting.held_out import HeldOut
from plaudit.training.reporting.metrics import batch_metrics, time_metrics
from plaudit.training.reporting.recorder import Recorder
from plaudit.training.run import Ingredients, gathered
from plaudit.training.run_folder import RunFolder
from plaudit.training.start import Start
from plaudit.training.stopping import Stop
from plaudit.training.watching import Watch

__all__ = ["train"]


def train(config: RunConfig, start: Start) -> Outcome:
    """Train a policy as the config says and leave everything about it in `config.output_dir`."""
    _refuse_what_it_cannot(config)
    folder = RunFolder(Path(config.output_dir))
    torch.set_num_threads(config.model.threads)
    with closing(gathered(config, start.reward)) as parts, room_in(folder):
        going_on = start.resume and folder.holds_run
        if going_on:
            folder.continued(config)
        else:
            folder.begin(config, overwrite=start.overwrite)
        return _Loop(config, folder, parts, start.watch).run()


def _refuse_what_it_cannot(config: RunConfig) -> None:
    """Raise for what could only fail later: everything else shows when the ingredients are gathered."""
    estimator(config)
    loss_of(config, max_new_tokens=1)
    if config.sampling.sampler != "transformers":
        raise InvalidSettings(
            f"sampling.sampler={config.sampling.sampler}: this engine samples with transformers, since another sampler "
            "would not follow its updates; with engine=trl, vLLM does"
        )


class _Loop:
    def __init__(self, config: RunConfig, folder: RunFolder, parts: Ingredients, watch: Watch) -> None:
        self.config, self.folder, self.watch, self.parts = config, folder, watch, parts
        self.policy = parts.policy
        self.checkpoints = Checkpoints(folder.checkpoints, config.checkpoint.keep)
        self.stream = PromptStream(parts.questions.prompts, seed=config.seed, shuffle=config.data.shuffle)
        self.sampler = parts.sampler_of(self.policy)
        self.held_out = HeldOut(parts.questions.held_out, parts.judge, config, settings=parts.settings)
        self.shown_before: list[str] = []
        self.before: dict[str, float] = {}
        self.after: dict[str, float] = {}

    def run(self) -> Outcome:
        """Train to the end, or until a signal asks to stop."""
        newest = self.checkpoints.newest()
        state = None if newest is None else newest.load()
        if state is None or self.config.loss.kl_beta or self.policy.is_lora:  # a reference, or adapters, build on it
            self._warm_start()
        self.updater = Updater(self.policy, self.config, max_new_tokens=self.parts.max_new_tokens)
        step = 0 if state is None else self._restore(state)
        self.folder.cut_back({} if state is None else state["sizes"])
        with ExitStack() as stack:
            self.record = stack.enter_context(Recorder(self.config, self.folder, self.watch, first_step=step))
            stop = stack.enter_context(Stop())
            batches = stack.enter_context(closing(self._batches()))
            if state is None:
                self._begin()
            while step < self.config.steps and stop.asked is None:
                step += 1
                self._step(step, batches)
                ends = step == self.config.steps or stop.asked is not None
                if ends or self._due(step, self.config.checkpoint.every):
                    self._save(step, must=ends)
        if step < self.config.steps:
            return Outcome(self.folder, step, self.before, self.after, stop.asked)
        self._finish()
        return Outcome(self.folder, step, self.before, self.after)

    def _step(self, step: int, batches: InTurn | Ahead) -> None:
        """One turn of the loop: a batch, an update, and what is told of both."""
        began = time.perf_counter()
        batch = batches.next(step)
        drawn = time.perf_counter()
        torch.manual_seed(seed_of(self.config.seed, "update", step))  # for models with dropout
        learnt = self.updater.update(batch) if batch.outputs else {}
        ended = time.perf_counter()
        metrics: dict[str, Any] = {"step": step, "epoch": batch.position / len(self.stream.prompts)}
        metrics |= {**batch_metrics(batch), **learnt}
        metrics |= time_metrics(batch, update_s=ended - drawn, step_s=ended - began)
        if step == self.config.steps or self._due(step, self.config.eval.every):
            self.after = self.held_out.evaluate(self.sampler, step)
            metrics |= self.after
        self.record.step(metrics, batch)
        self.position = batch.position

    def _begin(self) -> None:
        """Evaluate the policy before it learns anything."""
        self.position = 0
        self.before = self.after = self.held_out.evaluate(self.sampler, 0)
        self.shown_before = self.held_out.shown(self.sampler)
        self.record.step({"step": 0, **self.before})

    def _warm_start(self) -> None:
        told = self.config.model.warm_start_steps
        steps = self.parts.questions.warm_start_steps if told is None else told
        self.parts.warm_start(self.config, lambda step, loss: self.watch.warm_start(step + 1, steps, loss))

    def _batches(self) -> InTurn | Ahead:
        collector = Collector(self.stream, self.parts.scorer, self.config, settings=self.parts.settings)
        if not self.config.training.async_train:
            return InTurn(collector, self.sampler)
        return Ahead(
            collector,
            self.policy,
            sampler_of=self.parts.sampler_of,
            max_staleness=self.config.training.max_staleness,
            last=self._last_before,
        )

    def _last_before(self, step: int) -> int:
        """The last step that may be drawn ahead at `step`: no further than the next checkpoint."""
        every = self.config.checkpoint.every
        return min(self.config.steps, -(-step // every) * every if every else self.config.steps)

    @staticmethod
    def _due(step: int, every: int) -> bool:
        return bool(every) and step % every == 0

    def _save(self, step: int, *, must: bool) -> None:
        """Keep what is needed to go on; where that fails, the run goes on without, unless it ends here."""
        self.record.flush()
        state = {
            **self.updater.state(),
            "step": step,
            "position": self.position,
            "sizes": self.folder.sizes(),
            "before": self.before,
            "after": self.after,
            "shown_before": self.shown_before,
        }
        try:
            self.checkpoints.save(step, state)
        except TrainingError as error:
            if not must:
                self.watch.note(f"{error}; training goes on")
                return
            if step == self.config.steps:
                self._save_model()  # a third of a checkpoint in size, and what the run was for
            raise TrainingError(f"{error}; {how_to_go_on(self.checkpoints)}") from error

    def _restore(self, state: dict[str, Any]) -> int:
        self.updater.restore(state)
        self.position = self.stream.position = state["position"]
        self.before, self.after, self.shown_before = state["before"], state["after"], state["shown_before"]
        self.watch.note(f"going on after step {state['step']}")
        return int(state["step"])

    def _finish(self) -> None:
        """Save the model and what a reader wants to see of the run."""
        self._save_model()
        write_report(
            self.folder, self.config, self.held_out.prompts, self.shown_before, self.held_out.shown(self.sampler)
        )

    def _save_model(self) -> None:
        stands_alone = self.config.model.path is not None or not self.policy.is_lora
        (self.policy if stands_alone else self.policy.merged()).save(self.folder.model)
