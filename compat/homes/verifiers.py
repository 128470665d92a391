"""verifiers v1: the scoring of a task whose config plugs the exported reward."""

import asyncio

import verifiers.v1 as vf
from suite import Shipped
from verifiers.v1.configs.task import TaskConfig
from verifiers.v1.errors import TaskError
from verifiers.v1.trace import TraceTask

SYSTEM, DISTRIBUTION = "verifiers", "verifiers"
RAN = "Task.score, with the shim as a reward that the task's config plugs in"
SHIPS = "its own need a model server or a runtime"


class SumData(vf.TaskData):
    answer: str = ""


class SumTask(vf.Task[SumData]):
    pass


def scored(shim, rollouts):
    config = TaskConfig.model_validate({"rewards": {"plaudit": {"fn": f"{shim}:reward"}}})
    return [asyncio.run(score(config, each)) for each in rollouts]


async def score(config, rollout):
    task = SumTask(SumData(prompt=rollout.prompt, answer=rollout.truth), config)
    trace = vf.Trace.model_construct(
        task=TraceTask(type="SumTask", data=task.data), nodes=[], rewards={}, metrics={}, root_reply=rollout.response
    )
    try:
        await task.score(trace)
    except TaskError:
        return None if trace.rewards == {"plaudit": None} else trace.reward
    return trace.reward


FORMS = {"verifiers": scored}


def shipped() -> list[Shipped]:
    return []
