"""Episodes as a sampler and a scorer of the training loop: each sample is an episode instead of one response.

A trajectory's response is everything after the prompt, actions and feedback, and the mask of its tokens is 0 on the
feedback. What the environment said of the episode as a whole stands in `metadata["episode"]`.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any, TypeAlias

import msgspec

from plaudit.agents import (
    Action,
    ActionRequest,
    Agent,
    AgentExecutor,
    Episode,
    EpisodeLimits,
    LockstepSampler,
    SamplingParams,
    get_param,
    run_executor,
)
from plaudit.contract.boundary import attempt
from plaudit.contract.calling import run_awaitable
from plaudit.contract.output import RewardOutput, Status
from plaudit.training.batches.collecting import Scoring, derive_seed
from plaudit.training.data.prompts import PromptLike, Prompts
from plaudit.training.model.encoding import encode_prompts, find_offsets, prompt_text
from plaudit.training.sampling.sampler import (
    TEMPERATURES,
    Response,
    Samples,
    SamplingSettings,
    TokenSampler,
    group_responses,
    sample_prompts,
)
from plaudit.trajectory import Tokens, Trajectory

__all__ = ["EpisodeSampler", "EpisodeScorer"]

_Temperatures: TypeAlias = dict[tuple[int, ...], float]
"""At which temperature the last action of a context was drawn."""

JUDGED_BY_NOBODY = "the agent gave no rewards, and there is no reward function; return 'rewards' from step, or set one"


class EpisodeSampler:
    """Plays an episode for every sample, all of a batch at once."""

    def __init__(self, sampler: TokenSampler, agent: Agent, limits: EpisodeLimits) -> None:
        self.sampler, self.agent, self.limits = sampler, agent, limits

    def sample(
        self,
        batch: PromptLike | Iterable[PromptLike],
        num_samples: int = 1,
        *,
        settings: SamplingSettings | None = None,
    ) -> Samples:
        """`num_samples` episodes for each prompt; `max_new_tokens` of the settings is for one action."""
        return sample_prompts(self._sample, batch, num_samples, settings or self.sampler.settings)

    def _sample(self, prompts: Prompts, num_samples: int, settings: SamplingSettings) -> Samples:
        rows = [row for row in prompts for _ in range(num_samples)]
        temperatures: _Temperatures = {}
        episodes = run_awaitable(self._play(rows, settings, temperatures))
        responses = self._responses(episodes)
        grouped = [responses[start : start + num_samples] for start in range(0, len(rows), num_samples)]
        sampled = group_responses(prompts, grouped)
        return Samples(
            [
                _add_episode(trajectory, episode, _temperature_spans(episode, temperatures, settings.temperature))
                for trajectory, episode in zip(sampled.trajectories, episodes, strict=True)
            ],
            [episode.prompt_ids for episode in episodes],
        )

    async def _play(
        self, rows: Sequence[Trajectory], settings: SamplingSettings, temperatures: "_Temperatures"
    ) -> list[Episode]:
        draw = partial(self._draw_actions, settings.seed, count(), temperatures)
        lockstep = LockstepSampler(draw, partial(_sampling_settings, settings))
        executor = self.agent.build_executor(lockstep, self.sampler.tokenizer, self.limits)
        return await lockstep.play([partial(self._episode, executor, row, settings) for row in rows])

    async def _episode(self, executor: AgentExecutor, row: Trajectory, settings: SamplingSettings) -> Episode:
        text = prompt_text(self.sampler.tokenizer, row.prompt)
        params = SamplingParams(
            settings.max_new_tokens, settings.temperature, settings.top_p, settings.top_k, list(settings.stop)
        )
        name = f"{type(executor).__name__}.execute"
        given = await attempt(name, lambda: run_executor(executor, text, row.ground_truth, params))
        episode: Episode = given
        if isinstance(given, RewardOutput):  # an executor's own code failed
            episode = Episode([], [], [], "error", given.status, given.reason)
        if not episode.prompt_ids:  # it failed before the model saw anything
            episode = replace(episode, prompt_ids=encode_prompts(self.sampler.tokenizer, [row.prompt])[0])
        return episode

    def _draw_actions(
        self, seed: int | None, draws: Iterator[int], temperatures: "_Temperatures", requests: list[ActionRequest]
    ) -> list[Action]:
        """The actions of a turn: those that are drawn in the same way are drawn together."""
        alike: dict[SamplingSettings, list[int]] = defaultdict(list)
        for place, request in enumerate(requests):
            alike[request.sampling_params].append(place)
        actions: dict[int, Action] = {}
        for settings, places in alike.items():
            seeded = replace(settings, seed=None if seed is None else derive_seed(seed, next(draws)))
            contexts = [requests[place].token_ids for place in places]
            actions.update(zip(places, self.sampler.continue_from(contexts, seeded), strict=True))
            for place in places:
                temperatures[(*requests[place].token_ids, *actions[place].ids)] = settings.temperature
        return [actions[place] for place in range(len(requests))]

    def _responses(self, episodes: Sequence[Episode]) -> list[Response]:
        segments = [segment for episode in episodes for segment in episode.segments]
        found = iter(find_offsets(self.sampler.tokenizer, [s.ids for s in segments], [s.text for s in segments]))
        return [_response(episode, [next(found) for _ in episode.segments]) for episode in episodes]


class EpisodeScorer:
    """The rewards that environments gave; episodes without any are scored by `otherwise`, if there is one."""

    def __init__(self, otherwise: Scoring | None = None) -> None:
        self.otherwise = otherwise

    def score(self, trajectories: Iterable[Trajectory]) -> list[RewardOutput]:
        """One output per trajectory, in order; `extra_logs` of an environment are in its metadata."""
        listed = list(trajectories)
        outputs = [_environment_output(trajectory) for trajectory in listed]
        left = [place for place, output in enumerate(outputs) if output is None]
        if left and self.otherwise is not None:
            for place, output in zip(left, self.otherwise.score([listed[place] for place in left]), strict=True):
                logs = _episode_metadata(listed[place]).get("logs", {})
                outputs[place] = msgspec.structs.replace(output, metadata={**logs, **output.metadata})
        nobody = RewardOutput.unscored(Status.SKIPPED, JUDGED_BY_NOBODY)
        return [nobody if output is None else output for output in outputs]

    def close(self) -> None:
        """End the workers of the scorer inside."""
        if self.otherwise is not None:
            self.otherwise.close()


def _sampling_settings(settings: SamplingSettings, sampling_params: Any) -> SamplingSettings:
    """The settings with what an episode's params say of them."""
    stop = get_param(sampling_params, "stop", ())
    return replace(
        settings,
        max_new_tokens=int(get_param(sampling_params, "max_tokens", settings.max_new_tokens)),
        temperature=float(get_param(sampling_params, "temperature", settings.temperature)),
        top_p=float(get_param(sampling_params, "top_p", settings.top_p)),
        top_k=max(0, int(get_param(sampling_params, "top_k", settings.top_k))),  # vLLM says -1 for none
        stop=(stop,) if isinstance(stop, str) else tuple(stop),
    )


def _response(episode: Episode, spans: Sequence[Sequence[tuple[int, int]]]) -> Response:
    offsets, at = [], 0
    for segment, own in zip(episode.segments, spans, strict=True):
        offsets += [(at + start, at + end) for start, end in own]
        at += len(segment.text)
    tokens = Tokens(episode.ids, offsets, episode.logprobs, episode.mask)
    return Response(episode.response, tokens, episode.finish_reason)


def _temperature_spans(episode: Episode, temperatures: _Temperatures, usual: float) -> list[tuple[int, int, float]]:
    """The tokens of the response that were drawn at another temperature than usual, as (start, end, temperature)."""
    spans, before = [], list(episode.prompt_ids)
    for segment in episode.segments:
        start = len(before) - len(episode.prompt_ids)
        before += segment.ids
        temperature = temperatures.get(tuple(before), usual) if segment.is_action else usual
        if temperature != usual:
            spans.append((start, start + len(segment.ids), temperature))
    return spans


def _add_episode(trajectory: Trajectory, episode: Episode, spans: list[tuple[int, int, float]]) -> Trajectory:
    about: dict[str, Any] = {"status": episode.status.value, "reason": episode.reason, "reward": episode.reward}
    about |= {"score": episode.score, "logs": episode.logs}
    kept = {name: value for name, value in about.items() if value not in (None, "", {})}
    metadata = {**trajectory.metadata, "episode": kept, **({TEMPERATURES: spans} if spans else {})}
    return msgspec.structs.replace(trajectory, steps=episode.steps, metadata=metadata)


def _episode_metadata(trajectory: Trajectory) -> dict[str, Any]:
    about: dict[str, Any] = trajectory.metadata.get("episode", {})
    return about


def _environment_output(trajectory: Trajectory) -> RewardOutput | None:
    """What the environment said of the episode; None where it left that to a reward."""
    about = _episode_metadata(trajectory)
    logs, score = about.get("logs", {}), about.get("score")
    if about.get("status", "ok") != "ok":
        return RewardOutput.unscored(Status(about["status"]), about["reason"], metadata=logs)
    if about.get("reward") is None:
        return None
    if score is not None and not 0.0 <= score <= 1.0:  # agents often give rewards as scores: the order counts
        logs, score = {**logs, "scores": score}, min(1.0, max(0.0, score))
    return RewardOutput(about["reward"], score=score, metadata=logs)
