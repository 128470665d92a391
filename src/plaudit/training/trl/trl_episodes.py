"""Our environments inside TRL's own GRPOTrainer: as its `rollout_func`, or as its `environment_factory`.

`rollout_func` plays whole episodes with the trainer's model, token in, token out, and masks the feedback; it is the
faithful one. `environment_factory` gives the model one tool, `act`, since TRL's environments are played by tool calls:
it needs a chat template with tools, and a model that calls them.
"""

import random
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from plaudit.agents import ActionStates, Agent, EnvironmentHost, EpisodeLimits, EpisodeStart, HostedEnvironment
from plaudit.contract.event_loop import run_awaitable
from plaudit.errors import DataError
from plaudit.training.batches.episodes import EpisodeSampler, EpisodeScorer
from plaudit.training.config.schema import SamplingSettings
from plaudit.training.model.policy import Policy
from plaudit.trajectory import Trajectory

__all__ = ["episode_reward", "trl_environment_factory", "trl_rollout_func"]


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

    TRL hands over prompts alone, so `rows` say which ground truth goes with which: usually the training data set.
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


def trl_environment_factory(agent: Agent, *, workers: int | None = None) -> type:
    """A class for `environment_factory`: `reset(**row)` begins an episode, and the tool `act` takes an action.

    `get_reward` is the sum of the rewards so far, None where the environment gives none. After the end, `act` says so.
    """
    host = agent.build_host(workers=workers)

    class TRLEpisode:
        """One episode, played by calls of `act`."""

        def __init__(self) -> None:
            self._hosted: HostedEnvironment | None = None
            self._rewards: list[float] = []
            self._done = False

        def reset(self, **row: Any) -> str | None:
            self._rewards, self._done = [], False
            messages = row.get("prompt") if isinstance(row.get("prompt"), list) else []
            prompt = messages[-1]["content"] if messages else row.get("prompt", "")
            self._start = EpisodeStart(prompt, _truth(row), random.getrandbits(53), tuple(messages or ()), row)
            if self._hosted is not None:
                self._hosted.end()
            return run_awaitable(self._begin())

        def act(self, action: str) -> str:
            """
            Take the next action.

            Args:
                action: What to do or say.

            Returns:
                What it led to.
            """
            if self._done or self._hosted is None:
                return "The episode is over."
            states = ActionStates("", action, self._start.ground_truth, None)
            result = run_awaitable(self._hosted.step(states))
            if result.reward is not None:
                self._rewards.append(result.reward)
            if result.done:
                self._done = True
                self._hosted.end()
                self._hosted = None
            return result.feedback or "The episode is over."

        def get_reward(self) -> float | None:
            return sum(self._rewards) if self._rewards else None

        async def _begin(self) -> str | None:
            self._hosted = await host.open()
            await self._hosted.create()
            first = await self._hosted.reset(self._start)
            return None if first.text in (None, self._start.prompt) else first.text

    TRLEpisode.__name__ = agent.environment.__name__
    return TRLEpisode


def _settings(trainer: Any) -> SamplingSettings:
    args = trainer.args
    return SamplingSettings(
        max_new_tokens=args.max_completion_length,
        temperature=args.temperature,
        top_p=args.top_p,
        top_k=max(0, args.top_k or 0),
        min_p=args.min_p or 0.0,
        repetition_penalty=args.repetition_penalty,
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
