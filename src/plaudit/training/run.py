"""What a config names, made ready: policy, prompts, rewards. Whatever is wrong with it shows here, before training.

Evaluation is judged by the task's own reward where there is a task, whatever reward is trained on: a reward that
teaches nonsense must not also be the judge of it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import msgspec

from plaudit.agents import Agent, EpisodeLimits
from plaudit.contract.function import Rewarding
from plaudit.engine import Scorer
from plaudit.errors import DataError, InvalidSettings
from plaudit.loading import load_agent
from plaudit.training.batches.collecting import Scoring, seed_of
from plaudit.training.batches.episodes import EpisodeSampler, EpisodeScorer
from plaudit.training.config.schema import RunConfig
from plaudit.training.data.prompts import Prompts
from plaudit.training.data.sources import fitting, read_prompts
from plaudit.training.data.templates import PromptTemplate
from plaudit.training.model.loading import LoraSettings, load_policy
from plaudit.training.model.policy import Policy
from plaudit.training.model.tiny import WarmStart, warm_start
from plaudit.training.sampling.sampler import Sampler, SamplingSettings
from plaudit.training.tasks import find_task
from plaudit.trajectory import Trajectory

__all__ = ["Ingredients", "Questions", "gathered", "questions_of"]

EMBEDDED = "tiny"
MAX_NEW_TOKENS = 64
WARM_START_STEPS = 60


@dataclass(frozen=True, slots=True)
class Questions:
    """Prompts to train on and to evaluate with, what judges responses, and correct responses where they are known."""

    prompts: Prompts
    held_out: Prompts
    reward: Rewarding | str | None
    """None where only an agent's environment gives rewards."""
    judge: Rewarding | str | None
    max_new_tokens: int
    demonstrations: Callable[[], list[Trajectory]]
    warm_start_steps: int
    trusted: bool
    """Whether the reward is the task's own, which needs no deadline."""


@dataclass(frozen=True, slots=True)
class Ingredients:
    """Everything the loop works with; close it to end the scorers' workers."""

    questions: Questions
    policy: Policy
    scorer: Scoring
    judge: Scoring
    settings: SamplingSettings
    agent: Agent | None = None
    limits: EpisodeLimits | None = None

    def close(self) -> None:
        """End all workers."""
        self.scorer.close()
        self.judge.close()

    def sampler_of(self, policy: Policy) -> Sampler:
        """What draws the samples of a policy: responses, or episodes where there is an agent."""
        sampler = policy.sampler(self.settings)
        if self.agent is None or self.limits is None:
            return sampler
        return EpisodeSampler(sampler, self.agent, self.limits)

    @property
    def max_new_tokens(self) -> int:
        """How many tokens a sample may draw, over all turns."""
        return self.settings.max_new_tokens * (self.limits.max_steps or 1 if self.limits else 1)

    def warm_start(self, config: RunConfig, on_step: Callable[[int, float], None] | None = None) -> None:
        """The supervised beginning of the embedded model; models that were loaded know something already."""
        told = config.model
        steps = self.questions.warm_start_steps if told.warm_start_steps is None else told.warm_start_steps
        if (told.path or EMBEDDED) == EMBEDDED and steps:
            settings = WarmStart(steps, told.warm_start_batch, told.warm_start_lr, seed_of(config.seed, "warm start"))
            with _own_weights(self.policy):
                warm_start(self.policy, self.questions.demonstrations(), settings, on_step=on_step)


def gathered(config: RunConfig, reward: Rewarding | None = None) -> Ingredients:
    """The ingredients of a run; `reward` takes the place of the config's."""
    agent = None if config.training.agent_file is None else load_agent(config.training.agent_file)
    questions = questions_of(config, reward)
    policy = _policy(config)
    questions = _fitted(questions, policy, config)
    scorer = _scorer(config, questions)
    judge = _judge(config, questions, scorer)
    settings = SamplingSettings(
        max_new_tokens=questions.max_new_tokens,
        temperature=config.sampling.temperature,
        top_p=config.sampling.top_p,
        top_k=config.sampling.top_k,
        stop=config.sampling.stop,
    )
    limits = None if agent is None else _limits(config, policy)
    return Ingredients(questions, policy, scorer, judge, settings, agent, limits)


def _judge(config: RunConfig, questions: Questions, scorer: Scoring) -> Scoring:
    """What judges held-out responses; an agent's episodes are judged by their environments, unless another is named."""
    by_agent = config.training.agent_file is not None and config.eval.reward_function is None
    if by_agent or questions.judge is questions.reward or questions.judge is None:
        return scorer
    return Scorer(questions.judge, backend="inline")


def _limits(config: RunConfig, policy: Policy) -> EpisodeLimits:
    context: int | None = getattr(policy.model.config, "max_position_embeddings", None)
    lengths = [length for length in (config.training.agent_max_tokens, context) if length is not None]
    return EpisodeLimits(
        max_steps=config.training.agent_max_steps,
        max_length=min(lengths, default=None),
        deadline_s=config.training.reward_deadline_s or None,
    )


@contextmanager
def _own_weights(policy: Policy) -> Iterator[None]:
    """While entered, a LoRA policy trains the model's own weights: adapters could not teach an empty model to speak."""
    flags = [(parameter, parameter.requires_grad) for parameter in policy.model.parameters()]
    try:
        for parameter, trained in flags:
            parameter.requires_grad_(not trained if policy.is_lora else trained)
        yield
    finally:
        for parameter, trained in flags:
            parameter.requires_grad_(trained)


def _policy(config: RunConfig) -> Policy:
    told = config.model
    lora = LoraSettings(told.lora_rank, told.lora_alpha, told.lora_targets) if told.lora_rank else None
    return load_policy(told.path or EMBEDDED, seed=config.seed, dtype=told.dtype, device=told.device, lora=lora)


def questions_of(config: RunConfig, reward: Rewarding | None = None) -> Questions:
    """The prompts and rewards that the config names, from a data file or from a built-in task."""
    given = reward if reward is not None else config.training.reward_function
    if config.data.path is not None:
        return _from_data(config, given)
    if config.task is None:
        raise InvalidSettings("there is nothing to train on: set data.path to a data file, or task to a built-in one")
    task = find_task(config.task)
    return Questions(
        prompts=task.prompts,
        held_out=task.held_out[: config.eval.prompts],
        reward=task.reward if given is None else given,
        judge=config.eval.reward_function or task.reward,
        max_new_tokens=config.sampling.max_new_tokens or task.max_new_tokens,
        demonstrations=lambda: task.demonstrations,
        warm_start_steps=task.warm_steps,
        trusted=given is None,
    )


def _from_data(config: RunConfig, reward: Rewarding | str | None) -> Questions:
    if reward is None and config.training.agent_file is None:
        raise InvalidSettings(
            f"data.path={config.data.path} says what to ask, but nothing says what is good: "
            "set training.reward_function, e.g. training.reward_function=my.py:name"
        )
    prompts, held_out = _split(config)
    known = [row for row in prompts if isinstance(row.ground_truth, str | int | float)]
    return Questions(
        prompts=prompts,
        held_out=held_out[: config.eval.prompts],
        reward=reward,
        judge=config.eval.reward_function or reward,
        max_new_tokens=config.sampling.max_new_tokens or MAX_NEW_TOKENS,
        demonstrations=lambda: [msgspec.structs.replace(row, response=str(row.ground_truth)) for row in known],
        warm_start_steps=WARM_START_STEPS if known else 0,
        trusted=False,
    )


def _split(config: RunConfig) -> tuple[Prompts, Prompts]:
    told = config.data
    prompts = _read(config, told.path)
    if told.eval_path is not None:
        return prompts, _read(config, told.eval_path)
    apart = round(len(prompts) * told.eval_share)
    if apart == len(prompts):
        raise DataError(f"data.eval_share={told.eval_share:g} leaves none of {len(prompts)} prompts to train on")
    return prompts.split(apart, config.seed) if apart else (prompts, Prompts(()))


def _read(config: RunConfig, path: str | None) -> Prompts:
    told = config.data
    columns = {"prompt": told.prompt_key, "ground_truth": told.ground_truth_key}
    return read_prompts(
        str(path),
        columns={field: column for field, column in columns.items() if column is not None},
        template=PromptTemplate(told.prompt_template, system=told.system_prompt, chat=told.chat_template),
        split=told.split,
        limit=told.limit,
    )


def _fitted(questions: Questions, policy: Policy, config: RunConfig) -> Questions:
    """The questions whose prompts leave room for a response; a prompt that does not is an error that names it."""
    context: int | None = getattr(policy.model.config, "max_position_embeddings", None)
    limits = [config.data.max_prompt_tokens, None if context is None else context - questions.max_new_tokens]
    longest = min((limit for limit in limits if limit is not None), default=None)
    if longest is None:
        return questions
    if longest < 1:
        raise InvalidSettings(
            f"sampling.max_new_tokens={questions.max_new_tokens} leaves no room for a prompt in the model's context "
            f"of {context}; lower it"
        )

    def fit(prompts: Prompts) -> Prompts:
        return fitting(prompts, policy.tokenizer, longest, drop=config.data.drop_long) if prompts else prompts

    return replace(questions, prompts=fit(questions.prompts), held_out=fit(questions.held_out))


def _scorer(config: RunConfig, questions: Questions) -> Scoring:
    told = config.training
    if questions.reward is None:
        return EpisodeScorer()
    backend = ("inline" if questions.trusted else "processes") if told.reward_backend == "auto" else told.reward_backend
    deadline = told.reward_deadline_s if told.reward_deadline_s and backend != "inline" else None
    scorer = Scorer(questions.reward, backend=backend, workers=told.reward_workers, deadline_s=deadline)
    return scorer if told.agent_file is None else EpisodeScorer(scorer)
