"""OpenRLHF: its single-turn executor with a reward file, an engine that says what it is told, and its HTTP client."""

import asyncio
from types import SimpleNamespace

import torch
from openrlhf.utils.agent import SingleTurnAgentExecutor
from suite import Shipped

SYSTEM, DISTRIBUTION = "openrlhf", "openrlhf"
RAN = "SingleTurnAgentExecutor.execute with the shim as its reward file, and with `plaudit serve` as its remote_rm_url"


class Letters:
    """A tokenizer whose tokens are characters."""

    def __call__(self, text, **_):
        return {"input_ids": torch.tensor([[ord(letter) for letter in text]])}

    def decode(self, ids, **_):
        return "".join(map(chr, ids))


class Engine:
    """Says one response."""

    def __init__(self, response):
        self.response = response

    async def generate(self, *_, **__):
        ids = [ord(letter) for letter in self.response]
        output = SimpleNamespace(token_ids=ids, text=self.response, finish_reason="stop", logprobs=None)
        return SimpleNamespace(outputs=[output])


def execute(endpoint, rollouts):
    """The rewards of rollouts; `endpoint` is a reward file, or the URL of a server."""
    executor = SingleTurnAgentExecutor([str(endpoint)])
    params = SimpleNamespace(max_tokens=200, logprobs=None)

    async def run():
        calls = [
            executor.execute(each.prompt, each.truth, params, 1000, Letters(), Engine(each.response))
            for each in rollouts
        ]
        return await asyncio.gather(*calls)

    results = asyncio.run(run())
    rewards = [result["reward"] for result in results]  # a tensor of one from a file, a list of one from a server
    return [float(reward[0] if isinstance(reward, list) else reward) for reward in rewards]


FORMS = {"openrlhf": execute}
SERVED = {"get_reward": execute}


def shipped() -> list[Shipped]:
    return []
