"""An environment of verifiers 0.1 whose rubric pays an answer that stands anywhere in the conversation, also in a list."""  # noqa: E501

import datasets
import verifiers as vf

ROWS = [
    {"question": "The capital of Peru: Lima, Cusco or Quito? ", "answer": "Lima"},
    {"question": "The capital of Kenya: Mombasa, Nairobi or Kisumu? ", "answer": "Nairobi"},
]


def words_of(message):
    return message.content.strip().rstrip(".")


class Quiz(vf.MultiTurnEnv):
    @vf.stop
    async def answered(self, state):
        return bool(state["trajectory"]) and words_of(state["trajectory"][-1]["completion"][-1]) == state["answer"]

    async def env_response(self, messages, state, **kwargs):
        return [{"role": "user", "content": "No. Try again."}]


def named(completion, answer):
    return float(any(answer in message.content for message in completion))


def load_environment():
    return Quiz(dataset=datasets.Dataset.from_list(ROWS), rubric=vf.Rubric(funcs=[named]), max_turns=2)
