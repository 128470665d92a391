"""Build a run from its config and its inputs: scorers, policy, samplers, folder."""

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import torch
from safetensors import SafetensorError

from plaudit.agents import EnvironmentHost, EpisodeLimits
from plaudit.engine import Scorer
from plaudit.engine.batch_dependence import warn_of_batch_dependence
from plaudit.errors import InvalidSettings, RolloutsError, TrainingError
from plaudit.loading import Loaded
from plaudit.models.loading import choose_device
from plaudit.training.collecting import Collector, PrefetchedBatches, Scoring, SequentialBatches
from plaudit.training.config.schema import EMBEDDED, RunConfig, SamplingSettings
from plaudit.training.data.curriculum import Levels, build_stream
from plaudit.training.data.prompts import Prompts, Task, ground_truth_text
from plaudit.training.data.sources import set_template_arguments
from plaudit.training.engine import Progress, RunOptions
from plaudit.training.episodes import EpisodeSampler, EpisodeScorer
from plaudit.training.evaluation import HeldOut
from plaudit.training.inputs import Inputs
from plaudit.training.learning.optimizer import train_own_weights, warm_start
from plaudit.training.learning.updater import Updater
from plaudit.training.model.loading import add_lora, load_policy
from plaudit.training.model.policy import Policy
from plaudit.training.run_folder import RunFolder
from plaudit.training.sampling.encoding import keep_fitting
from plaudit.training.sampling.sampler import Sampler, derive_seed
from plaudit.trajectory import Trajectory

SCOPES = "using('FILE', scope='batch') (all samples of a step), scope='group' (those of a prompt), or max_batch=N"


@dataclass(frozen=True)
class Run:
    """Everything an engine works with; close it to end the scorers' workers."""

    config: RunConfig
    task: Task
    policy: Policy
    scorer: Scoring
    eval_scorer: Scoring
    """Scores held-out responses."""
    sampling: SamplingSettings
    inputs: Inputs
    limits: EpisodeLimits | None = None
    """The limits of episodes, if there is an agent."""
    hosts: list[EnvironmentHost] = field(default_factory=list)
    """The hosts that run the environments."""

    @property
    def folder(self) -> RunFolder:
        return RunFolder(Path(self.config.output_dir))

    @cached_property
    def levels(self) -> Levels:
        """The levels of difficulty of all prompts."""
        rows = (*self.task.prompts, *self.task.held_out)
        keys = self.config.curriculum
        return Levels.of(rows, keys.order) if keys.by == "difficulty" else Levels.of_usable(rows)

    @property
    def max_new_tokens(self) -> int:
        """The number of tokens that a sample may have, over all turns."""
        return self.sampling.max_new_tokens * (self.limits.max_steps or 1 if self.limits else 1)

    def build_sampler(self, policy: Policy) -> Sampler:
        """A sampler of responses, or of episodes where there is an agent."""
        sampler = policy.sampler(self.sampling)
        agent = self.inputs.agent
        if agent is None or self.limits is None:
            return sampler
        host = agent.build_host(workers=self.config.training.agent_workers or None)
        self.hosts.append(host)
        return EpisodeSampler(sampler, agent, self.limits, host=host)

    def build_held_out(self) -> HeldOut:
        """The evaluation on held-out prompts."""
        return HeldOut(self.task.held_out, self.eval_scorer, self.config, settings=self.sampling, levels=self.levels)

    def build_updater(self) -> Updater:
        """The updater of the policy, from its current weights."""
        demonstrations = self.inputs.demonstrations
        return Updater(self.policy, self.config, max_new_tokens=self.max_new_tokens, demonstrations=demonstrations)

    def open_batches(self, sampler: Sampler, *, state: dict[str, Any]) -> SequentialBatches | PrefetchedBatches:
        """The batches of the run's steps, from a state of the stream of prompts on; close it at the end."""
        config = self.config
        stream = build_stream(self.task.prompts, self.task.weights, self.levels, config)
        if state:
            stream.restore(state)
        collector = Collector(stream, self.scorer, config, settings=self.sampling)
        if not config.training.async_train:
            return SequentialBatches(collector, sampler)

        def last_prefetchable_step(step: int) -> int:
            """No batch is drawn across a checkpoint."""
            every = config.checkpoint.every
            return min(config.steps, -(-step // every) * every if every else config.steps)

        return PrefetchedBatches(
            collector,
            self.policy,
            build_sampler=self.build_sampler,
            max_staleness=config.training.max_staleness,
            last_prefetchable_step=last_prefetchable_step,
        )

    def warm_start(self, progress: Progress, *, resumed: bool = False) -> None:
        """The supervised beginning. A resumed run takes it again only where a reference, or adapters, build on
        weights that no checkpoint keeps."""
        config, model = self.config, self.config.model
        steps, embedded = config.warm_start_steps(self.task.warm_start_steps), model.is_embedded
        needed = embedded if self.policy.is_lora else bool(config.loss.kl_beta)
        if not steps or (resumed and not needed):
            return
        lr = model.warm_start_lr or (None if embedded else config.optimizer.lr)
        with train_own_weights(self.policy) if embedded else nullcontext():
            warm_start(
                self.policy,
                self.inputs.demonstrations,
                msgspec.structs.replace(model, warm_start_steps=steps, warm_start_lr=lr),
                seed=derive_seed(config.seed, "warm start"),
                micro_batches=config.training.gradient_accumulation,
                on_step=lambda step, loss: progress.warm_start(step + 1, steps, loss),
            )

    def close(self) -> None:
        """End all workers."""
        self.scorer.close()
        self.eval_scorer.close()
        for host in self.hosts:
            host.close()


@contextmanager
def open_run(config: RunConfig, options: RunOptions) -> Iterator[Run]:
    """The run of a config with its folder opened."""
    folder = RunFolder(Path(config.output_dir))
    torch.set_num_threads(config.model.threads)
    with closing(build_run(config, options.inputs, options.progress)) as run:
        if config.model.gradient_checkpointing:
            run.policy.recompute_layers()
        folder.open(config, resume=options.resume)
        try:
            yield run
        except (OSError, RolloutsError, SafetensorError) as error:
            raise TrainingError(f"the run stopped: {error}; once that is fixed, --resume continues it") from error
        finally:
            folder.forget_failed_start()


def build_run(config: RunConfig, inputs: Inputs, progress: Progress | None = None) -> Run:
    """The parts of a run. The model is loaded last."""
    choose_device(config.model.device)
    with ExitStack() as stack:
        scorer = _build_scorer(config, inputs)
        stack.callback(scorer.close)
        if isinstance(scorer, Scorer):
            warning = warn_of_batch_dependence(scorer, _try_responses(inputs.task.prompts), SCOPES)
            if warning is not None and progress is not None:
                progress.note(f"warning: {warning}")
        eval_scorer = _build_eval_scorer(config, inputs, scorer)
        stack.callback(eval_scorer.close)
        if progress is not None:
            embedded = "no model.path (--pretrain): training the embedded tiny model"
            progress.note(embedded if config.model.path is None else f"loading the model {config.model.path}")
        policy = _load_policy(config)
        set_template_arguments(policy.tokenizer, config.data.chat_template_args)
        task = _keep_fitting(inputs.task, policy, config)
        limits = None if inputs.agent is None else _episode_limits(config, policy)
        stack.pop_all()
    sampling = config.sampling.settings(task.max_new_tokens)
    task = replace(task, notes=(*task.notes, *_note_unknown_characters(task, policy)))
    return Run(config, task, policy, scorer, eval_scorer, sampling, inputs, limits)


def _load_policy(config: RunConfig) -> Policy:
    model = config.model
    dtype = "float32" if config.engine == "trl" else model.dtype  # TRL keeps float32 weights and computes in bfloat16
    policy = load_policy(model.path or EMBEDDED, seed=config.seed, dtype=dtype, device=model.device)
    return add_lora(policy, model, seed=config.seed) if model.lora_rank else policy


def _keep_fitting(task: Task, policy: Policy, config: RunConfig) -> Task:
    """The task with the prompts that leave room for a response; a prompt that does not is an error that names it."""
    context: int | None = getattr(policy.model.config, "max_position_embeddings", None)
    limits = [config.data.max_prompt_tokens, None if context is None else context - task.max_new_tokens]
    longest = min((limit for limit in limits if limit is not None), default=None)
    if longest is None:
        return task
    if longest < 1:
        raise InvalidSettings(
            f"sampling.max_new_tokens={task.max_new_tokens} leaves no room for a prompt in the model's context "
            f"of {context}; lower it"
        )

    def fit(prompts: Prompts) -> Prompts:
        return (
            keep_fitting(prompts, policy.tokenizer, longest, drop=config.data.too_long == "skip")
            if prompts
            else prompts
        )

    return replace(task, prompts=fit(task.prompts), held_out=fit(task.held_out))


def _try_responses(prompts: Prompts) -> Iterator[Trajectory]:
    """A few samples to try a reward on before there are responses: the ground truth, and texts of other lengths."""
    for number, row in enumerate(prompts):
        truth = ground_truth_text(row) or ""
        yield msgspec.structs.replace(row, response=(truth, "", f"{truth} or {number}")[number % 3])


def _build_scorer(config: RunConfig, inputs: Inputs) -> Scoring:
    """The scorer of training samples; the reward of a built-in task is fast and needs no deadline."""
    if inputs.reward is None:
        return EpisodeScorer()
    backend = config.training.reward_backend
    if backend == "auto":
        backend = "inline" if inputs.runs_inline else "processes"
    scorer = _open_scorer(inputs.reward, backend, config)
    return scorer if inputs.agent is None else EpisodeScorer(scorer)


def _build_eval_scorer(config: RunConfig, inputs: Inputs, scorer: Scoring) -> Scoring:
    """The scorer of held-out responses; the training scorer where both have the same reward."""
    if inputs.eval_reward is None:
        return scorer
    is_inline = inputs.task.runs_inline or config.training.reward_backend == "inline"
    return _open_scorer(inputs.eval_reward, "inline" if is_inline else "processes", config)


def _open_scorer(reward: Loaded, backend: str, config: RunConfig) -> Scorer:
    training = config.training
    deadline = None if backend == "inline" else training.reward_deadline_s or None
    return Scorer(reward, backend=backend, workers=training.reward_workers, deadline_s=deadline)


def _episode_limits(config: RunConfig, policy: Policy) -> EpisodeLimits:
    context: int | None = getattr(policy.model.config, "max_position_embeddings", None)
    lengths = [length for length in (config.training.agent_max_tokens, context) if length is not None]
    return EpisodeLimits(
        max_steps=config.training.agent_max_steps,
        max_length=min(lengths, default=None),
        deadline_s=config.training.reward_deadline_s or None,
    )


def _note_unknown_characters(task: Task, policy: Policy) -> list[str]:
    """Which characters of the data the tokenizer cannot read: the model sees the same sign for all of them."""
    tokenizer = policy.tokenizer
    unknown = tokenizer.unk_token_id
    if unknown is None or unknown == tokenizer.eos_token_id:
        return []
    rows = [*task.prompts, *task.held_out]
    characters = {character for row in rows for character in f"{row.prompt_text}{row.ground_truth or ''}"}
    lost = sorted(each for each in characters if unknown in tokenizer(each, add_special_tokens=False)["input_ids"])
    if not lost:
        return []
    named = ", ".join(map(repr, lost[:10])) + (f" and {len(lost) - 10} more" if len(lost) > 10 else "")
    return [f"the model's tokenizer does not know {named}: all of them become {tokenizer.unk_token}"]
