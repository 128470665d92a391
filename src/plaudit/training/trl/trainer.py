"""Train with TRL's GRPOTrainer: the same config, model, prompts and reward, and the same run folder.

Started by torchrun or `accelerate launch`, the processes share the work, and multi-GPU, FSDP and DeepSpeed are
accelerate's. Every process runs this whole file, and only the first writes files. TRL counts optimizer steps; a step of
ours is a batch, which may be several of them.
"""

import copy
import dataclasses
import json
import logging
import os
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec
import torch
from datasets import Dataset
from transformers import PrinterCallback, TrainerCallback
from trl.models.utils import unwrap_model_for_generation
from trl.trainer.grpo_config import GRPOConfig
from trl.trainer.grpo_trainer import GRPOTrainer

from plaudit.errors import DataError, InvalidSettings, TrainingError
from plaudit.models.cpu_precision import usable_dtype
from plaudit.models.loading import silence_transformers
from plaudit.training.config.schema import RunConfig
from plaudit.training.config.trl_arguments import (
    Shape,
    check_passed_through,
    check_trl_can,
    optimizer_steps,
    trl_arguments,
)
from plaudit.training.data.config_task import MAX_NEW_TOKENS
from plaudit.training.data.curriculum import build_stream
from plaudit.training.data.prompts import Prompts
from plaudit.training.engine import Outcome, Progress, RunOptions, StopSignals
from plaudit.training.evaluation import HeldOut
from plaudit.training.metrics import step_metrics
from plaudit.training.model.policy import Policy
from plaudit.training.model.transformers_sampler import TransformersSampler
from plaudit.training.recorder import Recorder, UnscoredBatches, write_report
from plaudit.training.run import Run, build_run
from plaudit.training.run_folder import RunFolder, RunState
from plaudit.training.trl.hooks import Ranks, SharedSampler, SharedScorer, TRLReward

WHOLE_WEIGHTS = ("NO", "MULTI_CPU", "MULTI_GPU")
"""accelerate's names of set-ups in which every process has all weights, so that they can be read directly."""


def train(config: RunConfig, options: RunOptions) -> Outcome:
    """Train a policy with the config and TRL; options that TRL cannot express are refused first."""
    _check_config(config)
    folder = RunFolder(Path(config.output_dir))
    ranks = Ranks.join(cpu=config.model.device == "cpu")
    torch.set_num_threads(config.model.threads)
    progress = options.progress if ranks.is_first else Progress()
    with closing(build_run(_share_cores(ranks, config), options.inputs, progress)) as run:
        check_trl_can(config, Shape(ranks.count, run.sampling.max_new_tokens))
        if ranks.is_first:
            folder.open(config, resume=options.resume)
        ranks.wait()
        try:
            outcome = _TRLRun(config, folder, run, ranks, progress).run()
        finally:
            if ranks.is_first:
                folder.forget_failed_start()
    ranks.leave()
    return outcome


def _check_config(config: RunConfig) -> None:
    """Everything that TRL would refuse later, before a model is loaded."""
    shape = Shape(1, config.sampling.max_new_tokens or MAX_NEW_TOKENS)
    check_passed_through(config, {field.name for field in dataclasses.fields(GRPOConfig)}, shape)
    try:
        GRPOConfig(**{**trl_arguments(config, shape), "output_dir": config.output_dir})
    except (ValueError, TypeError, NotImplementedError) as error:
        raise InvalidSettings(f"TRL refuses these settings: {error}") from error


STATE = "plaudit.json"
TRL_METRICS = {
    "loss": "loss",
    "grad_norm": "grad_norm",
    "learning_rate": "lr",
    "kl": "kl",
    "entropy": "entropy",
    "clip_ratio/low_mean": "clip/low",
    "clip_ratio/high_mean": "clip/high",
}
"""Numbers of TRL that metrics.jsonl has too, under its own names."""


def newest_checkpoint(folder: RunFolder) -> tuple[Path, RunState] | None:
    """The newest complete checkpoint."""
    states = sorted(folder.checkpoints.glob(f"checkpoint-*/{STATE}"), key=lambda path: int(path.parent.name[11:]))
    if not states:
        return None
    return states[-1].parent, RunState(**json.loads(states[-1].read_text(encoding="utf-8")))


class _TRLRun(TrainerCallback):  # type: ignore[misc]  # transformers is not read by the type checker
    """A run as TRL's trainer calls it: it keeps the run folder as plaudit's own loop would."""

    def __init__(self, config: RunConfig, folder: RunFolder, run: Run, ranks: Ranks, progress: Progress) -> None:
        self.config, self.folder, self._run, self.ranks, self.progress = config, folder, run, ranks, progress
        self.held_out = HeldOut(
            run.task.held_out, SharedScorer(run.eval_scorer, ranks), config, settings=run.sampling, levels=run.levels
        )
        scorer = SharedScorer(run.scorer, ranks)
        self.reward = TRLReward(config, run.task.prompts, run.policy, scorer, ranks)
        self.unscored = UnscoredBatches(config.training.max_unscored_batches, progress)
        self.recorder: Recorder | None = None
        """Writes the run's files, in the first process."""
        self.stopped_by: str | None = None
        self.problem: str | None = None
        """The reason why the run cannot continue."""
        self._stop = StopSignals()
        self._began = 0.0
        self._logs: list[Mapping[str, Any]] = []
        self._per_batch = optimizer_steps(config)

    def run(self) -> Outcome:
        """Train to the end, or until a signal requests a stop."""
        for note in self._run.task.notes:
            self.progress.note(note)
        checkpoint, self.run_state = newest_checkpoint(self.folder) or (None, RunState())
        self._prepare(resumed=checkpoint is not None)
        self.trainer = self._trainer()
        if self.ranks.is_first:
            self.folder.cut_back(self.run_state.sizes)
        with ExitStack() as stack:
            if self.ranks.is_first:
                recorder = Recorder(self.config, self.folder, self.progress, first_step=self.run_state.step)
                self.recorder = stack.enter_context(recorder)
            stack.enter_context(self._stop)
            self.trainer.add_callback(self)
            stack.enter_context(_quiet())
            self._train(checkpoint)
            if self.problem is not None:
                raise TrainingError(self.problem)
            if self.stopped_by is None:
                self.trainer.save_model(str(self.folder.model))
        if self.stopped_by is None:
            self._finish()
        state = self.run_state
        return Outcome(self.folder, state.step, state.before, state.after, self.stopped_by)

    def _train(self, checkpoint: Path | None) -> None:
        if self.run_state.step < self.config.steps:
            self.trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
        elif not self.config.steps:  # only the evaluation before the first step
            self.on_train_begin(None, None, None)

    def _prepare(self, *, resumed: bool) -> None:
        """Warm up the embedded model; a KL refers to the model at the start, which TRL reads from a folder."""
        start = self.folder.checkpoints / "start"
        wants_start = bool(self.config.loss.kl_beta) and not self._run.policy.is_lora
        if not (resumed and wants_start and start.exists()):
            self._run.warm_start(self.progress, resumed=resumed)
        if wants_start:
            if self.ranks.is_first and not start.exists():
                self._run.policy.save(start)
            self.ranks.wait()
            self._run.policy.model.config._name_or_path = str(start)

    def _trainer(self) -> Any:
        shape = Shape(self.ranks.count, self._run.sampling.max_new_tokens)
        arguments = {**trl_arguments(self.config, shape), "output_dir": str(self.folder.checkpoints)}
        arguments["bf16"] = usable_dtype(self.config.model.dtype, self.config.model.device) == "bfloat16"
        trainer = GRPOTrainer(
            model=self._run.policy.model,
            reward_funcs=self.reward,
            args=GRPOConfig(**arguments),
            train_dataset=_dataset(self._run, self.config),
            processing_class=copy.deepcopy(self._run.policy.tokenizer),  # TRL changes the padding side
        )
        trainer.remove_callback(PrinterCallback)
        return trainer

    def on_train_begin(self, args: Any, state: Any, control: Any, **components: Any) -> None:
        _set_learning_rate(components.get("optimizer"), components.get("lr_scheduler"))
        if self.run_state.before or self.run_state.step:
            return
        self.run_state.before = self.run_state.after = self._evaluate(0)
        self.run_state.samples_before = self._sample_responses()
        if self.recorder is not None:
            self.recorder.step({"step": 0, **self.run_state.before})

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.global_step % self._per_batch == 0:
            self._began = time.perf_counter()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.global_step % self._per_batch:
            return
        signals = [signal for signal in self.ranks.gather([self._stop.requested_by]) if signal is not None]
        self.run_state.step = state.global_step // self._per_batch
        if signals and self.run_state.step < self.config.steps:
            self.stopped_by = signals[0]
            control.should_training_stop = True
        if signals or self.run_state.step == self.config.steps:
            control.should_save = True

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_: Any) -> None:
        if logs is None or "loss" not in logs:  # the summary at the end
            return
        self._logs.append(logs)
        if state.global_step % self._per_batch == 0:
            self._record(time.perf_counter())
            self._logs.clear()
            batch = self.reward.batch
            self.problem = None if batch is None else self.unscored.check(batch)
            if self.recorder is not None:
                self.problem = self.problem or self.recorder.problem
            if self.problem is not None:
                control.should_training_stop = control.should_save = True

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Mark the checkpoint as whole, with what TRL does not keep."""
        if self.recorder is None:
            return
        self.recorder.flush()
        self.run_state.sizes = self.folder.sizes()
        mark = Path(args.output_dir) / f"checkpoint-{state.global_step}" / STATE
        mark.write_text(json.dumps(asdict(self.run_state)), encoding="utf-8")

    def _record(self, ended: float) -> None:
        step, config, reward = self.run_state.step, self.config, self.reward
        batch = reward.batch
        if batch is None:
            return
        times = {"update_s": ended - reward.ended, "step_s": ended - self._began}
        metrics = step_metrics(batch, self._means(), self._run.levels, **times)
        metrics["time/sample"] = reward.began - self._began
        if step == config.steps or (config.eval.every and step % config.eval.every == 0):
            self.run_state.after = self._evaluate(step)
            metrics |= self.run_state.after
        if self.recorder is not None:
            self.recorder.step(metrics, batch)

    def _means(self) -> dict[str, float]:
        means = {}
        for theirs, ours in TRL_METRICS.items():
            values = [float(logs[theirs]) for logs in self._logs if logs.get(theirs) is not None]
            if values:
                means[ours] = sum(values) / len(values)
        return means

    def _evaluate(self, step: int) -> dict[str, float]:
        with self._open_sampler() as sampler:
            return self.held_out.evaluate(sampler, step)

    def _sample_responses(self) -> list[str]:
        with self._open_sampler() as sampler:
            return self.held_out.sample_responses(sampler)

    @contextmanager
    def _open_sampler(self) -> Iterator[SharedSampler]:
        """A sampler of the current weights, wherever accelerate keeps them."""
        accelerator = self.trainer.accelerator
        own_decoder = accelerator.distributed_type.value in WHOLE_WEIGHTS
        with unwrap_model_for_generation(self.trainer.model_wrapped, accelerator) as model, torch.no_grad():
            sampler = TransformersSampler(
                model, self._run.policy.tokenizer, self._run.sampling, own_decoder=own_decoder
            )
            yield SharedSampler(sampler, self.ranks, self._run.sampling)

    def _finish(self) -> None:
        after = self._sample_responses()
        if self.ranks.is_first:
            write_report(self.folder, self.config, self.held_out.prompts, self.run_state.samples_before, after)
        self.ranks.wait()


def _share_cores(ranks: Ranks, config: RunConfig) -> RunConfig:
    """The config for one process of several: they share the cores of a machine for scoring."""
    if config.training.reward_workers is not None:
        return config
    workers = max(1, (os.cpu_count() or 1) // ranks.on_this_machine())
    training = msgspec.structs.replace(config.training, reward_workers=workers)
    return msgspec.structs.replace(config, training=training)


def _dataset(run: Run, config: RunConfig) -> Any:
    """The prompts of all steps, in the order in which plaudit's own loop takes them."""
    texts = _trl_prompts(run.task.prompts, run.policy)
    stream = build_stream(run.task.prompts, run.task.weights, run.levels, config)
    order = stream.indices(max(1, config.steps) * config.sampling.prompts_per_step)

    def fill(columns: dict[str, list[int]]) -> dict[str, list[Any]]:
        return {"prompt": [texts[row] for row in columns["row"]], "row": columns["row"]}

    return Dataset.from_dict({"row": order}).with_transform(fill)


def _trl_prompts(prompts: Prompts, policy: Policy) -> list[Any]:
    """The prompts as TRL takes them: all texts, or all chat messages for the tokenizer's template."""
    if policy.tokenizer.chat_template is None:
        return [row.prompt_text for row in prompts]
    kinds = {type(row.prompt) for row in prompts}
    if len(kinds) > 1:
        raise DataError("some prompts are texts and some chat messages, and TRL takes one kind; set data.chat_template")
    return prompts.prompts


@contextmanager
def _quiet() -> Iterator[None]:
    """Hide progress bars and samples in logs: TRL prints the text of every response that was not scored."""
    logger = logging.getLogger("trl.trainer.grpo_trainer")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with silence_transformers(), warnings.catch_warnings():
            # peft looks on the hub for the base model of an adapter, which may be a local file
            warnings.filterwarnings("ignore", message="Unable to fetch remote file|Could not find a config file")
            yield
    finally:
        logger.setLevel(level)


def _set_learning_rate(optimizer: Any, scheduler: Any) -> None:
    """Where a run was made longer, its checkpoint has the rate that was next in the shorter one, which is often 0."""
    scheduler = getattr(scheduler, "scheduler", scheduler)  # accelerate wraps it
    rules = getattr(scheduler, "lr_lambdas", None)
    if optimizer is None or rules is None:
        return
    for group, base, rule in zip(optimizer.param_groups, scheduler.base_lrs, rules, strict=True):
        group["lr"] = base * rule(scheduler.last_epoch)
    scheduler._last_lr = [group["lr"] for group in optimizer.param_groups]  # TRL logs this list
