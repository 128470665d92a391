"""OpenRLHF: its single-turn executor with a reward file, and its multi-turn executor with the math agent it documents.

The document writes `async def __init__`, which OpenRLHF 0.11.2 does not await but refuses: under its executor the
agent's `__init__` is run to its end by a subclass. Everything else is the agent as it is documented.
"""

import asyncio
import random
import tempfile
import textwrap
from pathlib import Path
from types import SimpleNamespace

import torch
from openrlhf.utils.agent import MultiTurnAgentExecutor, SingleTurnAgentExecutor
from suite import Shipped

SYSTEM, DISTRIBUTION = "openrlhf", "openrlhf"
SHIPS = "its package ships none"
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


MATH_AGENT = r"""
    from openrlhf.utils.agent import AgentExecutorBase, AgentInstanceBase
    import torch
    import re

    class AgentInstance(AgentInstanceBase):
        async def __init__(self, *args, **kwargs):
            self.step_idx = 0
            self.max_steps = 3  # Allow 3 attempts
            self.steps_taken = []

        async def reset(self, states: dict, **kwargs):
            self.step_idx = 0
            self.steps_taken = []
            return {"observation": states["observation"]}

        async def step(self, states: dict, **kwargs):
            observation_text = states["observation_text"]
            action_text = states["action_text"]
            label = states["label"]  # Correct answer
            self.steps_taken.append(action_text)
            match = re.search(r"(?:answer is:?|=)\s*(-?\d+\.?\d*)", action_text, re.IGNORECASE)
            if match:
                try:
                    answer = float(match.group(1))
                    correct = abs(answer - float(label)) < 1e-6
                    if correct:
                        done = True
                        reward = 1.0
                        feedback = "\n\n[CORRECT! Episode complete]\n"
                    else:
                        done = self.step_idx >= self.max_steps - 1
                        reward = 0.0 if not done else -0.3
                        feedback = "\n\n[INCORRECT] Try again. Think step-by-step:\n\n\nAssistant: "
                except ValueError:
                    done = self.step_idx >= self.max_steps - 1
                    reward = -0.5 if done else 0.0
                    feedback = "\n\n[INVALID FORMAT] Provide numerical answer:\n\n\nAssistant: "
            else:
                done = self.step_idx >= self.max_steps - 1
                reward = -0.5 if done else 0.0
                feedback = "\n\n[NO ANSWER FOUND] Please state the final answer:\n\n\nAssistant: "
            self.step_idx += 1
            return {
                "rewards": torch.tensor([reward]),
                "scores": torch.tensor([max(0.0, reward + 0.5)]),
                "environment_feedback": feedback,
                "done": done,
                "sampling_params": states.get("sampling_params", None),
                "extra_logs": {
                    "step": self.step_idx,
                    "correct": reward == 1.0,
                    "attempts": len(self.steps_taken),
                },
            }
"""
SAID = ["it = 41", "The answer is: 42", "no idea", "= 43.", "= 42", "so ANSWER IS -7", "=", "answer is: 42.0 or = 5"]


class ChanceEngine:
    """Says one of a few things, by chance that follows from the tokens it is given, spelled in odd tokens."""

    def __init__(self, tokenizer, seed):
        self.tokenizer, self.seed = tokenizer, seed

    async def generate(self, token_ids, sampling_params, **_):
        chance = random.Random(f"{self.seed}/{token_ids}")
        text = chance.choice(SAID)
        cut = chance.randrange(len(text) + 1)  # two halves by themselves are other tokens than the whole
        ids = [token for part in (text[:cut], text[cut:]) for token in encode(self.tokenizer, part)]
        logprobs = [{token: SimpleNamespace(logprob=-chance.random())} for token in ids]
        said = self.tokenizer.decode(ids, skip_special_tokens=True)
        output = SimpleNamespace(token_ids=ids, text=said, finish_reason="stop", logprobs=logprobs)
        return SimpleNamespace(outputs=[output])


def encode(tokenizer, text):
    return tokenizer(text, add_special_tokens=False)["input_ids"]


def _smollm2():
    from plaudit.training.model.loading import load_policy

    return load_policy("smollm2").tokenizer


def _characters():
    from plaudit.training.model.loading import character_tokenizer

    return character_tokenizer()


def compare_math_agent(build_tokenizer):
    """The same tokens, masks, log-probabilities, rewards, scores and logs under both executors, forty times."""
    from plaudit.agents import AgentExecutor
    from plaudit.loading import load_agent

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "agent_func_math.py")
        file.write_text(textwrap.dedent(MATH_AGENT))
        documented = load_agent(file).environment

    class Awaited(documented):
        def __init__(self, *args, **kwargs):
            _finish(documented.__init__(self))

    tokenizer = build_tokenizer()
    for seed in range(40):
        params = [SimpleNamespace(max_tokens=100, logprobs=1, temperature=1.0) for _ in range(2)]
        engine = ChanceEngine(tokenizer, seed)
        theirs = asyncio.run(
            MultiTurnAgentExecutor(Awaited).execute("What is 6 x 7? ", "42", params[0], 1000, tokenizer, engine)
        )
        ours = asyncio.run(
            AgentExecutor(documented).execute("What is 6 x 7? ", "42", params[1], 1000, tokenizer, engine)
        )
        for name in ("observation_tokens", "action_ranges", "rollout_log_probs", "extra_logs"):
            assert ours[name] == theirs[name], (seed, name, ours[name], theirs[name])
        assert ours["reward"] == theirs["reward"], seed
        assert ours["scores"] == float(theirs["scores"]), seed
    return "40 episodes"


def _finish(coroutine):
    try:
        coroutine.send(None)
    except StopIteration:
        return


EPISODES = {
    "the math agent, characters": lambda: compare_math_agent(_characters),
    "the math agent, SmolLM2": lambda: compare_math_agent(_smollm2),
}
