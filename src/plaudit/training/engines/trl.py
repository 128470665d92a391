"""Train with TRL's GRPOTrainer: the same config, model, prompts and reward, and the same run folder.

Started by torchrun or `accelerate launch`, the processes share the work, and multi-GPU, FSDP and DeepSpeed are
accelerate's. Every process runs this whole file.
"""

import copy
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

from plaudit.errors import DataError
from plaudit.training.config.schema import RunConfig
from plaudit.training.data.prompt_stream import PromptStream
from plaudit.training.data.prompts import Prompts
from plaudit.training.engines.trl_arguments import Shape, refuse_what_trl_cannot, trl_arguments
from plaudit.training.engines.trl_callback import Progress, RunCallback, Surroundings, newest_checkpoint
from plaudit.training.engines.trl_ranks import Ranks, SharedSampler, SharedScorer
from plaudit.training.engines.trl_reward import TRLReward
from plaudit.training.model.policy import Policy, without_bars
from plaudit.training.outcome import Outcome
from plaudit.training.reporting.final_report import write_report
from plaudit.training.reporting.held_out import HeldOut
from plaudit.training.reporting.recorder import Recorder
from plaudit.training.run import MAX_NEW_TOKENS, Ingredients, gathered
from plaudit.training.run_folder import RunFolder
from plaudit.training.sampling.in_process import TransformersSampler
from plaudit.training.start import Start
from plaudit.training.stopping import Stop
from plaudit.training.watching import Silence, Watch

__all__ = ["train"]

WHOLE_WEIGHTS = ("NO", "MULTI_CPU", "MULTI_GPU")
"""How accelerate calls it when every process has all weights, so that they can be read directly."""


def train(config: RunConfig, start: Start) -> Outcome:
    """Train a policy as the config says with TRL; options that TRL cannot express are errors before that."""
    refuse_what_trl_cannot(config, Shape(1, config.sampling.max_new_tokens or MAX_NEW_TOKENS))
    ranks = Ranks.started(cpu=config.model.device == "cpu")
    torch.set_num_threads(config.model.threads)
    folder = RunFolder(Path(config.output_dir))
    with closing(gathered(_for_one_of(ranks, config), start.reward)) as parts:
        refuse_what_trl_cannot(config, Shape(ranks.count, parts.settings.max_new_tokens))
        if ranks.is_first:
            _open(folder, config, resume=start.resume, overwrite=start.overwrite)
        ranks.wait()
        run = _Run(config, folder, parts, ranks, start.watch if ranks.is_first else Silence())
        outcome = run.run()
    ranks.leave()
    return outcome


class _Run:
    def __init__(self, config: RunConfig, folder: RunFolder, parts: Ingredients, ranks: Ranks, watch: Watch) -> None:
        self.config, self.folder, self.parts, self.ranks, self.watch = config, folder, parts, ranks, watch
        self.held_out = HeldOut(
            parts.questions.held_out, SharedScorer(parts.judge, ranks), config, settings=parts.settings
        )
        scorer = SharedScorer(parts.scorer, ranks)
        self.reward = TRLReward(config, parts.questions.prompts, parts.policy, scorer, ranks)

    def run(self) -> Outcome:
        """Train to the end, or until a signal asks to stop."""
        newest = newest_checkpoint(self.folder)
        checkpoint, progress = newest or (None, Progress())
        self._prepare(resumed=checkpoint is not None)
        self.trainer = self._trainer()
        if self.ranks.is_first:
            self.folder.cut_back(progress.sizes)
        with ExitStack() as stack:
            record = self._recorder(stack, progress.step)
            stop = stack.enter_context(Stop())
            callback = self._callback(record, stop, progress)
            self.trainer.add_callback(callback)
            stack.enter_context(_quiet())
            self._train(callback, checkpoint)
            if callback.stopped_by is None:
                self.trainer.save_model(str(self.folder.model))
        if callback.stopped_by is None:
            self._finish(progress)
        return Outcome(self.folder, progress.step, progress.before, progress.after, callback.stopped_by)

    def _train(self, callback: RunCallback, checkpoint: Path | None) -> None:
        if callback.progress.step < self.config.steps:
            self.trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
        elif not self.config.steps:  # nothing but the evaluation before the first step
            callback.on_train_begin(None, None, None)

    def _prepare(self, *, resumed: bool) -> None:
        """Warm up the embedded model; a KL is to the model at the start, which TRL wants as a folder."""
        start = self.folder.checkpoints / "start"
        wants_start = bool(self.config.loss.kl_beta) and not self.parts.policy.is_lora
        if not resumed or (wants_start and not start.exists()):
            self._warm_start()
        if wants_start:
            if self.ranks.is_first and not start.exists():
                self.parts.policy.save(start)
            self.ranks.wait()
            self.parts.policy.model.config._name_or_path = str(start)

    def _warm_start(self) -> None:
        told = self.config.model.warm_start_steps
        steps = self.parts.questions.warm_start_steps if told is None else told
        self.parts.warm_start(self.config, lambda step, loss: self.watch.warm_start(step + 1, steps, loss))

    def _trainer(self) -> Any:
        shape = Shape(self.ranks.count, self.parts.settings.max_new_tokens)
        arguments = {**trl_arguments(self.config, shape), "output_dir": str(self.folder.checkpoints)}
        trainer = GRPOTrainer(
            model=self.parts.policy.model,
            reward_funcs=self.reward,
            args=GRPOConfig(**arguments),
            train_dataset=_dataset(self.parts.questions.prompts, self.parts.policy, self.config),
            processing_class=copy.deepcopy(self.parts.policy.tokenizer),  # TRL sets how it pads
        )
        trainer.remove_callback(PrinterCallback)
        return trainer

    def _recorder(self, stack: ExitStack, first_step: int) -> Recorder | None:
        if not self.ranks.is_first:
            return None
        return stack.enter_context(Recorder(self.config, self.folder, self.watch, first_step=first_step))

    def _callback(self, record: Recorder | None, stop: Stop, progress: Progress) -> RunCallback:
        around = Surroundings(
            config=self.config,
            folder=self.folder,
            ranks=self.ranks,
            reward=self.reward,
            stop=stop,
            evaluate=self._evaluate,
            shown=self._shown,
            record=record,
        )
        return RunCallback(around, progress)

    def _evaluate(self, step: int) -> dict[str, float]:
        with self._sampling() as sampler:
            return self.held_out.evaluate(sampler, step)

    def _shown(self) -> list[str]:
        with self._sampling() as sampler:
            return self.held_out.shown(sampler)

    @contextmanager
    def _sampling(self) -> Iterator[SharedSampler]:
        """A sampler of the weights as they are now, wherever accelerate keeps them."""
        accelerator = self.trainer.accelerator
        own_decoder = accelerator.distributed_type.value in WHOLE_WEIGHTS
        with unwrap_model_for_generation(self.trainer.model_wrapped, accelerator) as model, torch.no_grad():
            sampler = TransformersSampler(
                model, self.parts.policy.tokenizer, self.parts.settings, own_decoder=own_decoder
            )
            yield SharedSampler(sampler, self.ranks)

    def _finish(self, progress: Progress) -> None:
        after = self._shown()
        if self.ranks.is_first:
            write_report(self.folder, self.config, self.held_out.prompts, progress.shown_before, after)
        self.ranks.wait()


def _open(folder: RunFolder, config: RunConfig, *, resume: bool, overwrite: bool) -> None:
    if resume and folder.holds_run:
        folder.continued(config)
    else:
        folder.begin(config, overwrite=overwrite)


def _for_one_of(ranks: Ranks, config: RunConfig) -> RunConfig:
    """The config for one process of several: they share the cores of a machine for scoring."""
    if config.training.reward_workers is not None:
        return config
    workers = max(1, (os.cpu_count() or 1) // ranks.on_this_machine())
    training = msgspec.structs.replace(config.training, reward_workers=workers)
    return msgspec.structs.replace(config, training=training)


def _dataset(prompts: Prompts, policy: Policy, config: RunConfig) -> Any:
    """The prompts of all steps, in the order in which plaudit's own loop takes them."""
    asked = _asked(prompts, policy)
    stream = PromptStream(Prompts.of(prompts), seed=config.seed, shuffle=config.data.shuffle)
    order = stream.places(max(1, config.steps) * config.sampling.prompts_per_step)

    def filled(columns: dict[str, list[int]]) -> dict[str, list[Any]]:
        return {"prompt": [asked[row] for row in columns["row"]], "row": columns["row"]}

    return Dataset.from_dict({"row": order}).with_transform(filled)


def _asked(prompts: Prompts, policy: Policy) -> list[Any]:
    """The prompts as TRL takes them: all texts, or all chat messages for the tokenizer's template."""
    if policy.tokenizer.chat_template is None:
        return [row.prompt_text for row in prompts]
    kinds = {type(row.prompt) for row in prompts}
    if len(kinds) > 1:
        raise DataError("some prompts are texts and some chat messages, and TRL takes one kind; set data.chat_template")
    return prompts.prompts


@contextmanager
def _quiet() -> Iterator[None]:
    """No bars beside our own; and no samples in logs: TRL warns of every response that was not scored with its text."""
    logger = logging.getLogger("trl.trainer.grpo_trainer")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with without_bars(), warnings.catch_warnings():
            # peft asks the hub for the model below an adapter, which may be a file or the wheel's
            warnings.filterwarnings("ignore", message="Unable to fetch remote file|Could not find a config file")
            yield
    finally:
        logger.setLevel(level)
