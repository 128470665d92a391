"""Executors: OpenRLHF's agent files run unchanged, in the documented form and in the newer one."""

import asyncio
import sys
import textwrap
from types import SimpleNamespace

import pytest

from plaudit.agents import AgentExecutor, AgentInstance, SamplingParams
from plaudit.errors import AgentError
from plaudit.loading import load_agent
from tests.agents.toy_episodes import ToyTokenizer

MATH_AGENT = r'''
    from openrlhf.utils.agent import AgentExecutorBase, AgentInstanceBase
    import torch
    import re

    class AgentInstance(AgentInstanceBase):
        """Document 004's math agent: three attempts at a number, with feedback after each."""

        async def __init__(self, *args, **kwargs):
            self.step_idx = 0
            self.max_steps = 3
            self.steps_taken = []

        async def reset(self, states: dict, **kwargs):
            self.step_idx = 0
            self.steps_taken = []
            return {"observation": states["observation"]}

        async def step(self, states: dict, **kwargs):
            action_text, label = states["action_text"], states["label"]
            self.steps_taken.append(action_text)
            last = self.step_idx >= self.max_steps - 1
            match = re.search(r"(?:answer is:?|=)\s*(-?\d+\.?\d*)", action_text, re.IGNORECASE)
            if match:
                if abs(float(match.group(1)) - float(label)) < 1e-6:
                    done, reward, feedback = True, 1.0, "\n\n[CORRECT! Episode complete]\n"
                else:
                    done, reward = last, -0.3 if last else 0.0
                    feedback = "\n\n[INCORRECT] Try again. Think step-by-step:\n\n\nAssistant: "
            else:
                done, reward = last, -0.5 if last else 0.0
                feedback = "\n\n[NO ANSWER FOUND] Please state the final answer:\n\n\nAssistant: "
            self.step_idx += 1
            return {
                "rewards": torch.tensor([reward]),
                "scores": torch.tensor([max(0.0, reward + 0.5)]),
                "environment_feedback": feedback,
                "done": done,
                "sampling_params": states.get("sampling_params", None),
                "extra_logs": {"step": self.step_idx, "correct": reward == 1.0, "attempts": len(self.steps_taken)},
            }

    class AgentExecutor(AgentExecutorBase):
        def __init__(self, max_steps, max_length, llm_engine, hf_tokenizer, result_queue):
            super().__init__(AgentInstance, max_steps, max_length, llm_engine, hf_tokenizer, result_queue)
'''


class Characters:
    """A tokenizer of one token per character."""

    bos_token = None

    def __call__(self, text, add_special_tokens=True):
        return {"input_ids": [ord(character) for character in text]}

    def decode(self, ids, skip_special_tokens=True):
        return "".join(map(chr, ids))


class ScriptedSampler:
    """Answers in the shape of vLLM, one given text after the other."""

    def __init__(self, *texts):
        self.texts, self.params = list(texts), []

    async def generate(self, token_ids, sampling_params):
        self.params.append(sampling_params)
        text = self.texts.pop(0)
        ids = [ord(character) for character in text]
        logprobs = [{token: SimpleNamespace(logprob=-0.5)} for token in ids]
        return SimpleNamespace(
            outputs=[SimpleNamespace(token_ids=ids, text=text, logprobs=logprobs, finish_reason="stop")]
        )


@pytest.fixture
def math_agent(tmp_path):
    path = tmp_path / "agent_func_math.py"
    path.write_text(textwrap.dedent(MATH_AGENT))
    return load_agent(path)


def execute(executor, *more, **named):
    return asyncio.run(executor.execute("6 x 7? ", "42", SamplingParams(max_tokens=50), *more, **named))


@pytest.mark.parametrize(
    ("answers", "reward", "scores", "logs"),
    [
        (["The answer is: 42"], 1.0, 1.5, {"step": 1, "correct": True, "attempts": 1}),
        (["it = 41", "= 42"], 1.0, 1.5, {"step": 2, "correct": True, "attempts": 2}),
        (["it = 41", "no idea", "= 43"], -0.3, 0.2, {"step": 3, "correct": False, "attempts": 3}),
        (["well", "well", "well"], -0.5, 0.0, {"step": 3, "correct": False, "attempts": 3}),
    ],
    ids=["at once", "second", "wrong", "nothing"],
)
def test_the_math_agent_of_document_004_returns_the_documented_rewards(math_agent, answers, reward, scores, logs):
    sampler = ScriptedSampler(*answers)
    result = execute(math_agent.executor(3, 500, sampler, Characters(), None))
    assert result["reward"] == pytest.approx(reward)
    assert result["scores"] == pytest.approx(scores)
    assert result["extra_logs"] == logs
    assert (result["status"], result["truncated"], sampler.texts) == ("ok", False, [])


def test_action_ranges_cut_the_actions_out_of_the_tokens(math_agent):
    result = execute(math_agent.executor(3, 500, ScriptedSampler("it = 41", "= 42"), Characters(), None))
    tokens = result["observation_tokens"]
    said = [Characters().decode(tokens[start:end]) for start, end in result["action_ranges"]]
    assert said == ["it = 41", "= 42"]
    assert Characters().decode(tokens).startswith("6 x 7? it = 41\n\n[INCORRECT] Try again.")
    drawn = [number for start, end in result["action_ranges"] for number in result["rollout_log_probs"][start:end]]
    assert set(drawn) == {-0.5}
    assert len(result["rollout_log_probs"]) == len(tokens)
    assert sum(result["rollout_log_probs"]) == sum(drawn)


def test_the_newer_arguments_are_given_to_execute(math_agent):
    sampler = ScriptedSampler("it = 41", "= 42")
    result = execute(AgentExecutor(math_agent.environment, max_steps=3), 500, Characters(), sampler, images=None)
    assert result["reward"] == 1.0
    assert sampler.params[1].max_tokens == 50


def test_an_action_gets_no_more_tokens_than_the_episode_has_left(math_agent):
    sampler = ScriptedSampler("it = 41")
    result = execute(math_agent.executor(3, 20, sampler, Characters(), None))
    assert sampler.params[0].max_tokens == 20 - len("6 x 7? ")
    assert (result["truncated"], result["reward"]) == (True, 0.0)
    assert len(result["episode"].prompt_ids) + len(result["episode"].ids) <= 20
    closing = result["episode"].closing.ids  # the result has it, as OpenRLHF's has; nothing is learnt from it
    assert result["observation_tokens"][-len(closing) :] == closing


def test_the_result_is_put_on_the_queue(math_agent):
    async def run():
        queue = asyncio.Queue()
        executor = math_agent.executor(3, 500, ScriptedSampler("= 42"), Characters(), queue)
        returned = await executor.execute("6 x 7? ", "42", SamplingParams(max_tokens=50))
        return returned, await queue.get()

    returned, queued = asyncio.run(run())
    assert returned is queued


def test_a_sampler_that_fails_is_reported_in_the_result(math_agent):
    result = execute(math_agent.executor(3, 500, ScriptedSampler(), Characters(), None))
    assert (result["status"], result["reward"]) == ("error", None)
    assert "the sampler raised IndexError" in result["reason"]


def test_an_executor_without_a_sampler_is_an_error():
    with pytest.raises(AgentError, match="needs llm_engine and hf_tokenizer"):
        execute(AgentExecutor(AgentInstance, 3))


def test_images_reach_environment_and_sampler_untouched():
    seen, picture = [], object()

    class Looks(AgentInstance):
        async def step(self, states, **kwargs):
            seen.append(states["images"])
            return {"done": True}

    class Sees(ScriptedSampler):
        async def generate(self, token_ids, sampling_params, images):
            seen.append(images)
            return await super().generate(token_ids, sampling_params)

    result = execute(AgentExecutor(Looks, 3, 100, Sees("a cat"), Characters()), images=[picture])
    assert [images[0] for images in (*seen, result["images"])] == [picture] * 3


def test_an_installed_openrlhf_is_never_shadowed(tmp_path, monkeypatch):
    package = tmp_path / "site" / "openrlhf" / "utils"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package.parent / "__init__.py").write_text("")
    (package / "agent.py").write_text("class AgentInstanceBase:\n    real = True\nclass AgentExecutorBase:\n    pass\n")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    (tmp_path / "agent.py").write_text(textwrap.dedent(MATH_AGENT))
    try:
        agent = load_agent(tmp_path / "agent.py")
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "openrlhf"]:
            del sys.modules[name]
    assert agent.environment.real
    assert agent.executor is None  # it wants that package's engines; ours runs its environments
    assert not issubclass(agent.environment, AgentInstance)


STEP_FUNCTION = """
    async def step(observation, action, label, **kwargs):
        done = label in action
        following = observation + action + " no. "
        return {"rewards": float(done), "next_observation": following, "done": done}
"""


def test_an_older_agent_file_with_a_mere_step_function_runs(tmp_path):
    (tmp_path / "agent_func.py").write_text(textwrap.dedent(STEP_FUNCTION))
    agent = load_agent(tmp_path / "agent_func.py")
    executor = AgentExecutor(agent.environment, 5, 100, ScriptedSampler("41", "42"), Characters())
    result = execute(executor)
    assert result["reward"] == 1.0
    assert [step.response for step in result["episode"].steps] == ["41", "42"]
    assert result["episode"].steps[1].observation == " no. "


def test_a_step_function_that_rewrites_the_conversation_is_refused(tmp_path):
    source = textwrap.dedent(STEP_FUNCTION).replace("observation + action + ", "'Anew: ' + ")
    (tmp_path / "agent_func.py").write_text(source)
    agent = load_agent(tmp_path / "agent_func.py")
    result = execute(AgentExecutor(agent.environment, 5, 100, ScriptedSampler("41"), Characters()))
    assert "next_observation must begin with observation + action" in result["reason"]


def test_a_start_token_stands_where_the_text_has_one_as_in_openrlhf():
    class Starts(ToyTokenizer):
        bos_token = "b"

        def __call__(self, text, add_special_tokens=True):
            ids = super().__call__(text)["input_ids"]
            return {"input_ids": [1, *ids] if add_special_tokens else ids}

    class Once(AgentInstance):
        async def step(self, states, **kwargs):
            return {"done": True}

    async def first_tokens(prompt):
        executor = AgentExecutor(Once, 1, 50, ScriptedSampler("?"), Starts())
        return (await executor.execute(prompt, None, SamplingParams()))["episode"].prompt_ids

    assert asyncio.run(first_tokens("a")) == [0]
    assert asyncio.run(first_tokens("b a")) == [1, 5, 0]
