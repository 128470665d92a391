"""Our environments inside TRL's own GRPOTrainer, as its `rollout_func`.

It plays whole episodes with the trainer's model, token in, token out, and masks the feedback.
"""

import random
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from plaudit.agents import Agent, EnvironmentHost, EpisodeLimits
from plaudit.errors import DataError, InvalidSettings
from plaudit.training.config.schema import SamplingSettings
from plaudit.training.episodes import EpisodeSampler, EpisodeScorer
from plaudit.training.model.policy import Policy
from plaudit.trajectory import Trajectory

REWARD = "episode_reward"
TRUTHS = ("ground_truth", "answer", "label", "solution")


def trl_rollout_func(
    agent: Agent,
    rows: Iterable[Mapping[str, Any]],
    limits: EpisodeLimits,
    *,
    workers: int | None = None,
) -> Callable[[list[Any], Any], dict[str, Any]]:
    """A `rollout_func` that plays an episode for every prompt; use `episode_reward` as the trainer's reward.

    TRL passes prompts only, so `rows` has the ground truth of each prompt: usually the training data set.
    Episodes that failed, or that nobody judged, have None as their reward, which TRL leaves out.
    """
    known = _rows_by_prompt(rows)
    host: EnvironmentHost = agent.build_host(workers=workers)
    scorer = EpisodeScorer()

    def roll_out(prompts: list[Any], trainer: Any) -> dict[str, Any]:
        model = trainer.accelerator.unwrap_model(trainer.model)
        was_training = model.training  # a policy switches it off, and TRL takes that for an evaluation
        sampler = Policy(model, trainer.processing_class).sampler(_settings(trainer))
        try:
            episodes = EpisodeSampler(sampler, agent, limits, host=host)
            sampled = episodes.sample([_row(known, prompt) for prompt in prompts])
        finally:
            model.train(was_training)
        tokens = [trajectory.tokens for trajectory in sampled.trajectories]
        assert sampled.prompt_ids is not None
        return {
            "prompt_ids": sampled.prompt_ids,
            "completion_ids": [list(each.ids) if each else [] for each in tokens],
            "logprobs": [list(each.logprobs or []) if each else [] for each in tokens],
            "env_mask": [list(each.mask or []) if each else [] for each in tokens],
            REWARD: [output.reward for output in scorer.score(sampled.trajectories)],
        }

    return roll_out


def episode_reward(completions: list[Any], episode_reward: list[float | None], **_: Any) -> list[float | None]:
    """The rewards that environments gave, as a reward function of TRL."""
    return episode_reward


def _settings(trainer: Any) -> SamplingSettings:
    args = trainer.args
    if args.repetition_penalty != 1.0:
        raise InvalidSettings(f"repetition_penalty={args.repetition_penalty:g}: episodes are sampled without one")
    return SamplingSettings(
        max_new_tokens=args.max_completion_length,
        temperature=args.temperature,
        top_p=args.top_p,
        top_k=max(0, args.top_k or 0),
        min_p=args.min_p or 0.0,
        seed=random.Random(f"{args.seed}/{trainer.state.global_step}/{trainer.accelerator.process_index}").getrandbits(
            53
        ),
    )


def _key(prompt: Any) -> str:
    return repr(prompt)


def _rows_by_prompt(rows: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Rows by their prompt; two rows with one prompt and different ground truths are an error."""
    known: dict[str, dict[str, Any]] = {}
    for row in rows:
        earlier = known.setdefault(_key(row["prompt"]), dict(row))
        if _truth(earlier) != _truth(row):
            raise DataError(
                f"two rows have the prompt {row['prompt']!r:.60} and the ground truths {_truth(earlier)!r:.40} and "
                f"{_truth(row)!r:.40}; TRL passes prompts only, so make the prompts different"
            )
    return known


def _row(known: Mapping[str, Mapping[str, Any]], prompt: Any) -> Trajectory:
    row = known.get(_key(prompt))
    if row is None:
        raise DataError(f"TRL asked for a prompt that is not among the rows: {prompt!r:.80}")
    return Trajectory(prompt, "", ground_truth=_truth(row))


def _truth(row: Mapping[str, Any]) -> Any:
    return next((row[name] for name in TRUTHS if name in row), None)
