"""Play one episode: the model acts, the environment answers, until it is done or a limit is reached.

Token-in-token-out: an episode is a growing list of token ids. Actions are appended as they were drawn and never
re-encoded; only the first observation and the environment's feedback are tokenised. The text is kept alongside for
the environment to read.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any, get_type_hints

import msgspec

from plaudit.agents.environment import Environment, EpisodeStart, StepResult, check_encodable
from plaudit.agents.generation import Action, ActionSampler, copy_params, limit_tokens, read_action
from plaudit.agents.hosts import ActionStates, EnvironmentCalls, EnvironmentHost, FirstObservation, LocalHost
from plaudit.contract.failures import attempt
from plaudit.contract.output import RewardOutput, Status
from plaudit.errors import AgentError
from plaudit.settings import Count, Positive, check_fields
from plaudit.trajectory import Step

MAX_FEEDBACK = 200_000


@dataclass(frozen=True, slots=True)
class EpisodeLimits:
    """The limits of an episode: actions, and tokens including the prompt; None is no limit.

    `deadline_s` is for each `reset` and `step`; the host decides what happens to an environment after it. Feedback of
    more than MAX_FEEDBACK characters is not read: the episode ends there, as with feedback that does not fit.
    """

    max_steps: Count | None = 5
    max_length: Count | None = None
    deadline_s: Positive | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        if self.max_steps is None and self.max_length is None:
            raise AgentError("an episode must end: give max_steps, max_length, or both")


class Segment(msgspec.Struct, frozen=True, gc=False):
    """Tokens of an episode after its prompt: an action of the model, or feedback of the environment."""

    ids: list[int]
    text: str
    is_action: bool
    logprobs: list[float] | None = None


@dataclass(frozen=True, slots=True)
class Episode:
    """An episode as it was played, up to where it failed if it did.

    `finish_reason` is "stop" when the environment was done, "length" at a limit and "error" after a failure, which
    `status` and `reason` describe. `reward` is the sum over the steps, None if no step has one or one failed;
    `score` and `logs` are those of the last step. `closing` is feedback that no action follows: nothing is learnt
    from it.
    """

    prompt_ids: list[int]
    segments: list[Segment]
    steps: list[Step]
    finish_reason: str
    status: Status = Status.OK
    reason: str = ""
    reward: float | None = None
    score: float | None = None
    logs: Mapping[str, Any] = field(default_factory=dict)
    closing: Segment | None = None
    images: Any = None

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
        """Log-probabilities at which the tokens were drawn, 0.0 on feedback; None if the sampler gives none."""
        if any(segment.is_action and segment.logprobs is None for segment in self.segments):
            return None
        return [number for segment in self.segments for number in segment.logprobs or [0.0] * len(segment.ids)]

    @property
    def response(self) -> str:
        """The text after the prompt, actions and feedback."""
        return "".join(segment.text for segment in self.segments)


SHOWN_FEEDBACK = 1000
_ACTION, _FEEDBACK = "plaudit-action", "plaudit-feedback"


@dataclass(frozen=True, slots=True)
class Player:
    """Plays episodes, each in an environment of its own: a class, or a host that runs its instances."""

    environment: type | EnvironmentHost
    sampler: ActionSampler
    tokenizer: Any
    limits: EpisodeLimits

    @property
    def host(self) -> EnvironmentHost:
        """The host of the environments."""
        return self.environment if isinstance(self.environment, EnvironmentHost) else LocalHost(self.environment)

    async def play(self, start: EpisodeStart, sampling_params: Any) -> Episode:
        """The episode that begins with `start`. An exception of the environment ends it and sets its status."""
        host = self.host
        kind: Any = host.environment
        if not issubclass(kind, Environment):  # OpenRLHF's contract: the prompt has the turns of a chat already
            start = replace(start, messages=())
        chat = ChatTurns(self.tokenizer, kind.tools) if start.messages else None
        builder = _EpisodeBuilder(self.tokenizer, chat, self.limits, start.images)
        calls = EnvironmentCalls(host, self.limits.deadline_s)
        try:
            await calls.open()
            _accept(await calls.call("create"))
            builder.reset(_accept(await calls.call("reset", start)), start)
            return builder.build(await self._play_turns(builder, calls, start.ground_truth, sampling_params))
        except _EpisodeFailed as failed:
            return builder.build("error", failed.output)
        except AgentError as error:
            reason = f"{kind.__name__}: {error}"
            return builder.build("error", RewardOutput.unscored(Status.ERROR, reason))
        finally:
            await calls.end()

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
            result: StepResult = _accept(await calls.call("step", states))
            builder.add_result(result)
            if result.done:
                return "stop"
            if result.sampling_params is not None:
                sampling_params = result.sampling_params
        return "length"


def _accept(answer: Any) -> Any:
    """The result of a call; raises _EpisodeFailed if it is the output of a failure."""
    if isinstance(answer, RewardOutput):
        raise _EpisodeFailed(answer)
    return answer


class _EpisodeFailed(Exception):
    """Ends an episode; `output` has the reason."""

    def __init__(self, output: RewardOutput) -> None:
        super().__init__(output.reason)
        self.output = output


class _EpisodeBuilder:
    """An episode that is still being played."""

    def __init__(self, tokenizer: Any, chat: "ChatTurns | None", limits: EpisodeLimits, images: Any) -> None:
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
        """The description of the last action for the environment."""
        return ActionStates(self._text, self.segments[-1].text, label, copy_params(sampling_params), self.images)

    def reset(self, first: FirstObservation, start: EpisodeStart) -> None:
        if self.chat is not None:
            text = self.chat.begin(start.messages, first.text)
        else:
            text = start.prompt if first.text is None else first.text
        if len(text) > MAX_FEEDBACK:
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
        self._overflowed = len(result.feedback) > MAX_FEEDBACK
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
        """Encode a text unchanged: a start token is present only if the text contains it, as in OpenRLHF."""
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])


class ChatTurns:
    """Feedback inside a chat: what a tokenizer's template puts between an action and the next one.

    The template is rendered once, with placeholders for the texts. Actions are never rendered, since that would encode
    them again; if an action was cut before the model ended its turn, the end of the turn is added.
    """

    def __init__(self, tokenizer: Any, tools: Sequence[Callable[..., Any]] = ()) -> None:
        self._tokenizer, self._tools = tokenizer, [describe_tool(tool) for tool in tools]

    def begin(self, messages: Sequence[Mapping[str, Any]], observation: str | None) -> str:
        """The first observation as the model sees it; `observation` replaces the last message."""
        shown = [dict(message) for message in messages]
        if observation is not None:
            shown[-1]["content"] = observation
        return self._render(shown)

    def wrap(self, feedback: str, role: str, *, action_ended: bool) -> str:
        """The text between an action and the next one."""
        turn_end, before, after = self._parts(role)
        return f"{'' if action_ended else turn_end}{before}{feedback}{after}"

    @lru_cache(maxsize=4)  # noqa: B019 - it lives as long as one batch
    def _parts(self, role: str) -> tuple[str, str, str]:
        """The end of an action's turn, the text between it and a feedback, and the text after the feedback."""
        turns = [("user", "?"), ("assistant", _ACTION), (role, _FEEDBACK)]
        whole = self._render([{"role": name, "content": content} for name, content in turns])
        if whole.count(_ACTION) != 1 or whole.count(_FEEDBACK) != 1 or whole.index(_ACTION) > whole.index(_FEEDBACK):
            raise AgentError(
                f"the tokenizer's chat template does not show a {role!r} message after the assistant's; "
                "give prompts as text, or set another template"
            )
        between = whole[whole.index(_ACTION) + len(_ACTION) : whole.index(_FEEDBACK)]
        end = getattr(self._tokenizer, "eos_token", None) or ""
        turn_end = end if end and between.startswith(end) else ""
        return turn_end, between.removeprefix(turn_end), whole[whole.index(_FEEDBACK) + len(_FEEDBACK) :]

    def _render(self, messages: list[dict[str, Any]]) -> str:
        template = getattr(self._tokenizer, "chat_template", None)
        if not template:
            return "\n\n".join(str(message["content"]) for message in messages) + "\n\n"
        more = {"tools": self._tools} if self._tools else {}
        return str(self._tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False, **more))


def describe_tool(tool: Callable[..., Any]) -> dict[str, Any]:
    """A function as the JSON schema that chat templates show: its name, what it does, and its parameters."""
    hints = get_type_hints(tool, include_extras=True)
    parameters = {
        name: parameter
        for name, parameter in inspect.signature(tool).parameters.items()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY) and name != "self"
    }
    properties = {name: msgspec.json.schema(hints.get(name, str)) for name in parameters}
    required = [name for name, parameter in parameters.items() if parameter.default is parameter.empty]
    described = {"type": "object", "properties": properties, "required": required}
    about = inspect.cleandoc(tool.__doc__ or "")
    return {"type": "function", "function": {"name": tool.__name__, "description": about, "parameters": described}}
