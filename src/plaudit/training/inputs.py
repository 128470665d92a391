"""What a config names besides the model's weights: prompts, rewards, an agent, an advantage estimator.

Everything here is read and checked before an engine is imported, so that a mistake is reported without loading torch.
Held-out responses are scored by the task's reward where there is a task, not by the reward that is trained on: a bad
reward must not measure its own effect.
"""

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from plaudit import calibration, ci
from plaudit.agents import Agent
from plaudit.contract.function import RewardLike
from plaudit.contract.ground_truth import check_ground_truth
from plaudit.errors import InvalidSettings
from plaudit.loading import Loaded, load_agent, resolve
from plaudit.models.locating import check_model
from plaudit.training.advantages.baseline import Advantage, BaselineAdvantage
from plaudit.training.advantages.estimators import advantage
from plaudit.training.config.learning_keys import LossSettings
from plaudit.training.config.schema import RunConfig
from plaudit.training.config.trl_arguments import Shape, check_trl_can
from plaudit.training.data.config_task import MAX_NEW_TOKENS, load_demonstrations, load_task
from plaudit.training.data.prompts import Task
from plaudit.training.log_writers import check_logs
from plaudit.trajectory import Trajectory

OF_ESTIMATORS = {"lam": "gae_lambda", "scale": "advantage_scale", "k": "pass_k", "weights": "component_weights"}
"""Fields of single estimators, and the keys of `training.` that set them."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """The prompts and rewards of a run, and the agent that plays its episodes if there is one."""

    task: Task
    reward: Loaded | None
    """The reward that is trained on; None if only environments give rewards."""
    eval_reward: Loaded | None
    """The reward of held-out responses; None if it is the one that is trained on."""
    runs_inline: bool
    """Whether the reward is the quick one of a built-in task, which needs neither a process nor a deadline."""
    agent: Agent | None
    demonstrations: tuple[Trajectory, ...]
    """Right responses for a warm start or the SFT loss."""


def read_inputs(config: RunConfig, reward: RewardLike | None = None) -> Inputs:
    """The inputs of a run; `reward` replaces the config's. Raises an error for what the run could not begin with."""
    check_logs(config)
    chosen = reward if reward is not None else config.training.reward_function
    agent = None if config.training.agent_file is None else load_agent(config.training.agent_file)
    task = load_task(config, chosen)
    trained_on = task.reward if chosen is None else chosen
    loaded = None if trained_on is None else resolve(trained_on)
    judge = config.eval.reward_function or task.reward
    by_agent = agent is not None and config.eval.reward_function is None
    has_judge = judge is not None and judge is not trained_on and not by_agent
    inputs = Inputs(
        task=task,
        reward=loaded,
        eval_reward=resolve(judge) if has_judge and judge is not None else None,
        runs_inline=chosen is None and task.runs_inline,
        agent=agent,
        demonstrations=_load_demonstrations(config, task),
    )
    _check_reward(config, inputs)
    if config.model.path is not None and not config.model.is_embedded:
        check_model(config.model.path, purpose="training")
    return inputs


def _check_reward(config: RunConfig, inputs: Inputs) -> None:
    """Raise an error for a reward without a required certificate, another one than the lock's, or without truths."""
    training, path = config.training, config.data.path
    if inputs.reward is None:
        for key in ("judge_certificates", "reward_lock"):
            if getattr(training, key):
                raise InvalidSettings(f"training.{key} is set, but environments give the rewards; leave it out")
        return
    reward = inputs.reward.reward
    calibration.require_certificates(reward, training.judge_certificates)
    if training.reward_lock is not None:
        ci.require_lock(training.reward_lock, reward, path if path is not None and Path(path).is_file() else None)
    if inputs.agent is None:
        option = "data.ground_truth_key=COLUMN (in OpenRLHF's flags: --label_key COLUMN)"
        check_ground_truth(reward, inputs.task.prompts, option)


def _load_demonstrations(config: RunConfig, task: Task) -> tuple[Trajectory, ...]:
    """Right responses, if a warm start or the SFT loss uses them; an error if there are none."""
    if not config.warm_start_steps(task.warm_start_steps) and not config.loss.sft_weight:
        if config.data.demonstrations is None:
            return ()
        raise InvalidSettings("data.demonstrations are for model.warm_start_steps and loss.sft_weight; set one of them")
    demonstrations = load_demonstrations(config, task)
    if not demonstrations:
        raise InvalidSettings(
            "model.warm_start_steps and loss.sft_weight need right responses, and the data know none: "
            "set data.demonstrations to a file with prompts and responses"
        )
    return tuple(demonstrations)


def check_engine(config: RunConfig) -> None:
    """Raise InvalidSettings for settings that the engine of the config cannot train with."""
    if config.engine == "trl":
        check_trl_can(config, Shape(1, config.sampling.max_new_tokens or MAX_NEW_TOKENS))
    else:
        check_learning(config)


def check_learning(config: RunConfig) -> None:
    """Raise InvalidSettings for an estimator, a loss or a sampler that plaudit's own loop cannot train with."""
    _check_estimator(config, build_advantage(config))
    if config.sampling.sampler != "transformers":
        raise InvalidSettings(
            f"sampling.sampler={config.sampling.sampler}: this engine samples with transformers, since another sampler "
            "would not follow its updates; with engine=trl, vLLM does"
        )
    usual = LossSettings()
    for name in ("max_importance", "importance_level", "importance_mode"):
        if getattr(config.loss, name) != getattr(usual, name) and not config.training.async_train:
            raise InvalidSettings(
                f"loss.{name} corrects for samples of older weights, and without training.async_train there are none"
            )


def build_advantage(config: RunConfig) -> Advantage:
    """The advantage estimator that the config names, with its settings."""
    estimator = advantage(config.advantage, gamma=config.training.gamma)
    wanted = {name: getattr(config.training, key) for name, key in OF_ESTIMATORS.items()}
    chosen = {name: value for name, value in wanted.items() if value not in (None, {})}
    known = {field.name for field in dataclasses.fields(estimator)}  # type: ignore[arg-type]
    for name in chosen.keys() - known:
        raise InvalidSettings(f"training.{OF_ESTIMATORS[name]} is not for advantage={config.advantage}; leave it out")
    return dataclasses.replace(estimator, **chosen)  # type: ignore[type-var]


def _check_estimator(config: RunConfig, estimator: Advantage) -> None:
    size = config.sampling.samples_per_prompt
    if isinstance(estimator, BaselineAdvantage) and estimator.compares and size == 1:
        raise InvalidSettings(
            f"advantage={config.advantage} compares responses to one prompt, and sampling.samples_per_prompt=1 draws "
            "one; sample several, or take reinforce or gae"
        )
    k = getattr(estimator, "k", 1)
    if k > size:
        raise InvalidSettings(
            f"advantage={config.advantage} with training.pass_k={k} needs at least as many responses to a prompt; "
            f"sampling.samples_per_prompt is {size}"
        )
