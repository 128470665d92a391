"""An environment of verifiers 0.1 that says only whether a guess is too long or too short."""

import datasets
import verifiers as vf

from tests.audit.environment_zoo.fourth_verifiers_flawed import ROWS, right, said_last


class Hinting(vf.MultiTurnEnv):
    @vf.stop
    async def solved(self, state):
        return said_last(state) == state["answer"]

    async def env_response(self, messages, state, **kwargs):
        shorter = len(said_last(state)) < len(state["answer"])
        return [{"role": "user", "content": "No. Longer?" if shorter else "No. Shorter?"}]


def load_environment():
    return Hinting(dataset=datasets.Dataset.from_list(ROWS), rubric=vf.Rubric(funcs=[right]), max_turns=4)
