"""Episodes as a sampler and a scorer of the training loop: each sample is an episode instead of one response.

A trajectory's response is everything after the prompt, actions and feedback, and the mask of its tokens is 0 on the
feedback. The reward, score and status of the whole episode are in `metadata["episode"]`.
"""

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import msgspec

from plaudit.agents import (
    Action,
    ActionRequest,
    Agent,
    ContinuousSampler,
    EnvironmentHost,
    Episode,
    EpisodeLimits,
    EpisodeStart,
    SamplingParams,
    get_param,
    play_episode,
)
from plaudit.contract.event_loop import run_in_new_loop
from plaudit.contract.failures import attempt
from plaudit.contract.output import RewardOutput, Status
from plaudit.errors import AgentError
from plaudit.training.collecting import Scoring
from plaudit.training.config.schema import SamplingSettings
from plaudit.training.data.prompts import Prompts
from plaudit.training.sampling.encoding import encode_prompts, find_offsets, prompt_text
from plaudit.training.sampling.sampler import Response, Sampler, Samples, TokenSampler, derive_seed, fill_row
from plaudit.trajectory import Tokens, Trajectory, message_text

NO_REWARD = "the agent gave no rewards, and there is no reward function; return 'rewards' from step, or set one"


class EpisodeSampler(Sampler):
    """Plays an episode for every sample, all of a batch at once.

    Environments run in this process, unless a `host` runs them elsewhere. All actions must be drawn at the temperature
    of the settings, which is the one that an update computes log-probs at.
    """

    def __init__(
        self,
        sampler: TokenSampler,
        agent: Agent,
        limits: EpisodeLimits,
        *,
        host: EnvironmentHost | None = None,
    ) -> None:
        self.sampler, self.agent, self.limits, self.settings = sampler, agent, limits, sampler.settings
        self.host = host or agent.build_host()

    def draw(self, prompts: Prompts, num_samples: int, settings: SamplingSettings) -> Samples:
        """`num_samples` episodes for each prompt; `max_new_tokens` of the settings is for one action."""
        rows = [row for row in prompts for _ in range(num_samples)]
        episodes = run_in_new_loop(self._play(rows, settings))
        segments = [segment for episode in episodes for segment in episode.segments]
        spans = iter(find_offsets(self.sampler.tokenizer, [s.ids for s in segments], [s.text for s in segments]))
        trajectories = [
            _trajectory(row, index // num_samples, episode, [next(spans) for _ in episode.segments])
            for index, (row, episode) in enumerate(zip(rows, episodes, strict=True))
        ]
        return Samples(trajectories, [episode.prompt_ids for episode in episodes])

    async def _play(self, rows: Sequence[Trajectory], settings: SamplingSettings) -> list[Episode]:
        seed = random.getrandbits(53) if settings.seed is None else settings.seed
        context: int | None = getattr(self.sampler, "context", None)
        sampler = ContinuousSampler(partial(self._draw_actions, seed), partial(_sampling_settings, settings, context))
        player = self.agent.build_player(sampler, self.sampler.tokenizer, self.limits, self.host)
        starts = [_start(row, derive_seed(seed, "environment", index)) for index, row in enumerate(rows)]
        return await sampler.play(
            [partial(self._episode, player, *pair, settings) for pair in zip(rows, starts, strict=True)]
        )

    async def _episode(self, player: Any, row: Trajectory, start: EpisodeStart, settings: SamplingSettings) -> Episode:
        text = _first_text(self.sampler.tokenizer, row)
        params = SamplingParams(
            settings.max_new_tokens, settings.temperature, settings.top_p, settings.top_k, list(settings.stop)
        )
        if not start.messages:
            start = replace(start, prompt=text)
        result = await attempt(type(player).__name__, lambda: play_episode(player, text, start, params))
        episode: Episode = result
        if isinstance(result, RewardOutput):  # the code of an executor failed
            episode = Episode([], [], [], "error", result.status, result.reason)
        if not episode.prompt_ids:  # it failed before the model saw anything
            episode = replace(episode, prompt_ids=encode_prompts(self.sampler.tokenizer, [row.prompt])[0])
        return episode

    def _draw_actions(self, seed: int, requests: list[ActionRequest]) -> list[Action]:
        """An action for each request; requests with equal settings are one batch."""
        alike: dict[SamplingSettings, list[int]] = defaultdict(list)
        for index, request in enumerate(requests):
            alike[msgspec.structs.replace(request.sampling_params, seed=None)].append(index)
        actions: dict[int, Action] = {}
        for settings, indices in alike.items():
            alike_requests = [requests[index] for index in indices]
            seeds = [
                derive_seed(seed, each.episode, each.turn)
                if each.sampling_params.seed in (None, seed)
                else each.sampling_params.seed
                for each in alike_requests
            ]
            drawn = self.sampler.continue_from([each.token_ids for each in alike_requests], settings, seeds=seeds)
            actions.update(zip(indices, drawn, strict=True))
        return [actions[index] for index in range(len(requests))]


class EpisodeScorer:
    """The rewards of the environments; episodes without one are scored by `otherwise`, if it is set."""

    def __init__(self, otherwise: Scoring | None = None) -> None:
        self.otherwise = otherwise

    def score(self, trajectories: Iterable[Trajectory]) -> list[RewardOutput]:
        """One output per trajectory, in order; `extra_logs` of an environment are in its metadata."""
        listed = list(trajectories)
        outputs = [_environment_output(trajectory) for trajectory in listed]
        left = [index for index, output in enumerate(outputs) if output is None]
        if left and self.otherwise is not None:
            for index, output in zip(left, self.otherwise.score([listed[index] for index in left]), strict=True):
                logs = _episode_metadata(listed[index]).get("logs", {})
                outputs[index] = msgspec.structs.replace(output, metadata={**logs, **output.metadata})
        unscored = RewardOutput.unscored(Status.SKIPPED, NO_REWARD)
        return [unscored if output is None else output for output in outputs]

    def close(self) -> None:
        """End the workers of the scorer inside."""
        if self.otherwise is not None:
            self.otherwise.close()


def _start(row: Trajectory, seed: int) -> EpisodeStart:
    if isinstance(row.prompt, str):
        return EpisodeStart(row.prompt, row.ground_truth, seed, metadata={**row.metadata, **row.columns})
    text = message_text(row.prompt[-1]) if row.prompt else ""
    return EpisodeStart(text, row.ground_truth, seed, tuple(row.prompt), {**row.metadata, **row.columns})


def _first_text(tokenizer: Any, row: Trajectory) -> str:
    """The prompt as the model sees it, including a start token that the tokenizer would add to a text."""
    text = prompt_text(tokenizer, row.prompt)
    start = getattr(tokenizer, "bos_token", None) or ""
    if not start or text.startswith(start):
        return text
    return start + text if tokenizer(text)["input_ids"][:1] == [tokenizer.bos_token_id] else text


def _sampling_settings(
    settings: SamplingSettings, context: int | None, token_ids: list[int], sampling_params: Any
) -> SamplingSettings:
    """The settings, changed by an episode's sampling parameters; an action is limited by the model's context."""
    stop = get_param(sampling_params, "stop", ())
    temperature = float(get_param(sampling_params, "temperature", settings.temperature))
    if temperature != settings.temperature:
        raise AgentError(
            f"the agent asks for the temperature {temperature:g}, but the run samples at {settings.temperature:g}; "
            "set sampling.temperature instead"
        )
    max_new_tokens = int(get_param(sampling_params, "max_tokens", settings.max_new_tokens))
    if context is not None:
        if len(token_ids) >= context:
            raise AgentError(
                f"an episode of {len(token_ids)} tokens leaves no room in the model's context of {context}"
            )
        max_new_tokens = min(max_new_tokens, context - len(token_ids))
    return msgspec.structs.replace(
        settings,
        max_new_tokens=max_new_tokens,
        top_p=float(get_param(sampling_params, "top_p", settings.top_p)),
        top_k=max(0, int(get_param(sampling_params, "top_k", settings.top_k))),  # vLLM uses -1 for no limit
        min_p=float(get_param(sampling_params, "min_p", settings.min_p)),
        stop=(stop,) if isinstance(stop, str) else tuple(stop),
        seed=get_param(sampling_params, "seed", settings.seed),
    )


def _trajectory(
    row: Trajectory, group: int, episode: Episode, spans: Sequence[Sequence[tuple[int, int]]]
) -> Trajectory:
    """The sample of an episode; `spans` are the offsets of the tokens of each segment in its text."""
    offsets, start = [], 0
    for segment, segment_spans in zip(episode.segments, spans, strict=True):
        offsets += [(start + begin, start + end) for begin, end in segment_spans]
        start += len(segment.text)
    response = Response(
        episode.response, Tokens(episode.ids, offsets, episode.logprobs, episode.mask), episode.finish_reason
    )
    trajectory = fill_row(row, response, group)
    about: dict[str, Any] = {"status": episode.status.value, "reason": episode.reason, "reward": episode.reward}
    about |= {"score": episode.score, "logs": episode.logs}
    known = {name: value for name, value in about.items() if value not in (None, "", {})}
    return msgspec.structs.replace(trajectory, steps=episode.steps, metadata={**trajectory.metadata, "episode": known})


def _episode_metadata(trajectory: Trajectory) -> dict[str, Any]:
    about: dict[str, Any] = trajectory.metadata.get("episode", {})
    return about


def _environment_output(trajectory: Trajectory) -> RewardOutput | None:
    """The environment's reward for the episode; None where the environment gave none."""
    about = _episode_metadata(trajectory)
    logs, score = about.get("logs", {}), about.get("score")
    if about.get("status", "ok") != "ok":
        return RewardOutput.unscored(Status(about["status"]), about["reason"], metadata=logs)
    if about.get("reward") is None:
        return None
    if score is not None and not 0.0 <= score <= 1.0:  # agents often give rewards as scores
        logs, score = {**logs, "scores": score}, min(1.0, max(0.0, score))
    return RewardOutput(about["reward"], score=score, metadata=logs)
