"""An agent: the class of its environments, and OpenRLHF's executors, which play one episode from a prompt.

OpenRLHF's documented form passes sampler (`llm_engine`), tokenizer and limits to `__init__`, the newer one to
`execute`; both work, and what is passed to `execute` wins. A failing environment or sampler
raises nothing: the result has a `status`.
"""

import inspect
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

from plaudit.agents.environment import Environment, EpisodeStart, read_number
from plaudit.agents.generation import ActionSampler
from plaudit.agents.hosts import EnvironmentHost, LocalHost
from plaudit.agents.player import Episode, EpisodeLimits, Player, Segment
from plaudit.agents.process_host import ProcessHost
from plaudit.contract.output import Status
from plaudit.errors import AgentError
from plaudit.jsonline import as_plain
from plaudit.trajectory import Step

INIT_ARGUMENTS = ("max_steps", "max_length", "llm_engine", "hf_tokenizer", "result_queue")
EXECUTE_ARGUMENTS = ("max_length", "hf_tokenizer", "llm_engine")


EPISODE_START: ContextVar[EpisodeStart | None] = ContextVar("plaudit_episode_start", default=None)
"""The start of the episode, for `execute`, which gets only a prompt and a label."""


class AgentExecutor:
    """Plays episodes in environments of one class; override `execute` in a subclass to do more."""

    def __init__(
        self,
        agent_instance_cls: type,
        max_steps: int | None = None,
        max_length: int | None = None,
        llm_engine: ActionSampler | None = None,
        hf_tokenizer: Any = None,
        result_queue: Any = None,
    ) -> None:
        self.agent_instance_cls = agent_instance_cls
        self.max_steps, self.max_length = max_steps, max_length
        self.llm_engine, self.hf_tokenizer, self.result_queue = llm_engine, hf_tokenizer, result_queue
        self.deadline_s: float | None = None
        self.host: EnvironmentHost | None = None
        """The host of the environments; None runs them in this process."""

    async def execute(
        self,
        prompt: str,
        label: Any,
        sampling_params: Any,
        max_length: int | None = None,
        hf_tokenizer: Any = None,
        llm_engine: ActionSampler | None = None,
        images: Any = None,
    ) -> dict[str, Any]:
        """Play one episode; the result is returned, and put on the queue where there is one.

        It has OpenRLHF's keys (`reward`, `scores`, `observation_tokens`, `action_ranges`, `rollout_log_probs`,
        `extra_logs`, `truncated`, `images`), `status` and `reason`, and the whole `episode`. Images go untouched to
        the environment (`states["images"]`) and to the sampler (`generate(…, images=…)`); nothing here looks at them.
        """
        sampler, tokenizer = llm_engine or self.llm_engine, hf_tokenizer or self.hf_tokenizer
        if sampler is None or tokenizer is None:
            raise AgentError("an executor needs llm_engine and hf_tokenizer; give them to __init__ or to execute")
        limits = EpisodeLimits(self.max_steps, max_length or self.max_length, self.deadline_s)
        player = Player(self.host or self.agent_instance_cls, sampler, tokenizer, limits)
        start = EPISODE_START.get() or EpisodeStart(prompt, label)
        if not start.messages or not issubclass(player.host.environment, Environment):
            start = replace(start, prompt=prompt)
        episode = await player.play(replace(start, ground_truth=label, images=images), sampling_params)
        result = build_result(episode, prompt, label)
        if self.result_queue is not None:
            put = self.result_queue.put(result)
            if inspect.isawaitable(put):
                await put
        return result


def build_result(episode: Episode, prompt: str, label: Any) -> dict[str, Any]:
    """An episode as the dict that executors return."""
    start, ranges = len(episode.prompt_ids), []
    for segment in episode.segments:
        if segment.is_action:
            ranges.append((start, start + len(segment.ids)))
        start += len(segment.ids)
    logprobs = episode.logprobs
    closing = [] if episode.closing is None else episode.closing.ids
    if logprobs is not None:
        logprobs = [*[0.0] * len(episode.prompt_ids), *logprobs, *[0.0] * len(closing)]
    return {
        "prompt": prompt,
        "label": label,
        "images": episode.images,
        "reward": episode.reward,
        "scores": episode.score,
        "observation_tokens": [*episode.prompt_ids, *episode.ids, *closing],
        "action_ranges": ranges,
        "rollout_log_probs": logprobs,
        "extra_logs": dict(episode.logs),
        "truncated": episode.finish_reason == "length",
        "status": episode.status.value,
        "reason": episode.reason,
        "episode": episode,
    }


def read_episode(result: Mapping[str, Any], tokenizer: Any) -> Episode:
    """Read the episode from an executor's result, even if the executor played it in its own way; the result's reward
    counts.
    """
    if not isinstance(result, Mapping):
        raise AgentError(f"execute must return a dict such as AgentExecutor.execute gives, got {result!r:.60}")
    episode = result.get("episode") or _read_ranges(result, tokenizer)
    if episode.status is not Status.OK:
        return episode
    reward, score = (read_number(name, result.get(name)) for name in ("reward", "scores"))
    return replace(episode, reward=reward, score=score, logs=as_plain(dict(result.get("extra_logs") or {})))


def _read_ranges(result: Mapping[str, Any], tokenizer: Any) -> Episode:
    missing = [name for name in ("observation_tokens", "action_ranges") if not result.get(name)]
    if missing:
        raise AgentError(f"execute returned no {' and no '.join(missing)}, so there is nothing to train on")
    tokens = [int(token) for token in result["observation_tokens"]]
    logprobs, begin = result.get("rollout_log_probs"), int(result["action_ranges"][0][0])
    segments, steps, at = [], [], begin
    for start, end in result["action_ranges"]:
        feedback, action = tokens[at:start], tokens[start:end]
        observation = tokenizer.decode(feedback, skip_special_tokens=True)
        segments += [Segment(feedback, observation, is_action=False)] if feedback else []
        text = tokenizer.decode(action, skip_special_tokens=True)
        segments.append(
            Segment(action, text, True, None if logprobs is None else [float(number) for number in logprobs[start:end]])
        )
        steps.append(Step(observation, text, metadata={"tokens": [start - begin, end - begin]}))
        at = end
    return Episode(tokens[:begin], segments, steps, "length" if result.get("truncated") else "stop")


@dataclass(frozen=True, slots=True)
class Agent:
    """An environment class, and the subclass of `AgentExecutor` that plays its episodes, if there is one."""

    environment: type
    executor: type[AgentExecutor] | None = None
    spec: str | None = None
    """The argument of `load_agent`; another process loads the agent with it."""

    def __post_init__(self) -> None:
        if self.executor is not None:
            _check_arguments(f"{self.executor.__name__}.__init__", inspect.signature(self.executor), INIT_ARGUMENTS)
            _check_arguments(
                f"{self.executor.__name__}.execute", inspect.signature(self.executor.execute), EXECUTE_ARGUMENTS, 4
            )

    def build_host(self, *, workers: int | None = None) -> EnvironmentHost:
        """The host of the environments: this process, or `workers` others."""
        if workers is None or getattr(self.environment, "in_threads", False):
            return LocalHost(self.environment)
        if self.spec is None:
            raise AgentError(
                f"{self.environment.__name__} was not loaded by `load_agent`: no other process can load it"
            )
        return ProcessHost(self.spec, self.environment, workers=workers)

    def build_player(
        self, sampler: ActionSampler, tokenizer: Any, limits: EpisodeLimits, host: EnvironmentHost | None = None
    ) -> "Player | AgentExecutor":
        """The player of the episodes; the executor of an agent file keeps the attributes that its `__init__` sets."""
        if self.executor is None:
            return Player(host or self.environment, sampler, tokenizer, limits)
        arguments: dict[str, Any] = {
            "max_steps": limits.max_steps,
            "max_length": limits.max_length,
            "llm_engine": sampler,
            "hf_tokenizer": tokenizer,
        }
        accepted = inspect.signature(self.executor).parameters
        build: Callable[..., AgentExecutor] = self.executor
        executor = build(**{name: arguments.get(name) for name in INIT_ARGUMENTS if name in accepted})
        for name, value in {**arguments, "deadline_s": limits.deadline_s, "host": host}.items():
            if getattr(executor, name, None) is None:
                setattr(executor, name, value)
        return executor


async def play_episode(
    player: Player | AgentExecutor, prompt: str, start: EpisodeStart, sampling_params: Any
) -> Episode:
    """Play one episode; `prompt` is the text of `start` as the model sees it, for contracts without chat messages."""
    if isinstance(player, Player):
        if not issubclass(player.host.environment, Environment):
            start = replace(start, prompt=prompt)
        return await player.play(start, sampling_params)
    accepted = inspect.signature(player.execute).parameters
    arguments = {name: getattr(player, name) for name in EXECUTE_ARGUMENTS if name in accepted}
    EPISODE_START.set(start)
    result = await player.execute(prompt, start.ground_truth, sampling_params, **arguments)
    return read_episode(result, player.hf_tokenizer)


def _check_arguments(method: str, signature: inspect.Signature, available: tuple[str, ...], first: int = 0) -> None:
    """Raise AgentError if a method requires an argument that is not available, from its `first` parameter on."""
    for name, parameter in list(signature.parameters.items())[first:]:
        variadic = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if parameter.default is parameter.empty and not variadic and name not in available:
            raise AgentError(f"{method} needs {name!r}; available are {', '.join(available)}")
