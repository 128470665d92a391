"""A fork of a world and its origin do not change each other: groups of rollouts start from copies of one episode."""

from collections.abc import Iterator, Sequence

from plaudit.agents import EpisodeStart, StepResult
from plaudit.audit.environments.found import Found
from plaudit.audit.environments.known import Known
from plaudit.audit.environments.playing import Transcript
from plaudit.audit.environments.policies import ENDINGS, spam_calls
from plaudit.worlds import World

_REMEDY = "copy all that an episode changes in `fork`; a world's own `fork` copies its state and lists"


def find_shared_forks(world: type, known: Known) -> Iterator[Found]:
    """The first start whose solution, after a fork did other things, goes otherwise in the origin or in a fork."""
    if not issubclass(world, World):
        return
    for index in known.honest:
        start, actions = known.examples[index].start, list(known.solution(index))
        half = len(actions) // 2
        alone = _open(world, start)
        expected = _outcomes(alone, actions)
        origin = _open(world, start)
        before = _outcomes(origin, actions[:half])
        other, fork = origin.fork(), origin.fork()
        _outcomes(other, [*spam_calls(known.tools), *[ENDINGS[0]] * len(actions)])
        for what, episode in (("an episode", origin), ("a fork", fork)):
            results = [*before, *_outcomes(episode, actions[half:])]
            if [_plain(each) for each in results] != [_plain(each) for each in expected]:
                played = Transcript(start, actions=actions, results=results)
                yield Found("state between episodes", "fork", played, f"{what} depends on another fork of it", _REMEDY)
                return


def _open(world: type[World], start: EpisodeStart) -> World:
    episode = world()
    episode.reset(start)
    return episode


def _outcomes(episode: World, actions: Sequence[str]) -> list[StepResult]:
    return [episode.step(action) for action in actions]


def _plain(result: StepResult) -> tuple[object, ...]:
    return result.feedback, result.reward, result.score, result.done
