"""One episode: the model acts, the environment answers, until it is done or a limit is reached.

Token-in-token-out: an episode is a growing list of token ids. Actions are appended as they were drawn and never
re-encoded; only the first observation and the environment's feedback are tokenised. The text is kept alongside for
the environment to read.
"""

import asyncio
import copy
import inspect
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any

from plaudit.agents.environment import StepResult, create_environment, read_observation
from plaudit.agents.generation import Action, ActionSampler, limit_tokens, read_action
from plaudit.contract.boundary import attempt
from plaudit.contract.output import RewardOutput, Status
from plaudit.errors import AgentError
from plaudit.trajectory import Step

__all__ = ["Episode", "EpisodeLimits", "Segment", "Player"]


@dataclass(frozen=True, slots=True)
class EpisodeLimits:
    """Where an episode ends at the latest: after this many actions, or tokens including its prompt; None is no limit.

    `deadline_s` is for each `reset` and `step`. An environment that awaits something is cancelled then; one that
    computes without awaiting cannot be interrupted.
    """

    max_steps: int | None = 5
    max_length: int | None = None
    deadline_s: float | None = None

    def __post_init__(self) -> None:
        for name in ("max_steps", "max_length", "deadline_s"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise AgentError(f"{name} must be above 0, or None for no limit, got {value!r}")
        if self.max_steps is None and self.max_length is None:
            raise AgentError("an episode must end: give max_steps, max_length, or both")


@dataclass(frozen=True, slots=True)
class Segment:
    """Tokens of an episode after its prompt: an action of the model, or feedback of the environment."""

    ids: list[int]
    text: str
    is_action: bool
    logprobs: list[float] | None = None


@dataclass(frozen=True, slots=True)
class Episode:
    """An episode as it was played, up to where it failed if it did.

    `finish_reason` is "stop" when the environment was done, "length" at a limit and "error" after a failure, which
    `status` and `reason` describe. `reward` is the sum over the steps, None where no step has one or one failed;
    `score` and `logs` are those of the last step.
    """

    prompt_ids: list[int]
    segments: list[Segment]
    steps: list[Step]
    finish_reason: str
    status: Status = Status.OK
    reason: str = ""
    reward: float | None = None
    score: float | None = None
    logs: dict[str, Any] = field(default_factory=dict)

    @property
    def ids(self) -> list[int]:
        """The tokens after the prompt."""
        return [token for segment in self.segments for token in segment.ids]

    @property
    def mask(self) -> list[int]:
        """1 on tokens of actions, 0 on feedback."""
        return [int(segment.is_action) for segment in self.segments for _ in segment.ids]

    @property
    def logprobs(self) -> list[float] | None:
        """Log-probabilities at which the tokens were drawn, 0.0 on feedback; None where the sampler gives none."""
        if any(segment.is_action and segment.logprobs is None for segment in self.segments):
            return None
        return [number for segment in self.segments for number in segment.logprobs or [0.0] * len(segment.ids)]

    @property
    def response(self) -> str:
        """The text after the prompt, actions and feedback."""
        return "".join(segment.text for segment in self.segments)


@dataclass(frozen=True, slots=True)
class Player:
    """Plays episodes, each in an environment of its own."""

    environment: type
    sampler: ActionSampler
    tokenizer: Any
    limits: EpisodeLimits

    async def play(self, prompt: str, label: Any, sampling_params: Any) -> Episode:
        """The episode that begins with the prompt. An exception of the environment ends it and sets its status."""
        builder = _EpisodeBuilder(self.tokenizer)
        try:
            return builder.build(await self._play_to_end(builder, prompt, label, sampling_params))
        except _EpisodeFailed as failed:
            return builder.build("error", failed.output)

    async def _play_to_end(self, builder: "_EpisodeBuilder", prompt: str, label: Any, sampling_params: Any) -> str:
        """Play until the environment is done or a limit is reached; returns the finish reason."""
        instance = await self._call_environment("__init__", create_environment(self.environment))
        await self._call_environment("reset", self._reset(builder, instance, {"observation": prompt, "label": label}))
        while not self._is_over(builder):
            params = limit_tokens(sampling_params, self._tokens_left(builder))
            builder.add_action(await self._draw_action(builder.context, params))
            states = {**builder.states, "label": label, "sampling_params": copy.deepcopy(sampling_params)}
            result: StepResult = await self._call_environment("step", _step(instance, states))
            builder.add_result(result)
            if result.done:
                return "stop"
            if result.sampling_params is not None:
                sampling_params = result.sampling_params
        return "length"

    async def _draw_action(self, context: list[int], params: Any) -> Action:
        generation = await attempt("the sampler", lambda: self.sampler.generate(context, params))
        if isinstance(generation, RewardOutput):
            raise _EpisodeFailed(generation)
        return read_action(generation)

    async def _call_environment(self, method: str, call: Coroutine[Any, Any, Any]) -> Any:
        """What a method of the environment returns; whatever goes wrong in it ends this episode and no other."""
        name = f"{self.environment.__name__}.{method}"
        try:
            async with asyncio.timeout(self.limits.deadline_s):
                returned = await attempt(name, lambda: call)
        except TimeoutError:
            reason = f"{name} took longer than the {self.limits.deadline_s:g} s that it has"
            returned = RewardOutput.unscored(Status.TIMEOUT, reason)
        if isinstance(returned, RewardOutput):
            raise _EpisodeFailed(returned)
        return returned

    async def _reset(self, builder: "_EpisodeBuilder", instance: Any, states: dict[str, Any]) -> None:
        builder.reset(read_observation(await _await_if_needed(instance.reset(states))))
        left = self._tokens_left(builder)
        if left is not None and left < 1:
            raise AgentError(
                f"the first observation has {len(builder.prompt_ids)} tokens, which leaves no room for an action in "
                f"max_length={self.limits.max_length}; shorten it, or raise the limit"
            )

    def _tokens_left(self, builder: "_EpisodeBuilder") -> int | None:
        return None if self.limits.max_length is None else self.limits.max_length - len(builder.context)

    def _is_over(self, builder: "_EpisodeBuilder") -> bool:
        if self.limits.max_steps is not None and len(builder.steps) >= self.limits.max_steps:
            return True
        left = self._tokens_left(builder)
        return left is not None and left < 1


class _EpisodeFailed(Exception):
    """Ends an episode; `output` says why."""

    def __init__(self, output: RewardOutput) -> None:
        super().__init__(output.reason)
        self.output = output


class _EpisodeBuilder:
    """An episode that is still being played."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self.prompt_ids: list[int] = []
        self.segments: list[Segment] = []
        self.steps: list[Step] = []
        self.score: float | None = None
        self.logs: dict[str, Any] = {}
        self._text = self._observation = ""

    @property
    def context(self) -> list[int]:
        """Every token so far, as the sampler gets it."""
        return [*self.prompt_ids, *(token for segment in self.segments for token in segment.ids)]

    @property
    def states(self) -> dict[str, Any]:
        """What the environment gets to know of the last action."""
        return {"observation_text": self._text, "action_text": self.segments[-1].text}

    def reset(self, observation: str) -> None:
        start = getattr(self.tokenizer, "bos_token", None) or ""
        has_start = bool(start) and observation.startswith(start)  # written by a chat template
        self.prompt_ids = list(self.tokenizer(observation, add_special_tokens=not has_start)["input_ids"])
        if not self.prompt_ids:
            raise AgentError(f"the first observation has no tokens: {observation!r:.60}; give it some text")
        self._text = self._observation = observation

    def add_action(self, action: Action) -> None:
        self.segments.append(Segment(action.ids, action.text, True, action.logprobs))

    def add_result(self, result: StepResult) -> None:
        action = self.segments[-1]
        end = sum(len(segment.ids) for segment in self.segments)
        metadata = {"tokens": [end - len(action.ids), end], "feedback": result.feedback, "logs": result.logs}
        self.steps.append(
            Step(self._observation, action.text, result.reward, {key: v for key, v in metadata.items() if v})
        )
        self.score, self.logs = result.score, result.logs
        ids = [] if result.done else list(self.tokenizer(result.feedback, add_special_tokens=False)["input_ids"])
        if ids:
            self.segments.append(Segment(ids, result.feedback, False))
        self._observation = result.feedback
        self._text += action.text + result.feedback

    def build(self, finish_reason: str, failure: RewardOutput | None = None) -> Episode:
        """The episode so far; feedback that no action follows is kept in its step only: nothing is learnt from it."""
        segments = self.segments if not self.segments or self.segments[-1].is_action else self.segments[:-1]
        fields: dict[str, Any] = {
            "prompt_ids": self.prompt_ids,
            "segments": segments,
            "steps": self.steps,
            "logs": self.logs,
        }
        if failure is not None:
            return Episode(**fields, finish_reason=finish_reason, status=failure.status, reason=failure.reason)
        rewards = [step.reward for step in self.steps if step.reward is not None]
        return Episode(
            **fields, finish_reason=finish_reason, reward=sum(rewards) if rewards else None, score=self.score
        )


async def _step(instance: Any, states: dict[str, Any]) -> StepResult:
    return StepResult.of(await _await_if_needed(instance.step(states)))


async def _await_if_needed(returned: Any) -> Any:
    return await returned if inspect.isawaitable(returned) else returned
