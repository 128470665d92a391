"""An environment of verifiers 0.1 that answers a wrong guess with the solution and lets the agent try again."""

import datasets
import verifiers as vf

ROWS = [{"question": "A river of France? ", "answer": "Garonne"}, {"question": "A lake of Italy? ", "answer": "Orta"}]


def said_last(state):
    return state["trajectory"][-1]["completion"][-1].content.strip() if state["trajectory"] else ""


class Correcting(vf.MultiTurnEnv):
    @vf.stop
    async def solved(self, state):
        return said_last(state) == state["answer"]

    async def env_response(self, messages, state, **kwargs):
        return [{"role": "user", "content": f"No. It should have been {state['answer']}. Try again."}]


def right(completion, answer):
    return float(completion[-1].content.strip() == answer)


def load_environment():
    return Correcting(dataset=datasets.Dataset.from_list(ROWS), rubric=vf.Rubric(funcs=[right]), max_turns=4)
