"""verifiers up to 0.1: the scoring of a rubric, and the rubric of its mathematics."""

import asyncio

import verifiers as vf
from suite import Shipped, load_shim

SYSTEM, DISTRIBUTION = "verifiers", "verifiers"
RAN = "Rubric.score_rollout; MathRubric"


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
