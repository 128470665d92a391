"""One episode: the model acts, the environment answers, until it is done or a limit is reached.

Token-in-token-out: an episode is a growing list of token ids. Actions are appended as they were drawn and never
re-encoded; only the first observation and the environment's feedback are tokenised. The text of it all is kept beside,
for the environment to read.
"""

import asyncio
import copy
import inspect
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any

from plaudit.agents.environment import StepResult, made, observation_of
from plaudit.agents.generation import Action, Engine, action_of, with_room
from plaudit.contract.boundary import attempted
from plaudit.contract.output import RewardOutput, Status
from plaudit.errors import AgentError
from plaudit.trajectory import Step

__all__ = ["Episode", "EpisodeLimits", "Piece", "Player"]


@dataclass(frozen=True, slots=True)
class EpisodeLimits:
    """Where an episode ends at the latest: so many actions, so many tokens with its prompt; None is no limit.

    `deadline_s` is for each `reset` and `step`. An environment that waits is given up then; one that computes without
    awaiting anything cannot be interrupted.
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
class Piece:
    """Tokens of an episode after its prompt: an action, or feedback, which was not `chosen` by the model."""

    ids: list[int]
    text: str
    chosen: bool
    logprobs: list[float] | None = None


@dataclass(frozen=True, slots=True)
class Episode:
    """An episode as it was played, up to where it failed if it did.

    `finish_reason` is "stop" when the environment was done, "length" at a limit and "error" after a failure, which
    `status` and `reason` tell. `reward` is the sum over the steps, None where none gave any or the episode failed;
    `score` and `logs` are those of the last step.
    """

    prompt_ids: list[int]
    pieces: list[Piece]
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
        return [token for piece in self.pieces for token in piece.ids]

    @property
    def mask(self) -> list[int]:
        """1 on tokens that the model chose, 0 on feedback."""
        return [int(piece.chosen) for piece in self.pieces for _ in piece.ids]

    @property
    def logprobs(self) -> list[float] | None:
        """What the tokens were drawn with, 0.0 on feedback; None where the engine does not tell."""
        if any(piece.chosen and piece.logprobs is None for piece in self.pieces):
            return None
        return [number for piece in self.pieces for number in piece.logprobs or [0.0] * len(piece.ids)]

    @property
    def response(self) -> str:
        """The text after the prompt, actions and feedback."""
        return "".join(piece.text for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class Player:
    """Plays episodes, each in an environment of its own."""

    environment: type
    engine: Engine
    tokenizer: Any
    limits: EpisodeLimits

    async def play(self, prompt: str, label: Any, sampling_params: Any) -> Episode:
        """The episode that begins with the prompt. What an environment raises ends it and is told in its status."""
        record = _Record(self.tokenizer)
        try:
            return record.episode(await self._played(record, prompt, label, sampling_params))
        except _Failed as failed:
            return record.episode("error", failed.output)

    async def _played(self, record: "_Record", prompt: str, label: Any, sampling_params: Any) -> str:
        """Play to the end, and say why it ended."""
        instance = await self._guarded("__init__", made(self.environment))
        await self._guarded("reset", self._opened(record, instance, {"observation": prompt, "label": label}))
        while not self._is_over(record):
            params = with_room(sampling_params, self._room(record))
            record.act(await self._drawn(record.context, params))
            states = {**record.states, "label": label, "sampling_params": copy.deepcopy(sampling_params)}
            result: StepResult = await self._guarded("step", _stepped(instance, states))
            record.react(result)
            if result.done:
                return "stop"
            if result.sampling_params is not None:
                sampling_params = result.sampling_params
        return "length"

    async def _drawn(self, context: list[int], params: Any) -> Action:
        given = await attempted("the engine", lambda: self.engine.generate(context, params))
        if isinstance(given, RewardOutput):
            raise _Failed(given)
        return action_of(given)

    async def _guarded(self, method: str, call: Coroutine[Any, Any, Any]) -> Any:
        """What a method of the environment gives; whatever goes wrong in it ends this episode and no other."""
        name = f"{self.environment.__name__}.{method}"
        try:
            async with asyncio.timeout(self.limits.deadline_s):
                given = await attempted(name, lambda: call)
        except TimeoutError:
            reason = f"{name} took longer than the {self.limits.deadline_s:g} s that it has"
            given = RewardOutput.unscored(Status.TIMEOUT, reason)
        if isinstance(given, RewardOutput):
            raise _Failed(given)
        return given

    async def _opened(self, record: "_Record", instance: Any, states: dict[str, Any]) -> None:
        record.open(observation_of(await _settled(instance.reset(states))))
        room = self._room(record)
        if room is not None and room < 1:
            raise AgentError(
                f"the first observation has {len(record.prompt_ids)} tokens, which leaves no room for an action in "
                f"max_length={self.limits.max_length}; shorten it, or raise the limit"
            )

    def _room(self, record: "_Record") -> int | None:
        return None if self.limits.max_length is None else self.limits.max_length - len(record.context)

    def _is_over(self, record: "_Record") -> bool:
        if self.limits.max_steps is not None and len(record.steps) >= self.limits.max_steps:
            return True
        room = self._room(record)
        return room is not None and room < 1


class _Failed(Exception):
    """Ends an episode; `output` says why."""

    def __init__(self, output: RewardOutput) -> None:
        super().__init__(output.reason)
        self.output = output


class _Record:
    """An episode while it is played."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self.prompt_ids: list[int] = []
        self.pieces: list[Piece] = []
        self.steps: list[Step] = []
        self.score: float | None = None
        self.logs: dict[str, Any] = {}
        self._seen = self._news = ""

    @property
    def context(self) -> list[int]:
        """Every token so far, as the engine gets it."""
        return [*self.prompt_ids, *(token for piece in self.pieces for token in piece.ids)]

    @property
    def states(self) -> dict[str, Any]:
        """What the environment is told of the last action."""
        return {"observation_text": self._seen, "action_text": self.pieces[-1].text}

    def open(self, observation: str) -> None:
        start = getattr(self.tokenizer, "bos_token", None) or ""
        has_start = bool(start) and observation.startswith(start)  # a chat template puts it there
        self.prompt_ids = list(self.tokenizer(observation, add_special_tokens=not has_start)["input_ids"])
        if not self.prompt_ids:
            raise AgentError(f"the first observation has no tokens: {observation!r:.60}; give it some text")
        self._seen = self._news = observation

    def act(self, action: Action) -> None:
        self.pieces.append(Piece(action.ids, action.text, True, action.logprobs))

    def react(self, result: StepResult) -> None:
        action = self.pieces[-1]
        end = sum(len(piece.ids) for piece in self.pieces)
        metadata = {"tokens": [end - len(action.ids), end], "feedback": result.feedback, "logs": result.logs}
        self.steps.append(Step(self._news, action.text, result.reward, {key: v for key, v in metadata.items() if v}))
        self.score, self.logs = result.score, result.logs
        ids = [] if result.done else list(self.tokenizer(result.feedback, add_special_tokens=False)["input_ids"])
        if ids:
            self.pieces.append(Piece(ids, result.feedback, False))
        self._news = result.feedback
        self._seen += action.text + result.feedback

    def episode(self, finish_reason: str, failure: RewardOutput | None = None) -> Episode:
        """What was played; feedback that no action follows teaches nothing and stays in its step only."""
        pieces = self.pieces if not self.pieces or self.pieces[-1].chosen else self.pieces[:-1]
        told: dict[str, Any] = {"prompt_ids": self.prompt_ids, "pieces": pieces, "steps": self.steps, "logs": self.logs}
        if failure is not None:
            return Episode(**told, finish_reason=finish_reason, status=failure.status, reason=failure.reason)
        given = [step.reward for step in self.steps if step.reward is not None]
        return Episode(**told, finish_reason=finish_reason, reward=sum(given) if given else None, score=self.score)


async def _stepped(instance: Any, states: dict[str, Any]) -> StepResult:
    return StepResult.of(await _settled(instance.step(states)))


async def _settled(returned: Any) -> Any:
    return await returned if inspect.isawaitable(returned) else returned
