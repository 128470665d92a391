"""Use and evaluate a model: find it by name, sample from it, merge its adapters, score it on held-out prompts.

A model is named by a run folder, by anything that `model.path` of a config takes, or by the URL of an OpenAI-compatible
server. Every figure is a `CoveredMean`: over scored samples, over all samples (unscored ones count as 0), and the
unscored share. pass@k over scored samples leaves out prompts with fewer than k of them.
"""

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from plaudit import training
from plaudit.contract.function import RewardLike
from plaudit.contract.output import RewardOutput
from plaudit.errors import InvalidSettings, PolicyError
from plaudit.models.locating import check_model
from plaudit.report.coverage import CoveredMean, mean_reward, mean_score, wilson_interval
from plaudit.report.statistics.groups import pass_at_k as pass_at_k
from plaudit.rollouts import Rollout, ScoredRollout
from plaudit.training.collecting import Scoring
from plaudit.training.config.keys import read_config_file
from plaudit.training.config.reading import load_config
from plaudit.training.config.schema import EMBEDDED, EvalConfig, RunConfig, SamplingSettings
from plaudit.training.data.config_task import load_task, template_of
from plaudit.training.data.curriculum import Levels
from plaudit.training.data.prompts import Prompts, Task
from plaudit.training.data.sources import PromptTemplate
from plaudit.training.metrics import outputs_by_group, split_by
from plaudit.training.run_folder import RunFolder
from plaudit.training.sampling.external import EndpointSampler
from plaudit.training.sampling.sampler import Sampler, derive_seed
from plaudit.trajectory import GroupKey, Trajectory

RESPONSES_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """A model that responds to prompts, with its prompt template."""

    name: str
    sampler: Sampler
    template: PromptTemplate
    max_new_tokens: int

    def respond(self, prompt: str, count: int = 1, *, settings: SamplingSettings | None = None) -> list[str]:
        """`count` responses to a prompt in the template of the training."""
        settings = settings or SamplingSettings(max_new_tokens=self.max_new_tokens)
        filled = self.template.fill({"prompt": prompt}, prompt)
        return self.sampler.sample([filled], count, settings=settings).texts


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The result of an evaluation; a reward without scores has no mean score and no pass@k."""

    score: CoveredMean
    reward: CoveredMean
    pass_at: dict[int, CoveredMean]
    prompts: int
    samples: int
    unscored: int
    length: float
    greedy: dict[str, CoveredMean]
    """`greedy`, the mean score of the likeliest responses; `greedy_reward` where the reward gives no scores."""

    @property
    def means(self) -> dict[str, CoveredMean]:
        """Every mean by its name."""
        pass_at = {f"pass@{k}": mean for k, mean in self.pass_at.items()}
        return {"score": self.score, "reward": self.reward, **pass_at, **self.greedy}

    def metrics(self, prefix: str = "eval/") -> dict[str, float]:
        """The numbers by name, as they go to metrics.jsonl: `eval/score`, `eval/score_all`, `eval/pass@1`, …"""
        metrics = {
            name: value for key, mean in self.means.items() for name, value in mean.to_metrics(prefix + key).items()
        }
        unscored = self.unscored / self.samples if self.samples else 0.0
        return {**metrics, f"{prefix}length": self.length, f"{prefix}unscored": unscored}


def evaluate(
    scored: Iterable[tuple[Trajectory, RewardOutput]],
    pass_at: Sequence[int] = (1,),
    *,
    right: float = 1.0,
    likeliest: Sequence[tuple[Trajectory, RewardOutput]] = (),
) -> Evaluation:
    """Summarize scored samples of held-out prompts, and the `likeliest` responses to them.

    A sample is right when its score is at least `right`.
    """
    pairs = list(scored)
    outputs = [output for _, output in pairs]
    groups, score = outputs_by_group(pairs), mean_score(outputs)
    return Evaluation(
        score=score,
        reward=mean_reward(outputs),
        pass_at={k: _pass_at(groups, k, right, score.unscored) for k in pass_at},
        prompts=len(groups),
        samples=len(pairs),
        unscored=sum(not output.ok for output in outputs),
        length=_mean([_length(trajectory) for trajectory, _ in pairs]) or 0.0,
        greedy=_greedy([output for _, output in likeliest]),
    )


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with bounds that hold the true value in 95 of 100 evaluations on other prompts of the kind.

    A mean reward of one prompt has no bounds: they are None.
    """

    value: float
    low: float | None
    high: float | None
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
    """The results of a model on the prompts of one task."""

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


class HeldOut:
    """Samples responses to the held-out prompts and scores them."""

    def __init__(
        self,
        prompts: Prompts,
        eval_scorer: Scoring,
        config: RunConfig,
        *,
        settings: SamplingSettings,
        levels: Levels | None = None,
    ) -> None:
        rows = (msgspec.structs.replace(row, group=f"held-out-{index}") for index, row in enumerate(prompts))
        self.prompts = Prompts(tuple(rows))
        self.eval_scorer, self.config, self.settings, self.levels = eval_scorer, config, settings, levels

    def evaluate(self, sampler: Sampler, step: int) -> dict[str, float]:
        """`eval/score`, `eval/pass@k`, …, the same by task where there are several, and the score by difficulty.

        Nothing where there are no held-out prompts.
        """
        if not self.prompts:
            return {}
        settings = self.config.eval
        drawn = self._score(sampler, settings.samples_per_prompt, self._settings_for(step, settings.temperature))
        likeliest = self._score(sampler, 1, self._settings_for(step, 0.0)) if settings.greedy else []
        metrics = evaluate(drawn, settings.pass_at, likeliest=likeliest).metrics()
        tasks, greedy = (split_by(each, lambda row: row.task) for each in (drawn, likeliest))
        for task, part in tasks.items() if len(tasks) > 1 else ():
            evaluated = evaluate(part, settings.pass_at, likeliest=greedy.get(task, ()))
            metrics |= evaluated.metrics(f"eval/task/{task}/")
        for level, part in split_by(drawn, self.levels.label).items() if self.levels else ():
            metrics |= evaluate(part).score.to_metrics(f"eval/difficulty/{level}")
        return metrics

    def sample_responses(self, sampler: Sampler) -> list[str]:
        """The likeliest responses to the first prompts, to be shown."""
        rows = self.prompts[: self.config.logging.samples]
        return sampler.sample(rows, 1, settings=self._settings_for(0, 0.0)).texts if rows else []

    def _settings_for(self, step: int, temperature: float) -> SamplingSettings:
        """Held-out prompts are sampled from the whole distribution of the policy."""
        seed = derive_seed(self.config.seed, "eval", step)
        return SamplingSettings(self.settings.max_new_tokens, temperature, stop=self.settings.stop, seed=seed)

    def _score(self, sampler: Sampler, count: int, settings: SamplingSettings) -> list[ScoredRollout]:
        return list(_score_samples(sampler, self.eval_scorer, self.prompts, count, settings, self.config.batch_size))


def evaluate_model(
    trained: TrainedModel,
    prompts: Prompts,
    scorer: Scoring,
    settings: EvalConfig | None = None,
    on_sample: Callable[[ScoredRollout], None] | None = None,
) -> list[EvaluatedTask]:
    """How good the responses of a model to `prompts` are, task by task; `on_sample` gets every scored sample."""
    settings = settings or EvalConfig(samples_per_prompt=8, pass_at=(1,))
    rows = Prompts(tuple(msgspec.structs.replace(row, group=f"prompt-{at}") for at, row in enumerate(prompts)))
    rounds = [(settings.samples_per_prompt, settings.temperature), *([(1, 0.0)] if settings.greedy else [])]
    sampled: dict[str, list[ScoredRollout]] = defaultdict(list)
    greedy: dict[str, list[ScoredRollout]] = defaultdict(list)
    for tasks, (count, temperature) in zip((sampled, greedy), rounds, strict=False):
        sampling = SamplingSettings(trained.max_new_tokens, temperature, seed=0)
        for rollout in _score_samples(trained.sampler, scorer, rows, count, sampling, RESPONSES_AT_ONCE):
            tasks[rollout.trajectory.task or ""].append(rollout)
            if on_sample is not None:
                on_sample(rollout)
    return [_summarize(task, rollouts, greedy[task], settings.pass_at) for task, rollouts in sampled.items()]


def _score_samples(
    sampler: Sampler, scorer: Scoring, prompts: Prompts, count: int, settings: SamplingSettings, at_once: int
) -> Iterator[ScoredRollout]:
    """`count` scored responses to each prompt, about `at_once` of them in one call of the sampler."""
    size = max(1, at_once // count)
    for number, start in enumerate(range(0, len(prompts), size)):
        seeded = msgspec.structs.replace(settings, seed=derive_seed(settings.seed, number))
        trajectories = sampler.sample(prompts[start : start + size], count, settings=seeded).trajectories
        yield from map(Rollout, trajectories, scorer.score(trajectories))


def _summarize(
    task: str, rollouts: Sequence[ScoredRollout], likeliest: Sequence[ScoredRollout], pass_at: Sequence[int]
) -> EvaluatedTask:
    summary = evaluate(rollouts, pass_at, likeliest=likeliest)
    figures = {
        name: Interval(mean.scored, *wilson_interval(mean.scored, summary.prompts), mean.overall, mean.unscored)
        for name, mean in summary.means.items()
        if mean.scored is not None and mean.overall is not None and not name.endswith("reward")
    }
    figures |= _reward_interval("reward", rollouts)
    if "greedy_reward" in summary.greedy:
        figures |= _reward_interval("greedy_reward", likeliest)
    return EvaluatedTask(task, summary.prompts, summary.samples, summary.unscored, figures, summary.length)


def _reward_interval(name: str, rollouts: Sequence[ScoredRollout]) -> dict[str, Interval]:
    """The mean reward over prompts with bounds by its standard error; samples of one prompt are no further evidence."""
    rewards: dict[GroupKey, list[float]] = defaultdict(list)
    for rollout in rollouts:
        rewards[rollout.trajectory.group_key] += [] if rollout.output.reward is None else [rollout.output.reward]
    values = [statistics.fmean(group) for group in rewards.values() if group]
    if not values:
        return {}
    mean = statistics.fmean(values)
    low = high = None
    if len(values) > 1:
        reach = 1.96 * statistics.stdev(values) / math.sqrt(len(values))
        low, high = mean - reach, mean + reach
    covered = mean_reward(rollout.output for rollout in rollouts)
    return {name: Interval(mean, low, high, covered.overall or 0.0, covered.unscored)}


def _greedy(outputs: Sequence[RewardOutput]) -> dict[str, CoveredMean]:
    score = mean_score(outputs)
    return {"greedy_reward": mean_reward(outputs)} if score.scored is None else {"greedy": score}


def _pass_at(groups: Sequence[Sequence[RewardOutput]], k: int, right: float, unscored: float) -> CoveredMean:
    rates: list[float] = []
    rates_of_all: list[float] = []
    for outputs in groups:
        scores = [output.score for output in outputs if output.score is not None]
        count = len(scores) + sum(not output.ok for output in outputs)
        correct = sum(score >= right for score in scores)
        if len(scores) >= k:
            rates.append(pass_at_k(len(scores), correct, k))
        if count >= k:
            rates_of_all.append(pass_at_k(count, correct, k))
    return CoveredMean(_mean(rates), _mean(rates_of_all), unscored)


def _mean(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if values else None


def _length(trajectory: Trajectory) -> float:
    """The length in tokens that the model chose, where they are known, else in words."""
    return float(len(trajectory.response.split()) if trajectory.tokens is None else trajectory.tokens.chosen)


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
            raise InvalidSettings(f"{spec} may serve several models; select one (--model NAME)")
        sampler = EndpointSampler(spec, model, api_key_env=api_key_env)
        return TrainedModel(model, sampler, PromptTemplate(), sampler.settings.max_new_tokens)
    config = _config_of(spec)
    policy = _load_policy(spec, purpose="sampling", device=device, dtype=dtype)
    template = PromptTemplate()
    longest = SamplingSettings().max_new_tokens
    if config is not None:
        template = template_of(config.data)
        longest = config.sampling.max_new_tokens or longest
    return TrainedModel(spec, policy.sampler(), template, longest)


def load_run_task(spec: str, reward: RewardLike | str | None = None) -> Task | None:
    """The task that the run in a folder was trained on, with its held-out prompts; None if the folder is not a run.

    `reward` takes the place of the run's.
    """
    config = _config_of(spec)
    return None if config is None else load_task(config, reward or config.training.reward_function)


def merge_model(spec: str, folder: str | Path) -> "training.Policy":
    """Write the model that `spec` names to `folder`, its adapters built in, as transformers loads it by itself."""
    target = Path(folder)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise PolicyError(f"{target} is there already and not an empty folder; take another")
    policy = _load_policy(spec, purpose="merging")
    if not policy.is_lora:
        raise PolicyError(f"{spec} has no adapters to build in: transformers loads {_model_path(spec)} as it is")
    merged = policy.merge_adapters()
    merged.save(target)
    return merged


def _load_policy(spec: str, *, purpose: str, device: str = "cpu", dtype: str = "float32") -> "training.Policy":
    """The policy of a run or a model; torch is imported once there is such a model."""
    path = _model_path(spec)
    if path != EMBEDDED:
        check_model(path, purpose=purpose)
    return training.load_policy(path, device=device, dtype=dtype)


def _config_of(spec: str) -> RunConfig | None:
    """The config of a run folder; None for anything else."""
    folder = RunFolder(Path(spec))
    return load_config(None, [], base=read_config_file(folder.config)) if folder.holds_run else None


def _model_path(spec: str) -> str:
    """The path of the model that a spec names: a run keeps its own in a folder."""
    folder = RunFolder(Path(spec))
    if not folder.holds_run:
        return spec
    if not folder.model.is_dir():
        raise PolicyError(
            f"the run in {spec} has no model yet: it is written at the end; `plaudit train --resume output_dir={spec}` "
            "continues it"
        )
    return str(folder.model)
