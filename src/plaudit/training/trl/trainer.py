"""Train with TRL's GRPOTrainer: the same config, model, prompts and reward, and the same run folder.

Started by torchrun or `accelerate launch`, the processes share the work, and multi-GPU, FSDP and DeepSpeed are
accelerate's. Every process runs this whole file.
"""

import copy
import dataclasses
import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec
import torch
from datasets import Dataset
from transformers import PrinterCallback
from trl.models.utils import unwrap_model_for_generation
from trl.trainer.grpo_config import GRPOConfig
from trl.trainer.grpo_trainer import GRPOTrainer

from plaudit.errors import DataError, InvalidSettings, TrainingError
from plaudit.models.cpu_precision import usable_dtype
from plaudit.models.loading import silence_transformers
from plaudit.training.config.schema import RunConfig
from plaudit.training.data.config_task import MAX_NEW_TOKENS
from plaudit.training.data.curriculum import build_stream
from plaudit.training.data.prompts import Prompts
from plaudit.training.engine import Outcome, Progress, RunOptions, StopSignals
from plaudit.training.evaluation import HeldOut
from plaudit.training.model.policy import Policy
from plaudit.training.model.transformers_sampler import TransformersSampler
from plaudit.training.recorder import Recorder, UnscoredBatches, write_report
from plaudit.training.run import Run, build_run
from plaudit.training.run_folder import RunFolder
from plaudit.training.trl.arguments import Shape, check_passed_through, check_trl_can, trl_arguments
from plaudit.training.trl.hooks import (
    Ranks,
    RunCallback,
    RunContext,
    RunState,
    SharedSampler,
    SharedScorer,
    TRLReward,
    newest_checkpoint,
)

__all__ = ["train"]


WHOLE_WEIGHTS = ("NO", "MULTI_CPU", "MULTI_GPU")
"""accelerate's names of set-ups in which every process has all weights, so that they can be read directly."""


def train(config: RunConfig, options: RunOptions) -> Outcome:
    """Train a policy with the config and TRL; options that TRL cannot express are refused first."""
    _check_config(config)
    folder = RunFolder(Path(config.output_dir))
    ranks = Ranks.join(cpu=config.model.device == "cpu")
    torch.set_num_threads(config.model.threads)
    progress = options.progress if ranks.is_first else Progress()
    with closing(build_run(_for_one_of(ranks, config), options.inputs, progress)) as run:
        check_trl_can(config, Shape(ranks.count, run.sampling.max_new_tokens))
        if ranks.is_first:
            folder.open(config, resume=options.resume, overwrite=options.overwrite)
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
    check_trl_can(config, shape)
    check_passed_through(config, {field.name for field in dataclasses.fields(GRPOConfig)}, shape)
    try:
        GRPOConfig(**{**trl_arguments(config, shape), "output_dir": config.output_dir})
    except (ValueError, TypeError, NotImplementedError) as error:
        raise InvalidSettings(f"TRL refuses these settings: {error}") from error


class _TRLRun:
    def __init__(self, config: RunConfig, folder: RunFolder, run: Run, ranks: Ranks, progress: Progress) -> None:
        self.config, self.folder, self._run, self.ranks, self.progress = config, folder, run, ranks, progress
        self.held_out = HeldOut(
            run.task.held_out, SharedScorer(run.eval_scorer, ranks), config, settings=run.sampling, levels=run.levels
        )
        scorer = SharedScorer(run.scorer, ranks)
        self.reward = TRLReward(config, run.task.prompts, run.policy, scorer, ranks)

    def run(self) -> Outcome:
        """Train to the end, or until a signal requests a stop."""
        for note in self._run.task.notes:
            self.progress.note(note)
        newest = newest_checkpoint(self.folder)
        checkpoint, state = newest or (None, RunState())
        self._prepare(resumed=checkpoint is not None)
        self.trainer = self._trainer()
        if self.ranks.is_first:
            self.folder.cut_back(state.sizes)
        with ExitStack() as stack:
            recorder = self._recorder(stack, state.step)
            stop = stack.enter_context(StopSignals())
            callback = self._callback(recorder, stop, state)
            self.trainer.add_callback(callback)
            stack.enter_context(_quiet())
            self._train(callback, checkpoint)
            if callback.problem is not None:
                raise TrainingError(callback.problem)
            if callback.stopped_by is None:
                self.trainer.save_model(str(self.folder.model))
        if callback.stopped_by is None:
            self._finish(state)
        return Outcome(self.folder, state.step, state.before, state.after, callback.stopped_by)

    def _train(self, callback: RunCallback, checkpoint: Path | None) -> None:
        if callback.run_state.step < self.config.steps:
            self.trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
        elif not self.config.steps:  # nothing but the evaluation before the first step
            callback.on_train_begin(None, None, None)

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
            processing_class=copy.deepcopy(self._run.policy.tokenizer),  # TRL sets how it pads
        )
        trainer.remove_callback(PrinterCallback)
        return trainer

    def _recorder(self, stack: ExitStack, first_step: int) -> Recorder | None:
        if not self.ranks.is_first:
            return None
        return stack.enter_context(Recorder(self.config, self.folder, self.progress, first_step=first_step))

    def _callback(self, recorder: Recorder | None, stop: StopSignals, state: RunState) -> RunCallback:
        context = RunContext(
            config=self.config,
            folder=self.folder,
            ranks=self.ranks,
            reward=self.reward,
            stop=stop,
            evaluate=self._evaluate,
            sample_responses=self._sample_responses,
            levels=self._run.levels,
            unscored=UnscoredBatches(self.config.training.max_unscored_batches, self.progress),
            recorder=recorder,
        )
        return RunCallback(context, state)

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

    def _finish(self, state: RunState) -> None:
        after = self._sample_responses()
        if self.ranks.is_first:
            write_report(self.folder, self.config, self.held_out.prompts, state.samples_before, after)
        self.ranks.wait()


def _for_one_of(ranks: Ranks, config: RunConfig) -> RunConfig:
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
            # peft asks the hub for the model below an adapter, which may be a file or the wheel's
            warnings.filterwarnings("ignore", message="Unable to fetch remote file|Could not find a config file")
            yield
    finally:
        logger.setLevel(level)
