"""A run, made ready from its config: task, policy, rewards, folder. What is wrong with the config shows here.

Evaluation is judged by the task's own reward where there is a task, whatever reward is trained on: a reward that
teaches nonsense must not also be the judge of it.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from plaudit.agents import Agent, EpisodeLimits
from plaudit.contract.function import Rewarding
from plaudit.engine import Scorer
from plaudit.errors import DataError, InvalidSettings
from plaudit.loading import load_agent
from plaudit.training.batches.collecting import Collector, Scoring, derive_seed
from plaudit.training.batches.episodes import EpisodeSampler, EpisodeScorer
from plaudit.training.batches.prefetching import PrefetchedBatches, SequentialBatches
from plaudit.training.config.schema import RunConfig
from plaudit.training.data.prompt_stream import PromptStream
from plaudit.training.data.prompts import Prompts
from plaudit.training.data.sources import keep_fitting, read_prompts
from plaudit.training.data.templates import PromptTemplate
from plaudit.training.disk_full import explain_full_disk
from plaudit.training.engines.engine import Progress, RunOptions
from plaudit.training.learning.warm_start import WarmStart, train_own_weights, warm_start
from plaudit.training.model.loading import LoraSettings, load_policy
from plaudit.training.model.policy import Policy
from plaudit.training.run_folder import RunFolder
from plaudit.training.sampling.sampler import Sampler, SamplingSettings
from plaudit.training.tasks.catalog import find_task
from plaudit.training.tasks.task import Task
from plaudit.trajectory import Trajectory

__all__ = ["MAX_NEW_TOKENS", "Run", "build_run", "load_task", "open_run"]

EMBEDDED = "tiny"
MAX_NEW_TOKENS = 64
WARM_START_STEPS = 60


@dataclass(frozen=True, slots=True)
class Run:
    """Everything an engine works with; close it to end the scorers' workers."""

    config: RunConfig
    task: Task
    policy: Policy
    scorer: Scoring
    judge: Scoring
    """Scores held-out responses."""
    sampling: SamplingSettings
    agent: Agent | None = None
    limits: EpisodeLimits | None = None

    @property
    def folder(self) -> RunFolder:
        return RunFolder(Path(self.config.output_dir))

    @property
    def max_new_tokens(self) -> int:
        """How many tokens a sample may have, over all turns."""
        return self.sampling.max_new_tokens * (self.limits.max_steps or 1 if self.limits else 1)

    def build_sampler(self, policy: Policy) -> Sampler:
        """What samples from a policy: responses, or episodes where there is an agent."""
        sampler = policy.sampler(self.sampling)
        if self.agent is None or self.limits is None:
            return sampler
        return EpisodeSampler(sampler, self.agent, self.limits)

    def open_batches(self, sampler: Sampler, *, position: int) -> SequentialBatches | PrefetchedBatches:
        """The batches of the run's steps, from a position in the stream of prompts on; close it at the end."""
        config = self.config
        stream = PromptStream(self.task.prompts, seed=config.seed, shuffle=config.data.shuffle)
        stream.position = position
        collector = Collector(stream, self.scorer, config, settings=self.sampling)
        if not config.training.async_train:
            return SequentialBatches(collector, sampler)

        def last(step: int) -> int:
            """No batch is drawn across a checkpoint."""
            every = config.checkpoint.every
            return min(config.steps, -(-step // every) * every if every else config.steps)

        return PrefetchedBatches(
            collector,
            self.policy,
            build_sampler=self.build_sampler,
            max_staleness=config.training.max_staleness,
            last=last,
        )

    def warm_start(self, progress: Progress) -> None:
        """The supervised beginning of the embedded model; models that were loaded know something already."""
        model = self.config.model
        steps = self.task.warm_start_steps if model.warm_start_steps is None else model.warm_start_steps
        if (model.path or EMBEDDED) == EMBEDDED and steps:
            seed = derive_seed(self.config.seed, "warm start")
            settings = WarmStart(steps, model.warm_start_batch, model.warm_start_lr, seed)
            with train_own_weights(self.policy):
                warm_start(
                    self.policy,
                    self.task.demonstrations,
                    settings,
                    on_step=lambda step, loss: progress.warm_start(step + 1, steps, loss),
                )

    def close(self) -> None:
        """End all workers."""
        self.scorer.close()
        self.judge.close()


@contextmanager
def open_run(config: RunConfig, options: RunOptions) -> Iterator[Run]:
    """The run of a config with its folder opened; a full disk inside ends it with what to do about that."""
    _check_sampler(config)
    torch.set_num_threads(config.model.threads)
    with closing(build_run(config, options.reward)) as run, explain_full_disk(run.folder):
        run.folder.open(config, resume=options.resume, overwrite=options.overwrite)
        yield run


def _check_sampler(config: RunConfig) -> None:
    if config.sampling.sampler != "transformers":
        raise InvalidSettings(
            f"sampling.sampler={config.sampling.sampler}: this engine samples with transformers, since another sampler "
            "would not follow its updates; with engine=trl, vLLM does"
        )


def build_run(config: RunConfig, reward: Rewarding | None = None) -> Run:
    """The parts of a run; `reward` takes the place of the config's."""
    agent = None if config.training.agent_file is None else load_agent(config.training.agent_file)
    given = reward if reward is not None else config.training.reward_function
    task = load_task(config, given)
    policy = _load_policy(config)
    task = _keep_fitting(task, policy, config)
    scorer = _build_scorer(config, task, given)
    sampling = SamplingSettings(
        max_new_tokens=task.max_new_tokens,
        temperature=config.sampling.temperature,
        top_p=config.sampling.top_p,
        top_k=config.sampling.top_k,
        stop=config.sampling.stop,
    )
    limits = None if agent is None else _episode_limits(config, policy)
    judge = _build_judge(config, task, given, scorer)
    return Run(config, task, policy, scorer, judge, sampling, agent, limits)


def load_task(config: RunConfig, reward: Rewarding | str | None = None) -> Task:
    """The prompts that the config names, from a data file, which `reward` judges, or from a built-in task."""
    if config.data.path is not None:
        return _task_from_data(config, reward)
    if config.task is None:
        raise InvalidSettings("there is nothing to train on: set data.path to a data file, or task to a built-in one")
    task = find_task(config.task)
    return replace(
        task,
        held_out=task.held_out[: config.eval.prompts],
        max_new_tokens=config.sampling.max_new_tokens or task.max_new_tokens,
    )


def _task_from_data(config: RunConfig, reward: Rewarding | str | None) -> Task:
    if reward is None and config.training.agent_file is None:
        raise InvalidSettings(
            f"data.path={config.data.path} says what to ask, but nothing says what is good: "
            "set training.reward_function, e.g. training.reward_function=my.py:name"
        )
    prompts, held_out = _split_data(config)
    known = any(_ground_truth_text(row) is not None for row in prompts)
    return Task(
        name=str(config.data.path),
        prompts=prompts,
        held_out=held_out[: config.eval.prompts],
        reward=reward,
        max_new_tokens=config.sampling.max_new_tokens or MAX_NEW_TOKENS,
        respond=_ground_truth_text,
        warm_start_steps=WARM_START_STEPS if known else 0,
    )


def _ground_truth_text(row: Trajectory) -> str | None:
    """The ground truth as a response to learn from, where it is one."""
    return str(row.ground_truth) if isinstance(row.ground_truth, str | int | float) else None


def _split_data(config: RunConfig) -> tuple[Prompts, Prompts]:
    data = config.data
    prompts = _read(config, data.path)
    if data.eval_path is not None:
        return prompts, _read(config, data.eval_path)
    held_out = round(len(prompts) * data.eval_share)
    if held_out == len(prompts):
        raise DataError(f"data.eval_share={data.eval_share:g} leaves none of {len(prompts)} prompts to train on")
    return prompts.split(held_out, config.seed) if held_out else (prompts, Prompts(()))


def _read(config: RunConfig, path: str | None) -> Prompts:
    data = config.data
    columns = {"prompt": data.prompt_key, "ground_truth": data.ground_truth_key}
    return read_prompts(
        str(path),
        columns={field: column for field, column in columns.items() if column is not None},
        template=PromptTemplate(data.prompt_template, system=data.system_prompt, chat=data.chat_template),
        split=data.split,
        limit=data.limit,
    )


def _load_policy(config: RunConfig) -> Policy:
    model = config.model
    lora = LoraSettings(model.lora_rank, model.lora_alpha, model.lora_targets) if model.lora_rank else None
    return load_policy(model.path or EMBEDDED, seed=config.seed, dtype=model.dtype, device=model.device, lora=lora)


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
        return keep_fitting(prompts, policy.tokenizer, longest, drop=config.data.drop_long) if prompts else prompts

    return replace(task, prompts=fit(task.prompts), held_out=fit(task.held_out))


def _build_scorer(config: RunConfig, task: Task, given: Rewarding | str | None) -> Scoring:
    """What scores training samples; the task's own reward is fast and needs no deadline."""
    reward = task.reward if given is None else given
    if reward is None:
        return EpisodeScorer()
    training = config.training
    backend = training.reward_backend
    if backend == "auto":
        backend = "inline" if given is None else "processes"
    deadline = training.reward_deadline_s if training.reward_deadline_s and backend != "inline" else None
    scorer = Scorer(reward, backend=backend, workers=training.reward_workers, deadline_s=deadline)
    return scorer if training.agent_file is None else EpisodeScorer(scorer)


def _build_judge(config: RunConfig, task: Task, given: Rewarding | str | None, scorer: Scoring) -> Scoring:
    """What scores held-out responses: the reward named for it, else the task's; episodes by their environments."""
    judge = config.eval.reward_function or task.reward
    by_agent = config.training.agent_file is not None and config.eval.reward_function is None
    trained_on = task.reward if given is None else given
    if by_agent or judge is None or judge is trained_on:
        return scorer
    return Scorer(judge, backend="inline")


def _episode_limits(config: RunConfig, policy: Policy) -> EpisodeLimits:
    context: int | None = getattr(policy.model.config, "max_position_embeddings", None)
    lengths = [length for length in (config.training.agent_max_tokens, context) if length is not None]
    return EpisodeLimits(
        max_steps=config.training.agent_max_steps,
        max_length=min(lengths, default=None),
        deadline_s=config.training.reward_deadline_s or None,
    )
