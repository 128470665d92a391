"""verifiers up to 0.1: the scoring of a rubric, and the rubric of its mathematics."""

import asyncio

import datasets
import verifiers as vf
from suite import Shipped, load_shim

from plaudit.errors import AgentError

SYSTEM, DISTRIBUTION = "verifiers", "verifiers"
RAN = "Rubric.score_rollout; MathRubric; its multi-turn and tool environments, played as environments of plaudit"


def scored(rubric, rollouts):
    return [asyncio.run(score(rubric, each)) for each in rollouts]


async def score(rubric, rollout):
    state = vf.State(
        input={
            "prompt": [{"role": "user", "content": rollout.prompt}],
            "answer": rollout.truth,
            "task": "sums",
            "info": {},
            "example_id": 0,
        }
    )
    state["completion"] = [{"role": "assistant", "content": rollout.response}]
    state["timing"] = {"scoring_ms": 0.0, "total_ms": 0.0, "generation_ms": 0.0, "start_time": 0.0}
    state["trajectory"] = []
    await rubric.score_rollout(state)
    return state["reward"]


FORMS = {"verifiers:legacy": lambda shim, rollouts: scored(vf.Rubric(funcs=[load_shim(shim).reward]), rollouts)}


def contains(completion, answer, **kwargs):
    return float(answer in completion[-1]["content"])


def shipped():
    parser = vf.XMLParser(["answer"])
    rubric = vf.Rubric(funcs=[contains, parser.get_format_reward_func()], weights=[1.0, 0.5], parser=parser)
    yield Shipped(rubric, lambda rollouts: scored(rubric, rollouts), dialect="verifiers")
    yield Shipped(vf.MathRubric(), lambda rollouts: scored(vf.MathRubric(), rollouts), dialect="verifiers")


class Doubling(vf.MultiTurnEnv):
    """Says no until the answer comes."""

    @vf.stop
    async def solved(self, state):
        return bool(state["trajectory"]) and state["answer"] in state["trajectory"][-1]["completion"][-1].content

    async def env_response(self, messages, state, **kwargs):
        return [{"role": "user", "content": f"No, {len(state['trajectory'])} is not it."}]


def twice(number: int) -> int:
    """Twice a number.

    Args:
        number: any number
    """
    return 2 * number


def cost(state):
    return len(state["trajectory"])


def raising(answer):
    raise KeyError(answer)


def environment(kind, *functions, **settings):
    rows = datasets.Dataset.from_list([{"question": "Twice 4?", "answer": "8"}])
    rubric = vf.Rubric(funcs=list(functions), weights=[1.0, -0.1][: len(functions)])
    return kind(dataset=rows, rubric=rubric, max_turns=3, **settings)


def load_environment():
    return environment(Doubling, last_word, cost)


def last_word(completion, answer):
    return float(answer in completion[-1].content)


def play(load, actions):
    """Feedback of every turn, and the reward, as plaudit's environment gives them."""
    from plaudit.agents import EpisodeStart
    from plaudit.dialects.agents import find_adapter

    async def steps():
        episode = find_adapter(load)(load)()
        assert await episode.reset(EpisodeStart("Twice 4?", "8")) is None
        return [await episode.step(action) for action in actions]

    return asyncio.run(steps())


def play_doubling():
    for last, reward in (("8", 0.7), ("10", -0.3)):
        found = play(load_environment, ["7", "9", last])
        assert [each.feedback for each in found] == ["No, 1 is not it.", "No, 2 is not it.", ""], found
        assert [each.done for each in found] == [False, False, True]
        assert abs(found[-1].reward - reward) < 1e-9, found[-1]
    assert play(load_environment, ["8"])[0].done  # its own stop condition


def play_tools():
    def load_environment():
        return environment(vf.ToolEnv, last_word, tools=[twice])

    call = '<tool_call>{"name": "twice", "arguments": {"number": 4}}</tool_call>'
    first, last = play(load_environment, [call, "It is 8."])
    assert (first.feedback, first.role, first.done) == ("8", "tool", False), first
    assert (last.reward, last.done) == (1.0, True), last


def play_failure():
    def load_environment():
        return environment(Doubling, raising)

    failure = ""
    try:
        play(load_environment, ["8"])
    except AgentError as error:
        failure = str(error)
    assert "raising: KeyError: '8'" in failure, failure


EPISODES = {
    "a multi-turn environment": play_doubling,
    "a tool environment": play_tools,
    "a reward that fails": play_failure,
}
