"""A fork of a world and its origin do not change each other: groups of rollouts start from copies of one episode."""

from collections.abc import Iterator

from plaudit.agents import EpisodeStart
from plaudit.audit.environments.playing import Transcript, plain
from plaudit.audit.environments.policies import ENDINGS, spam_calls
from plaudit.audit.environments.target import Target
from plaudit.audit.environments.violation import Violation
from plaudit.worlds import World

_REMEDY = "copy all that an episode changes in `fork`; a world's own `fork` copies its state and lists"


def find_shared_forks(world: type, target: Target) -> Iterator[Violation]:
    """The first start whose solution has another result in the origin, or in a fork, after another fork was played."""
    if not issubclass(world, World):
        return
    others = [*spam_calls(target.tools), ENDINGS[0]]
    for index in target.honest:
        start, actions = target.examples[index].start, list(target.solution(index))
        alone, origin = _open(world, start), _open(world, start)
        for place, action in enumerate(actions):
            for other in (*others, *actions):
                origin.fork().step(other)
            expected, fork = alone.step(action), origin.fork()
            for what, result in (("a fork", fork.step(action)), ("an episode", origin.step(action))):
                if plain(result) != plain(expected):
                    played = Transcript(start, actions=actions[: place + 1], results=[result])
                    message = f"{what} depends on what another fork did: {plain(result)} and {plain(expected)}"
                    yield Violation("state between episodes", "fork", played, message, _REMEDY)
                    return


def _open(world: type[World], start: EpisodeStart) -> World:
    episode = world()
    episode.reset(start)
    return episode
