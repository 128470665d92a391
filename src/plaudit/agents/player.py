"""Play one episode: the model acts, the environment answers, until it is done or a limit is reached.

Token-in-token-out: an episode is a growing list of token ids. Actions are appended as they were drawn and never
re-encoded; only the first observation and the environment's feedback are tokenised. The text is kept alongside for
the environment to read.
"""

from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any

from plaudit.agents.chat import ChatTurns
from plaudit.agents.environment import Environment, EpisodeStart, StepResult, check_encodable
from plaudit.agents.episode import Episode, EpisodeLimits, Segment
from plaudit.agents.generation import Action, ActionSampler, copy_params, limit_tokens, read_action
from plaudit.agents.hosting.deadlines import EnvironmentCalls
from plaudit.agents.hosting.host import EnvironmentHost, LocalHost
from plaudit.agents.hosting.session import ActionStates, FirstObservation
from plaudit.contract.failures import attempt
from plaudit.contract.output import RewardOutput, Status
from plaudit.errors import AgentError
from plaudit.trajectory import Step

__all__ = ["STARTING", "Player"]

STARTING: ContextVar[EpisodeStart | None] = ContextVar("plaudit_episode_start", default=None)
"""What the episode begins with, for executors whose `execute` is only given a prompt and a label."""
SHOWN_FEEDBACK = 1000


@dataclass(frozen=True, slots=True)
class Player:
    """Plays episodes, each in an environment of its own: a class, or a host that runs its instances."""

    environment: type | EnvironmentHost
    sampler: ActionSampler
    tokenizer: Any
    limits: EpisodeLimits

    @property
    def host(self) -> EnvironmentHost:
        """What runs the environments."""
        return self.environment if isinstance(self.environment, EnvironmentHost) else LocalHost(self.environment)

    async def play(self, prompt: str, label: Any, sampling_params: Any, *, images: Any = None) -> Episode:
        """The episode that begins with the prompt. An exception of the environment ends it and sets its status."""
        host = self.host
        known = STARTING.get()
        start = EpisodeStart(prompt, label) if known is None else known
        if images is not None:
            start = EpisodeStart(start.prompt, label, start.seed, start.messages, start.metadata, images)
        kind = host.environment
        chat = None
        if start.messages and issubclass(kind, Environment):  # others write the turns of a chat themselves
            chat = ChatTurns(self.tokenizer, kind.tools)
        builder = _EpisodeBuilder(self.tokenizer, chat, self.limits, images)
        calls = EnvironmentCalls(host, self.limits.deadline_s)
        try:
            await calls.open()
            _accept(await calls.create())
            if not issubclass(kind, Environment):
                start = EpisodeStart(prompt, label, start.seed, (), start.metadata, start.images)
            builder.reset(_accept(await calls.reset(start)), start)
            return builder.build(await self._play_turns(builder, calls, label, sampling_params))
        except _EpisodeFailed as failed:
            return builder.build("error", failed.output)
        except AgentError as error:
            reason = f"{kind.__name__}: {error}"
            return builder.build("error", RewardOutput.unscored(Status.ERROR, reason))
        finally:
            calls.end()

    async def _play_turns(
        self, builder: "_EpisodeBuilder", calls: EnvironmentCalls, label: Any, sampling_params: Any
    ) -> str:
        """Play until the environment is done or a limit is reached; returns the finish reason."""
        typed = issubclass(self.host.environment, Environment)
        more = {} if builder.images is None else {"images": builder.images}
        while not builder.is_over:
            params = limit_tokens(sampling_params, builder.tokens_left)
            drawn = await attempt("the sampler", partial(self.sampler.generate, builder.context, params, **more))
            action = read_action(_accept(drawn))
            builder.add_action(action)
            states = ActionStates("", action.text) if typed else builder.states(label, sampling_params)
            result: StepResult = _accept(await calls.step(states))
            builder.add_result(result)
            if result.done:
                return "stop"
            if result.sampling_params is not None:
                sampling_params = result.sampling_params
        return "length"


def _accept(answer: Any) -> Any:
    """What a call gave; _EpisodeFailed where that says why it failed."""
    if isinstance(answer, RewardOutput):
        raise _EpisodeFailed(answer)
    return answer


class _EpisodeFailed(Exception):
    """Ends an episode; `output` says why."""

    def __init__(self, output: RewardOutput) -> None:
        super().__init__(output.reason)
        self.output = output


class _EpisodeBuilder:
    """An episode that is still being played."""

    def __init__(self, tokenizer: Any, chat: ChatTurns | None, limits: EpisodeLimits, images: Any) -> None:
        self.tokenizer, self.chat, self.limits, self.images = tokenizer, chat, limits, images
        self.prompt_ids: list[int] = []
        self.segments: list[Segment] = []
        self.steps: list[Step] = []
        self._last: StepResult | None = None
        self._context: list[int] = []
        self._text = self._observation = ""
        self._overflowed = False

    @property
    def context(self) -> list[int]:
        """Every token so far, as the sampler gets it."""
        return list(self._context)

    @property
    def tokens_left(self) -> int | None:
        return None if self.limits.max_length is None else self.limits.max_length - len(self._context)

    @property
    def is_over(self) -> bool:
        """Whether a limit is reached."""
        if self._overflowed or (self.limits.max_steps is not None and len(self.steps) >= self.limits.max_steps):
            return True
        left = self.tokens_left
        return left is not None and left < 1

    def states(self, label: Any, sampling_params: Any) -> ActionStates:
        """What the environment gets to know of the last action."""
        return ActionStates(self._text, self.segments[-1].text, label, copy_params(sampling_params), self.images)

    def reset(self, first: FirstObservation, start: EpisodeStart) -> None:
        if self.chat is not None:
            text = self.chat.begin(start.messages, first.text)
        else:
            text = start.prompt if first.text is None else first.text
        if len(text) > self.limits.max_feedback:
            raise AgentError(f"the first observation has {len(text):,} characters; shorten it")
        check_encodable("the first observation", text)
        self.prompt_ids = self._encode(text)
        if not self.prompt_ids:
            raise AgentError(f"the first observation has no tokens: {text!r:.60}; give it some text")
        self._text = self._observation = text
        self._context = list(self.prompt_ids)
        left = self.tokens_left
        if left is not None and left < 1:
            raise AgentError(
                f"the first observation has {len(self.prompt_ids)} tokens, which leaves no room for an action in "
                f"max_length={self.limits.max_length}; shorten it, or raise the limit"
            )

    def add_action(self, action: Action) -> None:
        self._add(Segment(action.ids, action.text, True, action.logprobs))

    def add_result(self, result: StepResult) -> None:
        action = self.segments[-1]
        end = len(self._context) - len(self.prompt_ids)
        self._overflowed = len(result.feedback) > self.limits.max_feedback
        feedback = result.feedback[:SHOWN_FEEDBACK] + "…" if self._overflowed else result.feedback
        metadata: dict[str, Any] = {"tokens": [end - len(action.ids), end]}
        if feedback:
            metadata["feedback"] = feedback
        if result.logs:
            metadata["logs"] = result.logs
        if result.state:
            metadata["state"] = result.state
        self.steps.append(Step(self._observation, action.text, result.reward, metadata))
        self._last = result
        if self.chat is not None and not result.done:
            ended = bool(action.ids) and action.ids[-1] == getattr(self.tokenizer, "eos_token_id", None)
            feedback = self.chat.wrap(feedback, result.role, action_ended=ended)
        if feedback and not self._overflowed:
            self._add(Segment(self._encode(feedback), feedback, False))
        self._observation = feedback
        self._text += action.text + feedback

    def build(self, finish_reason: str, failure: RewardOutput | None = None) -> Episode:
        """The episode so far; feedback that no action follows closes it."""
        ends_with_action = not self.segments or self.segments[-1].is_action
        fields: dict[str, Any] = {
            "prompt_ids": self.prompt_ids,
            "segments": self.segments if ends_with_action else self.segments[:-1],
            "steps": self.steps,
            "logs": {} if self._last is None else self._last.logs,
            "closing": None if ends_with_action else self.segments[-1],
            "images": self.images,
        }
        if failure is not None:
            return Episode(**fields, finish_reason=finish_reason, status=failure.status, reason=failure.reason)
        rewards = [step.reward for step in self.steps if step.reward is not None]
        score = None if self._last is None else self._last.score
        return Episode(**fields, finish_reason=finish_reason, reward=sum(rewards) if rewards else None, score=score)

    def _add(self, segment: Segment) -> None:
        self.segments.append(segment)
        self._context += segment.ids

    def _encode(self, text: str) -> list[int]:
        """Texts are encoded as they stand: a start token is there only where the text has it, as in OpenRLHF."""
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])
