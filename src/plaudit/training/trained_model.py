"""A model apart from its training: found by name, sampled from, evaluated, and freed of its adapters.

A model is named by a run folder, by anything that `model.path` of a config takes, or by the URL of an OpenAI-compatible
server. A run's prompts went through its template, so what is asked of its model goes through the same one.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import msgspec

from plaudit.contract.function import RewardLike
from plaudit.engine import Scorer
from plaudit.errors import InvalidSettings, PolicyError
from plaudit.report.coverage import CoveredMean, mean_reward, wilson_interval
from plaudit.rollouts import Rollout, ScoredRollout
from plaudit.training.config.keys import read_yaml
from plaudit.training.config.reading import load_config
from plaudit.training.config.schema import RunConfig
from plaudit.training.data.prompts import Prompts
from plaudit.training.data.templates import PromptTemplate
from plaudit.training.evaluation import evaluate
from plaudit.training.model.loading import load_policy
from plaudit.training.model.policy import Policy, hide_progress_bars
from plaudit.training.reporting.run_folder import RunFolder
from plaudit.training.sampling.endpoint import EndpointSampler
from plaudit.training.sampling.sampler import Sampler, SamplingSettings, derive_seed
from plaudit.training.tasks.config_task import load_task
from plaudit.training.tasks.task import Task
from plaudit.trajectory import GroupKey

__all__ = [
    "EvaluatedTask", "EvaluationSettings", "Interval", "TrainedModel", "evaluate_model", "merge_model",
    "open_model",
]  # fmt: skip

RESPONSES_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """A model that responds to prompts, and how prompts are put to it."""

    name: str
    sampler: Sampler
    template: PromptTemplate
    max_new_tokens: int

    def respond(self, prompt: str, count: int = 1, *, settings: SamplingSettings | None = None) -> list[str]:
        """`count` responses to a prompt, as the model was trained to be asked."""
        settings = settings or SamplingSettings(max_new_tokens=self.max_new_tokens)
        asked = self.template.fill({"prompt": prompt}, prompt)
        return self.sampler.sample([asked], count, settings=settings).texts


def open_model(
    spec: str,
    *,
    model: str | None = None,
    api_key_env: str | None = None,
    device: str = "cpu",
    dtype: str = "float32",
) -> TrainedModel:
    """The model that `spec` names: a run folder, a model as `model.path` takes it, or a server's URL.

    `model` is the name by which a server knows the model, `api_key_env` the environment variable with its key.
    """
    if "://" in spec:
        if model is None:
            raise InvalidSettings(f"{spec} may serve several models; name the one that is meant (--model NAME)")
        sampler = EndpointSampler(spec, model, api_key_env=api_key_env)
        return TrainedModel(model, sampler, PromptTemplate(), sampler.settings.max_new_tokens)
    config = _config_of(spec)
    with hide_progress_bars():
        policy = load_policy(_model_path(spec), device=device, dtype=dtype)
    template = PromptTemplate()
    longest = SamplingSettings().max_new_tokens
    if config is not None:
        data = config.data
        template = PromptTemplate(data.prompt_template, system=data.system_prompt, chat=data.chat_template)
        longest = config.sampling.max_new_tokens or longest
    return TrainedModel(spec, policy.sampler(), template, longest)


def load_run_task(spec: str, reward: RewardLike | str | None = None) -> Task | None:
    """What the run in a folder was trained on, with its held-out prompts; None for anything but a run.

    `reward` takes the place of the run's.
    """
    config = _config_of(spec)
    return None if config is None else load_task(config, reward or config.training.reward_function)


def merge_model(spec: str, folder: str | Path) -> Policy:
    """Write the model that `spec` names to `folder`, its adapters built in, as transformers loads it by itself."""
    target = Path(folder)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise PolicyError(f"{target} is there already and not an empty folder; take another")
    with hide_progress_bars():
        policy = load_policy(_model_path(spec))
    if not policy.is_lora:
        raise PolicyError(f"{spec} has no adapters to build in: transformers loads {_model_path(spec)} as it is")
    merged = policy.merge_adapters()
    merged.save(target)
    return merged


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with bounds that hold the true value in 95 of 100 evaluations on other prompts of the kind."""

    value: float
    low: float
    high: float
    overall: float
    """The same over all samples, unscored ones as 0."""
    unscored: float
    """The share of samples that were not scored."""

    @property
    def covered_mean(self) -> CoveredMean:
        """The estimate with its coverage."""
        return CoveredMean(self.value, self.overall, self.unscored)


@dataclass(frozen=True, slots=True)
class EvaluatedTask:
    """How a model did on the prompts of one task."""

    task: str
    prompts: int
    samples: int
    unscored: int
    figures: dict[str, Interval]
    """By name: score, reward, pass@k, greedy, and greedy_reward where the reward gives no scores."""
    length: float

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return msgspec.to_builtins(self)  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class EvaluationSettings:
    """How a model is evaluated: `samples` per prompt, drawn as `sampling` says, and the likeliest one if `greedy`."""

    samples: int = 8
    pass_at: tuple[int, ...] = (1,)
    sampling: SamplingSettings | None = None
    greedy: bool = True

    def __post_init__(self) -> None:
        if self.samples < 1:
            raise InvalidSettings(f"samples must be at least 1, got {self.samples}")
        if unfit := [k for k in self.pass_at if not 1 <= k <= self.samples]:
            raise InvalidSettings(f"pass@{unfit[0]} needs at least {unfit[0]} samples per prompt, got {self.samples}")


def evaluate_model(
    trained: TrainedModel,
    prompts: Prompts,
    scorer: Scorer,
    settings: EvaluationSettings | None = None,
    on_sample: Callable[[ScoredRollout], None] | None = None,
) -> list[EvaluatedTask]:
    """How good the responses of a model to `prompts` are, task by task; `on_sample` is given every scored sample."""
    settings = settings or EvaluationSettings()
    sampling = settings.sampling or SamplingSettings(max_new_tokens=trained.max_new_tokens)
    rows = Prompts(tuple(msgspec.structs.replace(row, group=f"prompt-{at}") for at, row in enumerate(prompts)))
    rounds = [(settings.samples, sampling)]
    if settings.greedy:
        rounds.append((1, replace(sampling, temperature=0.0)))
    found: list[dict[str, list[ScoredRollout]]] = [defaultdict(list), defaultdict(list)]
    for tasks, (count, drawn_with) in zip(found, rounds, strict=False):
        for rollout in _score_samples(trained.sampler, rows, count, drawn_with, scorer):
            tasks[rollout.trajectory.task or ""].append(rollout)
            if on_sample is not None:
                on_sample(rollout)
    sampled, likeliest = found
    return [_summarize(task, rollouts, likeliest[task], settings.pass_at) for task, rollouts in sampled.items()]


def _score_samples(
    sampler: Sampler, rows: Prompts, count: int, settings: SamplingSettings, scorer: Scorer
) -> Iterator[ScoredRollout]:
    size = max(1, RESPONSES_AT_ONCE // count)
    for start in range(0, len(rows), size):
        seeded = replace(settings, seed=derive_seed(settings.seed or 0, start))
        sampled = sampler.sample(rows[start : start + size], count, settings=seeded)
        yield from map(Rollout, sampled.trajectories, scorer.score(sampled.trajectories))


def _summarize(
    task: str, rollouts: Sequence[ScoredRollout], likeliest: Sequence[ScoredRollout], pass_at: Sequence[int]
) -> EvaluatedTask:
    summary = evaluate(rollouts, pass_at)
    means = {"score": summary.score, **{f"pass@{k}": mean for k, mean in summary.pass_at.items()}}
    if likeliest:
        means["greedy"] = evaluate(likeliest).score
    figures = {
        name: Interval(mean.scored, *wilson_interval(mean.scored, summary.prompts), mean.overall, mean.unscored)
        for name, mean in means.items()
        if mean.scored is not None and mean.overall is not None
    }
    figures |= _reward_interval("reward", rollouts)
    if "greedy" not in figures:
        figures |= _reward_interval("greedy_reward", likeliest)
    return EvaluatedTask(task, summary.prompts, summary.samples, summary.unscored, figures, summary.length)


def _reward_interval(name: str, rollouts: Sequence[ScoredRollout]) -> dict[str, Interval]:
    """The mean reward over prompts with bounds by its standard error; samples of one prompt are no further evidence."""
    rewards: dict[GroupKey, list[float]] = defaultdict(list)
    for rollout in rollouts:
        rewards[rollout.trajectory.group_key] += [] if rollout.output.reward is None else [rollout.output.reward]
    values = [fmean(group) for group in rewards.values() if group]
    if not values:
        return {}
    mean = fmean(values)
    reach = 1.96 * stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.inf
    covered = mean_reward(rollout.output for rollout in rollouts)
    return {name: Interval(mean, mean - reach, mean + reach, covered.overall or 0.0, covered.unscored)}


def _config_of(spec: str) -> RunConfig | None:
    """The config of a run folder; None for anything else."""
    folder = RunFolder(Path(spec))
    return load_config(None, [], base=read_yaml(folder.config)) if folder.holds_run else None


def _model_path(spec: str) -> str:
    """Where the model that a spec names is: a run keeps its own in a folder."""
    folder = RunFolder(Path(spec))
    if not folder.holds_run:
        return spec
    if not folder.model.is_dir():
        raise PolicyError(
            f"the run in {spec} has no model yet: it is written at the end; `plaudit train --resume output_dir={spec}` "
            "goes on with it"
        )
    return str(folder.model)
