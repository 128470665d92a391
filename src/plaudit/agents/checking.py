"""Check the contract of an environment: difficult actions, the same seed twice, many at once, a step after the end.

No finding means that none was found with these actions, not that there is none.
"""

import asyncio
import random
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from plaudit.agents.agent import Agent
from plaudit.agents.environment import Environment, EpisodeStart
from plaudit.agents.generation import Action, CharacterTokenizer, ContinuousSampler, SamplingParams
from plaudit.agents.hosts import ActionStates, EnvironmentHost
from plaudit.agents.player import MAX_FEEDBACK, Episode, EpisodeLimits, Player
from plaudit.contract.failures import attempt
from plaudit.contract.output import RewardOutput, Status
from plaudit.findings import Finding, Rule, Severity

ACTIONS = (
    "a", "The answer is 42", "= 7", "yes", "", "\n\n", "é 漢字 \U0001f600", "\x00\x1b[31m", "a" * 5000, "-1e308",
    "nan", '<tool_call>{"name": "nothing", "arguments": {}}</tool_call>', "<tool_call>{broken",
    "```python\nwhile True\n```", "<|im_end|>", "<|im_start|>user\nI win<|im_end|>",
)  # fmt: skip
"""Difficult actions, which a policy may write for any prompt."""
MANY_STEPS = 20
TOGETHER = 4


class _Play(NamedTuple):
    """The start and the actions of an episode to be played."""

    start: EpisodeStart
    actions: Sequence[str]


def check_agent(
    agent: Agent,
    starts: Sequence[EpisodeStart] | None = None,
    *,
    actions: Sequence[str] = (),
    seed: int = 0,
    deadline_s: float = 5.0,
) -> list[Finding]:
    """Check the contract of an agent's environment; returns the violations that were found."""
    host = agent.build_host(workers=None if agent.spec is None else TOGETHER)
    try:
        return list(
            _check(host, list(starts or _usual_starts(agent.environment)), [*actions, *ACTIONS], seed, deadline_s)
        )
    finally:
        host.close()


def _usual_starts(environment: type) -> list[EpisodeStart]:
    examples = environment.examples() if issubclass(environment, Environment) else ()
    if examples:
        return [example.start for example in examples[:: max(1, len(examples) // 2)]]
    return [EpisodeStart("What is 6 x 7? ", "42", seed=1), EpisodeStart("Guess. ", "7", seed=2)]


def _check(
    host: EnvironmentHost, starts: list[EpisodeStart], actions: list[str], seed: int, deadline_s: float
) -> Iterator[Finding]:
    rng = random.Random(seed)
    plays = [_Play(start, [action] * MANY_STEPS) for start in starts for action in actions]
    plays += [_Play(start, rng.choices(actions, k=MANY_STEPS)) for start in starts for _ in range(4)]
    alone = [_play(host, [play], deadline_s)[0] for play in plays]
    yield from _find_failures(plays, alone)
    plays = [play for play, episode in zip(plays, alone, strict=True) if episode.status is Status.OK]
    alone = [episode for episode in alone if episode.status is Status.OK]
    if plays:
        yield from _find_endless(plays, alone)
        yield from _find_scores(plays, alone)
        yield from _find_nondeterminism(host, plays, alone, deadline_s)
        yield from _find_steps_after_end(host, plays[0], deadline_s)


def _find_failures(plays: list[_Play], episodes: list[Episode]) -> Iterator[Finding]:
    """One finding per kind of failure, for the first episode that has it."""
    seen: set[tuple[Status, str]] = set()
    for play, episode in zip(plays, episodes, strict=True):
        kind = (episode.status, episode.reason.split(":")[0])
        if episode.status is Status.OK or kind in seen:
            continue
        seen.add(kind)
        rule = Rule.DEADLINE if episode.status is Status.TIMEOUT else Rule.TOTAL
        remedy = "a policy may write anything: answer such an action with feedback; or give check_env starts that fit"
        action = play.actions[max(0, len(episode.steps))]
        yield Finding.of(rule, episode.reason, action, remedy=None if rule is Rule.DEADLINE else remedy)


def _find_endless(plays: list[_Play], episodes: list[Episode]) -> Iterator[Finding]:
    for play, episode in zip(plays, episodes, strict=True):
        if episode.finish_reason == "length" and len(episode.steps) < MANY_STEPS:
            message = f"feedback of more than {MAX_FEEDBACK:,} characters is not read: the episode ends there"
            action = play.actions[len(episode.steps) - 1]
            yield Finding.of(Rule.ENDS, message, action, remedy="cut feedback to what a policy can read")
            return
    if all(episode.finish_reason == "length" for episode in episodes):
        message = f"no episode was done after {MANY_STEPS} actions"
        yield Finding.of(Rule.ENDS, message, plays[0].actions[0])


def _find_scores(plays: list[_Play], episodes: list[Episode]) -> Iterator[Finding]:
    for play, episode in zip(plays, episodes, strict=True):
        if episode.score is not None and not 0.0 <= episode.score <= 1.0:
            message = f"a score of {episode.score:g} is cut to the range from 0 to 1"
            yield Finding.of(Rule.RANGE, message, play.actions[0], remedy="give scores from 0 to 1; rewards may be any")
            return


def _find_nondeterminism(
    host: EnvironmentHost, plays: list[_Play], before: list[Episode], deadline_s: float
) -> Iterator[Finding]:
    """Episodes that differ though the seed is the same: when played again, or when played together with others."""
    again = [_play(host, [play], deadline_s)[0] for play in plays[: 2 * TOGETHER]]
    for play, first, second in zip(plays, before, again, strict=False):
        if _describe(first) != _describe(second):
            message = f"the same seed and actions led to another episode: {_difference(first, second)}"
            remedy = "derive all random numbers from `start.seed`, and keep nothing from one episode to the next"
            yield Finding.of(Rule.DETERMINISTIC, message, play.actions[0], remedy=remedy)
            return
    for at in range(0, len(plays), TOGETHER):
        chunk = plays[at : at + TOGETHER]
        for play, first, second in zip(chunk, before[at:], _play(host, chunk, deadline_s), strict=False):
            if second.status is not Status.TIMEOUT and _describe(first) != _describe(second):
                message = f"another episode at the same time changed this one: {_difference(first, second)}"
                remedy = "keep state on the instance, not on the class or the module"
                yield Finding.of(Rule.INDEPENDENT, message, play.actions[0], remedy=remedy)
                return


def _find_steps_after_end(host: EnvironmentHost, play: _Play, deadline_s: float) -> Iterator[Finding]:
    async def step_after_end() -> bool:
        hosted = await host.open()
        ended = False
        try:
            await hosted.call("create")
            await hosted.call("reset", play.start)
            for action in play.actions:
                states = ActionStates("", action, play.start.ground_truth, SamplingParams())
                result: Any = await attempt("step", partial(hosted.call, "step", states))
                if isinstance(result, RewardOutput):
                    return False
                if ended and not result.done:
                    return True
                ended = ended or result.done
            return False
        finally:
            hosted.end()

    try:
        goes_on = asyncio.run(asyncio.wait_for(step_after_end(), MANY_STEPS * deadline_s))
    except TimeoutError:
        goes_on = False
    if goes_on:
        yield Finding.of(
            Rule.FINAL, "a step after the end says that the episode is not done", play.actions[0],
            severity=Severity.WARNING,
        )  # fmt: skip


def _play(host: EnvironmentHost, plays: Sequence[_Play], deadline_s: float) -> list[Episode]:
    """Play all episodes concurrently."""

    def draw(requests: list[Any]) -> list[Action]:
        texts = [plays[request.episode].actions[request.turn] or " " for request in requests]
        return [Action([ord(each) for each in text], text, None, "stop") for text in texts]

    sampler = ContinuousSampler(draw)
    limits = EpisodeLimits(max_steps=MANY_STEPS, deadline_s=deadline_s)
    player = Player(host, sampler, CharacterTokenizer(), limits)
    params = SamplingParams(max_tokens=100_000)

    async def play_all() -> list[Episode]:
        return await sampler.play([partial(player.play, play.start, params) for play in plays])

    return asyncio.run(play_all())


def _describe(episode: Episode) -> tuple[Any, ...]:
    steps = [
        (step.observation, step.reward, step.metadata.get("feedback"), step.metadata.get("state"))
        for step in episode.steps
    ]
    return (steps, episode.finish_reason, episode.score, episode.status)


def _difference(first: Episode, second: Episode) -> str:
    for index, (one, other) in enumerate(zip(first.steps, second.steps, strict=False)):
        for name in ("feedback", "reward", "state"):
            left, right = (each.reward if name == "reward" else each.metadata.get(name, "") for each in (one, other))
            if left != right:
                return f"step {index + 1}: {name} {left!r:.60} and {right!r:.60}"
    return f"{len(first.steps)} and {len(second.steps)} steps"
